/* The job run's actions on sessions, runs and windows. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/loop.h"
#include "base/mem.h"
#include "base/text.h"
#include "device/job/impl.h"
#include "device/job/events.h"

void qs_job_run_do_begin_session(struct qs_job_run *job)
{
    qs_loop_random(job->p.loop, job->session_uid, sizeof job->session_uid);
    struct qs_session_row row = {.job = job->p.job,
                                 .device = job->p.device,
                                 .boot_uuid = job->boot_uuid,
                                 .env_json = job->facts_json,
                                 .started_wall_ns = qs_loop_wall_ns(job->p.loop)};
    memcpy(row.uid, job->session_uid, sizeof row.uid);
    job->session_open = true;
    qs_store_done_fn *fn;
    void *user;
    qs_job_run_store_request(job, QS_JI_STORED, &fn, &user);
    qs_store_session_begin(job->p.store, &row, fn, user);
}

void qs_job_run_do_lock(struct qs_job_run *job)
{
    /* Affinity goes with each run, the gate with each window; nothing else of the device is changed. */
    if (!job->told_start) {
        job->told_start = true;
        qs_job_event_start(job);
    }
    qs_job_run_feed(job, QS_JI_LOCKED);
}

void qs_job_run_mark_interrupted(struct qs_job_run *job, const struct qs_uid *uid, const struct qs_err *err)
{
    struct qs_run_end_row end = {.state = job->cancelled ? QS_RUN_CANCELLED : QS_RUN_INTERRUPTED,
                                 .taint = QS_TAINT_INTERRUPTED,
                                 .error_slug = err->code ? qs_errc_slug(err->code) : NULL,
                                 .error_text = err->code ? err->text : NULL,
                                 .ended_wall_ns = qs_loop_wall_ns(job->p.loop)};
    memcpy(end.uid, uid->b, sizeof end.uid);
    qs_store_done_fn *fn;
    void *user;
    qs_job_run_store_quiet(job, &fn, &user);
    qs_store_run_end(job->p.store, &end, fn, user);
}

static void interrupt_block(struct qs_job_run *job, const struct qs_err *err)
{
    for (size_t i = 0; i < job->block_runs; i++)
        qs_job_run_mark_interrupted(job, &job->block_uids[i], err);
    job->block_runs = 0;
}

static void begin_block(struct qs_job_run *job)
{
    job->block_began_ns = qs_loop_now_ns(job->p.loop);
    job->block_runs = 0;
    qs_plan_block_begins(&job->plan, job->block_began_ns);
}

void qs_job_run_do_begin_run(struct qs_job_run *job)
{
    if (job->plan.turn == 0)
        begin_block(job);
    struct qs_run_in_hand *run = &job->run;
    free(run->clean_ns);
    free(run->soft_ns);
    qs_controller_free(run->stop_rule);
    *run = (struct qs_run_in_hand){0};
    run->began_ns = qs_loop_now_ns(job->p.loop);
    job->artifacts.kept = 0;
    qs_job_run_trace_reset(job);
    qs_loop_random(job->p.loop, run->uid.b, sizeof run->uid.b);
    job->block_spoiled[job->block_runs] = false;
    job->block_uids[job->block_runs++] = run->uid;
    struct qs_run_row row = {.job = job->p.job,
                             .arm = (uint32_t)qs_plan_arm(&job->plan),
                             .point = (uint32_t)job->plan.point,
                             .block = job->plan.block,
                             .pos = (uint32_t)job->plan.turn,
                             .attempt = job->plan.attempt,
                             .started_wall_ns = qs_loop_wall_ns(job->p.loop)};
    memcpy(row.uid, run->uid.b, sizeof row.uid);
    memcpy(row.session_uid, job->session_uid, sizeof row.session_uid);
    qs_store_done_fn *fn;
    void *user;
    struct qs_buf program;
    qs_buf_init(&program);
    if (qs_job_run_is_harness(job)) {
        qs_job_run_harness_draw(job);
        qs_job_run_harness_json(job, &program);
        row.harness_json = program.data;
    }
    struct qs_form form = {0};
    if (qs_job_run_is_stream(job)) {
        qs_job_form(job->p.spec, qs_plan_arm(&job->plan), job->plan.point, &form);
        qs_form_json(&form, &program);
        row.stream_json = program.data;
        qs_form_done(&form);
    }
    qs_job_run_store_request(job, QS_JI_STORED, &fn, &user);
    qs_store_run_begin(job->p.store, &row, fn, user);
    qs_buf_done(&program);
}

static void on_run_ready(const union qs_msg *reply, const struct qs_err *refused, void *user)
{
    static const uint8_t unread[QS_SHA256_BYTES];
    struct qs_job_run *job = user;
    if (refused) {
        qs_job_run_refused(job, refused);
        return;
    }
    const struct qs_msg_run_ready *m = &reply->run_ready;
    job->run.open_on_agent = true;
    qs_job_run_harness_ready(job, m);
    qs_text_copy(m->executable, job->run.exe_path, sizeof job->run.exe_path);
    if (memcmp(m->sha256, unread, sizeof unread) != 0)
        qs_hex(m->sha256, sizeof m->sha256, job->run.exe_sha256);
    qs_job_run_feed(job, QS_JI_RUN_READY);
}

/* The run is known on disk before the device can hold iterations of it. */
void qs_job_run_do_send_run(struct qs_job_run *job)
{
    struct qs_err err = QS_ERR_INIT;
    if (qs_job_run_over(job)) {
        qs_job_run_feed(job, QS_JI_RUN_OVER);
    } else if (!qs_job_run_send_run_begin(job, on_run_ready, &err)) {
        qs_job_run_unsent(job, &err);
    }
}

void qs_job_run_do_open_window(struct qs_job_run *job)
{
    enum { ANNOUNCE_NS = 2000000000 };
    struct qs_err err = QS_ERR_INIT;
    qs_job_run_window_reset(job);
    int64_t predicted_ns = qs_plan_predict_ns(&job->plan);
    if (predicted_ns > ANNOUNCE_NS)
        qs_job_event_announce(job, predicted_ns);
    job->run.tried++;
    if (!qs_job_run_send_open(job, &err)) {
        qs_job_run_unsent(job, &err);
    } else if (qs_job_run_over(job)) {
        qs_job_run_do_cancel_wait(job); /* cancelled while the run was being opened */
    }
}

void qs_job_run_do_silence(struct qs_job_run *job)
{
    qs_job_run_set_silence(job, true);
}

void qs_job_run_do_unsilence(struct qs_job_run *job)
{
    qs_job_run_give_token(job);
    qs_job_run_set_silence(job, false);
}

void qs_job_run_do_cancel_wait(struct qs_job_run *job)
{
    struct qs_err err = QS_ERR_INIT;
    const char *why = job->cancel_why ? job->cancel_why : "the job ends";
    /* A link that is gone reports itself; there is nobody to cancel then. A hook has no run. */
    (void)qs_session_cancel(job->p.session, &job->run.uid, why, &err);
}

void qs_job_run_do_collect(struct qs_job_run *job)
{
    qs_job_run_set_silence(job, false);
    if (job->win.made.rows_n == job->win.made.closed.iterations)
        qs_job_run_window_whole(job);
}

void qs_job_run_do_end_run(struct qs_job_run *job)
{
    qs_job_run_give_token(job);
    qs_job_run_set_silence(job, false);
    if (job->run.open_on_agent)
        qs_job_run_artifacts_begin(job);
    else
        qs_job_run_feed(job, QS_JI_RUN_ENDED);
}

static void store_run_end(struct qs_job_run *job, bool spoiled)
{
    const struct qs_err *err = job->err.code ? &job->err : &job->run.err;
    struct qs_run_end_row end = {.state = job->cancelled ? QS_RUN_CANCELLED
                                          : spoiled      ? QS_RUN_FAILED
                                                         : QS_RUN_DONE,
                                 .taint = job->run.taint,
                                 .stop_reason = job->run.stop_reason[0] ? job->run.stop_reason : NULL,
                                 .warmup_n = (uint32_t)job->run.warmup_n,
                                 .error_slug = err->code && spoiled ? qs_errc_slug(err->code) : NULL,
                                 .error_text = err->code && spoiled ? err->text : NULL,
                                 .exe_path = job->run.exe_path[0] ? job->run.exe_path : NULL,
                                 .exe_sha256 = job->run.exe_sha256[0] ? job->run.exe_sha256 : NULL,
                                 .ended_wall_ns = qs_loop_wall_ns(job->p.loop)};
    memcpy(end.uid, job->run.uid.b, sizeof end.uid);
    qs_store_done_fn *fn;
    void *user;
    struct qs_buf program;
    qs_buf_init(&program);
    if (qs_job_run_is_harness(job)) {
        qs_job_run_harness_json(job, &program);
        end.harness_json = program.data;
    }
    qs_job_run_store_quiet(job, &fn, &user);
    qs_store_run_end(job->p.store, &end, fn, user);
    qs_buf_done(&program);
}

static bool block_is_spoiled(const struct qs_job_run *job)
{
    for (size_t a = 0; a < job->p.spec->arm_count; a++) {
        if (job->plan.block > 0 && !isfinite(job->plan.current_ns[a]))
            return true;
    }
    return false;
}

/* What was good of it is there once more: it must not count twice. */
static void set_block_aside(struct qs_job_run *job, const char *why)
{
    struct qs_err err = QS_ERR_INIT;
    qs_fail(&err, QS_E_COMMAND, "the block was repeated: %s", why);
    for (size_t i = 0; i < job->block_runs; i++) {
        if (!job->block_spoiled[i])
            qs_job_run_mark_interrupted(job, &job->block_uids[i], &err);
    }
}

/* True where the same block is tried again. */
static bool repeat_spoiled(struct qs_job_run *job)
{
    if (!block_is_spoiled(job)) {
        job->failed_blocks = 0;
        return false;
    }
    if (job->plan.repeats < qs_job_repeats(job->p.spec, job->plan.point)) {
        static const char why[] = "a run gave no accepted iteration";
        set_block_aside(job, why);
        qs_job_event_repeat(job, why);
        qs_plan_repeat_block(&job->plan);
        return true;
    }
    enum { GIVE_UP = 3 };
    if (++job->failed_blocks >= GIVE_UP) {
        struct qs_err err = QS_ERR_INIT;
        qs_fail(&err, QS_E_COMMAND,
                "%d blocks in a row gave no accepted iteration for every arm; the taints of the runs say why",
                GIVE_UP);
        qs_job_run_fail(job, &err);
    }
    return false;
}

static void block_over(struct qs_job_run *job)
{
    if (repeat_spoiled(job)) {
        qs_job_run_feed(job, QS_JI_NEXT_RUN);
        return;
    }
    int64_t now_ns = qs_loop_now_ns(job->p.loop);
    bool pilot = job->plan.block == 0;
    qs_plan_block_done(&job->plan, now_ns - job->block_began_ns);
    job->block_runs = 0;
    if (pilot) {
        qs_job_event_plan(job);
    } else {
        qs_job_run_planner_block(job);
        double half = qs_plan_half_width(&job->plan);
        qs_job_event_block(job, half);
        enum qs_plan_stop stop = qs_plan_enough(&job->plan, half, now_ns);
        if (stop != QS_PLAN_GO_ON) {
            job->stop = stop;
            job->point_over = true;
        }
    }
    qs_job_run_feed(job, job->point_over || qs_job_run_over(job) ? QS_JI_POINT_OVER : QS_JI_NEXT_RUN);
}

void qs_job_run_do_next(struct qs_job_run *job)
{
    double median_ns = job->plan.block == 0 ? (double)job->run.last_ns : qs_job_run_run_median(job);
    bool spoiled = !(median_ns > 0) || job->failed;
    store_run_end(job, spoiled);
    if (job->block_runs > 0)
        job->block_spoiled[job->block_runs - 1] = spoiled;
    qs_job_event_run(job);
    if (qs_job_run_over(job)) {
        /* The run in hand has its own end already; pilots are no block that could lack an arm. */
        job->block_runs -= job->block_runs > 0 ? 1 : 0;
        if (job->plan.block > 0)
            interrupt_block(job, &job->err);
        job->block_runs = 0;
        qs_job_run_feed(job, QS_JI_POINT_OVER);
        return;
    }
    if (job->plan.block == 0)
        qs_job_event_pilot(job, qs_plan_arm(&job->plan), job->run.last_ns);
    else
        qs_job_run_planner_run(job);
    qs_plan_turn_done(&job->plan, median_ns, job->run.clean_n == 0);
    if (qs_plan_next_turn(&job->plan))
        qs_job_run_feed(job, QS_JI_NEXT_RUN);
    else
        block_over(job);
}

void qs_job_run_do_advance(struct qs_job_run *job)
{
    if (qs_job_run_over(job) || !qs_plan_next_point(&job->plan)) {
        qs_job_run_feed(job, QS_JI_ALL_OVER);
        return;
    }
    job->point_over = false;
    job->failed_blocks = 0;
    qs_job_run_feed(job, QS_JI_NEXT_POINT);
}

void qs_job_run_do_restore(struct qs_job_run *job)
{
    /* Nothing else of the device was changed that would have to be put back; the session's end is the record
     * of that. */
    qs_job_run_push_stop(job);
    qs_store_done_fn *fn;
    void *user;
    qs_job_run_store_request(job, QS_JI_STORED, &fn, &user);
    qs_store_session_end(job->p.store, job->session_uid, qs_loop_wall_ns(job->p.loop),
                         job->failed ? job->err.text : NULL, fn, user);
    job->session_open = false;
}

/* A session that ends without its device is closed on disk all the same. */
static void close_session(struct qs_job_run *job, const char *why)
{
    if (!job->session_open)
        return;
    job->session_open = false;
    qs_store_done_fn *fn;
    void *user;
    qs_job_run_store_quiet(job, &fn, &user);
    qs_store_session_end(job->p.store, job->session_uid, qs_loop_wall_ns(job->p.loop), why, fn, user);
}

static void on_lost_too_long(void *user)
{
    struct qs_job_run *job = user;
    job->lost_timer = NULL;
    struct qs_err err = QS_ERR_INIT;
    qs_fail(&err, QS_E_LINK, "%s did not come back within %d s: %s", job->p.device, QS_JOB_RUN_LOST_S,
            job->run.err.text);
    qs_job_run_fail(job, &err);
    qs_job_run_feed(job, QS_JI_FAIL);
}

void qs_job_run_do_lose(struct qs_job_run *job)
{
    struct qs_err why = job->run.err;
    qs_job_run_artifacts_stop(job);
    qs_job_run_fetch_stop(job);
    qs_job_run_push_stop(job);
    qs_job_run_host_stop(job);
    qs_job_run_give_token(job);
    qs_job_run_set_silence(job, false);
    job->epoch++;
    job->in_hooks = false;
    qs_job_run_window_reset(job);
    if (job->run.open_on_agent || job->plan.turn > 0 || job->block_runs > 0)
        qs_job_event_repeat(job, why.text);
    interrupt_block(job, &why);
    close_session(job, why.text);
    memset(&job->run.uid, 0, sizeof job->run.uid);
    job->run.open_on_agent = false;
    qs_job_event_lost(job, why.text);
    qs_plan_repeat_block(&job->plan);
    if (job->plan.repeats > QS_JOB_RUN_REPEATS_MAX) {
        struct qs_err err = QS_ERR_INIT;
        qs_fail(&err, QS_E_LINK, "%s was lost %d times in one block, the last time: %s", job->p.device,
                QS_JOB_RUN_REPEATS_MAX, why.text);
        qs_job_run_fail(job, &err);
    }
    if (qs_job_run_over(job))
        qs_job_run_feed(job, QS_JI_FAIL);
    else
        job->lost_timer =
            qs_timer_start(job->p.loop, QS_JOB_RUN_LOST_S * INT64_C(1000000000), on_lost_too_long, job);
}

void qs_job_run_do_finish(struct qs_job_run *job)
{
    qs_timer_stop(job->lost_timer);
    job->lost_timer = NULL;
    qs_job_run_artifacts_stop(job);
    qs_job_run_fetch_stop(job);
    qs_job_run_push_stop(job);
    qs_job_run_host_stop(job);
    qs_job_run_give_token(job);
    qs_job_run_set_silence(job, false);
    struct qs_err none = QS_ERR_INIT;
    interrupt_block(job, job->failed ? &job->err : &none);
    close_session(job, job->failed ? job->err.text : "abandoned");
    struct qs_job_run_result result = {
        .end = job->end, .err = job->err, .stopped = qs_plan_stop_name(job->stop)};
    if (job->failed)
        result.end = QS_END_FAILED;
    else if (job->cancelled)
        result.end = QS_END_CANCELLED;
    job->events.on_end(&result, job->events.user);
}
