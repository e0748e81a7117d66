/* When a run has enough: its stop rule over the accepted iterations, asked at window ends, and the limits
 * that hold whatever it says. */
#include <stdio.h>

#include "device/control_impl.h"

static const struct qs_job_benchmark *benchmark(const struct qs_control *c)
{
    return &c->p.spec->benchmarks[c->p.spec->points[c->plan.point].benchmark];
}

/* The pilot has no rule. */
static bool has_rule(const struct qs_control *c)
{
    return c->plan.block > 0 && c->p.spec->plan.stop != NULL;
}

void qs_control_stop_push(struct qs_control *c, int64_t duration_ns, bool accepted)
{
    const struct qs_job_plan *plan = &c->p.spec->plan;
    struct qs_control_run *run = &c->run;
    if (!has_rule(c))
        return;
    if (!run->rule) {
        struct qs_controller_caps caps = qs_controller_default_caps();
        caps.time_ns = (double)plan->cap_time_ns;
        caps.iterations = plan->cap_iterations;
        run->rule = qs_controller_new(plan->stop, &caps);
    }
    bool taken =
        accepted && run->rule && qs_controller_push(run->rule, (double)duration_ns, run->after_gap) == QS_OK;
    run->after_gap = !taken;
}

static bool limit_reached(struct qs_control *c)
{
    struct qs_control_run *run = &c->run;
    if (run->measured_ns >= benchmark(c)->run_limit_ns)
        snprintf(run->stop_reason, sizeof run->stop_reason, "limit of the run");
    else if (run->tried >= QS_CONTROL_WINDOWS_MAX)
        snprintf(run->stop_reason, sizeof run->stop_reason, "%d windows", QS_CONTROL_WINDOWS_MAX);
    else
        return false;
    return true;
}

bool qs_control_stop_holds(struct qs_control *c)
{
    struct qs_control_run *run = &c->run;
    if (!has_rule(c) || !run->rule)
        return true;
    const struct qs_controller_now now = {.measured_ns = (double)run->measured_ns,
                                          .planned = c->planned_iterations,
                                          .answers = c->host.answers,
                                          .answer_count = c->host.rule_count};
    enum qs_controller_verdict verdict = qs_controller_judge(run->rule, &now);
    if (verdict < QS_CONTROLLER_STOP && !limit_reached(c))
        return false;
    if (verdict >= QS_CONTROLLER_STOP)
        snprintf(run->stop_reason, sizeof run->stop_reason, "%s", qs_controller_reason(run->rule));
    qs_control_host_explain(c, verdict == QS_CONTROLLER_STOP);
    size_t from = qs_controller_kept_from(run->rule);
    run->warmup_n = from < run->clean_n ? from : 0;
    return true;
}
