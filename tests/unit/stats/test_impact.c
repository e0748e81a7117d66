/* Impact factor: the golden values of an independent implementation, and what must not change it. */
#include "reference.h"

#include "stats/impact.h"
#include "stats/rng.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

static const struct qs_impact_opts opts = {.seed = 1, .stream = 7, .rounds = 10000};

static void test_michelson(void **state)
{
    (void)state;
    json_t *r = ref_json("reference-r.json"), *second = ref_json("reference-second-implementation.json");
    json_t *want = ref_at(ref_at(second, "impact"), "michelson_5x20");
    struct series s = ref_series(r, "nist_Michelso");
    static const size_t off[] = {0, 20, 40, 60, 80, 100};
    struct qs_nested data = {.v = s.v, .off = off, .k = 5};
    struct qs_impact got;
    assert_int_equal(qs_impact_factor(&data, &opts, &got), QS_OK);
    check_near("raw", got.raw, ref_number(want, "impact"), 2 * ref_number(want, "mc_rel"), 0);
    check_near("transformed", got.transformed, ref_number(want, "impact_transformed"),
               2 * ref_number(want, "mc_rel"), 0);
    check_near("analytic", got.analytic, sqrt(1 + 0.000905893421055751 / 0.00551063157894457), 1e-9, 0);
    assert_int_equal(got.c, 3);
    assert_int_equal(got.additive, QS_ADDITIVE_WELL);
    assert_string_equal(qs_additive_names[got.additive], "well");
    ref_free(&s);
    json_decref(r);
    json_decref(second);
}

enum { K = 20, N = 30 };

/* Runs that add a constant of spread `run` to samples of spread 1, or multiply them. */
static void simulate(double *v, size_t *off, double run, bool multiply, uint64_t seed)
{
    struct qs_rng rng;
    qs_rng_seed(&rng, seed, 0);
    for (size_t j = 0; j < K; j++) {
        double a = run * (qs_rng_unit(&rng) - 0.5);
        off[j] = j * N;
        for (size_t i = 0; i < N; i++) {
            double x = qs_rng_unit(&rng);
            v[j * N + i] = multiply ? exp(a) * x : 50 + a + x;
        }
    }
    off[K] = (size_t)K * N;
}

static struct qs_impact impact_of(const double *v, const size_t *off, struct qs_impact_opts o)
{
    struct qs_nested data = {.v = v, .off = off, .k = K};
    struct qs_impact got;
    assert_int_equal(qs_impact_factor(&data, &o, &got), QS_OK);
    return got;
}

static void test_the_additive_check(void **state)
{
    (void)state;
    double v[K * N];
    size_t off[K + 1];
    simulate(v, off, 30, false, 2);
    struct qs_impact got = impact_of(v, off, opts);
    EXPECT(got.raw > 20 && got.raw < 45);
    check_near("transformed", got.transformed, 1, 0.05, 0);
    assert_int_equal(got.additive, QS_ADDITIVE_WELL);
    simulate(v, off, 0, false, 3);
    got = impact_of(v, off, opts);
    check_near("no effect", got.raw, 1, 0.05, 0);
    assert_int_equal(got.additive, QS_ADDITIVE_NO_EFFECT);
    simulate(v, off, 6, true, 4);
    got = impact_of(v, off, opts);
    EXPECT(got.raw > 1.05 && got.additive != QS_ADDITIVE_WELL); /* a factor, not a summand */
}

static void test_keys_units_and_offsets(void **state)
{
    (void)state;
    double v[K * N], w[K * N];
    size_t off[K + 1];
    simulate(v, off, 2, false, 5);
    for (size_t i = 0; i < (size_t)K * N; i++)
        w[i] = 1024 * v[i];
    struct qs_impact a = impact_of(v, off, opts), b = impact_of(v, off, opts),
                     scaled = impact_of(w, off, opts);
    EXPECT(a.raw >= b.raw && a.raw <= b.raw && a.transformed >= b.transformed &&
           a.transformed <= b.transformed);
    check_near("scaled", scaled.raw, a.raw, 1e-9, 0);
    struct qs_impact_opts other = opts;
    other.stream = 8;
    b = impact_of(v, off, other);
    EXPECT(b.raw < a.raw || b.raw > a.raw);
    check_near("another stream", b.raw, a.raw, 0.06, 0);
}

/* Constant runs: SD2 is always 0, and SD1 never when all runs differ. */
static void test_constant_runs(void **state)
{
    (void)state;
    double v[16];
    static const size_t off[] = {0, 4, 8, 12, 16};
    struct qs_nested data = {.v = v, .off = off, .k = 4};
    struct qs_impact got;
    for (size_t i = 0; i < 16; i++)
        v[i] = (double)(i / 4);
    assert_int_equal(qs_impact_factor(&data, &opts, &got), QS_OK);
    EXPECT(isinf(got.raw) && isinf(got.analytic));
    check_near("transformed", got.transformed, 1, 0, 0);
    for (size_t i = 0; i < 16; i++)
        v[i] = 3;
    assert_int_equal(qs_impact_factor(&data, &opts, &got), QS_OK);
    check_near("all equal", got.raw, 1, 0, 0);
    EXPECT(isnan(got.analytic));
    assert_int_equal(got.additive, QS_ADDITIVE_NO_EFFECT);
}

static bool stop_at_half(void *user, const char *stage, double done_ratio)
{
    (void)stage;
    *(double *)user = done_ratio;
    return done_ratio < 0.5;
}

static void test_refusals(void **state)
{
    (void)state;
    double v[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
    static const size_t off[] = {0, 4, 8, 12, 16}, short_run[] = {0, 3, 8, 12, 16};
    struct qs_nested data = {.v = v, .off = off, .k = 3};
    struct qs_impact got;
    assert_int_equal(qs_impact_factor(&data, &opts, &got), QS_ETOOFEW);
    EXPECT(isnan(got.raw) && got.additive == QS_ADDITIVE_UNKNOWN);
    data = (struct qs_nested){.v = v, .off = short_run, .k = 4};
    assert_int_equal(qs_impact_factor(&data, &opts, &got), QS_ETOOFEW);
    data.off = off;
    struct qs_impact_opts bad = opts;
    bad.rounds = 0;
    assert_int_equal(qs_impact_factor(&data, &bad, &got), QS_EDOM);
    double seen = -1;
    bad = opts;
    bad.progress = (struct qs_progress){.go_on = stop_at_half, .user = &seen};
    assert_int_equal(qs_impact_factor(&data, &bad, &got), QS_ECANCELED);
    EXPECT(isnan(got.raw) && isnan(got.transformed) && seen >= 0.5 && seen < 0.6);
    v[5] = INFINITY;
    assert_int_equal(qs_impact_factor(&data, &opts, &got), QS_EDOM);
    data.k = 0;
    assert_int_equal(qs_impact_factor(&data, &opts, &got), QS_ENODATA);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_michelson),
        cmocka_unit_test(test_the_additive_check),
        cmocka_unit_test(test_keys_units_and_offsets),
        cmocka_unit_test(test_constant_runs),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
