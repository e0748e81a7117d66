/* The planner's turn: it hears of every counted run until the least number of blocks is done, and is asked
 * once. */

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

/* A window may be as long as the job allows and its iterations as many as the wire; a rule has a cap instead.
 */
static size_t most_of_arm(const struct qs_job_run *job, size_t arm)
{
    const struct qs_job_conditions *set = qs_job_conditions(job->p.spec, job->schedule.point, arm);
    const struct qs_job_plan *plan = &job->p.spec->plan;
    uint32_t most = job->schedule.fit > 0 ? job->schedule.fit : QS_ITERATIONS_MAX;
    if (set->enough.stop)
        return set->enough.cap_iterations;
    if (plan->window_iterations > 0)
        return plan->window_iterations < most ? plan->window_iterations : most;
    int64_t pilot_ns = job->schedule.pilot_ns[arm];
    int64_t fit = plan->window_max_ns / (pilot_ns > 0 ? pilot_ns : 1);
    return fit < 1 ? 1 : fit > most ? most : (size_t)fit;
}

/* Runs of all arms are planned as one: what each of them may have. */
static size_t most_iterations(const struct qs_job_run *job)
{
    size_t most = SIZE_MAX;
    for (size_t a = 0; a < job->p.spec->arm_count; a++) {
        size_t of_arm = most_of_arm(job, a);
        most = of_arm < most ? of_arm : most;
    }
    return most;
}

/* Whether the job says how many, of an arm whose runs no rule ends. */
static bool is_fixed(const struct qs_job_run *job)
{
    bool fixed = false;
    for (size_t a = 0; a < job->p.spec->arm_count; a++)
        fixed = fixed || !stop_of(job, a);
    return fixed && job->p.spec->plan.window_iterations > 0;
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
    bool fixed = is_fixed(job);
    struct qs_planner_wish wish = {.half_width_ratio = plan->interval_ratio > 0 ? plan->interval_ratio : 0.01,
                                   .level = 1 - job->p.spec->alpha,
                                   .iterations_least =
                                       fixed ? plan->window_iterations : least_iterations(job),
                                   .iterations_most = most_iterations(job),
                                   .runs_least = plan->blocks_min,
                                   .runs_most = plan->blocks_max};
    if (wish.iterations_most < wish.iterations_least)
        wish.iterations_least = wish.iterations_most;
    if (!qs_planner_ask(job->planning.planner, &wish, &answer))
        return; /* too few runs of this life of the daemon: after the next block again */
    job->planning.iterations = answer.iterations;
    job->schedule.planned_blocks = (uint32_t)answer.runs;
    if (!fixed)
        job->schedule.planned_iterations = (uint32_t)answer.iterations;
    qs_job_event_planned(job, &answer);
    qs_planner_free(job->planning.planner);
    job->planning.planner = NULL;
}
