/* The highest operating point that a device keeps up: all processors are kept busy at one, until something
 * throttles them or the time is over; the highest first, then by halves. Each answer is stored, so that a
 * search that is cut short goes on where it was. */
#include "device/activity/soak.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "device/activity/lock.h"
#include "device/activity/pin.h"
#include "device/activity/sustained.h"
#include "device/board/board.h"
#include "device/job/asks.h"
#include "device/job/events.h"
#include "store/model.h"

enum { POINTS_MAX = QS_BOARD_STEPS_MAX, RANGE_POINTS = 16, TELL_EVERY_S = 10, LOAD_MORE_MS = 10000 };
#define S INT64_C(1000000000)

enum watched { HEAT, LIMIT, NONZERO, CHANGES };

struct soak {
    bool on, cooling, stale; /* a question is out; between two points; the next reading is the first */
    uint32_t id;
    bool loaded;
    struct qs_timer *timer; /* owned */
    struct qs_wishes wishes;
    const struct qs_board_domain *top; /* the fastest clock of the processors; borrowed */
    size_t khz[POINTS_MAX], count;     /* ascending */
    size_t good, bad, at;              /* so many lowest hold; from this one on none does; in hand */
    bool over;                         /* it was found before */
    int64_t began_ns, told_ns;
    size_t watched_count;
    enum watched watched[QS_BIND_MAX];
    const char *names[QS_BIND_MAX]; /* borrowed of the board: a sensor's, or the clock's of a limit */
    int64_t first[QS_BIND_MAX];
    const char *by;         /* what throttled it */
    double cool_mc, hot_mc; /* the hottest sensor: at the begin, and at most */
    char why[256];          /* what threw the last one back */
    qs_job_run_then *then, *next;
};

static struct soak *mine(const struct qs_job_run *job)
{
    return job->activities[QS_ACTIVITY_SOAK];
}

static const struct qs_job_characterize *plan(const struct qs_job_run *job)
{
    return &job->p.spec->characterize;
}

int64_t qs_soak_left_ns(const struct qs_job_run *job)
{
    const struct soak *s = mine(job);
    int64_t points = s->over ? 0 : 1;
    for (size_t n = s->bad - s->good; s->count > 0 && n > 1; n /= 2)
        points++;
    return points * (plan(job)->soak_ns + plan(job)->cool_ns);
}

bool qs_soak_is_waiting(const struct qs_job_run *job)
{
    return mine(job)->timer != NULL;
}

static void tell(struct qs_job_run *job)
{
    struct soak *s = mine(job);
    char domain[64];
    int64_t now_ns = qs_loop_now_ns(job->p.loop);
    snprintf(domain, sizeof domain, "%.30s at %zu MHz", s->top->name, s->khz[s->at] / 1000);
    struct qs_characterizing t = {.domain = domain,
                                  .phase = s->cooling ? "cools" : "soak",
                                  .stage = s->count - (s->bad - s->good),
                                  .stages = s->count,
                                  .left_ns = qs_soak_left_ns(job) - (now_ns - s->began_ns)};
    s->told_ns = now_ns;
    qs_job_event_characterizing(job, &t);
}

static void on_loaded(const union qs_msg *reply, const struct qs_err *refused, void *user)
{
    struct qs_job_run *job = user;
    if (!qs_job_run_heard(&mine(job)->on))
        return;
    bool took = !refused && (reply->loaded.outcome == QS_LOAD_ON || !mine(job)->loaded);
    if (!took) {
        struct qs_err err = QS_ERR_INIT;
        qs_fail(&err, QS_E_DENIED, "%s cannot keep its processors busy: %s", job->p.device,
                refused ? refused->text : "its agent could start no process on all of them");
        mine(job)->loaded = false;
        qs_job_run_fail(job, &err);
        mine(job)->then(job);
        return;
    }
    mine(job)->next(job);
}

static void load(struct qs_job_run *job, int64_t for_ns, qs_job_run_then *next)
{
    struct soak *s = mine(job);
    s->next = next;
    s->loaded = for_ns > 0;
    const struct qs_msg_load m = {.id = ++s->id,
                                  .cpus = qs_text_of(""),
                                  .for_ms = for_ns > 0 ? (uint32_t)(for_ns / 1000000) + LOAD_MORE_MS : 0};
    qs_job_run_ask(job, &mine(job)->on, QS_MSG_LOAD, &m, 0, on_loaded);
}

/* ---- readings ---- */

static void add(struct soak *s, struct qs_build *list, const char *name, const char *path,
                struct qs_binding b, enum watched what)
{
    char bound[QS_NAME_MAX_BYTES + 1];
    snprintf(bound, sizeof bound, "%s%.50s", what == LIMIT ? "limit:" : "", name);
    b.name = qs_text_of(bound);
    b.path = qs_text_of(path);
    if (path[0] == '\0' || !qs_activity_lock_add(list, &b))
        return;
    s->names[s->watched_count] = name;
    s->watched[s->watched_count++] = what;
}

static void add_sensor(struct soak *s, struct qs_build *list, const struct qs_board_sensor *sensor,
                       bool senses)
{
    bool heat = qs_reads_degrees(sensor->unit);
    if (sensor->status != QS_SENSOR_OK || (!heat && sensor->watch == QS_WATCH_NEVER) ||
        (sensor->bits && !senses))
        return;
    const struct qs_binding b = {.mul = sensor->mul,
                                 .div = sensor->div,
                                 .lo = sensor->lo,
                                 .hi = sensor->hi,
                                 .flags = sensor->bits ? QS_BIND_BITS : 0};
    add(s, list, sensor->name, sensor->path, b,
        heat                                ? HEAT
        : sensor->watch == QS_WATCH_NONZERO ? NONZERO
                                            : CHANGES);
}

static void list_watched(struct qs_job_run *job, struct qs_build *list)
{
    struct soak *s = mine(job);
    const struct qs_board *board = qs_activity_lock_board(job);
    bool senses = qs_session_has(job->p.session, QS_FEATURE_SENSE);
    const struct qs_binding limit = {.mul = 1, .div = 1, .lo = 0, .hi = INT64_MAX};
    s->watched_count = 0;
    for (size_t i = 0; i < board->domains.count; i++) {
        const struct qs_board_domain *d = &board->domains.at[i];
        if (d->kind == QS_DOMAIN_CPU && d->hold == QS_HOLD_OK)
            add(s, list, d->name, d->max_file, limit, LIMIT);
    }
    for (int counts = 1; counts >= 0; counts--)
        for (size_t i = 0; i < board->sensors.count; i++)
            if ((board->sensors.at[i].unit == QS_READS_COUNT) == (counts == 1) &&
                !qs_reads_energy(board->sensors.at[i].unit))
                add_sensor(s, list, &board->sensors.at[i], senses);
}

static void read_next(struct qs_job_run *job);
static void point_is_over(struct qs_job_run *job, bool held);

static void on_timer(void *user)
{
    mine(user)->timer = NULL;
    read_next(user);
}

static void next_point(struct qs_job_run *job);

static void unloaded_for_good(struct qs_job_run *job)
{
    mine(job)->then(job);
}

static void leave(struct qs_job_run *job)
{
    if (mine(job)->loaded)
        load(job, 0, unloaded_for_good);
    else
        mine(job)->then(job);
}

/* Did something throttle? The hottest reading goes to *hot_mc. */
static bool is_throttled(struct soak *s, const struct qs_msg_readings *m, double *hot_mc)
{
    struct qs_iter it = qs_list_iter(&m->readings);
    struct qs_reading r;
    bool throttled = false;
    *hot_mc = NAN;
    for (size_t i = 0; i < s->watched_count && qs_list_reading(&it, &r); i++) {
        if (r.status != QS_READING_OK)
            continue;
        if (s->stale)
            s->first[i] = r.value;
        if (s->watched[i] == HEAT)
            *hot_mc = fmax(*hot_mc, (double)r.value);
        else if (s->watched[i] == NONZERO ? r.value != 0 : r.value != s->first[i])
            s->by = s->names[i], throttled = true;
    }
    s->stale = false;
    return throttled;
}

static void wait_on(struct qs_job_run *job)
{
    struct soak *s = mine(job);
    if (qs_loop_now_ns(job->p.loop) - s->told_ns >= TELL_EVERY_S * S)
        tell(job);
    s->timer = qs_timer_start(job->p.loop, plan(job)->every_ns, on_timer, job);
}

static void on_read(const union qs_msg *reply, const struct qs_err *refused, void *user)
{
    struct qs_job_run *job = user;
    struct soak *s = mine(job);
    double hot_mc = NAN;
    if (!qs_job_run_heard(&mine(job)->on))
        return;
    int64_t now_ns = qs_loop_now_ns(job->p.loop), since_ns = now_ns - s->began_ns;
    bool throttled = !refused && is_throttled(s, &reply->readings, &hot_mc);
    s->hot_mc = fmax(s->hot_mc, hot_mc);
    if (isnan(s->cool_mc))
        s->cool_mc = hot_mc;
    if (qs_job_run_over(job))
        leave(job);
    else if (s->cooling &&
             (since_ns >= plan(job)->cool_ns || hot_mc <= s->cool_mc + (s->hot_mc - s->cool_mc) / 4))
        next_point(job);
    else if (!s->cooling && (throttled || since_ns >= plan(job)->soak_ns))
        point_is_over(job, !throttled);
    else
        wait_on(job);
}

static void read_next(struct qs_job_run *job)
{
    uint8_t memory[QS_CONTROL_MAX_BYTES];
    struct qs_build list;
    qs_build_init(&list, memory, sizeof memory);
    list_watched(job, &list);
    const struct qs_msg_bind m = {.id = ++mine(job)->id, .sensors = qs_build_list(&list)};
    qs_job_run_ask(job, &mine(job)->on, QS_MSG_BIND, &m, 0, on_read);
}

/* ---- points ---- */

static void cool(struct qs_job_run *job)
{
    struct soak *s = mine(job);
    s->cooling = true;
    s->began_ns = qs_loop_now_ns(job->p.loop);
    tell(job);
    read_next(job);
}

static void store(struct qs_job_run *job, qs_job_run_then *then)
{
    struct soak *s = mine(job);
    bool over = s->good == s->bad;
    QS_BUF(fingerprint);
    QS_BUF(why);
    QS_BUF(state);
    qs_board_fingerprint(job->facts_json, &fingerprint);
    qs_buf_str(&why, s->why[0] ? s->why : "it held its highest");
    qs_buf_fmt(&state, "[[%zu,%zu]]", s->good, s->bad);
    const struct qs_model_row row = {.kind = "sustained",
                                     .domain = s->top->name,
                                     .sensor = "",
                                     .says = !over         ? "searching"
                                             : s->good > 0 ? "ok"
                                                           : "none",
                                     .why = why.data,
                                     .tau_s = NAN,
                                     .tau_lo_s = NAN,
                                     .tau_hi_s = NAN,
                                     .end_mc = NAN,
                                     .end_lo_mc = NAN,
                                     .end_hi_mc = NAN,
                                     .sd_mc = NAN,
                                     .low_mc = s->cool_mc,
                                     .high_mc = s->hot_mc,
                                     .khz = s->good > 0 ? (int64_t)s->khz[s->good - 1] : 0,
                                     .span_s = (double)plan(job)->soak_ns / 1e9,
                                     .trace = state.data};
    const struct qs_model_rows models = {.device = job->p.device,
                                         .fingerprint = fingerprint.data,
                                         .job = job->p.job,
                                         .found_wall_ns = qs_loop_wall_ns(job->p.loop),
                                         .rows = &row,
                                         .count = 1};
    qs_job_event_soaked(job, &row);
    qs_store_models(job->p.store, &models, qs_job_run_stored, qs_job_run_awaits(job, then));
}

static void unload(struct qs_job_run *job)
{
    load(job, 0, mine(job)->good == mine(job)->bad ? next_point : cool);
}

static void point_is_over(struct qs_job_run *job, bool held)
{
    struct soak *s = mine(job);
    QS_BUF(after);
    qs_text_duration(&after, (double)(qs_loop_now_ns(job->p.loop) - s->began_ns));
    if (held) {
        s->good = s->at + 1;
    } else {
        s->bad = s->at;
        snprintf(s->why, sizeof s->why,
                 "%zu MHz was throttled (%.64s) after %s, at %.1f \xc2\xb0"
                 "C",
                 s->khz[s->at] / 1000, s->by, after.data, s->hot_mc / 1000);
    }
    store(job, unload);
}

static void loaded(struct qs_job_run *job)
{
    read_next(job);
}

static void pinned(struct qs_job_run *job)
{
    struct soak *s = mine(job);
    if (qs_job_run_over(job)) {
        leave(job);
        return;
    }
    s->cooling = false;
    s->stale = true;
    s->began_ns = qs_loop_now_ns(job->p.loop);
    tell(job);
    load(job, plan(job)->soak_ns, loaded);
}

static void next_point(struct qs_job_run *job)
{
    struct soak *s = mine(job);
    if (s->good == s->bad || qs_job_run_over(job)) {
        leave(job);
        return;
    }
    s->at = s->bad == s->count ? s->count - 1 : (s->good + s->bad) / 2;
    s->wishes = (struct qs_wishes){0};
    s->wishes.frequency[QS_DOMAIN_CPU] = qs_sustained_wish(qs_activity_lock_board(job), s->khz[s->at]);
    qs_activity_pin_hold_these(job, &s->wishes, pinned);
}

/* ---- begin ---- */

static void list_points(struct soak *s)
{
    const struct qs_board_domain *d = s->top;
    if (!d->range) {
        for (size_t i = 0; i < d->steps_khz.count && s->count < POINTS_MAX; i++)
            s->khz[s->count++] = d->steps_khz.at[i];
        return;
    }
    for (size_t i = 0; i < RANGE_POINTS; i++)
        s->khz[s->count++] = d->hw_min_khz + (d->hw_max_khz - d->hw_min_khz) * i / (RANGE_POINTS - 1);
}

void qs_soak_take(struct qs_job_run *job, const struct qs_model_info *found)
{
    struct soak *s = mine(job);
    s->over = strcmp(found->row.says, "searching") != 0;
    if (!found->row.trace || sscanf(found->row.trace, "[[%zu,%zu]]", &s->good, &s->bad) != 2)
        s->good = s->bad = 0;
}

void qs_soak_begin(struct qs_job_run *job, qs_job_run_then *then)
{
    struct soak *s = mine(job);
    const struct qs_board *board = qs_activity_lock_board(job);
    s->then = then;
    s->top = NULL;
    s->count = 0;
    s->cool_mc = s->hot_mc = NAN;
    for (size_t i = 0; i < board->domains.count; i++) {
        const struct qs_board_domain *d = &board->domains.at[i];
        if (d->kind == QS_DOMAIN_CPU && d->hold == QS_HOLD_OK && d->unit != QS_DOMAIN_RAW &&
            (!s->top || d->hw_max_khz > s->top->hw_max_khz))
            s->top = d;
    }
    if (!s->top && plan(job)->soak_ns > 0 && !s->over)
        qs_job_event_warning(
            job, "what %s sustains is not looked for: no clock of its processors can be held", job->p.device);
    if (!s->top || s->over || plan(job)->soak_ns == 0 || qs_job_run_over(job)) {
        then(job);
        return;
    }
    list_points(s);
    if (s->bad > s->count || s->bad < s->good || s->bad == 0) {
        s->good = 0;
        s->bad = s->count;
    }
    next_point(job);
}

static void stop(struct qs_job_run *job, const char *why)
{
    struct soak *s = mine(job);
    (void)why;
    qs_timer_stop(s->timer);
    *s = (struct soak){.timer = NULL};
}

const struct qs_activity qs_activity_soak = {.state_bytes = sizeof(struct soak), .stop = stop};
