/* The planner's turn: it hears of every counted run until the least number of blocks is done, and is asked
 * once. */
#include "device/job/ask_planner.h"

#include "base/loop.h"
#include "device/job/impl.h"
#include "device/job/events.h"
#include "proto/limits.h"

enum { PILOT_BLOCKS = 3 };

static bool names_planner(const struct qs_rule *rule)
{
    bool found = rule->kind == QS_RULE_PLANNER;
    for (size_t i = 0; i < rule->child_count; i++)
        found = found || names_planner(&rule->child[i]);
    return found;
}

static const struct qs_rule *stop_of(const struct qs_job_run *job, size_t arm)
{
    return qs_job_conditions(job->p.spec, job->schedule.point, arm)->enough.stop;
}

/* The most iterations that a cap lets an arm have whose runs a rule ends; 0: there is no such arm. */
static size_t most_of_rules(const struct qs_job_run *job)
{
    size_t most = 0;
    for (size_t a = 0; a < job->p.spec->arm_count; a++) {
        size_t cap = qs_job_conditions(job->p.spec, job->schedule.point, a)->enough.cap_iterations;
        most = stop_of(job, a) && cap > most ? cap : most;
    }
    return most;
}

void qs_planning_begin(struct qs_job_run *job)
{
    const struct qs_job_plan *plan = &job->p.spec->plan;
    if (job->planning.points > job->schedule.point)
        return; /* the device was lost and came back */
    job->planning.points = job->schedule.point + 1;
    qs_planner_free(job->planning.planner);
    job->planning.planner = NULL;
    job->planning.iterations = 0;
    bool wanted = plan->precision_ratio > 0;
    for (size_t a = 0; a < job->p.spec->arm_count; a++) {
        const struct qs_rule *stop = stop_of(job, a);
        wanted = wanted || (stop && names_planner(stop));
    }
    if (wanted)
        job->planning.planner = qs_planner_new(job->p.spec->arm_count);
}

void qs_planning_run(struct qs_job_run *job)
{
    const struct qs_run_in_hand *run = &job->run;
    int64_t spent_ns = run->windows_ns > run->measured_ns ? run->windows_ns : run->measured_ns;
    if (job->planning.planner && run->clean_n > run->warmup_n)
        qs_planner_add(job->planning.planner, qs_schedule_arm(&job->schedule), run->clean_ns + run->warmup_n,
                       run->clean_n - run->warmup_n, spent_ns, (size_t)(run->stored_n - job->run.traced_n),
                       qs_loop_now_ns(job->p.loop) - run->began_ns);
}

/* A window may be as long as the job allows and its iterations as many as the wire; a rule has caps instead.
 */
static size_t most_iterations(const struct qs_job_run *job)
{
    const struct qs_job_plan *plan = &job->p.spec->plan;
    int64_t slowest_ns = 1;
    if (most_of_rules(job) > 0)
        return most_of_rules(job);
    for (size_t a = 0; a < job->p.spec->arm_count; a++)
        slowest_ns = job->schedule.pilot_ns[a] > slowest_ns ? job->schedule.pilot_ns[a] : slowest_ns;
    int64_t fit = plan->window_max_ns / slowest_ns;
    return fit < 1 ? 1 : fit > QS_ITERATIONS_MAX ? QS_ITERATIONS_MAX : (size_t)fit;
}

/* Ten, or what `auto` found enough. */
static size_t least_iterations(const struct qs_job_run *job)
{
    enum { LEAST = 2, FLOOR = 10 };
    uint32_t r = job->schedule.run_iterations;
    return r < LEAST ? LEAST : r > FLOOR ? FLOOR : r;
}

void qs_planning_block(struct qs_job_run *job)
{
    const struct qs_job_plan *plan = &job->p.spec->plan;
    struct qs_planner_answer answer;
    if (!job->planning.planner || job->schedule.blocks_done < PILOT_BLOCKS ||
        job->schedule.blocks_done < plan->blocks_min)
        return;
    bool rules = most_of_rules(job) > 0, fixed = !rules && plan->window_iterations > 0;
    struct qs_planner_wish wish = {.half_width_ratio = plan->interval_ratio > 0 ? plan->interval_ratio : 0.01,
                                   .level = 1 - job->p.spec->alpha,
                                   .iterations_least =
                                       fixed ? plan->window_iterations : least_iterations(job),
                                   .iterations_most = fixed ? plan->window_iterations : most_iterations(job),
                                   .runs_least = plan->blocks_min,
                                   .runs_most = plan->blocks_max};
    if (wish.iterations_most < wish.iterations_least)
        wish.iterations_least = wish.iterations_most;
    if (!qs_planner_ask(job->planning.planner, &wish, &answer))
        return; /* too few runs of this life of the daemon: after the next block again */
    job->planning.iterations = answer.iterations;
    job->schedule.planned_blocks = (uint32_t)answer.runs;
    if (!rules && !fixed)
        qs_schedule_set_iterations(&job->schedule, (uint32_t)answer.iterations);
    qs_job_event_planned(job, &answer);
    qs_planner_free(job->planning.planner);
    job->planning.planner = NULL;
}
