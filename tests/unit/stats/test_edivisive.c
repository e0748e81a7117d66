/* The second opinions on change points: E-divisive by permutation, and Perfherder's windows. */
#include "reference.h"
#include "second.h"

#include "stats/edivisive.h"
#include "stats/stepfit.h"
#include "stats/rng.h"
#include "stats/special.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

enum { MAX_N = 512 };

static const struct qs_edivisive_opts opts = {.seed = 1, .stream = 2, .permutations = 199, .p_max = 0.05};

/* The series of Otava's test of the original algorithm, which expects changes at 5 and 8. */
static void test_otava_sequence(void **state)
{
    (void)state;
    static const double x[] = {0.3,  2.4,   1.5,   -0.9,  -0.5,  99.7,  98.3,
                               99.1, 149.0, 149.7, 149.5, 149.1, 148.8, 150.0};
    json_t *second = ref_json("reference-second-implementation.json");
    json_t *want = ref_at(ref_at(second, "edivisive_single_split"), "otava_sequence");
    struct qs_edivisive_point got[14];
    size_t count;
    assert_int_equal(qs_edivisive(x, 14, &opts, got, &count), QS_OK);
    assert_int_equal(count, 2);
    EXPECT(got[0].index == 5 && got[1].index == 8);
    check_near("tau", (double)got[0].index, ref_number(want, "tau"), 0, 0);
    check_near("qhat", got[0].q, ref_number(want, "qhat"), 1e-12, 0);
    EXPECT(got[0].p >= 0.005 && got[0].p <= 0.05 && got[1].p >= 0.005 && got[1].p <= 0.05);
    json_decref(second);
}

static double noise(struct qs_rng *rng)
{
    return qs_qnorm(qs_rng_unit(rng) + 1e-12);
}

static void test_rate_and_p(void **state)
{
    (void)state;
    struct qs_rng rng;
    struct qs_edivisive_opts o = opts;
    int alarms = 0;
    o.permutations = 99;
    qs_rng_seed(&rng, 9, 0);
    for (int s = 0; s < 300; s++) {
        double x[24];
        struct qs_edivisive_point got[24];
        size_t count;
        for (size_t i = 0; i < 24; i++)
            x[i] = noise(&rng);
        o.stream = (uint64_t)s;
        assert_int_equal(qs_edivisive(x, 24, &o, got, &count), QS_OK);
        alarms += count > 0;
        for (size_t i = 0; i < count; i++)
            EXPECT(got[i].p >= 0.01 && got[i].p <= 0.05);
    }
    EXPECT(alarms > 3 && alarms < 28); /* 5 % of 300, and 3.3 standard deviations */
}

static void test_scale_shift_and_key(void **state)
{
    (void)state;
    double x[90], y[90];
    struct qs_rng rng;
    struct qs_edivisive_point a[90], b[90];
    size_t na, nb;
    qs_rng_seed(&rng, 31, 0);
    for (size_t i = 0; i < 90; i++) {
        x[i] = floor(16 * noise(&rng)) + (i < 30 ? 0 : i < 60 ? 96 : -32);
        y[i] = 4096 + 8 * x[i]; /* exact */
    }
    assert_int_equal(qs_edivisive(x, 90, &opts, a, &na), QS_OK);
    assert_int_equal(qs_edivisive(y, 90, &opts, b, &nb), QS_OK);
    EXPECT(na >= 2 && na == nb);
    for (size_t i = 0; i < na; i++) {
        EXPECT(a[i].index == b[i].index && (i == 0 || a[i].index > a[i - 1].index));
        check_near("q", b[i].q, 8 * a[i].q, 1e-12, 0);
        check_near("p", b[i].p, a[i].p, 0, 0);
    }
    EXPECT(a[0].index >= 28 && a[0].index <= 32);
}

static bool never(void *user, const char *stage, double done_ratio)
{
    (void)stage;
    (void)user;
    return done_ratio < 0;
}

static void test_edivisive_degenerate(void **state)
{
    (void)state;
    double x[40] = {0};
    struct qs_edivisive_point got[40];
    size_t count = 7;
    assert_int_equal(qs_edivisive(x, 40, &opts, got, &count), QS_OK);
    assert_int_equal(count, 0);
    assert_int_equal(qs_edivisive(x, 0, &opts, got, &count), QS_ENODATA);
    assert_int_equal(qs_edivisive(x, 1, &opts, got, &count), QS_ETOOFEW);
    x[1] = 5;
    assert_int_equal(qs_edivisive(x, 2, &opts, got, &count), QS_OK);
    assert_int_equal(count, 0); /* both orders split as well */
    for (size_t i = 20; i < 40; i++)
        x[i] = 9;
    x[1] = 0;
    assert_int_equal(qs_edivisive(x, 40, &opts, got, &count), QS_OK);
    EXPECT(count == 1 && got[0].index == 20); /* then both sides are constant */
    struct qs_edivisive_opts bad = opts;
    bad.progress.go_on = never;
    assert_int_equal(qs_edivisive(x, 40, &bad, got, &count), QS_ECANCELED);
    assert_int_equal(count, 0);
    bad = opts;
    bad.permutations = 0;
    assert_int_equal(qs_edivisive(x, 40, &bad, got, &count), QS_EDOM);
    x[3] = NAN;
    assert_int_equal(qs_edivisive(x, 40, &opts, got, &count), QS_EDOM);
}

/* What treeherder's perfalert (mozilla/treeherder dc3080dd7) answers for the same series, one value a push.
 */
static const struct {
    const char *path;
    size_t n_changes, changes[2];
    double t[5]; /* of the points 1, 15, 71, 192 and 300 */
} perfalert[] = {
    {"otava/tigerbeetle.csv",
     2,
     {71, 95},
     {0.44647196025312397, 2.6763595407607657, 28.95673211886714, 6.076770357003422, 1.025917122168309}},
    {"perfolizer/real1.csv",
     0,
     {0, 0},
     {2.6337657794617173, 0.06486129801854047, 0.20419397486715346, 5.737935227113304, 1.9177357875498637}},
};

static void test_perfherder_upstream(void **state)
{
    (void)state;
    static const size_t points[] = {1, 15, 71, 192, 300};
    struct qs_perfherder_opts o = qs_perfherder_opts_default();
    for (size_t k = 0; k < 2; k++) {
        struct series s = ref_csv(perfalert[k].path, 0);
        double t[MAX_N];
        size_t changes[MAX_N], count;
        assert_int_equal(qs_perfherder(s.v, s.n, &o, t, changes, &count), QS_OK);
        assert_int_equal(count, perfalert[k].n_changes);
        for (size_t i = 0; i < count; i++)
            assert_int_equal(changes[i], perfalert[k].changes[i]);
        for (size_t i = 0; i < 5; i++)
            check_near("t", t[points[i]], perfalert[k].t[i], 1e-10, 0);
        ref_free(&s);
    }
}

static void test_perfherder_needs_both_windows(void **state)
{
    (void)state;
    struct qs_perfherder_opts o = qs_perfherder_opts_default();
    double x[40], t[40];
    size_t changes[40], count;
    for (size_t step = 1; step < 40; step++) {
        for (size_t i = 0; i < 40; i++)
            x[i] = (i < step ? 100 : 120) + (double)(i % 3);
        assert_int_equal(qs_perfherder(x, 40, &o, t, changes, &count), QS_OK);
        bool full = step >= 12 && step <= 28;
        assert_int_equal(count, full ? 1 : 0);
        EXPECT(!full || changes[0] == step);
    }
}

/* Three before (1, 2, 3 from far to near: weights 1/3, 2/3, 1), two after (9, 7: weights 1, 1/2). */
static void test_perfherder_by_hand(void **state)
{
    (void)state;
    static const double x[] = {1, 2, 3, 9, 7};
    struct qs_perfherder_opts o = {.min_back = 3, .max_back = 3, .fore = 2, .t_limit = 1};
    double t[5];
    size_t changes[5], count;
    assert_int_equal(qs_perfherder(x, 5, &o, t, changes, &count), QS_OK);
    double before = (1.0 / 3 + 4.0 / 3 + 3) / 2, after = (9 + 3.5) / 1.5;
    double v1 = (pow(1 - before, 2) + pow(2 - before, 2) + pow(3 - before, 2)) / 2;
    double v2 = pow(9 - after, 2) + pow(7 - after, 2);
    check_near("t", t[3], (after - before) / sqrt(v1 / 3 + v2 / 2), 1e-14, 0);
    assert_int_equal(count, 1);
    assert_int_equal(changes[0], 3);
}

static void test_perfherder_degenerate(void **state)
{
    (void)state;
    struct qs_perfherder_opts o = qs_perfherder_opts_default(), bad = o;
    double x[30], t[30];
    size_t changes[30], count = 4;
    for (size_t i = 0; i < 30; i++)
        x[i] = 0.1;
    assert_int_equal(qs_perfherder(x, 0, &o, t, changes, &count), QS_ENODATA);
    assert_int_equal(qs_perfherder(x, 1, &o, t, changes, &count), QS_OK);
    assert_int_equal(count, 0);
    assert_int_equal(qs_perfherder(x, 30, &o, t, changes, &count), QS_OK);
    assert_int_equal(count, 0);
    for (size_t i = 0; i < 30; i++)
        EXPECT(t[i] >= 0 && t[i] <= 0);
    for (size_t i = 15; i < 30; i++)
        x[i] = 0.2;
    assert_int_equal(qs_perfherder(x, 30, &o, t, changes, &count), QS_OK);
    EXPECT(isinf(t[15]) && count == 1 && changes[0] == 15);
    bad.max_back = 11;
    assert_int_equal(qs_perfherder(x, 30, &bad, t, changes, &count), QS_EDOM);
    bad = o;
    bad.fore = 0;
    assert_int_equal(qs_perfherder(x, 30, &bad, t, changes, &count), QS_EDOM);
    x[2] = INFINITY;
    assert_int_equal(qs_perfherder(x, 30, &o, t, changes, &count), QS_EDOM);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_otava_sequence),      cmocka_unit_test(test_rate_and_p),
        cmocka_unit_test(test_scale_shift_and_key), cmocka_unit_test(test_edivisive_degenerate),
        cmocka_unit_test(test_perfherder_upstream), cmocka_unit_test(test_perfherder_needs_both_windows),
        cmocka_unit_test(test_perfherder_by_hand),  cmocka_unit_test(test_perfherder_degenerate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
