/* The planner: the optimum of the page, floors and caps, and a plan that keeps its promise. */
#include "reference.h"

#include "stats/design.h"
#include "stats/rng.h"
#include "stats/special.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

static struct qs_components pilot_of(double mean, size_t depth, const double *var)
{
    struct qs_components c = {.depth = depth, .mean = mean};
    for (size_t i = 0; i <= depth; i++)
        c.level[i].var = var[i];
    return c;
}

static struct qs_design_opts costs(double iteration, double run, double session)
{
    struct qs_design_opts opts = qs_design_opts_default();
    opts.cost_ns[QS_DESIGN_ITERATION] = iteration;
    opts.cost_ns[QS_DESIGN_RUN] = run;
    opts.cost_ns[QS_DESIGN_SESSION] = session;
    return opts;
}

/* reference-r.json: n_opt_anova_w10, for which the floor of 10 is lifted. */
static void test_two_levels_are_the_corrected_eq_8(void **state)
{
    (void)state;
    static const char *const names[] = {"nist_SiRstv", "nist_SmLs01", "michelson_5x20", "pyperf_telco_40x3"};
    json_t *root = ref_json("reference-r.json"), *hier = ref_at(root, "hierarchical");
    for (size_t i = 0; i < 4; i++) {
        json_t *want = ref_at(hier, names[i]);
        double var[] = {ref_number(want, "T1"), ref_number(want, "T2")};
        struct qs_components pilot = pilot_of(ref_number(want, "mean_of_means"), 1, var);
        struct qs_design_opts opts = costs(1e6, 1e7, NAN);
        struct qs_design plan;
        opts.least[QS_DESIGN_ITERATION] = 1;
        assert_int_equal(qs_design_from_pilot(&pilot, &opts, &plan), QS_OK);
        check_near(names[i], (double)plan.count[0], ref_number(want, "n_opt_anova_w10"), 0, 0);
    }
    json_decref(root);
}

/* No other numbers of iterations and runs are as narrow for the same cost. */
static void test_no_other_plan_is_as_good(void **state)
{
    (void)state;
    static const double var[] = {9, 4, 2};
    struct qs_components pilot = pilot_of(100, 2, var);
    struct qs_design_opts opts = costs(1, 20, 200);
    struct qs_design plan;
    for (size_t i = 0; i < 3; i++)
        opts.least[i] = 1;
    assert_int_equal(qs_design_from_pilot(&pilot, &opts, &plan), QS_OK);
    EXPECT(plan.attainable && plan.half_width_ratio <= 0.01);
    assert_int_equal(plan.count[0], 7); /* ceil(sqrt(20 * 9/4)) */
    assert_int_equal(plan.count[1], 5); /* ceil(sqrt(10 * 4/2)) */
    check_near("cost", plan.cost_ns, (double)plan.count[2] * (200 + 5 * (20 + 7 * 1)), 0, 0);
    /* The width falls with the root of variance over number, so what counts is variance times cost. */
    double best = (2 + 4.0 / 5 + 9.0 / 35) * (200 + 5 * (20 + 7));
    for (double i = 1; i < 100; i++)
        for (double r = 1; r < 100; r++)
            EXPECT((2 + 4 / r + 9 / (r * i)) * (200 + r * (20 + i)) > 0.99 * best); /* whole numbers: 1 % */
}

static void test_one_unit_fewer_is_too_few(void **state)
{
    (void)state;
    static const double var[] = {25, 4};
    struct qs_components pilot = pilot_of(-50, 1, var);
    for (unsigned arms = 1; arms <= 2; arms++) {
        struct qs_design_opts opts = costs(1, 10, NAN);
        struct qs_design plan;
        opts.arms = arms;
        opts.half_width_ratio = 0.02;
        assert_int_equal(qs_design_from_pilot(&pilot, &opts, &plan), QS_OK);
        double s = sqrt(4 + 25 / (double)plan.count[0]), k = (double)plan.count[1];
        double df = arms == 1 ? k - 1 : 2 * k - 2, less = arms == 1 ? k - 2 : 2 * k - 4;
        check_near("width", plan.half_width_ratio, qs_qt(0.975, df) * s * sqrt(arms / k) / 50, 1e-12, 0);
        EXPECT(plan.half_width_ratio <= 0.02 && qs_qt(0.975, less) * s * sqrt(arms / (k - 1)) / 50 > 0.02);
        check_near("cost", plan.cost_ns, arms * k * (10 + (double)plan.count[0]), 0, 0);
    }
}

/* Experiments of the planned size, simulated: their intervals are as wide as planned, on average. */
static void test_a_plan_keeps_its_promise(void **state)
{
    (void)state;
    enum { MAX_RUNS = 64, MAX_ITERATIONS = 32, EXPERIMENTS = 400 };
    static const double var[] = {9, 4};
    static double v[MAX_RUNS * MAX_ITERATIONS];
    static size_t off[MAX_RUNS + 1];
    struct qs_components pilot = pilot_of(100, 1, var);
    struct qs_design_opts opts = costs(1, 30, NAN);
    struct qs_design plan;
    assert_int_equal(qs_design_from_pilot(&pilot, &opts, &plan), QS_OK);
    size_t n = plan.count[0], k = plan.count[1];
    EXPECT(n <= MAX_ITERATIONS && k <= MAX_RUNS && n > 5 && k > 10);
    struct qs_rng rng;
    double width = 0;
    int covered = 0;
    qs_rng_seed(&rng, 17, 0);
    for (int e = 0; e < EXPERIMENTS; e++) {
        for (size_t j = 0; j < k; j++) {
            double level = 100 + 2 * qs_qnorm(qs_rng_unit(&rng) + 1e-12);
            off[j + 1] = (j + 1) * n;
            for (size_t i = 0; i < n; i++)
                v[j * n + i] = level + 3 * qs_qnorm(qs_rng_unit(&rng) + 1e-12);
        }
        struct qs_tree tree = {.v = v, .depth = 1, .off = {off}, .count = {k}};
        struct qs_ci ci;
        assert_int_equal(qs_tree_ci(&tree, 0.95, &ci), QS_OK);
        width += (ci.hi - ci.lo) / 2 / EXPERIMENTS;
        covered += ci.lo <= 100 && 100 <= ci.hi;
    }
    check_near("half width", width / 100, plan.half_width_ratio, 0.03, 0);
    EXPECT(covered > 366 && covered < 394); /* 95 % of 400, and three standard deviations */
}

static void test_floors_caps_and_no_effect(void **state)
{
    (void)state;
    struct qs_design plan;
    static const double no_runs[] = {4, 0}, only_runs[] = {0, 4}, nothing[] = {0, 0}, wide[] = {4, 400};
    struct qs_design_opts opts = costs(1, 10, NAN);
    struct qs_components pilot = pilot_of(100, 1, no_runs);
    assert_int_equal(qs_design_from_pilot(&pilot, &opts, &plan), QS_OK);
    assert_int_equal(plan.count[0], opts.most[0]);
    assert_int_equal(plan.count[1], 3);
    pilot = pilot_of(100, 1, only_runs);
    assert_int_equal(qs_design_from_pilot(&pilot, &opts, &plan), QS_OK);
    assert_int_equal(plan.count[0], 10);
    pilot = pilot_of(100, 1, nothing);
    assert_int_equal(qs_design_from_pilot(&pilot, &opts, &plan), QS_OK);
    EXPECT(plan.flags & QS_FLAG_EXACT && plan.count[0] == 10 && plan.count[1] == 3 &&
           plan.half_width_ratio <= 0);
    pilot = pilot_of(100, 1, wide);
    opts.most[QS_DESIGN_RUN] = 20;
    assert_int_equal(qs_design_from_pilot(&pilot, &opts, &plan), QS_OK);
    EXPECT(!plan.attainable && plan.count[1] == 20 && plan.half_width_ratio > 0.01);
}

/* Of a deviation of 2 between runs and none within, 3 runs on each of two sides: t has 4 degrees of freedom.
 * The defaults, and both sides of each bound of the options. */
static void test_defaults_and_bounds(void **state)
{
    (void)state;
    static const double var[] = {0, 4};
    struct qs_components pilot = pilot_of(-100, 1, var);
    struct qs_design_opts d = qs_design_opts_default(), opts = costs(7, 50, NAN);
    struct qs_design plan;
    EXPECT(d.least[0] == 10 && d.least[1] == 3 && d.least[QS_DEPTH_MAX] == 3 && d.arms == 1);
    EXPECT(d.most[0] == 100000 && d.most[1] == 10000 && isnan(d.cost_ns[0]) &&
           isnan(d.cost_ns[QS_DEPTH_MAX]));
    opts.arms = 2;
    opts.most[1] = 3;
    assert_int_equal(qs_design_from_pilot(&pilot, &opts, &plan), QS_OK);
    EXPECT(plan.count[0] == 10 && plan.count[1] == 3 && !plan.attainable && plan.levels == 2);
    check_near("half width", plan.half_width_ratio, 2.776445105197793 * 2 * sqrt(2.0 / 3) / 100, 1e-12, 0);
    check_near("cost", plan.cost_ns, 2 * (3 * (10 * 7 + 50)), 1e-15, 0);
    opts.half_width_ratio = plan.half_width_ratio;
    assert_int_equal(qs_design_from_pilot(&pilot, &opts, &plan), QS_OK);
    EXPECT(plan.attainable);
    opts.least[1] = 1; /* one run has no half-width: two at least */
    opts.half_width_ratio = 10;
    assert_int_equal(qs_design_from_pilot(&pilot, &opts, &plan), QS_OK);
    assert_int_equal(plan.count[1], 2);
    opts.most[1] = 2;
    assert_int_equal(qs_design_from_pilot(&pilot, &opts, &plan), QS_OK);
    opts.least[1] = 3;
    assert_int_equal(qs_design_from_pilot(&pilot, &opts, &plan), QS_EDOM);
    opts.least[1] = 0;
    assert_int_equal(qs_design_from_pilot(&pilot, &opts, &plan), QS_EDOM);
}

static void test_refused_options(void **state)
{
    (void)state;
    static const double var[] = {0, 4}, bad[] = {-1, INFINITY, NAN}, levels[] = {0, 1, -0.1, 1.1};
    struct qs_components pilot = pilot_of(100, 1, var);
    struct qs_design_opts opts;
    struct qs_design plan;
    for (unsigned arms = 0; arms <= 3; arms++) {
        opts = costs(1, 0, NAN);
        opts.arms = arms;
        assert_int_equal(qs_design_from_pilot(&pilot, &opts, &plan),
                         arms == 1 || arms == 2 ? QS_OK : QS_EDOM);
    }
    for (size_t i = 0; i < 3; i++) {
        opts = costs(1, bad[i], NAN);
        assert_int_equal(qs_design_from_pilot(&pilot, &opts, &plan), QS_EDOM);
    }
    for (size_t i = 0; i < 4; i++) {
        opts = costs(1, 1, NAN);
        opts.level = levels[i];
        assert_int_equal(qs_design_from_pilot(&pilot, &opts, &plan), QS_EDOM);
    }
    opts = costs(1, 1, NAN);
    pilot.depth = 0;
    assert_int_equal(qs_design_from_pilot(&pilot, &opts, &plan), QS_EDOM);
    pilot.depth = QS_DEPTH_MAX + 1;
    assert_int_equal(qs_design_from_pilot(&pilot, &opts, &plan), QS_EDOM);
}

static void test_refusals(void **state)
{
    (void)state;
    static const double var[] = {4, 1}, unknown[] = {4, NAN};
    struct qs_design plan;
    struct qs_components pilot = pilot_of(0, 1, var);
    struct qs_design_opts opts = costs(1, 10, NAN);
    assert_int_equal(qs_design_from_pilot(&pilot, &opts, &plan), QS_EDOM);
    EXPECT(isnan(plan.cost_ns) && plan.levels == 0);
    pilot = pilot_of(100, 1, unknown);
    assert_int_equal(qs_design_from_pilot(&pilot, &opts, &plan), QS_ETOOFEW);
    pilot = pilot_of(100, 1, var);
    opts.cost_ns[QS_DESIGN_RUN] = NAN;
    assert_int_equal(qs_design_from_pilot(&pilot, &opts, &plan), QS_EDOM);
    opts = costs(0, 10, NAN);
    assert_int_equal(qs_design_from_pilot(&pilot, &opts, &plan), QS_EDOM);
    opts = costs(1, 10, NAN);
    opts.half_width_ratio = 0;
    assert_int_equal(qs_design_from_pilot(&pilot, &opts, &plan), QS_EDOM);
    opts = costs(1, 10, NAN);
    opts.arms = 3;
    assert_int_equal(qs_design_from_pilot(&pilot, &opts, &plan), QS_EDOM);
    opts = costs(1, 10, NAN);
    opts.most[QS_DESIGN_RUN] = 1;
    assert_int_equal(qs_design_from_pilot(&pilot, &opts, &plan), QS_EDOM);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_levels_are_the_corrected_eq_8),
        cmocka_unit_test(test_no_other_plan_is_as_good),
        cmocka_unit_test(test_one_unit_fewer_is_too_few),
        cmocka_unit_test(test_floors_caps_and_no_effect),
        cmocka_unit_test(test_a_plan_keeps_its_promise),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_defaults_and_bounds),
        cmocka_unit_test(test_refused_options),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
