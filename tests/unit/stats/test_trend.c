/* Mann-Kendall, Theil-Sen and GESD: R, a published example, and what must not change them. */
#include "reference.h"

#include "stats/outlier.h"
#include "stats/rng.h"
#include "stats/special.h"
#include "stats/trend.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

/* R 4.2.2: cor.test(x, seq_along(x), method = "kendall", exact = FALSE, continuity = TRUE); slopes and their
 * order statistics by outer() and sort(). */
static const struct {
    const char *path;
    size_t n;
    double s, var_s, z, p, tau, slope, lo, hi;
} from_r[] = {
    {"otava/tigerbeetle.csv", 60, -381, 24580.333333333332, -2.4237605507309365, 0.015360729927943094,
     -0.21543688834966992, -8.1287878787878789, -29.25, -0.92307692307692313},
    {"perfolizer/real1.csv", 381, 35721, 6169147, 14.381324665115542, 6.7784605763039675e-47,
     0.49372843760784207, 1.5886586361780317, 1.4109589041095891, 1.7760617760617761},
};

static void test_against_r(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof from_r / sizeof *from_r; i++) {
        struct series x = ref_csv(from_r[i].path, 0);
        struct qs_mann_kendall mk;
        struct qs_theil_sen ts;
        assert_int_equal(qs_mann_kendall(x.v, from_r[i].n, &mk), QS_OK);
        check_near("S", mk.s, from_r[i].s, 0, 0);
        check_near("var S", mk.var_s, from_r[i].var_s, 1e-14, 0);
        check_near("z", mk.z, from_r[i].z, 1e-12, 0);
        check_near("p", mk.p, from_r[i].p, 1e-12, 0);
        check_near("tau", mk.tau, from_r[i].tau, 1e-12, 0);
        assert_int_equal(qs_theil_sen_ci(x.v, from_r[i].n, 0.95, NULL, &ts), QS_OK);
        check_near("slope", ts.slope, from_r[i].slope, 1e-14, 0);
        check_near("lo", ts.ci.lo, from_r[i].lo, 1e-14, 0);
        check_near("hi", ts.ci.hi, from_r[i].hi, 1e-14, 0);
        ref_free(&x);
    }
}

static void test_theil_sen(void **state)
{
    (void)state;
    double y[] = {1, 3, 5, 100, 9, 11}, slope; /* one wild value does not move it */
    struct qs_theil_sen ts;
    assert_int_equal(qs_theil_sen(y, 6, NULL, &slope), QS_OK);
    check_near("slope", slope, 2, 1e-15, 0);
    assert_int_equal(qs_theil_sen_ci(y, 6, 0.95, NULL, &ts), QS_OK);
    check_near("intercept", ts.intercept, 1, 1e-15, 0);
    EXPECT(ts.ci.lo <= 2 && ts.ci.hi >= 2 && ts.ci.hi > 20);
    assert_int_equal(qs_theil_sen_ci(y, 4, 0.95, NULL, &ts), QS_OK);
    EXPECT(isnan(ts.ci.lo)); /* six slopes are too few */
    assert_int_equal(qs_theil_sen(y, 1, NULL, &slope), QS_ETOOFEW);
    EXPECT(isnan(slope));
    assert_int_equal(qs_theil_sen_ci(y, 6, 0, NULL, &ts), QS_EDOM);
    y[2] = NAN;
    assert_int_equal(qs_theil_sen(y, 6, NULL, &slope), QS_EDOM);
    assert_int_equal(qs_theil_sen_ci(y, 6, 0.95, NULL, &ts), QS_EDOM);
}

static void test_trend_properties(void **state)
{
    (void)state;
    double x[80], y[80], z[80];
    struct qs_rng rng;
    qs_rng_seed(&rng, 6, 1);
    for (size_t i = 0; i < 80; i++) {
        x[i] = floor(20 * qs_rng_unit(&rng)) + (double)i / 10; /* with ties */
        y[i] = 1000 + 4 * x[i];
    }
    for (size_t i = 0; i < 80; i++)
        z[i] = -x[i];
    struct qs_mann_kendall a, b, c;
    struct qs_theil_sen s, t;
    assert_int_equal(qs_mann_kendall(x, 80, &a), QS_OK);
    assert_int_equal(qs_mann_kendall(y, 80, &b), QS_OK);
    assert_int_equal(qs_mann_kendall(z, 80, &c), QS_OK);
    check_near("shift and scale", b.s, a.s, 0, 0);
    check_near("p", b.p, a.p, 0, 0);
    check_near("reversed", c.s, -a.s, 0, 0);
    check_near("z", c.z, -a.z, 0, 0);
    EXPECT(a.p >= 0 && a.p <= 1 && fabs(a.tau) <= 1);
    assert_int_equal(qs_theil_sen_ci(x, 80, 0.9, NULL, &s), QS_OK);
    assert_int_equal(qs_theil_sen_ci(y, 80, 0.9, NULL, &t), QS_OK);
    check_near("slope", t.slope, 4 * s.slope, 1e-12, 0);
    check_near("lo", t.ci.lo, 4 * s.ci.lo, 1e-12, 0);
    EXPECT(s.ci.lo <= s.slope && s.slope <= s.ci.hi);
}

static void test_trend_degenerate(void **state)
{
    (void)state;
    static const double flat[] = {7, 7, 7, 7, 7, 7, 7}, bad[] = {1, INFINITY, 2}, rising[] = {1, 2};
    struct qs_mann_kendall mk;
    struct qs_theil_sen ts;
    assert_int_equal(qs_mann_kendall(flat, 7, &mk), QS_OK);
    EXPECT(mk.s >= 0 && mk.s <= 0 && mk.p >= 1 && isnan(mk.tau) && mk.var_s <= 0);
    assert_int_equal(qs_theil_sen_ci(flat, 7, 0.95, NULL, &ts), QS_OK);
    EXPECT(ts.slope >= 0 && ts.slope <= 0 && ts.ci.flags & QS_FLAG_EXACT && ts.ci.lo <= 0 && ts.ci.hi >= 0);
    assert_int_equal(qs_mann_kendall(rising, 2, &mk), QS_OK);
    check_near("two values say nothing", mk.p, 1, 0, 0);
    check_near("tau", mk.tau, 1, 1e-15, 0);
    assert_int_equal(qs_mann_kendall(rising, 1, &mk), QS_ETOOFEW);
    assert_int_equal(qs_mann_kendall(rising, 0, &mk), QS_ENODATA);
    assert_int_equal(qs_mann_kendall(bad, 3, &mk), QS_EDOM);
    EXPECT(isnan(mk.p) && isnan(mk.s));
}

/* Rosner 1983, table 1, as given in the NIST/SEMATECH e-Handbook 1.3.5.17.3: three outliers, which a test for
 * one alone does not see. */
static const double rosner[] = {-0.25, 0.68, 0.94, 1.15, 1.20, 1.26, 1.26, 1.34, 1.38, 1.43, 1.49,
                                1.49,  1.55, 1.56, 1.58, 1.65, 1.69, 1.70, 1.76, 1.77, 1.81, 1.91,
                                1.94,  1.96, 1.99, 2.06, 2.09, 2.10, 2.14, 2.15, 2.23, 2.24, 2.26,
                                2.35,  2.37, 2.40, 2.47, 2.54, 2.62, 2.64, 2.90, 2.92, 2.92, 2.93,
                                3.21,  3.26, 3.30, 3.59, 3.68, 4.30, 4.64, 5.34, 5.42, 6.01};

static void test_rosner(void **state)
{
    (void)state;
    struct qs_gesd_opts opts = {.most = 10, .alpha = 0.05};
    struct qs_gesd got;
    uint8_t flags[54];
    assert_int_equal(qs_gesd_flags(rosner, 54, &opts, flags, &got), QS_OK);
    assert_int_equal(got.count, 3);
    check_near("R_3", got.statistic, 3.179, 0, 5e-4);
    check_near("lambda_3", got.limit, 3.144, 0, 5e-4);
    for (size_t i = 0; i < 54; i++)
        assert_int_equal(flags[i], i >= 51 ? QS_OUTLIER_HIGH : 0);
    opts.most = 1;
    assert_int_equal(qs_gesd_flags(rosner, 54, &opts, flags, &got), QS_OK);
    assert_int_equal(got.count, 0);
    check_near("R_1", got.statistic, 3.119, 0, 5e-4);
    check_near("lambda_1", got.limit, 3.159, 0, 5e-4);
    opts = (struct qs_gesd_opts){.most = 10, .alpha = 0.05, .robust = true};
    assert_int_equal(qs_gesd_flags(rosner, 54, &opts, NULL, &got), QS_OK);
    EXPECT(got.count >= 3);
}

/* One flag is cleared too; as many may be asked for as leave two values, and no more. */
static void test_gesd_bounds(void **state)
{
    (void)state;
    static const double x[] = {1, 2, 3, 900};
    struct qs_gesd got;
    uint8_t flags[4] = {9, 9, 9, 9};
    struct qs_gesd_opts opts = {.most = 2, .alpha = 0.05};
    assert_int_equal(qs_gesd_flags(x, 1, &opts, flags, &got), QS_ETOOFEW);
    EXPECT(flags[0] == 0 && flags[1] == 9 && isnan(got.statistic));
    assert_int_equal(qs_gesd_flags(x, 4, &opts, flags, &got), QS_OK);
    opts.most = 3;
    assert_int_equal(qs_gesd_flags(x, 4, &opts, flags, &got), QS_EDOM);
    opts.most = 0;
    assert_int_equal(qs_gesd_flags(x, 4, &opts, flags, &got), QS_EDOM);
    opts.most = 1;
    assert_int_equal(qs_gesd_flags(x, 3, &opts, flags, &got), QS_OK);
    opts.alpha = 0;
    assert_int_equal(qs_gesd_flags(x, 4, &opts, flags, &got), QS_EDOM);
    opts.alpha = 1;
    assert_int_equal(qs_gesd_flags(x, 4, &opts, flags, &got), QS_EDOM);
}

static void test_gesd_rate_and_degenerate(void **state)
{
    (void)state;
    struct qs_gesd_opts opts = {.most = 5, .alpha = 0.05};
    struct qs_gesd got;
    struct qs_rng rng;
    uint8_t flags[40];
    double x[40];
    int flagged = 0;
    qs_rng_seed(&rng, 2, 2);
    for (int s = 0; s < 1000; s++) {
        for (size_t i = 0; i < 40; i++)
            x[i] = qs_qnorm(qs_rng_unit(&rng) + 1e-12);
        assert_int_equal(qs_gesd_flags(x, 40, &opts, NULL, &got), QS_OK);
        flagged += got.count > 0;
    }
    EXPECT(flagged > 29 && flagged < 76); /* 5 % of normal samples, and three standard deviations */
    x[7] = -50;
    assert_int_equal(qs_gesd_flags(x, 40, &opts, flags, &got), QS_OK);
    EXPECT(got.count >= 1 && flags[7] == QS_OUTLIER_LOW);
    for (size_t i = 0; i < 40; i++)
        x[i] = 3;
    assert_int_equal(qs_gesd_flags(x, 40, &opts, flags, &got), QS_EDEGENERATE);
    x[0] = 9;
    assert_int_equal(qs_gesd_flags(x, 40, &opts, flags, &got), QS_OK); /* then nothing varies any more */
    EXPECT(got.count == 1 && flags[0] == QS_OUTLIER_HIGH && flags[1] == 0);
    opts.robust = true;
    assert_int_equal(qs_gesd_flags(x, 40, &opts, flags, &got), QS_EDEGENERATE);
    assert_int_equal(flags[0], 0);
    assert_int_equal(qs_gesd_flags(x, 2, &opts, flags, &got), QS_ETOOFEW);
    assert_int_equal(qs_gesd_flags(x, 0, &opts, NULL, &got), QS_ENODATA);
    opts.most = 39;
    assert_int_equal(qs_gesd_flags(x, 40, &opts, flags, &got), QS_EDOM);
    x[3] = NAN;
    opts.most = 1;
    assert_int_equal(qs_gesd_flags(x, 40, &opts, flags, &got), QS_EDOM);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_r),
        cmocka_unit_test(test_theil_sen),
        cmocka_unit_test(test_trend_properties),
        cmocka_unit_test(test_trend_degenerate),
        cmocka_unit_test(test_rosner),
        cmocka_unit_test(test_gesd_bounds),
        cmocka_unit_test(test_gesd_rate_and_degenerate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
