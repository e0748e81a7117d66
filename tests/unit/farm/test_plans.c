/* Whole jobs over a link that misbehaves by a seeded plan: the real farm, job run, session, codec and store,
 * and the agent's core, in virtual time. Each job ends, and then the database has exactly what the agent has
 * measured.
 *
 *   test_farm_plans FIRST LAST    these seeds; QS_SEED=N in the environment: this one alone, and its plan */
#include "story.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "faulty.h"
#include "ledger.h"
#include "stats/rng.h"

enum { FAILURES_MAX = 5 };

static const char farm_text[] = "devices: {board: {link: sim, sim_seed: 3}}\n";

static const char *const jobs[] = {
    "quiesce: 1\n"
    "benchmarks: [{name: pretend, argv: [sim, \"1000000\"], setup: [sim], cleanup: [sim]}]\n"
    "arms: {a: {env: {A: x}}, b: {env: {A: y}}}\n"
    "plan: {seed: 5, blocks: 2, until: {interval: 0%}, window: {iterations: 3}}\n"
    "conditions: {gate: none}\n",
    /* long windows, several a run, with processes around each iteration */
    "quiesce: 1\n"
    "benchmarks: [{name: pretend, argv: [sim, \"400000000\"], prepare: [sim, \"20000\"], conclude: [sim],\n"
    "  exit: any}]\n"
    "arms: {a: {env: {A: x}}, b: {env: {A: y}, argv: [sim, \"300000000\", exit=3]}}\n"
    "plan: {seed: 5, blocks: 2, warmup: {iterations: 1}, window: {iterations: 4}, stop: {fixed: 8}}\n"
    "conditions: {gate: [{sensor: \"thermal:sim\", below: 40C, timeout: 20s, on_timeout: taint}]}\n",
    "quiesce: 1\n"
    "benchmarks: [{name: pretend, mode: harness, argv: [sim, \"200000\"], benchmark: w}]\n"
    "arms: {a: {env: {A: x}}, b: {argv: [sim, \"260000\"]}}\n"
    "plan: {seed: 1, blocks: {min: 2, max: 2}, window: {iterations: 20}}\n"
    "conditions: {gate: none}\n",
};

enum { JOBS = sizeof jobs / sizeof *jobs };

static uint64_t first_seed = 1, last_seed = 20;
static bool tells;
static struct faulty_usual usual[JOBS], taken;
static struct {
    unsigned plans, done, failed, cancelled;
    unsigned struck[FAULT_KINDS];
    size_t iterations, disturbed;
} tally;

static void on_end(void)
{
    taken = faulty_taken();
    faulty_heal();
}

static void judge(const struct story *s, struct qs_buf *problems)
{
    story_judge(s, problems);
    if (story_is(s, "SELECT state = 'done' FROM job") &&
        !story_is(s, "SELECT count(*) = 4 FROM run WHERE block > 0 AND state = 'done'"))
        qs_buf_str(problems, "  not each arm has a run in each block\n");
    ledger_compare(s->base.db, problems);
}

static void count(const struct story *s)
{
    tally.plans++;
    tally.done += story_is(s, "SELECT state = 'done' FROM job");
    tally.failed += story_is(s, "SELECT state = 'failed' FROM job");
    tally.cancelled += story_is(s, "SELECT state = 'cancelled' FROM job");
    for (int k = 0; k < FAULT_KINDS; k++)
        tally.struck[k] += faulty_struck((enum fault_kind)k);
    tally.iterations += ledger_count();
    tally.disturbed += ledger_disturbed();
}

/* Some jobs are cancelled on their way. */
static int64_t cancel_ns(uint64_t seed)
{
    struct qs_rng rng;
    qs_rng_seed(&rng, seed, 1);
    return qs_rng_below(&rng, 8) == 0 ? 1 + (int64_t)qs_rng_below(&rng, 60 * STORY_SECOND_NS) : 0;
}

/* The seed's plan from beginning to end; true where all is as it should be. */
static bool holds(uint64_t seed)
{
    struct story s = {.farm = farm_text,
                      .job = jobs[seed % JOBS],
                      .seed = seed,
                      .cancel_ns = cancel_ns(seed),
                      .on_end = on_end};
    QS_BUF(problems);
    QS_BUF(plan);
    ledger_begin();
    faulty_begin("board", seed, &usual[seed % JOBS]);
    story_run(&s);
    judge(&s, &problems);
    count(&s);
    faulty_text(&plan);
    if (tells || problems.len > 0) {
        print_message("# QS_SEED=%llu\n", (unsigned long long)seed);
        story_tell(plan.data);
        story_tell(problems.len > 0 ? problems.data : "  as it should be");
    }
    faulty_end();
    story_done(&s);
    ledger_end();
    return problems.len == 0;
}

/* A link without faults: what comes is untainted. It tells how many bytes a job takes, and how long. */
static void nothing_is_tainted_without_faults(void **state)
{
    (void)state;
    for (size_t j = 0; j < JOBS; j++) {
        struct story s = {.farm = farm_text, .job = jobs[j], .on_end = on_end};
        QS_BUF(problems);
        ledger_begin();
        faulty_begin("board", 0, NULL);
        story_run(&s);
        judge(&s, &problems);
        QS_FREED char *end = story_value(&s, "SELECT state || ' ' || reason FROM job");
        assert_string_equal(end, "done blocks");
        assert_string_equal(problems.data ? problems.data : "", "");
        assert_true(story_is(&s, "SELECT count(*) >= 12 FROM v_iteration WHERE block > 0"));
        assert_true(story_is(&s, "SELECT count(*) = 0 FROM v_iteration WHERE block > 0 AND taint <> 0"));
        usual[j] = taken;
        faulty_end();
        story_done(&s);
        ledger_end();
    }
}

static void each_plan_ends_with_what_was_measured(void **state)
{
    unsigned failures = 0;
    (void)state;
    for (uint64_t seed = first_seed; seed <= last_seed && failures < FAILURES_MAX; seed++)
        failures += !holds(seed);
    print_message(
        "# %u plans: %u jobs done, %u failed, %u cancelled; %zu iterations, %zu windows disturbed\n#",
        tally.plans, tally.done, tally.failed, tally.cancelled, tally.iterations, tally.disturbed);
    for (int k = 0; k < FAULT_KINDS; k++)
        print_message(" %u %s", tally.struck[k], fault_name((enum fault_kind)k));
    print_message("\n");
    assert_int_equal(failures, 0);
    if (first_seed == last_seed)
        return;
    for (int k = 0; k < FAULT_KINDS; k++)
        assert_true(tally.struck[k] > 0);
    assert_true(tally.disturbed > 0);
    assert_true(tally.done > tally.plans / 2);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_tainted_without_faults),
        cmocka_unit_test(each_plan_ends_with_what_was_measured),
    };
    const char *seed = getenv("QS_SEED");
    tells = seed != NULL;
    first_seed = seed ? strtoull(seed, NULL, 10) : argc > 1 ? strtoull(argv[1], NULL, 10) : first_seed;
    last_seed = seed ? first_seed : argc > 2 ? strtoull(argv[2], NULL, 10) : last_seed;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
