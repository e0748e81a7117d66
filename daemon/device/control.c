#include "device/control.h"

#include <stdlib.h>
#include <string.h>

#include "base/loop.h"
#include "base/mem.h"
#include "base/text.h"
#include "device/control_impl.h"
#include "device/control_news.h"

/* A store request may outlive the link, even the controller: it carries what is needed to tell. */
struct request {
    struct qs_control *c;
    uint64_t epoch;
    enum qs_control_input good;
    bool quiet;
};

static void release(struct qs_control *c)
{
    qs_plan_done(&c->plan);
    qs_control_window_reset(c);
    qs_control_left_done(c);
    qs_control_fetch_done(c);
    qs_control_push_done(c);
    free(c->run.clean_ns);
    free(c->run.soft_ns);
    qs_controller_free(c->run.rule);
    qs_planner_free(c->planner);
    qs_control_evals_done(c);
    free(c->boot_uuid);
    free(c->facts_json);
    free(c->cancel_why);
    free(c->block_uids);
    free(c->block_spoiled);
    free(c);
}

static void step(struct qs_control *c, enum qs_control_input input)
{
    const struct qs_control_row *row = qs_control_find(c->state, input);
    if (!row)
        return; /* late news of something that is over: every caller's input is harmless where the table has
                   no move */
    c->state = row->next;
    if (row->next != row->state && c->events.on_state)
        c->events.on_state(qs_control_state_text(row->state), qs_control_input_text(input),
                           qs_control_state_text(row->next), c->events.user);
    if (row->action)
        row->action(c);
}

void qs_control_feed(struct qs_control *c, enum qs_control_input input)
{
    if (c->feed_n < QS_CONTROL_FEED_MAX)
        c->feed[c->feed_n++] = input;
    if (c->stepping)
        return;
    c->stepping = true;
    while (c->feed_n > 0) {
        enum qs_control_input first = c->feed[0];
        memmove(c->feed, c->feed + 1, --c->feed_n * sizeof *c->feed);
        step(c, first);
    }
    c->stepping = false;
}

bool qs_control_answered(struct qs_control *c, uint64_t epoch)
{
    c->outstanding--;
    if (c->dead && c->outstanding == 0) {
        release(c);
        return false;
    }
    return !c->dead && epoch == c->epoch;
}

static void on_stored(const struct qs_err *err, int64_t id, void *user)
{
    (void)id;
    struct request rq = *(struct request *)user;
    free(user);
    struct qs_control *c = rq.c;
    if (!qs_control_answered(c, rq.epoch))
        return;
    if (err) {
        qs_control_fail(c, err);
        /* Where nobody waits for the answer, a window may be open: it is ended like one that is cancelled. */
        qs_control_feed(c, rq.quiet ? QS_CE_CANCEL : QS_CE_FAIL);
    } else if (!rq.quiet) {
        qs_control_feed(c, rq.good);
    }
}

static void request(struct qs_control *c, enum qs_control_input good, bool quiet, qs_store_done_fn **fn,
                    void **user)
{
    struct request *rq = qs_malloc(sizeof *rq);
    *rq = (struct request){.c = c, .epoch = c->epoch, .good = good, .quiet = quiet};
    c->outstanding++;
    *fn = on_stored;
    *user = rq;
}

void qs_control_store_request(struct qs_control *c, enum qs_control_input good, qs_store_done_fn **fn,
                              void **user)
{
    request(c, good, false, fn, user);
}

void qs_control_store_quiet(struct qs_control *c, qs_store_done_fn **fn, void **user)
{
    request(c, QS_CE_FAIL, true, fn, user);
}

void qs_control_fail(struct qs_control *c, const struct qs_err *err)
{
    if (c->failed)
        return;
    c->failed = true;
    c->err = *err;
}

bool qs_control_is_operators(const struct qs_err *err)
{
    return qs_errc_blame(err->code) == QS_BLAME_OPERATOR && err->code != QS_E_CONFLICT;
}

void qs_control_unsent(struct qs_control *c, const struct qs_err *err)
{
    if (err->code == QS_E_LINK)
        return;
    if (qs_control_is_operators(err)) {
        qs_control_fail(c, err);
        qs_control_feed(c, QS_CE_FAIL);
    } else {
        qs_session_drop(c->p.session, err);
    }
}

bool qs_control_over(const struct qs_control *c)
{
    return c->cancelled || c->failed || c->end == QS_END_DEFER || c->end == QS_END_REQUEUE;
}

/* FNV-1a: block orders are keyed by the device's name, so that they survive a change of the farm's list. */
static uint64_t name_key(const char *name)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (; *name; name++)
        h = (h ^ (uint8_t)*name) * UINT64_C(0x100000001b3);
    return h;
}

struct qs_control *qs_control_new(const struct qs_control_parts *parts,
                                  const struct qs_control_events *events)
{
    struct qs_control *c = qs_calloc(1, sizeof *c);
    c->p = *parts;
    c->events = *events;
    c->end = QS_END_DONE;
    qs_buf_init(&c->fetch.bytes);
    qs_buf_init(&c->left.output);
    qs_buf_init(&c->left.errors);
    qs_control_host_init(c);
    qs_assembler_init(&c->win.made);
    qs_plan_init(&c->plan, parts->spec, parts->seed, name_key(parts->device));
    c->block_uids = qs_calloc(2 * parts->spec->arm_count, sizeof *c->block_uids);
    c->block_spoiled = qs_calloc(2 * parts->spec->arm_count, sizeof *c->block_spoiled);
    return c;
}

void qs_control_free(struct qs_control *c)
{
    if (!c)
        return;
    qs_timer_stop(c->lost_timer);
    c->lost_timer = NULL;
    c->dead = true;
    qs_control_left_stop(c);
    qs_control_fetch_stop(c);
    qs_control_push_stop(c);
    qs_control_host_stop(c);
    if (c->outstanding == 0)
        release(c);
}

static void take_device(struct qs_control *c, const char *boot_uuid, const char *facts_json)
{
    char *boot = qs_strdup(boot_uuid), *facts = qs_control_environment(c, facts_json);
    free(c->boot_uuid);
    free(c->facts_json);
    c->boot_uuid = boot;
    c->facts_json = facts;
}

void qs_control_start(struct qs_control *c, const char *boot_uuid, const char *facts_json)
{
    take_device(c, boot_uuid, facts_json);
    c->began_ns = qs_loop_now_ns(c->p.loop);
    qs_control_feed(c, QS_CE_START);
}

void qs_control_cancel(struct qs_control *c, const char *why)
{
    if (c->cancelled)
        return;
    c->cancelled = true;
    c->cancel_why = qs_strdup(why);
    qs_control_feed(c, QS_CE_CANCEL);
}

void qs_control_abandon(struct qs_control *c)
{
    c->cancelled = true;
    qs_control_feed(c, QS_CE_ABANDON);
}

void qs_control_on_ready(struct qs_control *c, const char *boot_uuid, const char *facts_json)
{
    take_device(c, boot_uuid, facts_json);
    qs_timer_stop(c->lost_timer);
    c->lost_timer = NULL;
    if (c->state == QS_CS_LOST)
        qs_control_news_back(c);
    qs_control_feed(c, QS_CE_BACK);
}

void qs_control_on_down(struct qs_control *c, const struct qs_err *why)
{
    c->run.err = *why;
    qs_control_feed(c, QS_CE_DOWN);
}

bool qs_control_owns(const struct qs_control *c, const struct qs_uid *run)
{
    return qs_uid_equal(&c->run.uid, run) && !qs_uid_is_zero(run);
}

void qs_control_on_waiting(struct qs_control *c, const struct qs_msg_waiting *m)
{
    if (!qs_control_owns(c, &m->run) || c->state != QS_CS_GATE)
        return;
    qs_control_set_silence(c, false);
    qs_control_news_waiting(c, m);
}

const char *qs_control_waits_for(const struct qs_control *c)
{
    return c->state == QS_CS_GATE && c->win.waits_for[0] != '\0' ? c->win.waits_for : NULL;
}

void qs_control_on_quiet(struct qs_control *c)
{
    c->win.waits_for[0] = '\0';
    qs_control_feed(c, QS_CE_QUIET);
}

void qs_control_on_disarm(struct qs_control *c, const char *why)
{
    (void)why;
    qs_control_feed(c, QS_CE_DISARM);
}

void qs_control_refused(struct qs_control *c, const struct qs_err *why)
{
    bool cut_short = c->cancelled && c->state == QS_CS_RUN;
    if (!cut_short && !qs_control_is_operators(why)) {
        qs_session_drop(c->p.session, why);
        return;
    }
    if (!cut_short) /* a program whose setup was cancelled: how it ended is no news */
        qs_control_fail(c, why);
    /* What the agent refused is over for it; a window that is open there is ended first. */
    qs_control_feed(c, c->state == QS_CS_WINDOW ? QS_CE_CANCEL : QS_CE_FAIL);
}

void qs_control_on_error(struct qs_control *c, const struct qs_uid *run, const struct qs_err *err)
{
    if (qs_control_owns(c, run))
        qs_control_refused(c, err);
}

bool qs_control_call(struct qs_control *c, enum qs_msg_type type, const void *m, int64_t allow_ns,
                     qs_session_reply *on_reply, struct qs_err *err)
{
    const struct qs_call call = {.type = type, .m = m, .allow_ns = allow_ns, .on_reply = on_reply, .user = c};
    return qs_session_call(c->p.session, &call, err);
}

const char *qs_control_state_name(const struct qs_control *c)
{
    return qs_control_state_text(c->state);
}
