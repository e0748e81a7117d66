/* A block: each arm's run in turn, kept or set aside as a whole; and what the schedule makes of it. */
#include <math.h>
#include <string.h>

#include "device/activity/harness.h"
#include "device/activity/headroom.h"
#include "device/activity/activity.h"
#include "device/job/events.h"
#include "device/job/impl.h"
#include "store/store.h"

void qs_job_run_mark_interrupted(struct qs_job_run *job, const struct qs_uid *uid, const struct qs_err *err)
{
    struct qs_run_end_row end = {.state = job->cancelled ? QS_RUN_CANCELLED : QS_RUN_INTERRUPTED,
                                 .taint = QS_TAINT_INTERRUPTED,
                                 .error_slug = err->code ? qs_errc_slug(err->code) : NULL,
                                 .error_text = err->code ? err->text : NULL,
                                 .ended_wall_ns = qs_loop_wall_ns(job->p.loop)};
    memcpy(end.uid, uid->b, sizeof end.uid);
    qs_store_run_end(job->p.store, &end, qs_job_run_stored, qs_job_run_asks(job));
}

void qs_job_run_interrupt_block(struct qs_job_run *job, const struct qs_err *err)
{
    for (size_t i = 0; i < job->block.runs; i++)
        qs_job_run_mark_interrupted(job, &job->block.uids[i], err);
    job->block.runs = 0;
}

void qs_job_run_block_begins(struct qs_job_run *job)
{
    job->block.began_ns = qs_loop_now_ns(job->p.loop);
    job->block.runs = 0;
    qs_schedule_block_begins(&job->schedule, job->block.began_ns);
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
    QS_BUF(program);
    if (qs_harness_is_on(job)) {
        qs_harness_json(job, &program);
        end.harness_json = program.data;
    }
    qs_store_run_end(job->p.store, &end, qs_job_run_stored, qs_job_run_asks(job));
}

static bool block_is_spoiled(const struct qs_job_run *job)
{
    for (size_t a = 0; a < job->p.spec->arm_count; a++) {
        if (job->schedule.block > 0 && !isfinite(job->schedule.current_ns[a]))
            return true;
    }
    return false;
}

/* What was good of it is there once more: it must not count twice. */
static void set_block_aside(struct qs_job_run *job, const char *why)
{
    struct qs_err err = QS_ERR_INIT;
    qs_fail(&err, QS_E_COMMAND, "the block was repeated: %s", why);
    for (size_t i = 0; i < job->block.runs; i++) {
        if (!job->block.spoiled[i])
            qs_job_run_mark_interrupted(job, &job->block.uids[i], &err);
    }
}

/* True where the same block is tried again. */
static bool repeat_spoiled(struct qs_job_run *job)
{
    if (!block_is_spoiled(job)) {
        job->block.failed = 0;
        return false;
    }
    if (job->schedule.repeats < qs_job_repeats(job->p.spec, job->schedule.point)) {
        static const char why[] = "a run gave no accepted iteration";
        set_block_aside(job, why);
        qs_job_event_repeat(job, why);
        qs_schedule_repeat_block(&job->schedule);
        return true;
    }
    enum { GIVE_UP = 3 };
    if (++job->block.failed >= GIVE_UP) {
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
    bool pilot = job->schedule.block == 0;
    if (pilot)
        qs_headroom_fit(job);
    qs_schedule_block_done(&job->schedule, now_ns - job->block.began_ns);
    job->block.runs = 0;
    if (pilot) {
        qs_job_event_plan(job);
        qs_headroom_tell(job);
    } else {
        qs_planning_block(job);
        double half = qs_schedule_half_width(&job->schedule);
        qs_job_event_block(job, half);
        enum qs_schedule_stop stop = qs_schedule_enough(&job->schedule, half, now_ns);
        if (stop != QS_SCHEDULE_GO_ON) {
            job->stop = stop;
            job->point.over = true;
        }
    }
    qs_job_run_feed(job, job->point.over || qs_job_run_over(job) ? QS_JI_POINT_OVER : QS_JI_NEXT_RUN);
}

static void pilot_over(struct qs_job_run *job)
{
    qs_job_event_pilot(job, qs_schedule_arm(&job->schedule), job->run.last_ns);
    qs_headroom_pilot(job);
}

static void next(struct qs_job_run *job)
{
    double median_ns = job->schedule.block == 0 ? (double)job->run.last_ns : qs_activity_window_median(job);
    bool spoiled = !(median_ns > 0) || job->failed;
    store_run_end(job, spoiled);
    if (job->block.runs > 0)
        job->block.spoiled[job->block.runs - 1] = spoiled;
    qs_job_event_run(job);
    if (qs_job_run_over(job)) {
        /* The run in hand has its own end already; pilots are no block that could lack an arm. */
        job->block.runs -= job->block.runs > 0 ? 1 : 0;
        if (job->schedule.block > 0)
            qs_job_run_interrupt_block(job, &job->err);
        job->block.runs = 0;
        qs_job_run_feed(job, QS_JI_POINT_OVER);
        return;
    }
    if (job->schedule.block == 0)
        pilot_over(job);
    else
        qs_planning_run(job);
    qs_schedule_turn_done(&job->schedule, median_ns, job->run.clean_n == 0);
    if (qs_schedule_next_turn(&job->schedule))
        qs_job_run_feed(job, QS_JI_NEXT_RUN);
    else
        block_over(job);
}

const struct qs_step qs_step_next = {.start = next};

static void advance(struct qs_job_run *job)
{
    if (qs_job_run_over(job) || !qs_schedule_next_point(&job->schedule)) {
        qs_job_run_feed(job, QS_JI_ALL_OVER);
        return;
    }
    job->point.over = false;
    job->block.failed = 0;
    qs_job_run_feed(job, QS_JI_NEXT_POINT);
}

const struct qs_step qs_step_advance = {.start = advance};
