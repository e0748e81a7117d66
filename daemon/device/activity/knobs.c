/* What of the device stays as it is written, and does something: each frequency is held at its lowest and at
 * its highest, under load, and the clock and a loop tell whether it is; each switch is turned once. All of it
 * is put back before the next one. The rules are those of board/knob.h. */
#include "device/activity/knobs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "device/activity/changed.h"
#include "device/activity/lock.h"
#include "device/activity/pin.h"
#include "device/board/knob.h"
#include "device/job/asks.h"
#include "device/job/events.h"
#include "proto/request.h"
#include "store/knob.h"

#define MS INT64_C(1000000)
enum {
    LEASE_MS = 60000,
    SETTLE_MS = 200,
    AGAIN_MS = 500,  /* between two looks at what is late */
    LATE_MS = 3000,  /* later than that is not at all */
    STEADY_MS = 300, /* under load, before the clock is read */
    LOAD_MS = 20000, /* ends by itself where we do not */
    LOOP_MS = 20000,
    TRIAL_MS = 2000,  /* about what one takes, for what is left */
    TOGETHER_MAX = 32 /* switches */
};
/* Most shells take about a tenth of a second for it on a fast clock, and many times that on the slowest. */
static const char loop_script[] = "command -v taskset >/dev/null || exit 9; exec taskset \"$1\" sh -c "
                                  "'i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done'";

struct knobs {
    bool on; /* a question is out */
    uint32_t id;
    struct qs_timer *timer; /* owned */
    qs_job_run_then *next;  /* what follows it, or LOADED */
    qs_job_run_then *then;  /* when all is over */
    struct qs_knob *found;  /* owned */
    size_t count;
    size_t domain, turned; /* of the board: those before are tried, so are the switches */
    bool one;              /* a domain is in hand: the last that was found; else switches */
    bool high, loaded;
    bool late; /* something that was written at this point did not stand there at once */
    struct qs_pins pins;
    size_t of[QS_TUNE_MAX]; /* which of found each item is of */
    int64_t began_ns;       /* writing, or putting back */
};

static struct knobs *mine(const struct qs_job_run *job)
{
    return job->activities[QS_ACTIVITY_KNOBS];
}

static void on_timer(void *user)
{
    mine(user)->timer = NULL;
    mine(user)->next(user);
}

static void later(struct qs_job_run *job, int64_t ms, qs_job_run_then *next)
{
    struct knobs *k = mine(job);
    k->next = next;
    k->timer = qs_timer_start(job->p.loop, ms * MS, on_timer, job);
}

static int64_t since_ms(const struct qs_job_run *job)
{
    return (qs_loop_now_ns(job->p.loop) - mine(job)->began_ns) / MS;
}

static struct qs_knob *in_hand(const struct qs_job_run *job)
{
    return &mine(job)->found[mine(job)->count - 1];
}

static const struct qs_board_domain *domain_of(const struct qs_job_run *job)
{
    return &qs_activity_lock_board(job)->domains.at[mine(job)->domain];
}

static void forget(struct knobs *k)
{
    for (size_t i = 0; i < k->count; i++)
        qs_knob_done(&k->found[i]);
    free(k->found);
    qs_pins_done(&k->pins);
    k->found = NULL;
    k->count = k->domain = k->turned = 0;
    k->on = k->loaded = false;
}

/* ---- put back ---- */

static void next_trial(struct qs_job_run *job);
static void ask_restore(struct qs_job_run *job);

static void on_restored(const union qs_msg *reply, const struct qs_err *refused, void *user)
{
    struct qs_job_run *job = user;
    size_t back = 0, left = 0;
    (void)refused; /* it is about no run: it cannot be; as with the others */
    if (!qs_job_run_heard(&mine(job)->on))
        return;
    qs_changed_back(job, &reply->restored, false, &back, &left);
    if (left > 0 && since_ms(job) < LATE_MS) /* what took its time when it was written does so again */
        later(job, AGAIN_MS, ask_restore);
    else if (left > 0)
        qs_activity_pin_release(job, next_trial);
    else if (reply->restored.more && reply->restored.files.count > 0)
        ask_restore(job);
    else
        next_trial(job);
}

static void ask_restore(struct qs_job_run *job)
{
    const struct qs_msg_restore m = {.id = ++mine(job)->id};
    qs_job_run_ask(job, &mine(job)->on, QS_MSG_RESTORE, &m, 0, on_restored);
}

static void put_back(struct qs_job_run *job)
{
    struct knobs *k = mine(job);
    k->domain += k->one;
    qs_pins_done(&k->pins);
    k->began_ns = qs_loop_now_ns(job->p.loop);
    ask_restore(job);
}

/* ---- what it does ---- */

static void write_pins(struct qs_job_run *job);

/* A point is seen. */
static void go_on(struct qs_job_run *job)
{
    struct knobs *k = mine(job);
    struct qs_knob *knob = in_hand(job);
    if (k->high)
        qs_knob_judge(knob);
    qs_pins_done(&k->pins);
    if (!k->high && !qs_job_run_over(job) &&
        qs_knob_hold(qs_activity_lock_board(job), k->domain, true, &k->pins, knob)) {
        k->high = true;
        k->late = false;
        k->began_ns = qs_loop_now_ns(job->p.loop);
        for (size_t i = 0; i < k->pins.items.count && i < QS_TUNE_MAX; i++)
            k->of[i] = k->count - 1;
        write_pins(job);
        return;
    }
    put_back(job);
}

static struct qs_knob_point *point(const struct qs_job_run *job)
{
    return mine(job)->high ? &in_hand(job)->high : &in_hand(job)->low;
}

static void on_loop(const union qs_msg *reply, const struct qs_err *refused, void *user)
{
    struct qs_job_run *job = user;
    (void)refused;
    if (!qs_job_run_heard(&mine(job)->on))
        return;
    if (reply->hook_done.how == QS_HOOK_EXITED && reply->hook_done.code == 0)
        point(job)->loop_ns = reply->hook_done.duration_ns;
    go_on(job);
}

/* Where the files are those of the machine itself: a tree of files elsewhere does not move its clock. The
 * facts are canonical JSON. */
static bool is_machine(const struct qs_job_run *job)
{
    return job->facts_json && strstr(job->facts_json, "\"sysfs\":\"/sys\"") != NULL;
}

static void run_loop(struct qs_job_run *job)
{
    uint8_t words[512], none[16];
    char mask[24];
    const char *cpus = domain_of(job)->cpus;
    unsigned long cpu = cpus ? strtoul(cpus, NULL, 10) : 64;
    struct qs_build argv, env;
    if (cpu > 62 || !is_machine(job) || qs_job_run_over(job)) {
        go_on(job);
        return;
    }
    snprintf(mask, sizeof mask, "%llx", 1ULL << cpu);
    const char *const parts[] = {"/bin/sh", "-c", loop_script, "sh", mask};
    qs_build_init(&argv, words, sizeof words);
    qs_build_init(&env, none, sizeof none);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        qs_build_text(&argv, qs_text_of(parts[i]));
    const struct qs_msg_hook m = {.id = ++mine(job)->id,
                                  .argv = qs_build_list(&argv),
                                  .env = qs_build_list(&env),
                                  .cwd = qs_text_of(""),
                                  .limit_ns = LOOP_MS * MS,
                                  .user = qs_text_of("")};
    qs_job_run_ask(job, &mine(job)->on, QS_MSG_HOOK, &m, LOOP_MS * MS, on_loop);
}

static void on_loaded(const union qs_msg *reply, const struct qs_err *refused, void *user)
{
    struct qs_job_run *job = user;
    (void)reply;
    (void)refused;
    if (qs_job_run_heard(&mine(job)->on))
        mine(job)->next(job);
}

static void load(struct qs_job_run *job, uint32_t for_ms, qs_job_run_then *next)
{
    const char *cpus = domain_of(job)->cpus;
    const struct qs_msg_load m = {
        .id = ++mine(job)->id, .cpus = qs_text_of(cpus ? cpus : ""), .for_ms = for_ms};
    mine(job)->next = next;
    mine(job)->loaded = for_ms > 0;
    qs_job_run_ask(job, &mine(job)->on, QS_MSG_LOAD, &m, 0, on_loaded);
}

static void on_seen(const union qs_msg *reply, const struct qs_err *refused, void *user)
{
    struct qs_job_run *job = user;
    struct qs_found f;
    (void)refused;
    if (!qs_job_run_heard(&mine(job)->on))
        return;
    struct qs_iter it = qs_list_iter(&reply->surveyed.files);
    if (qs_list_found(&it, &f) && f.error == 0) {
        char text[32];
        qs_text_copy(f.value, text, sizeof text);
        unsigned long long raw = strtoull(text, NULL, 10);
        point(job)->khz = raw < (unsigned long long)INT64_MAX ? (int64_t)qs_knob_khz(domain_of(job), raw) : 0;
    }
    if (mine(job)->loaded)
        load(job, 0, run_loop);
    else
        run_loop(job);
}

static void look(struct qs_job_run *job)
{
    const char *file = domain_of(job)->current_file;
    const struct qs_msg_survey m = {
        .id = ++mine(job)->id, .pattern = qs_text_of(file ? file : ""), .after = qs_text_of("")};
    if (file)
        qs_job_run_ask(job, &mine(job)->on, QS_MSG_SURVEY, &m, 0, on_seen);
    else if (mine(job)->loaded)
        load(job, 0, run_loop);
    else
        run_loop(job);
}

static void settle(struct qs_job_run *job)
{
    later(job, STEADY_MS, look);
}

static void measure(struct qs_job_run *job)
{
    if (domain_of(job)->kind == QS_DOMAIN_CPU && qs_session_has(job->p.session, QS_FEATURE_LOAD))
        load(job, LOAD_MS, settle);
    else
        settle(job);
}

/* ---- written ---- */

/* What only makes room for others is written once. */
static void drop_blind(struct knobs *k)
{
    size_t n = 0;
    for (size_t i = 0; i < k->pins.items.count; i++) {
        struct qs_pin_item *item = &k->pins.items.at[i];
        if (item->flags & QS_PIN_NO_READ_BACK) {
            free(item->path);
            free(item->value);
            continue;
        }
        k->of[n] = k->of[i];
        k->pins.items.at[n++] = *item;
    }
    k->pins.items.count = n;
}

static void on_tuned(const union qs_msg *reply, const struct qs_err *refused, void *user)
{
    struct qs_job_run *job = user;
    struct knobs *k = mine(job);
    size_t slipped = 0, n = 0;
    (void)refused;
    if (!qs_job_run_heard(&mine(job)->on))
        return;
    struct qs_iter it = qs_list_iter(&reply->tuned.writes);
    struct qs_tuned t;
    qs_changed_set(job, &k->pins, 0, k->pins.items.count, &reply->tuned, NULL);
    bool waits = since_ms(job) < LATE_MS && !qs_job_run_over(job);
    for (; n < k->pins.items.count && qs_list_tuned(&it, &t); n++) {
        slipped += t.outcome == QS_TUNE_SLIPPED;
        k->late = k->late || slipped > 0;
        if (t.outcome == QS_TUNE_REFUSED && k->late && waits)
            slipped++; /* a limit is refused as long as the one before it is late */
        else
            qs_knob_take(&k->found[k->of[n]], &k->pins.items.at[n], &t, since_ms(job));
    }
    drop_blind(k);
    if (slipped > 0 && waits)
        later(job, AGAIN_MS, write_pins);
    else if (k->one && in_hand(job)->sticks <= QS_KNOB_LATE && !qs_job_run_over(job))
        measure(job);
    else
        put_back(job);
}

static void write_pins(struct qs_job_run *job)
{
    uint8_t memory[QS_CONTROL_MAX_BYTES];
    struct qs_build list;
    qs_build_init(&list, memory, sizeof memory);
    (void)qs_changed_items(&mine(job)->pins, 0, &list); /* so few fit */
    const struct qs_msg_tune m = {
        .id = ++mine(job)->id, .lease_ms = LEASE_MS, .settle_ms = SETTLE_MS, .writes = qs_build_list(&list)};
    qs_job_run_ask(job, &mine(job)->on, QS_MSG_TUNE, &m, 0, on_tuned);
}

/* ---- one after the other ---- */

static struct qs_knob *add(struct knobs *k)
{
    k->found = qs_grow(k->found, k->count, sizeof *k->found);
    struct qs_knob *knob = &k->found[k->count++];
    *knob = (struct qs_knob){.name = NULL};
    qs_buf_init(&knob->why);
    return knob;
}

int64_t qs_activity_knobs_length_ns(const struct qs_job_run *job, size_t *ret_clocks, size_t *ret_switches)
{
    const struct qs_board *board = qs_activity_lock_board(job);
    *ret_clocks = *ret_switches = 0;
    for (size_t i = 0; i < board->domains.count; i++)
        *ret_clocks += board->domains.at[i].hold == QS_HOLD_OK && board->domains.at[i].steps_khz.count > 1;
    for (size_t i = 0; i < board->switches.count; i++)
        *ret_switches += qs_knob_may_turn(&board->switches.at[i]);
    size_t groups = (*ret_switches + TOGETHER_MAX - 1) / TOGETHER_MAX;
    return (int64_t)(*ret_clocks + groups) * TRIAL_MS * MS;
}

static void tell(struct qs_job_run *job, const char *name)
{
    const struct knobs *k = mine(job);
    const struct qs_board *board = qs_activity_lock_board(job);
    size_t groups = (board->switches.count + TOGETHER_MAX - 1) / TOGETHER_MAX;
    const struct qs_characterizing t = {.domain = name,
                                        .phase = "knobs",
                                        .stage = k->one ? k->domain : board->domains.count,
                                        .stages = board->domains.count + (groups > 0),
                                        .left_ns = (int64_t)(board->domains.count - k->domain + groups) *
                                                   TRIAL_MS * MS};
    qs_job_event_characterizing(job, &t);
}

/* Fills pins; false: nothing is left. */
static bool choose(struct qs_job_run *job)
{
    struct knobs *k = mine(job);
    const struct qs_board *board = qs_activity_lock_board(job);
    k->high = false;
    k->one = true;
    for (; k->domain < board->domains.count; k->domain++) {
        if (!qs_knob_hold(board, k->domain, false, &k->pins, add(k)))
            continue;
        for (size_t i = 0; i < k->pins.items.count && i < QS_TUNE_MAX; i++)
            k->of[i] = k->count - 1;
        return true;
    }
    k->one = false;
    for (; k->turned < board->switches.count && k->pins.items.count < TOGETHER_MAX; k->turned++) {
        size_t item = k->pins.items.count;
        if (qs_knob_turn(&board->switches.at[k->turned], &k->pins, add(k)))
            k->of[item] = k->count - 1;
    }
    return k->pins.items.count > 0;
}

static void store(struct qs_job_run *job)
{
    struct knobs *k = mine(job);
    struct qs_knob_row *rows = qs_calloc(k->count + 1, sizeof *rows);
    QS_BUF(fingerprint);
    qs_board_fingerprint(job->facts_json, &fingerprint);
    for (size_t i = 0; i < k->count; i++)
        rows[i] = qs_knob_row(&k->found[i]);
    const struct qs_knob_rows knobs = {.device = job->p.device,
                                       .fingerprint = fingerprint.data,
                                       .job = job->p.job,
                                       .found_wall_ns = qs_loop_wall_ns(job->p.loop),
                                       .rows = rows,
                                       .count = k->count};
    qs_job_event_knobs(job, rows, k->count);
    qs_store_knobs(job->p.store, &knobs, qs_job_run_stored, qs_job_run_awaits(job, k->then));
    free(rows);
    forget(k);
}

static void next_trial(struct qs_job_run *job)
{
    struct knobs *k = mine(job);
    if (qs_job_run_over(job)) {
        k->then(job);
    } else if (choose(job)) {
        tell(job, k->one ? in_hand(job)->name : "switches");
        k->late = false;
        k->began_ns = qs_loop_now_ns(job->p.loop);
        write_pins(job);
    } else {
        store(job);
    }
}

void qs_activity_knobs_try(struct qs_job_run *job, qs_job_run_then *then)
{
    struct qs_err err = QS_ERR_INIT;
    forget(mine(job));
    mine(job)->then = then;
    if (qs_session_has(job->p.session, QS_FEATURE_CONTROL)) {
        next_trial(job);
        return;
    }
    qs_fail(&err, QS_E_DENIED, "what of %s can be relied on cannot be tried: its agent %s", job->p.device,
            qs_request_of(QS_MSG_TUNE)->lacks);
    if (job->p.spec->characterize.curves)
        qs_job_event_warning(job, "%s", err.text);
    else
        qs_job_run_fail(job, &err);
    then(job);
}

bool qs_activity_knobs_cut_short(struct qs_job_run *job)
{
    struct knobs *k = mine(job);
    if (!k->timer || k->next == ask_restore)
        return k->timer != NULL;
    qs_timer_stop(k->timer);
    k->timer = NULL;
    if (k->loaded)
        load(job, 0, put_back);
    else
        put_back(job);
    return true;
}

static void stop(struct qs_job_run *job, const char *why)
{
    struct knobs *k = mine(job);
    (void)why;
    qs_timer_stop(k->timer);
    k->timer = NULL;
    forget(k);
}

const struct qs_activity qs_activity_knobs = {.state_bytes = sizeof(struct knobs), .stop = stop};
