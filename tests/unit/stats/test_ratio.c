/* Fieller, ratios of statistics, the pooled test, the F test and effect sizes. */
#include "reference.h"

#include "stats/effect.h"
#include "stats/ratio.h"
#include "stats/rng.h"
#include "stats/special.h"
#include "stats/twosample.h"
#include "stats/variance.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const double REL = 1e-9;

static void check_pooled(const char *name, const struct series *x, const struct series *y, json_t *want)
{
    struct qs_ttest t;
    double sd;
    json_t *pooled = ref_at(want, "pooled");
    assert_int_equal(qs_pooled(x->v, x->n, y->v, y->n, 0.95, &t, &sd), QS_OK);
    check_near(name, sd, ref_number(want, "pooled_sd"), REL, 0);
    check_near(name, t.t, ref_number(pooled, "t"), REL, 0);
    check_near(name, t.df, ref_number(pooled, "df"), 0, 0);
    check_near(name, t.p, ref_number(pooled, "p"), REL, 0);
    check_near(name, t.ci.lo, ref_item(ref_at(pooled, "ci"), 0), REL, 0);
    check_near(name, t.ci.hi, ref_item(ref_at(pooled, "ci"), 1), REL, 0);
}

static void check_effect(const char *name, const struct series *x, const struct series *y, json_t *want)
{
    struct qs_effect e;
    assert_int_equal(qs_effect(x->v, x->n, y->v, y->n, &e), QS_OK);
    check_near(name, e.cohen_d, ref_number(want, "cohen_d"), REL, 0);
    check_near(name, e.hedges_g, ref_number(want, "hedges_g"), REL, 0);
    check_near(name, e.cles, ref_number(want, "cles"), REL, 0);
    check_near(name, e.cliff, ref_number(want, "cliff_delta"), REL, 0);
}

static void check_ratios(const char *name, const struct series *x, const struct series *y, json_t *want)
{
    struct qs_fieller f;
    struct qs_point_ratios r;
    struct qs_var_test v;
    json_t *fieller = ref_at(want, "fieller");
    assert_int_equal(qs_fieller(x->v, x->n, y->v, y->n, 0.95, &f), QS_OK);
    check_near(name, f.ratio, ref_number(want, "ratio_of_means"), REL, 0);
    check_near(name, f.ci.lo, ref_item(fieller, 0), REL, 0);
    check_near(name, f.ci.hi, ref_item(fieller, 1), REL, 0);
    assert_int_equal(qs_point_ratios(x->v, x->n, y->v, y->n, &r), QS_OK);
    check_near(name, r.minima, ref_number(want, "ratio_of_minima"), REL, 0);
    check_near(name, r.medians, ref_number(want, "ratio_of_medians"), REL, 0);
    check_near(name, r.means, ref_number(want, "ratio_of_means"), REL, 0);
    assert_int_equal(qs_var_test(x->v, x->n, y->v, y->n, 0.95, &v), QS_OK);
    check_near(name, v.larger_over_less, ref_number(want, "var_ratio_max"), REL, 0);
    check_near(name, v.p, ref_number(want, "var_test_p"), REL, 0);
}

static void test_against_r(void **state)
{
    (void)state;
    ref_each_pair(check_pooled);
    ref_each_pair(check_effect);
    ref_each_pair(check_ratios);
}

/* F with 2 and n degrees of freedom is closed: P(F > f) = (1 + 2f/n)^(-n/2). */
static void test_f_distribution(void **state)
{
    (void)state;
    static const double f[] = {1e-8, 0.3, 1, 4.7, 300};
    for (size_t i = 0; i < sizeof f / sizeof *f; i++) {
        check_near("closed", qs_pf_upper(f[i], 2, 7), pow(1 + 2 * f[i] / 7, -3.5), 1e-12, 0);
        check_near("sum", qs_pf(f[i], 5, 3) + qs_pf_upper(f[i], 5, 3), 1, 1e-14, 0);
        check_near("t^2", qs_pf_upper(f[i], 1, 9), qs_pt_two_sided(sqrt(f[i]), 9), 1e-12, 0);
        check_near("back", qs_qf(qs_pf(f[i], 4, 11), 4, 11), f[i],
                   qs_pf_upper(f[i], 4, 11) < 1e-6 ? 1e-6 : 1e-11, 0);
    }
    EXPECT(isnan(qs_pf(1, 0, 1)) && isnan(qs_qf(0, 1, 1)) && isnan(qs_pf_upper(NAN, 1, 1)));
    check_near("below", qs_pf(-1, 3, 3), 0, 0, 0);
    check_near("all", qs_pf(INFINITY, 3, 3), 1, 0, 0);
}

static void draw(struct qs_rng *rng, double *v, size_t n, double at)
{
    for (size_t i = 0; i < n; i++)
        v[i] = at + 10 * qs_rng_unit(rng);
}

static void check_symmetry(const double *x, size_t nx, const double *y, size_t ny)
{
    struct qs_ttest a, b;
    struct qs_var_test v, w;
    struct qs_effect e, f;
    double sd, sd_swapped;
    assert_int_equal(qs_pooled(x, nx, y, ny, 0.9, &a, &sd), QS_OK);
    assert_int_equal(qs_pooled(y, ny, x, nx, 0.9, &b, &sd_swapped), QS_OK);
    check_near("diff", a.diff, -b.diff, 1e-13, 1e-13);
    check_near("ci", a.ci.lo, -b.ci.hi, 1e-12, 1e-12);
    check_near("p", a.p, b.p, 1e-12, 0);
    EXPECT(a.p >= 0 && a.p <= 1 && a.ci.lo <= a.diff && a.diff <= a.ci.hi);
    assert_int_equal(qs_var_test(x, nx, y, ny, 0.9, &v), QS_OK);
    assert_int_equal(qs_var_test(y, ny, x, nx, 0.9, &w), QS_OK);
    check_near("f", v.f * w.f, 1, 1e-12, 0);
    check_near("f interval", v.ci.lo * w.ci.hi, 1, 1e-10, 0);
    check_near("p", v.p, w.p, 1e-10, 0);
    EXPECT(v.p >= 0 && v.p <= 1 && v.ci.lo <= v.f && v.f <= v.ci.hi);
    assert_int_equal(qs_effect(x, nx, y, ny, &e), QS_OK);
    assert_int_equal(qs_effect(y, ny, x, nx, &f), QS_OK);
    check_near("d", e.cohen_d, -f.cohen_d, 1e-11, 1e-13);
    check_near("delta", e.cliff, -f.cliff, 1e-13, 1e-15);
}

static void check_fieller_scales(const double *x, size_t nx, const double *y, size_t ny)
{
    double xs[20], ys[20];
    struct qs_fieller a, b;
    enum qs_status status = qs_fieller(x, nx, y, ny, 0.9, &a);
    for (size_t i = 0; i < 20; i++) { /* another unit, and both counted downwards */
        xs[i] = i < nx ? -1e-9 * x[i] : 0;
        ys[i] = i < ny ? -1e-9 * y[i] : 0;
    }
    assert_int_equal(qs_fieller(xs, nx, ys, ny, 0.9, &b), status);
    check_near("ratio", a.ratio, b.ratio, 1e-12, 0);
    check_near("lo", a.ci.lo, b.ci.lo, 1e-10, 0);
    EXPECT(isnan(a.ci.lo) || (a.ci.lo <= a.ratio && a.ratio <= a.ci.hi));
}

static void test_properties(void **state)
{
    (void)state;
    struct qs_rng rng;
    double x[20], y[20];
    qs_rng_seed(&rng, 4, 4);
    for (int round = 0; round < 50; round++) {
        size_t nx = 2 + qs_rng_below(&rng, 19), ny = 2 + qs_rng_below(&rng, 19);
        draw(&rng, x, nx, 5);
        draw(&rng, y, ny, 6);
        check_symmetry(x, nx, y, ny);
        check_fieller_scales(x, nx, y, ny);
    }
}

static void test_fieller_edges(void **state)
{
    (void)state;
    static const double x[] = {1, 2, 3, 4}, two[] = {2, 2}, three[] = {3, 3}, zero[] = {-1, 0, 1},
                        bad[] = {1, NAN};
    struct qs_fieller f;
    assert_int_equal(qs_fieller(two, 2, three, 2, 0.95, &f), QS_OK);
    EXPECT(f.ci.flags & QS_FLAG_EXACT);
    check_near("point", f.ci.lo, 1.5, 1e-15, 0);
    check_near("point", f.ci.hi, 1.5, 1e-15, 0);
    assert_int_equal(qs_fieller(two, 2, zero, 3, 0.95, &f), QS_OK); /* the mean 0 has a ratio of 0 */
    check_near("ratio", f.ratio, 0, 0, 0);
    check_near("symmetric", f.ci.lo, -f.ci.hi, 1e-15, 0);
    assert_int_equal(qs_fieller(zero, 3, x, 4, 0.95, &f), QS_EDEGENERATE);
    EXPECT(isnan(f.ratio) && isnan(f.ci.lo));
    assert_int_equal(qs_fieller(x, 4, two, 2, 0.999, &f), QS_EDEGENERATE); /* its own interval reaches 0 */
    check_near("ratio", f.ratio, 0.8, 1e-15, 0);
    EXPECT(isnan(f.ci.lo) && isnan(f.ci.hi));
    assert_int_equal(qs_fieller(x, 1, two, 2, 0.95, &f), QS_ETOOFEW);
    check_near("ratio", f.ratio, 2, 0, 0);
    assert_int_equal(qs_fieller(x, 0, two, 2, 0.95, &f), QS_ENODATA);
    assert_int_equal(qs_fieller(x, 4, bad, 2, 0.95, &f), QS_EDOM);
    assert_int_equal(qs_fieller(x, 4, two, 2, 0, &f), QS_EDOM);
}

static void test_other_edges(void **state)
{
    (void)state;
    static const double x[] = {1, 2, 3, 4}, two[] = {2, 2}, three[] = {3, 3}, zero[] = {0, 1},
                        bad[] = {1, NAN};
    struct qs_ttest t;
    struct qs_var_test v;
    struct qs_effect e;
    struct qs_point_ratios r;
    double sd;
    assert_int_equal(qs_pooled(two, 2, three, 2, 0.95, &t, &sd), QS_OK);
    EXPECT((t.flags & QS_FLAG_EXACT) && t.p <= 0 && sd <= 0);
    assert_int_equal(qs_pooled(x, 4, two, 1, 0.95, &t, &sd), QS_ETOOFEW);
    EXPECT(isnan(sd) && isnan(t.p));
    assert_int_equal(qs_pooled(bad, 2, two, 2, 0.95, &t, &sd), QS_EDOM);
    assert_int_equal(qs_var_test(two, 2, three, 2, 0.95, &v), QS_EDEGENERATE);
    EXPECT(isnan(v.f) && isnan(v.p));
    assert_int_equal(qs_var_test(two, 2, x, 4, 0.95, &v), QS_OK);
    EXPECT(isinf(v.f) && v.p <= 0 && isnan(v.ci.lo));
    assert_int_equal(qs_var_test(x, 4, two, 1, 0.95, &v), QS_ETOOFEW);
    assert_int_equal(qs_var_test(x, 4, two, 0, 0.95, &v), QS_ENODATA);
    assert_int_equal(qs_effect(two, 2, three, 2, &e), QS_OK);
    EXPECT(isnan(e.cohen_d) && isnan(e.hedges_g));
    check_near("delta", e.cliff, 1, 0, 0);
    assert_int_equal(qs_effect(x, 1, two, 2, &e), QS_ETOOFEW);
    assert_int_equal(qs_point_ratios(zero, 2, x, 4, &r), QS_OK);
    EXPECT(isnan(r.minima) && isfinite(r.medians) && isfinite(r.means));
    assert_int_equal(qs_point_ratios(x, 4, bad, 2, &r), QS_EDOM);
    EXPECT(isnan(r.means));
    assert_string_equal(qs_cliff_band(-0.1), "negligible");
    assert_string_equal(qs_cliff_band(0.147), "small");
    assert_string_equal(qs_cliff_band(-0.4), "medium");
    assert_string_equal(qs_cliff_band(0.474), "large");
    assert_string_equal(qs_cliff_band(NAN), "unknown");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_r),   cmocka_unit_test(test_f_distribution),
        cmocka_unit_test(test_properties),  cmocka_unit_test(test_fieller_edges),
        cmocka_unit_test(test_other_edges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
