/* Hunter: upstream's lists in upstream's form, the corrected lists, shapes, and the statistic itself. */
#include "reference.h"
#include "second.h"

#include "stats/edivisive.h"
#include "stats/hunter.h"
#include "stats/hunter_parts.h"
#include "stats/pelt.h"
#include "stats/rng.h"
#include "stats/special.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { MAX_N = 512 };

static void check_indices(const char *what, const struct qs_change_point *got, size_t count, json_t *want)
{
    char line[1024];
    size_t used = 0;
    for (size_t i = 0; i < count && used < sizeof line - 16; i++)
        used += (size_t)snprintf(line + used, sizeof line - used, " %zu", got[i].index);
    if (count != json_array_size(want))
        fail_msg("%s: %zu points instead of %zu:%s", what, count, json_array_size(want), line);
    for (size_t i = 0; i < count; i++)
        if ((double)got[i].index < ref_item(want, i) || (double)got[i].index > ref_item(want, i))
            fail_msg("%s: point %zu differs:%s", what, i, line);
}

/* tests/data/otava holds upstream's expectations; the corrected lists are an independent implementation's. */
static void test_tigerbeetle_in_both_forms(void **state)
{
    (void)state;
    json_t *second = ref_json("reference-second-implementation.json"), *cases = ref_at(second, "hunter");
    json_t *upstream = ref_json("otava/tigerbeetle_expected.json");
    struct series tiger = ref_csv("otava/tigerbeetle.csv", 0), real = ref_csv("perfolizer/real1.csv", 0);
    size_t n_upstream = 0;
    for (size_t i = 0; i < json_array_size(cases); i++) {
        json_t *c = json_array_get(cases, i), *params = ref_at(c, "params");
        const struct series *s = ref_at(c, "series") ? &real : &tiger;
        struct qs_hunter_opts opts = qs_hunter_opts_default();
        struct qs_change_point got[MAX_N];
        size_t count;
        char what[64];
        opts.window = (size_t)ref_item(params, 0);
        opts.p_max = ref_item(params, 1);
        opts.min_magnitude = ref_item(params, 2);
        (void)snprintf(what, sizeof what, "case %zu", i);
        assert_int_equal(qs_hunter(s->v, s->n, &opts, got, &count), QS_OK);
        check_indices(what, got, count, ref_at(c, "corrected"));
        if (s == &real)
            continue;
        assert_int_equal(qs_hunter_run(s->v, s->n, &opts, QS_HUNTER_OTAVA, got, &count), QS_OK);
        check_indices(what, got, count, ref_at(json_array_get(upstream, n_upstream++), "indexes"));
    }
    assert_int_equal(n_upstream, json_array_size(upstream));
    ref_free(&tiger);
    ref_free(&real);
    json_decref(second);
    json_decref(upstream);
}

/* How many of upstream's labelled changes (last value before, allowed displacement) have a found one. */
static size_t labels_met(json_t *labels, const size_t *found, size_t count)
{
    size_t met = 0;
    for (size_t i = 0; i < json_array_size(labels); i++) {
        json_t *label = json_array_get(labels, i);
        double at = ref_number(label, "index") + 1, most = ref_number(label, "max_displacement");
        bool hit = false;
        for (size_t k = 0; k < count; k++)
            hit = hit || fabs((double)found[k] - at) <= most;
        met += hit;
    }
    return met;
}

/* perfolizer labelled six changes in its real history, the last two of them faint; it allows some
 * displacement of each. All that is found is labelled. */
static void test_labelled_changes_of_a_real_history(void **state)
{
    (void)state;
    json_t *upstream = ref_json("perfolizer/real1_expected.json"), *labels = ref_at(upstream, "expected");
    struct series s = ref_csv("perfolizer/real1.csv", 0);
    struct qs_hunter_opts opts = qs_hunter_opts_default();
    struct qs_change_point got[MAX_N];
    struct qs_progress nobody = {0};
    size_t index[MAX_N], count;
    assert_int_equal(s.n, (size_t)ref_number(upstream, "n"));
    assert_int_equal(qs_hunter(s.v, s.n, &opts, got, &count), QS_OK);
    for (size_t i = 0; i < count; i++)
        index[i] = got[i].index;
    assert_int_equal(count, 4);
    assert_int_equal(labels_met(labels, index, count), 4);
    assert_int_equal(qs_ed_pelt(s.v, s.n, 20, &nobody, index, &count), QS_OK);
    assert_int_equal(count, 2);
    assert_int_equal(labels_met(labels, index, count), 2);
    ref_free(&s);
    json_decref(upstream);
}

static size_t gallery(const char *name, size_t *index)
{
    struct series s = second_series(name);
    struct qs_hunter_opts opts = qs_hunter_opts_default();
    struct qs_change_point got[MAX_N];
    size_t count;
    opts.min_magnitude = 0.02;
    assert_int_equal(qs_hunter(s.v, s.n, &opts, got, &count), QS_OK);
    for (size_t i = 0; i < count && i < 4; i++)
        index[i] = got[i].index;
    ref_free(&s);
    return count;
}

static void test_shapes_of_the_gallery(void **state)
{
    (void)state;
    static const char *const quiet[] = {"lnt_FLAT_LINE", "lnt_FLAT_NOISE", "lnt_BIMODAL_NOISE",
                                        "lnt_NOISE_SPIKE"};
    size_t at[4];
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(gallery(quiet[i], at), 0);
    assert_int_equal(gallery("lnt_REGRESS_5", at), 1);
    assert_int_equal(at[0], 10);
    assert_int_equal(gallery("lnt_SIMPLE_REGRESSION", at), 1); /* without any noise */
    assert_int_equal(at[0], 10);
    assert_int_equal(gallery("lnt_SLOW_REG_NOISE", at), 2); /* a ramp is no step: Mann-Kendall labels it */
    assert_int_equal(at[0], 7);
    assert_int_equal(at[1], 18);
}

/* Q by its definition, sum by sum. */
static double q_direct(const double *x, size_t n, const double *y, size_t m)
{
    double xy = 0, xx = 0, yy = 0, a = (double)n, b = (double)m;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < m; j++)
            xy += fabs(x[i] - y[j]);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            xx += fabs(x[i] - x[j]);
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < i; j++)
            yy += fabs(y[i] - y[j]);
    return 2 / (a + b) * xy - (n > 1 ? 2 * b / ((a + b) * (a - 1)) * xx : 0) -
           (m > 1 ? 2 * a / ((a + b) * (b - 1)) * yy : 0);
}

static void check_best(const double *x, size_t n)
{
    double scratch[2 * MAX_N], best = -1;
    for (size_t at = 1; at < n; at++)
        for (size_t end = at + 1; end <= n; end++)
            best = fmax(best, q_direct(x, at, x + at, end - at));
    struct qs_split got = qs_best_split(x, n, scratch, NULL);
    check_near("best of all", got.q, best, 1e-11, 1e-12);
    double reached = -1;
    for (size_t end = got.at + 1; end <= n; end++)
        reached = fmax(reached, q_direct(x, got.at, x + got.at, end - got.at));
    check_near("at its place", reached, best, 1e-11, 1e-12);
}

static void test_the_statistic(void **state)
{
    (void)state;
    json_t *second = ref_json("reference-second-implementation.json");
    json_t *want = ref_at(ref_at(second, "edivisive_single_split"), "otava_tigerbeetle[0:100]");
    struct series tiger = ref_csv("otava/tigerbeetle.csv", 0);
    double scratch[2 * MAX_N], x[30];
    struct qs_split got = qs_best_split(tiger.v, 100, scratch, NULL);
    check_near("tau", (double)got.at, ref_number(want, "tau"), 0, 0);
    check_near("qhat", got.q, ref_number(want, "qhat"), 1e-9, 0);
    struct qs_rng rng;
    qs_rng_seed(&rng, 3, 3);
    for (size_t n = 2; n <= 30; n++) {
        for (size_t i = 0; i < n; i++)
            x[i] = floor(8 * qs_rng_unit(&rng)) + (i > n / 2 ? 5 : 0);
        check_best(x, n);
    }
    ref_free(&tiger);
    json_decref(second);
}

/* Steps of 10 % at 30 and 70 in a noise of 1 %. */
static void stairs(double *x, size_t n)
{
    struct qs_rng rng;
    qs_rng_seed(&rng, 12, 1);
    for (size_t i = 0; i < n; i++)
        x[i] = (i < 30 ? 100 : i < 70 ? 110 : 99) * (1 + 0.01 * qs_qnorm(qs_rng_unit(&rng) + 1e-12));
}

static void test_what_a_point_says(void **state)
{
    (void)state;
    double x[73];
    struct qs_hunter_opts opts = qs_hunter_opts_default();
    struct qs_change_point got[73];
    size_t count;
    stairs(x, 73);
    assert_int_equal(qs_hunter(x, 73, &opts, got, &count), QS_OK);
    assert_int_equal(count, 2);
    assert_int_equal(got[0].index, 30);
    assert_int_equal(got[1].index, 70);
    EXPECT(got[0].confirmed && !got[1].confirmed); /* three values are not enough to report it */
    EXPECT(got[0].ci.lo < 1.1 && got[0].ci.hi > 1.1 && got[0].ci.lo > 1.08 && got[0].ci.hi < 1.12);
    EXPECT(got[0].ci.lo < got[0].ratio && got[0].ratio < got[0].ci.hi && got[0].p < 1e-20 && got[0].p >= 0);
    check_near("means", got[0].after / got[0].before, got[0].ratio, 1e-3, 0);
    check_near("magnitude", got[0].magnitude, got[0].after / got[0].before - 1, 1e-12, 0);
    check_near("down", got[1].magnitude, got[1].before / got[1].after - 1, 1e-12, 0);
}

static void test_scale_and_shift(void **state)
{
    (void)state;
    double x[73], y[73];
    struct qs_hunter_opts opts = qs_hunter_opts_default();
    struct qs_change_point a[73], b[73];
    size_t na, nb;
    stairs(x, 73);
    for (size_t i = 0; i < 73; i++)
        y[i] = 0.001 * x[i];
    assert_int_equal(qs_hunter(x, 73, &opts, a, &na), QS_OK);
    assert_int_equal(qs_hunter(y, 73, &opts, b, &nb), QS_OK);
    assert_int_equal(na, nb);
    for (size_t i = 0; i < na; i++) {
        assert_int_equal(a[i].index, b[i].index);
        check_near("magnitude", b[i].magnitude, a[i].magnitude, 1e-10, 0);
        check_near("ratio", b[i].ratio, a[i].ratio, 1e-12, 0);
    }
    for (size_t i = 0; i < 73; i++)
        y[i] = x[i] - 500; /* no logarithms: points without a ratio */
    assert_int_equal(qs_hunter(y, 73, &opts, b, &nb), QS_OK);
    assert_int_equal(na, nb);
    for (size_t i = 0; i < na; i++) {
        assert_int_equal(a[i].index, b[i].index);
        check_near("p", b[i].p, a[i].p, 1e-6, 0);
        EXPECT(isnan(b[i].ratio) && isnan(b[i].ci.lo));
    }
}

/* 200 histories of 100 nights that do not change, in a noise of 1 %; then with a floor of 2 %. */
static void test_false_alarms(void **state)
{
    (void)state;
    struct qs_hunter_opts opts = qs_hunter_opts_default();
    struct qs_rng rng;
    int alarms = 0, alarms_floor = 0;
    qs_rng_seed(&rng, 77, 0);
    for (int s = 0; s < 200; s++) {
        double x[100];
        struct qs_change_point got[100];
        size_t count;
        for (size_t i = 0; i < 100; i++)
            x[i] = 100 + qs_qnorm(qs_rng_unit(&rng) + 1e-12);
        opts.min_magnitude = 0;
        assert_int_equal(qs_hunter(x, 100, &opts, got, &count), QS_OK);
        alarms += count > 0;
        opts.min_magnitude = 0.02;
        assert_int_equal(qs_hunter(x, 100, &opts, got, &count), QS_OK);
        alarms_floor += count > 0;
    }
    EXPECT(alarms <= 16 && alarms_floor <= 5); /* 4.0 % and 1.0 % of 4000 such histories */
}

static void test_degenerate(void **state)
{
    (void)state;
    struct qs_hunter_opts opts = qs_hunter_opts_default(), bad;
    double x[6] = {0, 0, 0, 5, 5, 5};
    struct qs_change_point got[6];
    size_t count = 9;
    assert_int_equal(qs_hunter(x, 0, &opts, got, &count), QS_ENODATA);
    assert_int_equal(count, 0);
    assert_int_equal(qs_hunter(x, 1, &opts, got, &count), QS_ETOOFEW);
    assert_int_equal(qs_hunter(x, 2, &opts, got, &count), QS_OK);
    assert_int_equal(count, 0);
    assert_int_equal(qs_hunter(x, 6, &opts, got, &count), QS_OK);
    assert_int_equal(count, 1);
    EXPECT(got[0].index == 3 && isinf(got[0].magnitude) && isnan(got[0].ratio) && got[0].p <= 0);
    x[4] = NAN;
    assert_int_equal(qs_hunter(x, 6, &opts, got, &count), QS_EDOM);
    x[4] = INFINITY;
    assert_int_equal(qs_hunter(x, 6, &opts, got, &count), QS_EDOM);
    bad = opts;
    bad.window = 1;
    assert_int_equal(qs_hunter(x, 3, &bad, got, &count), QS_EDOM);
    bad = opts;
    bad.p_max = 0;
    assert_int_equal(qs_hunter(x, 3, &bad, got, &count), QS_EDOM);
    bad = opts;
    bad.min_magnitude = -1;
    assert_int_equal(qs_hunter(x, 3, &bad, got, &count), QS_EDOM);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tigerbeetle_in_both_forms),
        cmocka_unit_test(test_labelled_changes_of_a_real_history),
        cmocka_unit_test(test_shapes_of_the_gallery),
        cmocka_unit_test(test_the_statistic),
        cmocka_unit_test(test_what_a_point_says),
        cmocka_unit_test(test_scale_and_shift),
        cmocka_unit_test(test_false_alarms),
        cmocka_unit_test(test_degenerate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
