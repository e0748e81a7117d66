/* A point begins: what an earlier life of the daemon stored of it counts. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "device/activity/headroom.h"
#include "device/activity/tune.h"
#include "device/job/impl.h"
#include "report/median.h"

static bool is_of_block(const struct qs_job_run *job, const struct qs_measured_run *s, uint32_t block)
{
    return s->point == job->schedule.point && s->block == block && strcmp(s->device, job->p.device) == 0 &&
           s->arm < job->p.spec->arm_count;
}

struct stored_block { /* one block at its last attempt, as an earlier life left it */
    bool any, disturbed;
    uint32_t attempt;
    size_t done;        /* runs that ended well */
    double *medians_ns; /* per arm, NaN where a turn gave nothing */
};

static void count_runs(const struct qs_job_run *job, uint32_t block, struct stored_block *b)
{
    size_t arms = job->p.spec->arm_count;
    QS_FREED size_t *n = qs_calloc(arms, sizeof *n);
    memset(b->medians_ns, 0, arms * sizeof *b->medians_ns);
    for (size_t i = 0; i < job->p.earlier->count; i++) {
        const struct qs_measured_run *s = &job->p.earlier->at[i];
        if (!is_of_block(job, s, block) || s->superseded)
            continue;
        double median_ns = qs_median_ns(s->values.at, s->values.n);
        bool well = median_ns > 0;
        b->medians_ns[s->arm] += well ? log(median_ns) : NAN;
        b->done += well ? 1 : 0;
        b->disturbed = b->disturbed || s->values.disturbed;
        n[s->arm]++;
    }
    for (size_t a = 0; a < arms; a++)
        b->medians_ns[a] = n[a] == job->schedule.turns / arms ? exp(b->medians_ns[a] / (double)n[a]) : NAN;
}

static bool find_block(const struct qs_job_run *job, uint32_t block, struct stored_block *b)
{
    *b = (struct stored_block){.medians_ns = b->medians_ns};
    for (size_t i = 0; i < job->p.earlier->count; i++) {
        const struct qs_measured_run *s = &job->p.earlier->at[i];
        if (!is_of_block(job, s, block))
            continue;
        b->any = true;
        if (s->attempt > b->attempt)
            b->attempt = s->attempt;
    }
    if (b->any)
        count_runs(job, block, b);
    return b->any;
}

/* r as it was: the longest window of the point, since a limit may have cut others short. Of arms whose runs a
 * rule ends it is as before the planner's answer. */
static void restore_iterations(struct qs_job_run *job)
{
    uint32_t longest[2] = {0};
    for (size_t i = 0; i < job->p.earlier->count; i++) {
        const struct qs_measured_run *s = &job->p.earlier->at[i];
        if (s->point != job->schedule.point || strcmp(s->device, job->p.device) != 0 ||
            s->arm >= job->p.spec->arm_count)
            continue;
        uint32_t *of = &longest[qs_job_conditions(job->p.spec, s->point, s->arm)->enough.stop != NULL];
        *of = s->window_n > *of ? s->window_n : *of;
    }
    if (job->schedule.run_iterations == 0)
        qs_schedule_set_iterations(&job->schedule, longest[1], longest[0]);
}

static bool has_later(const struct qs_job_run *job, uint32_t block, bool later_point)
{
    for (size_t i = 0; i < job->p.earlier->count; i++) {
        const struct qs_measured_run *s = &job->p.earlier->at[i];
        if (strcmp(s->device, job->p.device) != 0)
            continue;
        if (later_point ? s->point > job->schedule.point
                        : s->point == job->schedule.point && s->block > block)
            return true;
    }
    return false;
}

/* The runs of a block that the daemon's end cut short are kept, marked. */
static void mark_block(struct qs_job_run *job, uint32_t block, uint32_t attempt)
{
    struct qs_err err = QS_ERR_INIT;
    qs_fail(&err, QS_E_RESOURCE, "the daemon ended during this block");
    for (size_t i = 0; i < job->p.earlier->count; i++) {
        const struct qs_measured_run *s = &job->p.earlier->at[i];
        struct qs_uid uid;
        if (!is_of_block(job, s, block) || s->attempt != attempt)
            continue;
        memcpy(uid.b, s->run_uid, sizeof uid.b);
        qs_job_run_mark_interrupted(job, &uid, &err);
    }
}

/* Blocks that were closed count as they are, with holes where a run failed; the last one, where it is
 * incomplete, is repeated whole under new identities. A point that a later one follows was enough then and is
 * now. */
static void restore_point(struct qs_job_run *job)
{
    if (!job->p.earlier || job->point.restored > job->schedule.point)
        return;
    job->point.restored = job->schedule.point + 1;
    restore_iterations(job);
    QS_FREED double *medians_ns = qs_calloc(job->p.spec->arm_count, sizeof *medians_ns);
    struct stored_block b = {.medians_ns = medians_ns};
    for (uint32_t block = 1; find_block(job, block, &b); block++) {
        if (b.done < job->schedule.turns && !has_later(job, block, false)) {
            mark_block(job, block, b.attempt);
            qs_schedule_resume(&job->schedule, b.attempt + 1);
            break;
        }
        qs_schedule_restore_block(&job->schedule, b.medians_ns, b.disturbed);
    }
    enum qs_schedule_stop stop = qs_schedule_enough(&job->schedule, qs_schedule_half_width(&job->schedule),
                                                    qs_loop_now_ns(job->p.loop));
    if (stop == QS_SCHEDULE_GO_ON && has_later(job, 0, true))
        stop = QS_SCHEDULE_TIME;
    if (stop != QS_SCHEDULE_GO_ON) {
        job->stop = stop;
        job->point.over = true;
    }
}

void qs_job_run_point_begins(struct qs_job_run *job)
{
    qs_planning_begin(job);
    restore_point(job);
    if (qs_job_run_over(job) || job->point.over)
        return;
    qs_schedule_warm_again(&job->schedule);
    qs_activity_tune_begin(job);
    if (job->schedule.block > 0) /* no pilot comes */
        qs_headroom_tell(job);
}
