/* Drifts and steps apart: the fit against the definition, false alarms of dependent values, shapes. */
#include "reference.h"
#include "second.h"

#include "stats/drift.h"
#include "stats/rng.h"
#include "stats/special.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

enum { N = 120 };

static double noise(struct qs_rng *rng)
{
    return qs_qnorm(qs_rng_unit(rng) + 1e-12);
}

/* Least squares by the normal equations, value by value. */
static double rss_direct(const double *y, size_t n, size_t from, size_t to)
{
    double sg = 0, sy = 0, sgg = 0, sgy = 0, rss = 0, dn = (double)n;
    double g[N];
    for (size_t i = 0; i < n; i++) {
        g[i] = i <= from ? 0 : i >= to ? 1 : (double)(i - from) / (double)(to - from);
        sg += g[i];
        sy += y[i];
        sgg += g[i] * g[i];
        sgy += g[i] * y[i];
    }
    double rise = (sgy - sg * sy / dn) / (sgg - sg * sg / dn), before = (sy - rise * sg) / dn;
    for (size_t i = 0; i < n; i++)
        rss += pow(y[i] - before - rise * g[i], 2);
    return rss;
}

static void test_the_best_ramp(void **state)
{
    (void)state;
    struct qs_rng rng;
    qs_rng_seed(&rng, 31, 0);
    for (int trial = 0; trial < 30; trial++) {
        double y[40], best = INFINITY;
        size_t n = 10 + (size_t)qs_rng_below(&rng, 30);
        for (size_t i = 0; i < n; i++)
            y[i] = 5000 + noise(&rng) + (i > 5 ? (double)trial / 10 : 0);
        for (size_t from = 0; from + 1 < n; from++)
            for (size_t to = from + 1; to < n; to++)
                best = fmin(best, rss_direct(y, n, from, to));
        struct qs_ramp ramp;
        assert_int_equal(qs_ramp_fit(y, n, &ramp), QS_OK);
        check_near("rss", ramp.rss, best, 1e-8, 0);
        check_near("at its place", rss_direct(y, n, ramp.from, ramp.to), best, 1e-8, 0);
    }
}

static void test_an_exact_ramp(void **state)
{
    (void)state;
    double y[50];
    for (size_t i = 0; i < 50; i++)
        y[i] = i <= 10 ? 100 : i >= 30 ? 140 : 100 + 2 * (double)(i - 10);
    struct qs_ramp ramp;
    assert_int_equal(qs_ramp_fit(y, 50, &ramp), QS_OK);
    assert_int_equal(ramp.from, 10);
    assert_int_equal(ramp.to, 30);
    check_near("before", ramp.before, 100, 1e-12, 0);
    check_near("after", ramp.after, 140, 1e-12, 0);
}

/* What a share of `trials` unchanged AR(1) histories of 100 nights has p < 5 %. */
static double alarms(double phi, bool corrected, int trials)
{
    struct qs_rng rng;
    int alarm = 0;
    qs_rng_seed(&rng, 32, (uint64_t)(phi * 10));
    for (int t = 0; t < trials; t++) {
        double y[100], at = 0;
        struct qs_drift d;
        for (int i = -50; i < 100; i++) {
            at = phi * at + noise(&rng);
            if (i >= 0)
                y[i] = 1000 + at;
        }
        assert_int_equal(qs_drift(y, 100, 0.95, NULL, &d), QS_OK);
        EXPECT(d.p >= d.raw.p && d.n_eff >= 1 && d.n_eff <= 100);
        EXPECT(d.ci.lo <= d.slope && d.slope <= d.ci.hi);
        alarm += (corrected ? d.p : d.raw.p) < 0.05;
    }
    return (double)alarm / trials;
}

static void test_dependent_values_are_no_drift(void **state)
{
    (void)state;
    EXPECT(alarms(0, true, 200) < 0.09);
    EXPECT(alarms(0.5, false, 200) > 0.18); /* what taking them as independent would say */
    EXPECT(alarms(0.5, true, 200) < 0.11);
}

static const struct qs_hunter_opts opts = {
    .window = 50, .p_max = 0.001, .min_magnitude = 0.02, .confirm_after = 4, .level = 0.95};

static enum qs_status changes(const double *y, size_t n, struct qs_change *got, size_t *count)
{
    struct qs_changes found;
    enum qs_status status = qs_changes_find(y, n, &opts, &found);
    *count = found.count;
    for (size_t i = 0; i < found.count; i++)
        got[i] = found.at[i];
    qs_changes_free(&found);
    return status;
}

/* Levels about 1000 with 1 % of noise: flat, then `rise` within `width` nights, then flat. */
static void history(struct qs_rng *rng, size_t n, size_t from, size_t width, double rise, double *y)
{
    for (size_t i = 0; i < n; i++) {
        double share = i <= from ? 0 : i >= from + width ? 1 : (double)(i - from) / (double)width;
        y[i] = 1000 * (1 + rise * share) * (1 + 0.01 * noise(rng));
    }
}

static void count_kinds(size_t n, size_t from, size_t width, double rise, int *steps, int *drifts)
{
    struct qs_rng rng;
    double y[N];
    *steps = *drifts = 0;
    qs_rng_seed(&rng, 33, width);
    for (int t = 0; t < 40; t++) {
        struct qs_change got[N];
        size_t count;
        history(&rng, n, from, width, rise, y);
        assert_int_equal(changes(y, n, got, &count), QS_OK);
        for (size_t i = 0; i < count; i++) {
            *steps += got[i].kind == QS_CHANGE_STEP;
            *drifts += got[i].kind == QS_CHANGE_DRIFT;
            EXPECT(got[i].from <= got[i].to && got[i].to < n);
        }
    }
}

static void test_steps_stay_steps(void **state)
{
    (void)state;
    int steps, drifts;
    count_kinds(100, 49, 1, 0.05, &steps, &drifts);
    EXPECT(steps >= 39 && steps <= 42 && drifts <= 1);
    count_kinds(100, 49, 1, 0, &steps, &drifts);
    EXPECT(steps == 0 && drifts == 0);
}

static void test_drifts_are_told_as_drifts(void **state)
{
    (void)state;
    int steps, drifts;
    count_kinds(20, 0, 19, 0.10, &steps, &drifts); /* 10 % within 20 nights: no night made it */
    EXPECT(drifts >= 33 && steps <= 10);
    count_kinds(120, 40, 40, 0.08, &steps, &drifts); /* and between two plateaus */
    EXPECT(drifts >= 36 && steps <= 6);
}

static void test_what_a_drift_says(void **state)
{
    (void)state;
    struct qs_rng rng;
    struct qs_change got[N];
    size_t count;
    double y[N];
    qs_rng_seed(&rng, 34, 0);
    history(&rng, 100, 30, 40, 0.20, y);
    assert_int_equal(changes(y, 100, got, &count), QS_OK);
    assert_int_equal(count, 1);
    assert_int_equal(got[0].kind, QS_CHANGE_DRIFT);
    EXPECT(got[0].from >= 25 && got[0].from <= 35 && got[0].to >= 65 && got[0].to <= 75);
    EXPECT(got[0].ratio > 1.18 && got[0].ratio < 1.22 && got[0].ci.lo < 1.2 && got[0].ci.hi > 1.2);
    EXPECT(got[0].p < 0.001 && got[0].confirmed && got[0].slope > 4 && got[0].slope < 6);
}

/* Down, and slowly up again: the ramp is weighed by the values after the step alone. */
static void test_a_drift_after_a_step(void **state)
{
    (void)state;
    struct qs_rng rng;
    struct qs_change got[N];
    size_t count;
    double y[N];
    qs_rng_seed(&rng, 2, 0);
    history(&rng, N, 60, 8, 0.20, y);
    for (size_t i = 0; i < 40; i++)
        y[i] *= 1.2;
    assert_int_equal(changes(y, N, got, &count), QS_OK);
    assert_int_equal(count, 2);
    assert_true(got[0].kind == QS_CHANGE_STEP && got[0].from == 40);
    assert_int_equal(got[1].kind, QS_CHANGE_DRIFT);
    EXPECT(got[1].from >= 57 && got[1].from <= 62 && got[1].to >= 65 && got[1].to <= 71);
    EXPECT(got[1].before > 985 && got[1].before < 1015 && got[1].after > 1185 && got[1].after < 1215);
}

/* Stairs leave nothing that hangs together, a ramp beside them does: what leaves less counts. */
static void test_stairs_are_no_ramp(void **state)
{
    (void)state;
    struct qs_rng rng;
    struct qs_hunter_opts any = opts;
    struct qs_changes found;
    double y[2 * N];
    any.min_magnitude = 0;
    qs_rng_seed(&rng, 6, 6);
    for (size_t i = 0; i < sizeof y / sizeof *y; i++)
        y[i] = 1000 + 15 * (double)(i / 40) + 10 * noise(&rng);
    assert_int_equal(qs_changes_find(y, sizeof y / sizeof *y, &any, &found), QS_OK);
    assert_int_equal(found.count, 5);
    for (size_t i = 0; i < found.count; i++)
        assert_int_equal(found.at[i].kind, QS_CHANGE_STEP);
    qs_changes_free(&found);
}

/* Three nights of trouble are no step, and are named; what is below the margin is counted. */
static void test_what_is_told_beside_the_changes(void **state)
{
    (void)state;
    struct qs_rng rng;
    struct qs_changes found;
    double y[N];
    qs_rng_seed(&rng, 36, 0);
    history(&rng, 100, 49, 1, 0, y);
    for (size_t i = 60; i < 63; i++)
        y[i] *= 1.3;
    assert_int_equal(qs_changes_find(y, 100, &opts, &found), QS_OK);
    assert_int_equal(found.count, 0);
    assert_int_equal(found.smaller, 0);
    assert_int_equal(found.n_alone, 3);
    EXPECT(found.alone[0] == 60 && found.alone[2] == 62);
    /* 4.27 sd for one of the places from 4 to 96 of 100 and four of five: 0.2 (4.27 + 0.84) % and more */
    EXPECT(found.detectable_ratio > 0.009 && found.detectable_ratio < 0.014);
    qs_changes_free(&found);
    struct qs_hunter_opts loose = opts; /* however willing: three nights are too few */
    loose.p_max = 0.2;
    assert_int_equal(qs_changes_find(y, 100, &loose, &found), QS_OK);
    for (size_t i = 0; i < found.count; i++)
        EXPECT(found.at[i].from < 57 || found.at[i].from > 66);
    qs_changes_free(&found);
    for (size_t i = 0; i < 100; i++)
        y[i] = 1000 * (i < 50 ? 1 : 1.01) * (1 + 0.003 * noise(&rng));
    assert_int_equal(qs_changes_find(y, 100, &opts, &found), QS_OK);
    assert_int_equal(found.count, 0);
    assert_int_equal(found.n_alone, 0);
    assert_int_equal(found.smaller, 1);
    EXPECT(found.smaller_most_ratio > 0.008 && found.smaller_most_ratio < 0.012);
    qs_changes_free(&found);
}

/* An outlier near a step takes no night to the wrong side of it: the first of the new level stays where it
 * is. */
static void test_a_step_beside_an_outlier(void **state)
{
    (void)state;
    double y[60];
    struct qs_change got[60];
    size_t count;
    for (size_t i = 0; i < 60; i++)
        y[i] = (i < 15 ? 26700 : 23600) + 60 * (double)(i % 5);
    y[10] = 15672;
    assert_int_equal(changes(y, 60, got, &count), QS_OK);
    assert_int_equal(count, 1);
    assert_int_equal(got[0].from, 15);
    check_near("medians", got[0].median_after / got[0].median_before, 23720.0 / 26820, 1e-9, 0);
    check_near("ratio", got[0].ratio, 23720.0 / 26820, 2e-3, 0);
}

/* The gallery's ramp, of which Hunter makes two steps, and its step, without any noise. */
static void test_shapes_of_the_gallery(void **state)
{
    (void)state;
    struct qs_change got[N];
    size_t count;
    struct series slow = second_series("lnt_SLOW_REG_NOISE"), step = second_series("lnt_REGRESS_5");
    struct series steep = second_series("lnt_SLOW_IMP_NOISE"), clean = second_series("lnt_SIMPLE_REGRESSION");
    assert_int_equal(changes(slow.v, slow.n, got, &count), QS_OK);
    assert_int_equal(count, 1);
    assert_int_equal(got[0].kind, QS_CHANGE_DRIFT);
    EXPECT(got[0].ratio > 1);
    assert_int_equal(changes(steep.v, steep.n, got, &count), QS_OK);
    assert_int_equal(count, 1);
    assert_int_equal(got[0].kind, QS_CHANGE_DRIFT);
    EXPECT(got[0].ratio < 1);
    for (int i = 0; i < 2; i++) {
        const struct series *s = i ? &clean : &step;
        assert_int_equal(changes(s->v, s->n, got, &count), QS_OK);
        assert_int_equal(count, 1);
        assert_int_equal(got[0].kind, QS_CHANGE_STEP);
        assert_int_equal(got[0].from, 10);
    }
    ref_free(&slow);
    ref_free(&steep);
    ref_free(&step);
    ref_free(&clean);
}

/* The unit of the values does not matter, nor whether they climb or fall. */
static void test_invariance(void **state)
{
    (void)state;
    struct qs_rng rng;
    struct qs_change got[N], scaled[N];
    size_t count, again;
    double y[N], z[N];
    qs_rng_seed(&rng, 35, 0);
    history(&rng, 90, 20, 50, 0.3, y);
    for (size_t i = 0; i < 90; i++)
        z[i] = y[i] * 1e6;
    assert_int_equal(changes(y, 90, got, &count), QS_OK);
    assert_int_equal(changes(z, 90, scaled, &again), QS_OK);
    assert_int_equal(count, again);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(got[i].from, scaled[i].from);
        assert_int_equal(got[i].kind, scaled[i].kind);
        check_near("ratio", scaled[i].ratio, got[i].ratio, 1e-9, 0);
    }
}

static void test_degenerate(void **state)
{
    (void)state;
    static const double flat[] = {7, 7, 7, 7, 7, 7, 7, 7}, bad[] = {1, NAN, 2, 3, 4, 5, 6};
    static const double line[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    struct qs_drift d;
    struct qs_ramp ramp;
    struct qs_change got[16];
    size_t count = 9;
    assert_int_equal(qs_drift(flat, 8, 0.95, NULL, &d), QS_OK);
    EXPECT(d.p >= 1 && d.n_eff >= 8 && d.slope >= 0 && d.slope <= 0);
    assert_int_equal(qs_drift(flat, 0, 0.95, NULL, &d), QS_ENODATA);
    assert_int_equal(qs_drift(flat, 1, 0.95, NULL, &d), QS_ETOOFEW);
    assert_int_equal(qs_drift(flat, 8, 1, NULL, &d), QS_EDOM);
    assert_int_equal(qs_drift(bad, 7, 0.95, NULL, &d), QS_EDOM);
    EXPECT(isnan(d.p) && isnan(d.slope));
    assert_int_equal(qs_ramp_fit(flat, 2, &ramp), QS_ETOOFEW);
    assert_int_equal(qs_ramp_fit(flat, 0, &ramp), QS_ENODATA);
    assert_int_equal(qs_ramp_fit(bad, 7, &ramp), QS_EDOM);
    assert_int_equal(changes(flat, 8, got, &count), QS_OK);
    assert_int_equal(count, 0);
    assert_int_equal(changes(flat, 1, got, &count), QS_ETOOFEW);
    assert_int_equal(changes(bad, 7, got, &count), QS_EDOM);
    assert_int_equal(changes(line, 12, got, &count), QS_OK);
    assert_int_equal(count, 1);
    assert_int_equal(got[0].kind, QS_CHANGE_DRIFT);
    check_near("slope", got[0].slope, 1, 1e-9, 0);
}

static void series_as_long_as_they_may_be(void **state)
{
    static double v[QS_DRIFT_MOST + 1];
    struct qs_ramp r;
    struct qs_drift d;
    (void)state;
    for (size_t i = 0; i <= QS_DRIFT_MOST; i++)
        v[i] = i < QS_DRIFT_MOST / 2 ? 1 : 2;
    assert_int_equal(qs_ramp_fit(v, QS_DRIFT_MOST, &r), QS_OK);
    assert_int_equal(r.to, QS_DRIFT_MOST / 2);
    assert_int_equal(qs_ramp_fit(v, QS_DRIFT_MOST + 1, &r), QS_EDOM);
    assert_int_equal(qs_drift(v, QS_DRIFT_MOST + 1, 0.9, NULL, &d), QS_EDOM);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_best_ramp),
        cmocka_unit_test(test_an_exact_ramp),
        cmocka_unit_test(test_dependent_values_are_no_drift),
        cmocka_unit_test(test_steps_stay_steps),
        cmocka_unit_test(test_drifts_are_told_as_drifts),
        cmocka_unit_test(test_what_a_drift_says),
        cmocka_unit_test(test_a_drift_after_a_step),
        cmocka_unit_test(test_stairs_are_no_ramp),
        cmocka_unit_test(test_a_step_beside_an_outlier),
        cmocka_unit_test(test_what_is_told_beside_the_changes),
        cmocka_unit_test(test_shapes_of_the_gallery),
        cmocka_unit_test(test_invariance),
        cmocka_unit_test(series_as_long_as_they_may_be),
        cmocka_unit_test(test_degenerate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
