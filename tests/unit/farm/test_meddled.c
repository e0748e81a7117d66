/* An agent that says what it must not, and a host that does, by seeded plans of valid frames, beside a device
 * that is as it should be: the session ends with a reason, the job ends, nothing is stored that was not
 * measured, memory stays bounded, and the other device is not disturbed.
 *
 *   test_farm_meddled FIRST LAST    these seeds; QS_SEED=N in the environment: this one alone, and its plan
 */
#include "story.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "ledger.h"
#include "meddler.h"

enum { FAILURES_MAX = 5, MOST_BYTES = 16 * 1024 * 1024, BAD_SEED = 66 };

static const char plain[] = "devices: {bad: {link: sim, sim_seed: 66}, good: {link: sim, sim_seed: 3}}\n";
static const char boards[] =
    "probe: never\n"
    "devices: {bad: {link: sim, sim_seed: 66, sim_board: " QS_TREES "/rock5b-rk3588.tree.tsv},\n"
    "          good: {link: sim, sim_seed: 3, sim_board: " QS_TREES "/rock5b-rk3588.tree.tsv}}\n";

#define PLAN "devices: {take: all}\nplan: {seed: 5, blocks: {min: 2, max: 2}, window: {iterations: 3}"

static const struct {
    const char *farm, *job;
} jobs[] = {
    {plain, "quiesce: 1\n"
            "benchmarks: [{name: pretend, argv: [sim, \"1000000\", bytes=50], setup: [sim], "
            "cleanup: [sim], output: capture}]\n"
            "arms: {a: {env: {A: x}}, b: {env: {A: y}}}\n" PLAN ", stop: {fixed: 6}}\n"
            "conditions: {gate: [{sensor: \"thermal:sim\", below: 40C, timeout: 20s, on_timeout: taint}]}\n"},
    {plain, "quiesce: 1\n"
            "benchmarks: [{name: pretend, mode: harness, argv: [sim, \"200000\"], benchmark: w}]\n"
            "arms: {a: {env: {A: x}}, b: {argv: [sim, \"260000\"]}}\n" PLAN "}\n"
            "trace: {tool: command, argv: [sim, bytes=100, \"{output}\"], every: 2}\n"
            "conditions: {gate: none}\n"},
    {boards, "quiesce: 1\n"
             "benchmarks: [{name: pretend, argv: [sim, \"1000000\"]}]\n"
             "arms: {a: {env: {A: x}}, b: {env: {A: y}}}\n" PLAN "}\n"
             "conditions: {frequency: {cpu: max}, gate: none}\n"},
};

enum { JOBS = sizeof jobs / sizeof *jobs };

static uint64_t first_seed = 1, last_seed = 20;
static bool tells;
static struct {
    unsigned plans, done, failed, acts[MEDDLE_KINDS];
    size_t iterations, most_bytes;
} tally;

static void judge(const struct story *s, struct qs_buf *problems)
{
    story_judge(s, problems);
    ledger_compare(s->base.db, problems);
    if (!story_is(s, "SELECT count(*) = 4 FROM v_run WHERE device = 'good' AND block > 0 AND state = 'done' "
                     "AND attempt = 0"))
        qs_buf_str(problems, "  the other device has not done its blocks, each at once\n");
    if (!story_is(s,
                  "SELECT count(*) = 0 FROM v_iteration WHERE device = 'good' AND block > 0 AND taint <> 0"))
        qs_buf_str(problems, "  the other device was disturbed\n");
    if (!meddler_was_named())
        qs_buf_str(problems, "  a reason does not say whose it is\n");
    if (meddler_most_bytes() > MOST_BYTES)
        qs_buf_fmt(problems, "  %zu bytes of memory were in use\n", meddler_most_bytes());
}

static void count(const struct story *s)
{
    tally.plans++;
    tally.done += story_is(s, "SELECT state = 'done' FROM job");
    tally.failed += story_is(s, "SELECT state = 'failed' FROM job");
    for (int k = 0; k < MEDDLE_KINDS; k++)
        tally.acts[k] += meddler_done((enum meddle_kind)k);
    tally.iterations += ledger_count();
    tally.most_bytes = meddler_most_bytes() > tally.most_bytes ? meddler_most_bytes() : tally.most_bytes;
}

static bool holds(uint64_t seed, bool as_host)
{
    struct story s = {
        .farm = jobs[seed % JOBS].farm, .job = jobs[seed % JOBS].job, .seed = seed, .on_end = meddler_heal};
    QS_BUF(problems);
    QS_BUF(plan);
    ledger_begin();
    ledger_distrust(BAD_SEED);
    meddler_begin("bad", seed, as_host);
    story_run(&s);
    judge(&s, &problems);
    count(&s);
    meddler_text(&plan);
    if (tells || problems.len > 0) {
        QS_FREED char *end = story_value(&s, "SELECT state || ': ' || coalesce(reason, '') FROM job");
        print_message("# QS_SEED=%llu, %s; %s\n", (unsigned long long)seed, as_host ? "host" : "agent", end);
        story_tell(plan.data);
        story_tell(problems.len > 0 ? problems.data : "  as it should be");
    }
    meddler_end();
    story_done(&s);
    ledger_end();
    return problems.len == 0;
}

static void each_plan_is_refused(bool as_host, size_t least_reasons)
{
    unsigned failures = 0;
    memset(&tally, 0, sizeof tally);
    for (uint64_t seed = first_seed; seed <= last_seed && failures < FAILURES_MAX; seed++)
        failures += !holds(seed, as_host);
    print_message("# %u plans of the %s: %u jobs done, %u failed; %zu iterations, %zu reasons, %zu KiB\n#",
                  tally.plans, as_host ? "host" : "agent", tally.done, tally.failed, tally.iterations,
                  meddler_reasons(), tally.most_bytes / 1024);
    for (int k = 0; k < MEDDLE_KINDS; k++)
        print_message(" %u %s", tally.acts[k], meddle_name((enum meddle_kind)k));
    print_message("\n");
    assert_int_equal(failures, 0);
    if (first_seed < last_seed)
        assert_true(meddler_reasons() >= least_reasons);
    for (int k = 0; k < MEDDLE_KINDS && first_seed < last_seed; k++)
        assert_true(tally.acts[k] > 0);
    meddler_forget_reasons();
}

static void an_agent_that_says_what_it_must_not(void **state)
{
    (void)state;
    each_plan_is_refused(false, 15);
}

static void a_host_that_says_what_it_must_not(void **state)
{
    (void)state;
    each_plan_is_refused(true, 15);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_agent_that_says_what_it_must_not),
        cmocka_unit_test(a_host_that_says_what_it_must_not),
    };
    const char *seed = getenv("QS_SEED");
    tells = seed != NULL;
    first_seed = seed ? strtoull(seed, NULL, 10) : argc > 1 ? strtoull(argv[1], NULL, 10) : first_seed;
    last_seed = seed ? first_seed : argc > 2 ? strtoull(argv[2], NULL, 10) : last_seed;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
