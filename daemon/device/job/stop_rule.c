/* When a run has enough: its stop rule over the accepted iterations, asked at window ends, and the limits
 * that hold whatever it says. */
#include <stdio.h>

#include "device/activity/host.h"
#include "device/job/impl.h"
#include "device/job/stop_rule.h"

/* The pilot has no rule. */
static bool has_rule(const struct qs_job_run *job)
{
    return job->schedule.block > 0 && qs_schedule_conditions(&job->schedule)->enough.stop != NULL;
}

void qs_stop_rule_push(struct qs_job_run *job, int64_t duration_ns, bool accepted)
{
    const struct qs_job_enough *enough = &qs_schedule_conditions(&job->schedule)->enough;
    struct qs_run_in_hand *run = &job->run;
    if (!has_rule(job))
        return;
    if (!run->stop_rule) {
        struct qs_stopping_caps caps = qs_stopping_default_caps();
        caps.time_ns = (double)enough->cap_time_ns;
        caps.iterations = enough->cap_iterations;
        run->stop_rule = qs_stopping_new(enough->stop, &caps);
    }
    bool taken = accepted && run->stop_rule &&
                 qs_stopping_push(run->stop_rule, (double)duration_ns, run->after_gap) == QS_OK;
    run->after_gap = !taken;
}

static bool limit_reached(struct qs_job_run *job)
{
    struct qs_run_in_hand *run = &job->run;
    if (run->measured_ns >= qs_job_run_benchmark(job)->run_limit_ns)
        snprintf(run->stop_reason, sizeof run->stop_reason, "limit of the run");
    else if (run->tried >= QS_JOB_RUN_WINDOWS_MAX)
        snprintf(run->stop_reason, sizeof run->stop_reason, "%d windows", QS_JOB_RUN_WINDOWS_MAX);
    else
        return false;
    return true;
}

bool qs_stop_rule_holds(struct qs_job_run *job)
{
    struct qs_run_in_hand *run = &job->run;
    if (!has_rule(job) || !run->stop_rule)
        return true;
    size_t answers;
    const struct qs_rule_answer *answer = qs_activity_host_answers(job, &answers);
    const struct qs_stopping_now now = {.measured_ns = (double)run->measured_ns,
                                        .planned = job->planning.iterations,
                                        .answers = answer,
                                        .answer_count = answers};
    enum qs_stopping_verdict verdict = qs_stopping_judge(run->stop_rule, &now);
    if (verdict < QS_STOPPING_STOP && !limit_reached(job))
        return false;
    if (verdict >= QS_STOPPING_STOP)
        snprintf(run->stop_reason, sizeof run->stop_reason, "%s", qs_stopping_reason(run->stop_rule));
    qs_activity_host_explain(job, verdict == QS_STOPPING_STOP);
    size_t from = qs_stopping_kept_from(run->stop_rule);
    run->warmup_n = from < run->clean_n ? from : 0;
    return true;
}
