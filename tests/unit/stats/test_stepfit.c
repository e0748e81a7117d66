/* Skia's step detection. */
#include "reference.h"

#include "stats/ranks.h"
#include "stats/rng.h"
#include "stats/stepfit.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static enum qs_step_kind kind_of(const char *name)
{
    for (enum qs_step_kind k = 0; k < QS_STEP_KINDS; k++)
        if (strcmp(qs_step_kind_name(k), name) == 0)
            return k;
    fail_msg("no such kind: %s", name);
    return QS_STEP_ORIGINAL;
}

/* Upstream computes in single precision. A null is a value that is dropped. */
static void check_case(json_t *want)
{
    static const char *const statuses[] = {"Uninteresting", "Low", "High"};
    const char *alg = json_string_value(ref_at(want, "alg"));
    struct series trace = ref_array(ref_at(want, "trace"));
    struct qs_stepfit got;
    struct qs_stepfit_opts opts = {.kind = kind_of(alg),
                                   .sd_min = ref_number(want, "stddev"),
                                   .interesting = ref_number(want, "interesting")};
    assert_int_equal(qs_stepfit(trace.v, trace.n, &opts, &got), QS_OK);
    check_near(alg, got.step, ref_number(want, "step"), 2e-6, 0);
    if (ref_at(want, "regression"))
        check_near(alg, got.regression, ref_number(want, "regression"), 2e-6, 0);
    if (ref_at(want, "lse"))
        check_near(alg, got.lse, ref_number(want, "lse"), 2e-6, 0);
    assert_string_equal(statuses[got.status], json_string_value(ref_at(want, "status")));
    ref_free(&trace);
}

static void test_against_upstream(void **state)
{
    (void)state;
    json_t *root = ref_json("reference-second-implementation.json"),
           *cases = ref_at(ref_at(root, "skia"), "cases");
    assert_int_equal(json_array_size(cases), 6);
    for (size_t i = 0; i < json_array_size(cases); i++)
        check_case(json_array_get(cases, i));
    json_decref(root);
}

static struct qs_stepfit fit(enum qs_step_kind kind, const double *x, size_t nx, const double *y, size_t ny,
                             double interesting)
{
    struct qs_stepfit got;
    struct qs_stepfit_opts opts = {.kind = kind, .sd_min = 0.1, .interesting = interesting};
    assert_int_equal(qs_stepfit_halves(x, nx, y, ny, &opts, &got), QS_OK);
    return got;
}

static void test_by_hand(void **state)
{
    (void)state;
    static const double x[] = {1, 2, 3}, y[] = {5, 6, 10};
    struct qs_stepfit got = fit(QS_STEP_PERCENT_MEDIAN, x, 3, y, 3, 1);
    check_near("medians 2 and 6", got.step, -2, 0, 0);
    EXPECT(got.status == QS_STEP_HIGH);
    /* means 2 and 7, squares 2 and 14, in all 53.5 */
    got = fit(QS_STEP_STEPINESS, x, 3, y, 3, 0.4);
    check_near("stepiness", got.regression, -(1 - sqrt(16 / 53.5)), 1e-14, 0);
    EXPECT(got.status == QS_STEP_HIGH);
    EXPECT(fit(QS_STEP_STEPINESS, x, 3, y, 3, 0.5).status == QS_STEP_UNINTERESTING);
    got = fit(QS_STEP_MANN_WHITNEY, x, 3, y, 3, 0.1);
    check_near("p", got.regression, 0.1, 1e-15, 0);
    check_near("u", got.lse, 9, 0, 0);
    EXPECT(got.status == QS_STEP_HIGH);
    EXPECT(fit(QS_STEP_MANN_WHITNEY, y, 3, x, 3, 0.1).status == QS_STEP_LOW);
    EXPECT(fit(QS_STEP_MANN_WHITNEY, y, 3, x, 3, 0.05).status == QS_STEP_UNINTERESTING);
    /* statistics.md 8.7: the error of "original" is sqrt(SSE1 + SSE2)/n of values over their sd */
    got = fit(QS_STEP_ORIGINAL, x, 3, y, 3, 1);
    check_near("original", got.regression, -5 / (sqrt(16) / 6), 1e-14, 0);
    static const double zero[] = {0, 0};
    check_near("x/0", fit(QS_STEP_PERCENT, zero, 2, y, 3, 1).step, -FLT_MAX, 0, 0);
    check_near("0/0", fit(QS_STEP_PERCENT, zero, 2, zero, 2, 1).step, 0, 0, 0);
}

static void test_swap_and_unit(void **state)
{
    (void)state;
    struct qs_rng rng;
    double x[12], y[12], xs[12], ys[12];
    qs_rng_seed(&rng, 6, 6);
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < 12; i++) {
            x[i] = 100 + 50 * qs_rng_unit(&rng);
            y[i] = 110 + 50 * qs_rng_unit(&rng);
            xs[i] = 1000 * x[i];
            ys[i] = 1000 * y[i];
        }
        for (enum qs_step_kind k = 0; k < QS_STEP_KINDS; k++) {
            struct qs_stepfit a = fit(k, x, 12, y, 12, 0.02), b = fit(k, y, 12, x, 12, 0.02);
            EXPECT((a.status == QS_STEP_HIGH) == (b.status == QS_STEP_LOW));
            if (k != QS_STEP_PERCENT && k != QS_STEP_PERCENT_MEDIAN)
                check_near("swapped", fabs(a.regression), fabs(b.regression), 1e-11, 0);
            if (k != QS_STEP_ABSOLUTE)
                check_near("unit", a.regression, fit(k, xs, 12, ys, 12, 0.02).regression, 1e-11, 0);
        }
    }
}

static void test_edges(void **state)
{
    (void)state;
    static const double x[] = {1, 2, 3, 4, 5}, same[] = {7, 7, 7, 7, 7}, bad[] = {1, NAN, 2};
    struct qs_stepfit got;
    struct qs_stepfit_opts opts = {.kind = QS_STEP_COHEN, .sd_min = 0.1, .interesting = 1};
    assert_int_equal(qs_stepfit(x, 0, &opts, &got), QS_ENODATA);
    assert_int_equal(qs_stepfit(x, 2, &opts, &got), QS_ETOOFEW);
    assert_int_equal(qs_stepfit(x, 4, &opts, &got), QS_ETOOFEW); /* three are left */
    EXPECT(isnan(got.step) && got.status == QS_STEP_UNINTERESTING);
    assert_int_equal(qs_stepfit(bad, 3, &opts, &got), QS_EDOM);
    opts.sd_min = 0;
    assert_int_equal(qs_stepfit(x, 5, &opts, &got), QS_EDOM);
    opts.sd_min = 0.1;
    for (opts.kind = 0; opts.kind < QS_STEP_KINDS; opts.kind++) {
        assert_int_equal(qs_stepfit(same, 5, &opts, &got), QS_OK);
        check_near("no step", got.step, 0, 0, 0);
        EXPECT(got.status == QS_STEP_UNINTERESTING);
    }
    assert_int_equal(qs_stepfit(same, 5, &opts, &got), QS_EDOM); /* there is no such kind */
    EXPECT(isnan(got.step));
    assert_string_equal(qs_step_kind_name(opts.kind), "unknown");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_upstream),
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_swap_and_unit),
        cmocka_unit_test(test_edges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
