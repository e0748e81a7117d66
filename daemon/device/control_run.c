/* The controller's actions on sessions, runs and windows. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/loop.h"
#include "base/mem.h"
#include "base/text.h"
#include "device/control_impl.h"
#include "device/control_news.h"

void qs_control_do_begin_session(struct qs_control *c)
{
    qs_loop_random(c->p.loop, c->session_uid, sizeof c->session_uid);
    struct qs_session_row row = {.job = c->p.job,
                                 .device = c->p.device,
                                 .boot_uuid = c->boot_uuid,
                                 .env_json = c->facts_json,
                                 .started_wall_ns = qs_loop_wall_ns(c->p.loop)};
    memcpy(row.uid, c->session_uid, sizeof row.uid);
    c->session_open = true;
    qs_store_done_fn *fn;
    void *user;
    qs_control_store_request(c, QS_CE_STORED, &fn, &user);
    qs_store_session_begin(c->p.store, &row, fn, user);
}

void qs_control_do_lock(struct qs_control *c)
{
    /* Affinity goes with each run, the gate with each window; nothing else of the device is changed. */
    if (!c->started_news) {
        c->started_news = true;
        qs_control_news_start(c);
    }
    qs_control_feed(c, QS_CE_LOCKED);
}

void qs_control_mark_interrupted(struct qs_control *c, const struct qs_uid *uid, const struct qs_err *err)
{
    struct qs_run_end_row end = {.state = c->cancelled ? QS_RUN_CANCELLED : QS_RUN_INTERRUPTED,
                                 .taint = QS_TAINT_INTERRUPTED,
                                 .error_slug = err->code ? qs_errc_slug(err->code) : NULL,
                                 .error_text = err->code ? err->text : NULL,
                                 .ended_wall_ns = qs_loop_wall_ns(c->p.loop)};
    memcpy(end.uid, uid->b, sizeof end.uid);
    qs_store_done_fn *fn;
    void *user;
    qs_control_store_quiet(c, &fn, &user);
    qs_store_run_end(c->p.store, &end, fn, user);
}

static void interrupt_block(struct qs_control *c, const struct qs_err *err)
{
    for (size_t i = 0; i < c->block_runs; i++)
        qs_control_mark_interrupted(c, &c->block_uids[i], err);
    c->block_runs = 0;
}

static void begin_block(struct qs_control *c)
{
    c->block_began_ns = qs_loop_now_ns(c->p.loop);
    c->block_runs = 0;
    qs_plan_block_begins(&c->plan, c->block_began_ns);
}

void qs_control_do_begin_run(struct qs_control *c)
{
    if (c->plan.turn == 0)
        begin_block(c);
    struct qs_control_run *run = &c->run;
    free(run->clean_ns);
    free(run->soft_ns);
    qs_controller_free(run->rule);
    *run = (struct qs_control_run){0};
    run->began_ns = qs_loop_now_ns(c->p.loop);
    c->left.kept = 0;
    qs_control_trace_reset(c);
    qs_loop_random(c->p.loop, run->uid.b, sizeof run->uid.b);
    c->block_spoiled[c->block_runs] = false;
    c->block_uids[c->block_runs++] = run->uid;
    struct qs_run_row row = {.job = c->p.job,
                             .arm = (uint32_t)qs_plan_arm(&c->plan),
                             .point = (uint32_t)c->plan.point,
                             .block = c->plan.block,
                             .pos = (uint32_t)c->plan.turn,
                             .attempt = c->plan.attempt,
                             .started_wall_ns = qs_loop_wall_ns(c->p.loop)};
    memcpy(row.uid, run->uid.b, sizeof row.uid);
    memcpy(row.session_uid, c->session_uid, sizeof row.session_uid);
    qs_store_done_fn *fn;
    void *user;
    struct qs_buf program;
    qs_buf_init(&program);
    if (qs_control_is_harness(c)) {
        qs_control_harness_draw(c);
        qs_control_harness_json(c, &program);
        row.harness_json = program.data;
    }
    struct qs_form form = {0};
    if (qs_control_is_stream(c)) {
        qs_job_form(c->p.spec, qs_plan_arm(&c->plan), c->plan.point, &form);
        qs_form_json(&form, &program);
        row.stream_json = program.data;
        qs_form_done(&form);
    }
    qs_control_store_request(c, QS_CE_STORED, &fn, &user);
    qs_store_run_begin(c->p.store, &row, fn, user);
    qs_buf_done(&program);
}

static void on_run_ready(const union qs_msg *reply, const struct qs_err *refused, void *user)
{
    static const uint8_t unread[QS_SHA256_BYTES];
    struct qs_control *c = user;
    if (refused) {
        qs_control_refused(c, refused);
        return;
    }
    const struct qs_msg_run_ready *m = &reply->run_ready;
    c->run.open_on_agent = true;
    qs_control_harness_ready(c, m);
    qs_text_copy(m->executable, c->run.exe_path, sizeof c->run.exe_path);
    if (memcmp(m->sha256, unread, sizeof unread) != 0)
        qs_hex(m->sha256, sizeof m->sha256, c->run.exe_sha256);
    qs_control_feed(c, QS_CE_RUN_READY);
}

/* The run is known on disk before the device can hold iterations of it. */
void qs_control_do_send_run(struct qs_control *c)
{
    struct qs_err err = QS_ERR_INIT;
    if (qs_control_over(c)) {
        qs_control_feed(c, QS_CE_RUN_OVER);
    } else if (!qs_control_send_run_begin(c, on_run_ready, &err)) {
        qs_control_unsent(c, &err);
    }
}

void qs_control_do_open_window(struct qs_control *c)
{
    enum { ANNOUNCE_NS = 2000000000 };
    struct qs_err err = QS_ERR_INIT;
    qs_control_window_reset(c);
    int64_t predicted_ns = qs_plan_predict_ns(&c->plan);
    if (predicted_ns > ANNOUNCE_NS)
        qs_control_news_announce(c, predicted_ns);
    c->run.tried++;
    if (!qs_control_send_open(c, &err)) {
        qs_control_unsent(c, &err);
    } else if (qs_control_over(c)) {
        qs_control_do_cancel_wait(c); /* cancelled while the run was being opened */
    }
}

void qs_control_do_silence(struct qs_control *c)
{
    qs_control_set_silence(c, true);
}

void qs_control_do_unsilence(struct qs_control *c)
{
    qs_control_give_token(c);
    qs_control_set_silence(c, false);
}

void qs_control_do_cancel_wait(struct qs_control *c)
{
    struct qs_err err = QS_ERR_INIT;
    const char *why = c->cancel_why ? c->cancel_why : "the job ends";
    /* A link that is gone reports itself; there is nobody to cancel then. A hook has no run. */
    (void)qs_session_cancel(c->p.session, &c->run.uid, why, &err);
}

void qs_control_do_collect(struct qs_control *c)
{
    qs_control_set_silence(c, false);
    if (c->win.made.rows_n == c->win.made.closed.iterations)
        qs_control_window_whole(c);
}

void qs_control_do_end_run(struct qs_control *c)
{
    qs_control_give_token(c);
    qs_control_set_silence(c, false);
    if (c->run.open_on_agent)
        qs_control_left_begin(c);
    else
        qs_control_feed(c, QS_CE_RUN_ENDED);
}

static void store_run_end(struct qs_control *c, bool spoiled)
{
    const struct qs_err *err = c->err.code ? &c->err : &c->run.err;
    struct qs_run_end_row end = {.state = c->cancelled ? QS_RUN_CANCELLED
                                          : spoiled    ? QS_RUN_FAILED
                                                       : QS_RUN_DONE,
                                 .taint = c->run.taint,
                                 .stop_reason = c->run.stop_reason[0] ? c->run.stop_reason : NULL,
                                 .warmup_n = (uint32_t)c->run.warmup_n,
                                 .error_slug = err->code && spoiled ? qs_errc_slug(err->code) : NULL,
                                 .error_text = err->code && spoiled ? err->text : NULL,
                                 .exe_path = c->run.exe_path[0] ? c->run.exe_path : NULL,
                                 .exe_sha256 = c->run.exe_sha256[0] ? c->run.exe_sha256 : NULL,
                                 .ended_wall_ns = qs_loop_wall_ns(c->p.loop)};
    memcpy(end.uid, c->run.uid.b, sizeof end.uid);
    qs_store_done_fn *fn;
    void *user;
    struct qs_buf program;
    qs_buf_init(&program);
    if (qs_control_is_harness(c)) {
        qs_control_harness_json(c, &program);
        end.harness_json = program.data;
    }
    qs_control_store_quiet(c, &fn, &user);
    qs_store_run_end(c->p.store, &end, fn, user);
    qs_buf_done(&program);
}

static bool block_is_spoiled(const struct qs_control *c)
{
    for (size_t a = 0; a < c->p.spec->arm_count; a++) {
        if (c->plan.block > 0 && !isfinite(c->plan.current_ns[a]))
            return true;
    }
    return false;
}

/* What was good of it is there once more: it must not count twice. */
static void set_block_aside(struct qs_control *c, const char *why)
{
    struct qs_err err = QS_ERR_INIT;
    qs_fail(&err, QS_E_COMMAND, "the block was repeated: %s", why);
    for (size_t i = 0; i < c->block_runs; i++) {
        if (!c->block_spoiled[i])
            qs_control_mark_interrupted(c, &c->block_uids[i], &err);
    }
}

/* True where the same block is tried again. */
static bool repeat_spoiled(struct qs_control *c)
{
    if (!block_is_spoiled(c)) {
        c->failed_blocks = 0;
        return false;
    }
    if (c->plan.repeats < c->p.spec->plan.repeat_tainted) {
        static const char why[] = "a run gave no accepted iteration";
        set_block_aside(c, why);
        qs_control_news_repeat(c, why);
        qs_plan_repeat_block(&c->plan);
        return true;
    }
    enum { GIVE_UP = 3 };
    if (++c->failed_blocks >= GIVE_UP) {
        struct qs_err err = QS_ERR_INIT;
        qs_fail(&err, QS_E_COMMAND,
                "%d blocks in a row gave no accepted iteration for every arm; the taints of the runs say why",
                GIVE_UP);
        qs_control_fail(c, &err);
    }
    return false;
}

static void block_over(struct qs_control *c)
{
    if (repeat_spoiled(c)) {
        qs_control_feed(c, QS_CE_NEXT_RUN);
        return;
    }
    int64_t now_ns = qs_loop_now_ns(c->p.loop);
    bool pilot = c->plan.block == 0;
    qs_plan_block_done(&c->plan, now_ns - c->block_began_ns);
    c->block_runs = 0;
    if (pilot) {
        qs_control_news_plan(c);
    } else {
        qs_control_planner_block(c);
        double half = qs_plan_half_width(&c->plan);
        qs_control_news_block(c, half);
        enum qs_plan_stop stop = qs_plan_enough(&c->plan, half, now_ns);
        if (stop != QS_PLAN_GO_ON) {
            c->stop = stop;
            c->point_over = true;
        }
    }
    qs_control_feed(c, c->point_over || qs_control_over(c) ? QS_CE_POINT_OVER : QS_CE_NEXT_RUN);
}

void qs_control_do_next(struct qs_control *c)
{
    double median_ns = c->plan.block == 0 ? (double)c->run.last_ns : qs_control_run_median(c);
    bool spoiled = !(median_ns > 0) || c->failed;
    store_run_end(c, spoiled);
    if (c->block_runs > 0)
        c->block_spoiled[c->block_runs - 1] = spoiled;
    qs_control_news_run(c);
    if (qs_control_over(c)) {
        /* The run in hand has its own end already; pilots are no block that could lack an arm. */
        c->block_runs -= c->block_runs > 0 ? 1 : 0;
        if (c->plan.block > 0)
            interrupt_block(c, &c->err);
        c->block_runs = 0;
        qs_control_feed(c, QS_CE_POINT_OVER);
        return;
    }
    if (c->plan.block == 0)
        qs_control_news_pilot(c, qs_plan_arm(&c->plan), c->run.last_ns);
    else
        qs_control_planner_run(c);
    qs_plan_turn_done(&c->plan, median_ns, c->run.clean_n == 0);
    if (qs_plan_next_turn(&c->plan))
        qs_control_feed(c, QS_CE_NEXT_RUN);
    else
        block_over(c);
}

void qs_control_do_advance(struct qs_control *c)
{
    if (qs_control_over(c) || !qs_plan_next_point(&c->plan)) {
        qs_control_feed(c, QS_CE_ALL_OVER);
        return;
    }
    c->point_over = false;
    c->failed_blocks = 0;
    qs_control_feed(c, QS_CE_NEXT_POINT);
}

void qs_control_do_restore(struct qs_control *c)
{
    /* Nothing else of the device was changed that would have to be put back; the session's end is the record
     * of that. */
    qs_control_push_stop(c);
    qs_store_done_fn *fn;
    void *user;
    qs_control_store_request(c, QS_CE_STORED, &fn, &user);
    qs_store_session_end(c->p.store, c->session_uid, qs_loop_wall_ns(c->p.loop),
                         c->failed ? c->err.text : NULL, fn, user);
    c->session_open = false;
}

/* A session that ends without its device is closed on disk all the same. */
static void close_session(struct qs_control *c, const char *why)
{
    if (!c->session_open)
        return;
    c->session_open = false;
    qs_store_done_fn *fn;
    void *user;
    qs_control_store_quiet(c, &fn, &user);
    qs_store_session_end(c->p.store, c->session_uid, qs_loop_wall_ns(c->p.loop), why, fn, user);
}

static void on_lost_too_long(void *user)
{
    struct qs_control *c = user;
    c->lost_timer = NULL;
    struct qs_err err = QS_ERR_INIT;
    qs_fail(&err, QS_E_LINK, "%s did not come back within %d s: %s", c->p.device, QS_CONTROL_LOST_S,
            c->run.err.text);
    qs_control_fail(c, &err);
    qs_control_feed(c, QS_CE_FAIL);
}

void qs_control_do_lose(struct qs_control *c)
{
    struct qs_err why = c->run.err;
    qs_control_left_stop(c);
    qs_control_fetch_stop(c);
    qs_control_push_stop(c);
    qs_control_host_stop(c);
    qs_control_give_token(c);
    qs_control_set_silence(c, false);
    c->epoch++;
    c->in_hooks = false;
    qs_control_window_reset(c);
    if (c->run.open_on_agent || c->plan.turn > 0 || c->block_runs > 0)
        qs_control_news_repeat(c, why.text);
    interrupt_block(c, &why);
    close_session(c, why.text);
    memset(&c->run.uid, 0, sizeof c->run.uid);
    c->run.open_on_agent = false;
    qs_control_news_lost(c, why.text);
    qs_plan_repeat_block(&c->plan);
    if (c->plan.repeats > QS_CONTROL_REPEATS_MAX) {
        struct qs_err err = QS_ERR_INIT;
        qs_fail(&err, QS_E_LINK, "%s was lost %d times in one block, the last time: %s", c->p.device,
                QS_CONTROL_REPEATS_MAX, why.text);
        qs_control_fail(c, &err);
    }
    if (qs_control_over(c))
        qs_control_feed(c, QS_CE_FAIL);
    else
        c->lost_timer =
            qs_timer_start(c->p.loop, QS_CONTROL_LOST_S * INT64_C(1000000000), on_lost_too_long, c);
}

void qs_control_do_finish(struct qs_control *c)
{
    qs_timer_stop(c->lost_timer);
    c->lost_timer = NULL;
    qs_control_left_stop(c);
    qs_control_fetch_stop(c);
    qs_control_push_stop(c);
    qs_control_host_stop(c);
    qs_control_give_token(c);
    qs_control_set_silence(c, false);
    struct qs_err none = QS_ERR_INIT;
    interrupt_block(c, c->failed ? &c->err : &none);
    close_session(c, c->failed ? c->err.text : "abandoned");
    struct qs_control_result result = {.end = c->end, .err = c->err, .stopped = qs_plan_stop_name(c->stop)};
    if (c->failed)
        result.end = QS_END_FAILED;
    else if (c->cancelled)
        result.end = QS_END_CANCELLED;
    c->events.on_end(&result, c->events.user);
}
