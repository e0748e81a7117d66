/* Points, blocks and turns; how many iterations a run has; when it is enough. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "device/job/schedule.h"

#define MS INT64_C(1000000)

static struct qs_job_spec *job(const char *arms, const char *plan)
{
    struct qs_job_spec *spec = NULL;
    struct qs_problems problems;
    struct qs_doc *doc = NULL;
    struct qs_buf text;
    qs_buf_init(&text);
    qs_buf_fmt(&text,
               "quiesce: 1\nbenchmarks: [{name: w, argv: [w, \"{n}\"], params: {n: [1, 2]}}]\n%splan: %s\n",
               arms, plan);
    qs_problems_init(&problems);
    bool ok = qs_doc_read("job", text.data, text.len, false, &doc, &problems) &&
              qs_job_from_doc(doc, &spec, &problems);
    if (!ok)
        fail_msg("%s", problems.count ? problems.at[0].what : "?");
    qs_doc_free(doc);
    qs_problems_done(&problems);
    qs_buf_done(&text);
    return spec;
}

static const char two[] = "arms: {a: {argv: [a]}, b: {argv: [b]}}\n";

/* One whole block with these medians. */
static void block(struct qs_schedule *p, double a, double b, int64_t ns)
{
    do
        qs_schedule_turn_done(p, qs_schedule_arm(p) == 0 ? a : b, false);
    while (qs_schedule_next_turn(p));
    qs_schedule_block_done(p, ns);
}

static void r_case(double slowest_ns, uint32_t want)
{
    struct qs_job_spec *spec = job(two, "{seed: 1}");
    struct qs_schedule p;
    qs_schedule_init(&p, spec, 1, 2);
    assert_int_equal(p.block, 0);
    assert_int_equal(qs_schedule_iterations(&p), 2); /* two uncounted processes per arm */
    assert_int_equal(qs_schedule_predict_ns(&p), 0);
    block(&p, 1, slowest_ns, 5);
    assert_int_equal(p.block, 1);
    assert_int_equal(qs_schedule_iterations(&p), want);
    assert_int_equal(p.blocks_done, 0);
    qs_schedule_done(&p);
    qs_job_free(spec);
}

/* r = clamp(ceil(50 ms / slowest pilot), 1, 50) */
static void test_pilot_fixes_r(void **state)
{
    (void)state;
    r_case(7e6, 8);
    r_case(50e6, 1);
    r_case(49.9e6, 2);
    r_case(10e6, 5);
    r_case(3e9, 1);
    r_case(100, 50);
    r_case(1e6, 50);
    r_case(NAN, 50);
}

/* What the device has time for limits r, and the least is one; the next point has its own. */
static void test_fit_limits_r(void **state)
{
    (void)state;
    static const struct {
        const char *plan;
        uint32_t fit, want, unlimited;
    } cases[] = {{"{seed: 1}", 3, 3, 8},
                 {"{seed: 1}", 8, 8, 8},
                 {"{seed: 1}", 4096, 8, 8},
                 {"{seed: 1}", 0, 1, 8},
                 {"{seed: 1, window: {iterations: 20}}", 7, 7, 20},
                 {"{seed: 1, precision: 1%, until: {time: 1min}}", 1, 1, 8}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct qs_job_spec *spec = job(two, cases[i].plan);
        struct qs_schedule p;
        qs_schedule_init(&p, spec, 1, 2);
        qs_schedule_fit(&p, cases[i].fit);
        assert_int_equal(qs_schedule_iterations(&p), 2); /* the pilot is what it was */
        block(&p, 1, 7e6, 5);
        assert_int_equal(qs_schedule_iterations(&p), cases[i].want);
        assert_int_equal(p.unlimited, cases[i].unlimited);
        block(&p, 1e6, 7e6, 5);
        qs_schedule_warm_again(&p);
        qs_schedule_fit(&p, 1);
        block(&p, 1, 7e6, 5);
        assert_int_equal(qs_schedule_iterations(&p), cases[i].want); /* as in the block before */
        assert_true(qs_schedule_next_point(&p));
        block(&p, 1, 7e6, 5);
        assert_int_equal(qs_schedule_iterations(&p), cases[i].unlimited);
        qs_schedule_done(&p);
        qs_job_free(spec);
    }
}

static void test_points_and_blocks(void **state)
{
    (void)state;
    struct qs_job_spec *spec = job(two, "{seed: 1, window: {iterations: 3}}");
    struct qs_schedule p;
    qs_schedule_init(&p, spec, 1, 2);
    block(&p, 1e6, 2e6, 1);
    assert_int_equal(p.run_iterations, 3); /* what the job says, whatever the pilot */
    block(&p, 1e6, 2e6, 7 * MS);
    block(&p, NAN, 2e6, 9 * MS);
    assert_int_equal(p.blocks_done, 2);
    assert_int_equal(p.block, 3);
    assert_true(fabs(p.medians_ns[1] - 2e6) < 1e-3);
    assert_true(isnan(p.medians_ns[2]));
    assert_true(qs_schedule_next_point(&p));
    assert_int_equal(p.block, 0);
    assert_int_equal(p.blocks_done, 0);
    assert_false(qs_schedule_next_point(&p));
    qs_schedule_done(&p);
    qs_job_free(spec);
}

static void test_no_pilot_where_it_tells_nothing(void **state)
{
    (void)state;
    struct qs_job_spec *spec = job(two, "{seed: 1, window: {iterations: 3}, warmup: {iterations: 0}}");
    struct qs_schedule p;
    qs_schedule_init(&p, spec, 1, 2);
    assert_int_equal(p.block, 1);
    qs_schedule_done(&p);
    qs_job_free(spec);
}

static void test_two_turns_are_a_mean_of_logs(void **state)
{
    (void)state;
    struct qs_job_spec *spec =
        job(two, "{seed: 1, order: ABBA, window: {iterations: 1}, warmup: {iterations: 0}}");
    struct qs_schedule p;
    static const double ns[] = {100, 300, 900, 400};
    static const size_t arm[] = {0, 1, 1, 0};
    qs_schedule_init(&p, spec, 1, 2);
    assert_int_equal(p.turns, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(qs_schedule_arm(&p), arm[i]);
        qs_schedule_turn_done(&p, ns[i], false);
        assert_int_equal(qs_schedule_next_turn(&p), i < 3);
    }
    qs_schedule_block_done(&p, 1);
    assert_true(fabs(p.medians_ns[0] - 200) < 1e-9);
    assert_true(fabs(p.medians_ns[1] - sqrt(270000)) < 1e-9);
    qs_schedule_done(&p);
    qs_job_free(spec);
}

static void test_a_repeat_draws_the_same_order(void **state)
{
    (void)state;
    struct qs_job_spec *spec =
        job("arms: {a: {argv: [a]}, b: {argv: [b]}, c: {argv: [c]}}\n", "{seed: 1, window: {iterations: 1}}");
    struct qs_schedule p;
    qs_schedule_init(&p, spec, 77, 2);
    for (uint32_t b = 0; b < 12; b++) {
        size_t order[3];
        memcpy(order, p.order, sizeof order);
        (void)qs_schedule_next_turn(&p);
        qs_schedule_turn_done(&p, 5, false);
        qs_schedule_repeat_block(&p);
        assert_memory_equal(order, p.order, sizeof order);
        assert_int_equal(p.turn, 0);
        assert_int_equal(p.attempt, 1);
        assert_true(p.current_ns[0] == 0 && p.current_n[0] == 0); /* nothing of the first try stays */
        do
            qs_schedule_turn_done(&p, 5, false);
        while (qs_schedule_next_turn(&p));
        qs_schedule_block_done(&p, 1);
        assert_int_equal(p.attempt, 0);
        assert_int_equal(p.repeats, b == 0 ? 1 : 0); /* a warm-up is no block that went well */
    }
    qs_schedule_done(&p);
    qs_job_free(spec);
}

/* A session that begins in the middle of a point warms up first, and goes on where it was. */
static void test_warms_again(void **state)
{
    (void)state;
    struct qs_job_spec *spec =
        job("arms: {a: {argv: [a]}, b: {argv: [b]}}\n", "{seed: 1, warmup: {iterations: 2}}");
    struct qs_schedule p;
    qs_schedule_init(&p, spec, 77, 2);
    qs_schedule_warm_again(&p); /* nothing has begun: this is the warm-up already */
    for (uint32_t b = 0; b < 3; b++) {
        assert_int_equal(p.block, b);
        do
            qs_schedule_turn_done(&p, 5000000, false);
        while (qs_schedule_next_turn(&p));
        qs_schedule_block_done(&p, 1);
    }
    uint32_t r = p.run_iterations;
    assert_int_equal(r, 10);
    qs_schedule_repeat_block(&p);
    qs_schedule_warm_again(&p);
    assert_int_equal(p.block, 0);
    assert_int_equal(qs_schedule_iterations(&p), 2);
    do
        qs_schedule_turn_done(&p, 1, false); /* whatever the pilot says now */
    while (qs_schedule_next_turn(&p));
    qs_schedule_block_done(&p, 1);
    assert_int_equal(p.block, 3);
    assert_int_equal(p.attempt, 1);
    assert_int_equal(p.repeats, 1);
    assert_int_equal(p.run_iterations, r);
    assert_int_equal(p.blocks_done, 2);
    qs_schedule_done(&p);
    qs_job_free(spec);
}

/* A pilot that begins with the baseline, also where the plan has none, or a block was begun already. */
static void test_baseline_first(void **state)
{
    (void)state;
    struct qs_job_spec *spec =
        job("arms: {a: {argv: [a]}, b: {argv: [b]}, c: {argv: [c]}}\n",
            "{seed: 1, order: ABBA, window: {iterations: 4}, warmup: {iterations: 0}}");
    struct qs_schedule p;
    spec->baseline = 2;
    qs_schedule_init(&p, spec, 77, 2);
    assert_int_equal(p.block, 1);
    qs_schedule_repeat_block(&p);
    qs_schedule_baseline_first(&p);
    assert_int_equal(p.block, 0);
    assert_int_equal(qs_schedule_iterations(&p), 1);
    assert_int_equal(qs_schedule_arm(&p), 2);
    unsigned turns[3] = {0};
    do {
        turns[qs_schedule_arm(&p)]++;
        qs_schedule_turn_done(&p, 1, false);
    } while (qs_schedule_next_turn(&p));
    for (size_t a = 0; a < 3; a++)
        assert_int_equal(turns[a], 2);
    qs_schedule_block_done(&p, 1);
    assert_int_equal(p.block, 1);
    assert_int_equal(p.attempt, 1);
    assert_int_equal(p.run_iterations, 4);
    qs_schedule_done(&p);
    qs_job_free(spec);
}

static void test_looks(void **state)
{
    (void)state;
    struct qs_job_spec *spec = job(two, "{seed: 1, window: {iterations: 1}, warmup: {iterations: 0}}");
    struct qs_schedule p;
    qs_schedule_init(&p, spec, 1, 2);
    static const uint32_t want[] = {10, 15, 20, 25, 30};
    for (uint32_t b = 0; b <= 30; b++) {
        bool look = false;
        for (size_t i = 0; i < 5; i++)
            look = look || want[i] == b;
        assert_int_equal(qs_schedule_is_look(&p, b), look);
    }
    for (uint32_t b = 1; b <= 30; b++) {
        assert_int_equal(qs_schedule_next_look(&p), b <= 10 ? 10 : (b + 4) / 5 * 5);
        block(&p, 1e6, 1e6, 1);
        /* Precise enough all the time: only a look may say so, and the last block ends it anyhow. */
        enum qs_schedule_stop stop = qs_schedule_enough(&p, 0.001, 0);
        assert_int_equal(stop, b >= 10 && b % 5 == 0 ? QS_SCHEDULE_INTERVAL : QS_SCHEDULE_GO_ON);
        assert_int_equal(qs_schedule_enough(&p, NAN, 0), b == 30 ? QS_SCHEDULE_BLOCKS : QS_SCHEDULE_GO_ON);
        assert_int_equal(qs_schedule_enough(&p, 0.011, 0), b == 30 ? QS_SCHEDULE_BLOCKS : QS_SCHEDULE_GO_ON);
    }
    qs_schedule_done(&p);
    qs_job_free(spec);
}

static void test_time_never_before_the_least_blocks(void **state)
{
    (void)state;
    struct qs_job_spec *spec =
        job(two, "{seed: 1, window: {iterations: 1}, warmup: {iterations: 0}, until: {time: 20s}}");
    struct qs_schedule p;
    qs_schedule_init(&p, spec, 1, 2);
    p.point_began_ns = 1000 * MS;
    for (uint32_t b = 1; b <= 7; b++) {
        block(&p, 1e6, 1e6, 10000 * MS);
        assert_int_equal(qs_schedule_enough(&p, NAN, 999000 * MS),
                         b >= 6 ? QS_SCHEDULE_TIME : QS_SCHEDULE_GO_ON);
        assert_int_equal(qs_schedule_enough(&p, NAN, 20999 * MS), QS_SCHEDULE_GO_ON);
    }
    assert_int_equal(qs_schedule_enough(&p, NAN, 21000 * MS), QS_SCHEDULE_TIME);
    assert_string_equal(qs_schedule_stop_name(QS_SCHEDULE_TIME), "time");
    qs_schedule_done(&p);
    qs_job_free(spec);
}

static void test_eta(void **state)
{
    (void)state;
    struct qs_job_spec *spec =
        job(two, "{seed: 1, window: {iterations: 1}, warmup: {iterations: 0}, until: {time: 20s}}");
    struct qs_schedule p;
    qs_schedule_init(&p, spec, 1, 2);
    assert_true(qs_schedule_eta_ns(&p, 5, 0) < 0);
    const double medians[] = {1, 1};
    qs_schedule_restore_block(&p, medians, false); /* of an earlier life: its time is not known */
    p.point_began_ns = 1;
    assert_true(qs_schedule_eta_ns(&p, 5, 0) < 0);
    block(&p, 1e6, 1e6, 100 * MS);
    assert_int_equal(qs_schedule_eta_ns(&p, 1 + 100 * MS, 0), 28 * 100 * MS); /* 30 - 2 blocks */
    assert_int_equal(qs_schedule_eta_ns(&p, 1 + 19900 * MS, 0),
                     4 * 100 * MS); /* the least blocks outlast the time */
    p.blocks_done = p.blocks_timed = 6;
    assert_int_equal(qs_schedule_eta_ns(&p, 1 + 19900 * MS, 0), 100 * MS);
    assert_int_equal(qs_schedule_eta_ns(&p, 1 + 99900 * MS, 0), 0);
    p.blocks_done = p.blocks_timed = 2;
    qs_schedule_done(&p);
    qs_job_free(spec);
}

static void waits(struct qs_schedule *p, int64_t opened_ns, int64_t vain_ns)
{
    qs_schedule_block_begins(p, 1000 * MS);
    qs_schedule_waited(p, opened_ns, false);
    qs_schedule_waited(p, vain_ns, true);
}

/* A busy machine is no reason for fewer blocks, and waiting is told apart from measuring. */
static void test_waits_are_no_measuring(void **state)
{
    (void)state;
    struct qs_job_spec *spec =
        job(two, "{seed: 1, window: {iterations: 1}, warmup: {iterations: 0}, until: {time: 20s}}");
    struct qs_schedule p;
    qs_schedule_init(&p, spec, 1, 2);
    for (uint32_t b = 1; b <= 6; b++) { /* each 100 ms, 2 s until a gate opened and 3 s in vain */
        waits(&p, 2000 * MS, 3000 * MS);
        block(&p, 1e6, 1e6, 5100 * MS);
    }
    assert_int_equal(p.measured_ns, 600 * MS);
    assert_int_equal(p.waited_ns, 30000 * MS);
    assert_int_equal(qs_schedule_enough(&p, NAN, 31600 * MS), QS_SCHEDULE_GO_ON); /* 600 ms of 20 s */
    assert_int_equal(qs_schedule_enough(&p, NAN, 50999 * MS), QS_SCHEDULE_GO_ON);
    assert_int_equal(qs_schedule_enough(&p, NAN, 51000 * MS), QS_SCHEDULE_TIME);
    /* 24 blocks are left: 2.4 s, 48 s until gates open, and in vain what patience is left */
    assert_int_equal(qs_schedule_eta_ns(&p, 31600 * MS, 7000 * MS), 57400 * MS);
    assert_int_equal(qs_schedule_eta_ns(&p, 31600 * MS, 0), 50400 * MS);
    assert_int_equal(qs_schedule_eta_ns(&p, 31600 * MS, 999000 * MS), 122400 * MS);
    qs_schedule_repeat_block(&p);
    waits(&p, 1000 * MS, 0); /* a block that is repeated: its waits are not those of the one that counts */
    qs_schedule_repeat_block(&p);
    waits(&p, 500 * MS, 0);
    block(&p, 1e6, 1e6, 600 * MS);
    assert_int_equal(p.measured_ns, 700 * MS);
    qs_schedule_done(&p);
    qs_job_free(spec);
}

static void test_restore(void **state)
{
    (void)state;
    struct qs_job_spec *spec = job(two, "{seed: 1}");
    struct qs_schedule p, straight;
    const double medians[] = {1e6, 1.1e6};
    qs_schedule_init(&p, spec, 9, 2);
    qs_schedule_init(&straight, spec, 9, 2);
    qs_schedule_set_iterations(&p, 0, 8);
    block(&straight, 7e6, 1e6, 1);
    for (int i = 0; i < 3; i++) {
        qs_schedule_restore_block(&p, medians, false);
        block(&straight, 1e6, 1.1e6, 1);
    }
    qs_schedule_resume(&p, 4);
    assert_int_equal(p.block, 4);
    assert_int_equal(p.attempt, 4);
    assert_int_equal(qs_schedule_iterations(&p), qs_schedule_iterations(&straight));
    assert_memory_equal(p.order, straight.order, 2 * sizeof *p.order);
    block(&p, 1e6, 1e6, 1);
    assert_int_equal(p.attempt, 0);
    qs_schedule_done(&p);
    qs_schedule_done(&straight);
    qs_job_free(spec);
}

/* Precision is that of the blocks that the report will use. */
static void test_disturbed_blocks_and_precision(void **state)
{
    (void)state;
    struct qs_job_spec *spec = job(two, "{seed: 1, blocks: {min: 4, max: 9}}");
    struct qs_schedule p;
    qs_schedule_init(&p, spec, 1, 2);
    qs_schedule_set_iterations(&p, 1, 0);
    for (int i = 0; i < 3; i++) {
        const double clean[] = {1e6, 1.1e6 + 1e3 * i};
        qs_schedule_restore_block(&p, clean, false);
    }
    const double wild[] = {1e6, 2e6}, last[] = {1e6, 1.1e6 + 5e2};
    qs_schedule_restore_block(&p, wild, true);
    double noisy = qs_schedule_half_width(&p); /* the wild one counts for what it is worth, which is little */
    qs_schedule_restore_block(&p, last, false);
    double quiet = qs_schedule_half_width(&p);
    assert_true(noisy > 0 && noisy < 0.01);
    assert_true(quiet > 0 && quiet < noisy);
    qs_schedule_done(&p);
    qs_job_free(spec);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pilot_fixes_r),
        cmocka_unit_test(test_fit_limits_r),
        cmocka_unit_test(test_points_and_blocks),
        cmocka_unit_test(test_no_pilot_where_it_tells_nothing),
        cmocka_unit_test(test_two_turns_are_a_mean_of_logs),
        cmocka_unit_test(test_a_repeat_draws_the_same_order),
        cmocka_unit_test(test_warms_again),
        cmocka_unit_test(test_baseline_first),
        cmocka_unit_test(test_looks),
        cmocka_unit_test(test_time_never_before_the_least_blocks),
        cmocka_unit_test(test_eta),
        cmocka_unit_test(test_waits_are_no_measuring),
        cmocka_unit_test(test_restore),
        cmocka_unit_test(test_disturbed_blocks_and_precision),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
