/* Mann-Whitney and Hodges-Lehmann. */
#include "reference.h"

#include "stats/describe.h"
#include "stats/ranks.h"
#include "stats/rng.h"
#include "stats/sum.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const double REL = 1e-9;

static void check_mwu(const char *name, const struct series *x, const struct series *y, json_t *want)
{
    struct qs_mwu got;
    bool ties = json_is_true(ref_at(want, "ties"));
    assert_int_equal(qs_mwu(x->v, x->n, y->v, y->n, QS_RANKS_NORMAL, &got), QS_OK);
    check_near(name, got.u, ref_number(want, "U_y"), 0, 0);
    check_near(name, got.cles, ref_number(want, "cles"), REL, 0);
    check_near(name, got.cliff, ref_number(want, "cliff_delta"), REL, 0);
    check_near(name, got.p, ref_number(want, "mwu_asym_cc"), REL, 0);
    assert_int_equal(got.flags, ties ? QS_FLAG_TIES : 0);
    assert_int_equal(qs_mwu(x->v, x->n, y->v, y->n, QS_RANKS_NORMAL_UNCORRECTED, &got), QS_OK);
    check_near(name, got.p, ref_number(want, "mwu_asym_nocc"), REL, 0);
    assert_int_equal(qs_mwu(x->v, x->n, y->v, y->n, QS_RANKS_AUTO, &got), QS_OK);
    check_near(name, got.p, ref_number(want, ties ? "mwu_asym_cc" : "mwu_exact"), REL, 0);
    EXPECT(got.exact == !ties);
}

static void check_hl(const char *name, const struct series *x, const struct series *y, json_t *want)
{
    struct qs_hl got;
    json_t *normal = ref_at(want, "hl_ci_normal_index"), *exact = ref_at(want, "hl_ci_R_exact");
    assert_int_equal(qs_hl(x->v, x->n, y->v, y->n, 0.95, QS_RANKS_NORMAL, NULL, &got), QS_OK);
    check_near(name, got.shift, ref_number(want, "hl_shift"), REL, 1e-13);
    check_near(name, got.lo_rank, ref_number(normal, "K"), 0, 0);
    check_near(name, got.ci.lo, ref_number(normal, "lo"), REL, 1e-13);
    check_near(name, got.ci.hi, ref_number(normal, "hi"), REL, 1e-13);
    if (exact) {
        assert_int_equal(qs_hl(x->v, x->n, y->v, y->n, 0.95, QS_RANKS_AUTO, NULL, &got), QS_OK);
        EXPECT(got.exact && got.ci.level >= 0.95);
        check_near(name, got.ci.lo, ref_item(exact, 0), REL, 1e-13);
        check_near(name, got.ci.hi, ref_item(exact, 1), REL, 1e-13);
    }
    assert_int_equal(qs_hl_ratio(x->v, x->n, y->v, y->n, 0.95, QS_RANKS_AUTO, NULL, &got), QS_OK);
    check_near(name, got.shift, ref_number(want, "hl_ratio"), REL, 0);
}

static void test_against_r(void **state)
{
    (void)state;
    ref_each_pair(check_mwu);
    ref_each_pair(check_hl);
}

/* These vectors take x - y. */
static void test_shift_vectors(void **state)
{
    (void)state;
    json_t *all = ref_json_lines("pragmastat/shift.jsonl"), *one;
    size_t i, errors = 0;
    assert_int_equal(json_array_size(all), 62);
    json_array_foreach(all, i, one)
    {
        const char *name = json_string_value(ref_at(one, "name"));
        json_t *in = ref_at(one, "input");
        struct series x = ref_array(ref_at(in, "x")), y = ref_array(ref_at(in, "y"));
        struct qs_hl got;
        enum qs_status status = qs_hl(y.v, y.n, x.v, x.n, 0.95, QS_RANKS_AUTO, NULL, &got);
        if (ref_at(one, "expected_error")) {
            assert_int_equal(status, QS_ENODATA);
            errors++;
        } else {
            check_near(name, got.shift, ref_number(one, "output"), REL, 1e-12);
        }
        ref_free(&x);
        ref_free(&y);
    }
    assert_int_equal(errors, 2);
    json_decref(all);
}

/* Sorted; owned by the caller. */
static double *all_differences(const struct series *x, const struct series *y)
{
    double *d = malloc(x->n * y->n * sizeof *d);
    assert_non_null(d);
    for (size_t i = 0; i < x->n; i++)
        for (size_t j = 0; j < y->n; j++)
            d[i * y->n + j] = y->v[j] - x->v[i];
    qs_sort(d, x->n * y->n);
    return d;
}

/* These bounds leave out as many differences on each side as R's qwilcox(misrate/2) says, where R's interval
 * begins with the last of them: theirs lies one difference further in on each side. */
static void check_bounds(const char *name, const struct series *x, const struct series *y, json_t *in,
                         json_t *want)
{
    struct qs_hl got;
    size_t all = x->n * y->n;
    double *d = all_differences(x, y), misrate = ref_number(in, "misrate");
    assert_int_equal(qs_hl(x->v, x->n, y->v, y->n, 1 - misrate, QS_RANKS_EXACT, NULL, &got), QS_OK);
    size_t lo = (size_t)got.lo_rank, hi = (size_t)got.hi_rank;
    assert_int_equal(lo + hi, all + 1);
    check_near(name, got.ci.lo, d[lo - 1], 0, 0);
    check_near(name, got.ci.hi, d[hi - 1], 0, 0);
    check_near(name, d[lo], ref_number(want, "lower"), 1e-12, 0);
    check_near(name, d[hi - 2], ref_number(want, "upper"), 1e-12, 0);
    free(d);
}

static void test_bounds_vectors(void **state)
{
    (void)state;
    json_t *lines = ref_json_lines("pragmastat/shift-bounds.jsonl"), *one;
    size_t i, errors = 0;
    assert_int_equal(json_array_size(lines), 63);
    json_array_foreach(lines, i, one)
    {
        json_t *in = ref_at(one, "input");
        struct series x = ref_array(ref_at(in, "x")), y = ref_array(ref_at(in, "y"));
        if (ref_at(one, "expected_error"))
            errors++;
        else
            check_bounds(json_string_value(ref_at(one, "name")), &y, &x, in, ref_at(one, "output"));
        ref_free(&x);
        ref_free(&y);
    }
    assert_int_equal(errors, 2);
    json_decref(lines);
}

static void draw(struct qs_rng *rng, double *v, size_t n, uint64_t values, double step)
{
    for (size_t i = 0; i < n; i++)
        v[i] = 1000 + step * (double)qs_rng_below(rng, values);
}

/* Against all differences, for sizes on both sides of what is gathered at once, tied and not. */
static void test_selects_what_sorting_gives(void **state)
{
    (void)state;
    static const size_t sizes[][2] = {{1, 1}, {1, 7}, {9, 2}, {60, 70}, {300, 41}, {250, 260}};
    static const uint64_t values[] = {1, 2, 7, 500, UINT64_C(1) << 40};
    struct qs_rng rng;
    double v[2][300];
    qs_rng_seed(&rng, 5, 1);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        for (size_t k = 0; k < sizeof values / sizeof *values; k++) {
            struct series x = {v[0], sizes[s][0]}, y = {v[1], sizes[s][1]};
            struct qs_hl got;
            draw(&rng, x.v, x.n, values[k], 0.37);
            draw(&rng, y.v, y.n, values[k], 0.37);
            double *d = all_differences(&x, &y);
            size_t all = x.n * y.n;
            enum qs_status status = qs_hl(x.v, x.n, y.v, y.n, 0.9, QS_RANKS_NORMAL, NULL, &got);
            check_near("shift", got.shift, qs_quantile(d, all, 0.5, QS_QTYPE_7), 0, 0);
            if (status == QS_OK) {
                check_near("lo", got.ci.lo, d[(size_t)got.lo_rank - 1], 0, 0);
                check_near("hi", got.ci.hi, d[(size_t)got.hi_rank - 1], 0, 0);
            }
            free(d);
        }
    }
}

/* Values from 1e-300 to 1e300: halving distances would take a thousand steps, halving keys takes 64. */
static void test_selects_across_magnitudes(void **state)
{
    (void)state;
    enum { N = 120 };
    double x[N], y[N];
    for (int i = 0; i < N; i++) {
        x[i] = pow(10, -300 + 5 * i);
        y[i] = (i % 2 ? -2 : 3) * pow(10, 300 - 5 * i);
    }
    struct series xs = {x, N}, ys = {y, N};
    struct qs_hl got;
    double *d = all_differences(&xs, &ys);
    assert_int_equal(qs_hl(x, N, y, N, 0.95, QS_RANKS_AUTO, NULL, &got), QS_OK);
    check_near("shift", got.shift, 0.5 * (d[N * N / 2 - 1] + d[N * N / 2]), 1e-15, 0);
    check_near("lo", got.ci.lo, d[(size_t)got.lo_rank - 1], 0, 0);
    free(d);
}

/* x = a permutation of 2i, y = a permutation of 2i + 2c + 1: every difference is odd, shift and u are known.
 */
static void test_ten_billion_pairs(void **state)
{
    (void)state;
    enum { N = 100000, C = 250 };
    double *x = malloc(N * sizeof *x), *y = malloc(N * sizeof *y);
    assert_true(x && y);
    for (uint64_t i = 0; i < N; i++) {
        x[i * 7919 % N] = (double)(2 * i);
        y[i * 104729 % N] = (double)(2 * i + 2 * C + 1);
    }
    struct qs_hl hl;
    struct qs_mwu mwu;
    assert_int_equal(qs_hl(x, N, y, N, 0.95, QS_RANKS_AUTO, NULL, &hl), QS_OK);
    check_near("shift", hl.shift, 2 * C + 1, 0, 0);
    EXPECT(hl.ci.lo < hl.shift && hl.shift < hl.ci.hi);
    check_near("symmetric", hl.ci.lo + hl.ci.hi, 2 * hl.shift, 0, 0);
    assert_int_equal(qs_mwu(x, N, y, N, QS_RANKS_AUTO, &mwu), QS_OK);
    /* y_j > x_i iff i <= j + c: of row j min(j + c + 1, N) */
    double u = 0;
    for (int j = 0; j < N; j++)
        u += j + C + 1 < N ? j + C + 1 : N;
    check_near("u", mwu.u, u, 0, 0);
    free(x);
    free(y);
}

static void check_swapped(const double *x, size_t nx, const double *y, size_t ny)
{
    struct qs_mwu a, b;
    struct qs_hl p, q;
    for (enum qs_ranks_method m = QS_RANKS_AUTO; m <= QS_RANKS_NORMAL_UNCORRECTED; m++) {
        assert_int_equal(qs_mwu(x, nx, y, ny, m, &a), QS_OK);
        assert_int_equal(qs_mwu(y, ny, x, nx, m, &b), QS_OK);
        EXPECT(a.p >= 0 && a.p <= 1);
        check_near("p", a.p, b.p, 1e-12, 0);
        check_near("u", a.u + b.u, (double)(nx * ny), 0, 0);
        check_near("delta", a.cliff, -b.cliff, 1e-14, 1e-15);
        assert_int_equal(qs_hl(x, nx, y, ny, 0.95, m, NULL, &p), qs_hl(y, ny, x, nx, 0.95, m, NULL, &q));
        check_near("shift", p.shift, -q.shift, 0, 0);
        check_near("interval", p.ci.lo, -q.ci.hi, 0, 0);
        EXPECT(isnan(p.ci.lo) || (p.ci.lo <= p.shift && p.shift <= p.ci.hi));
    }
    assert_int_equal(qs_hl_ratio(x, nx, y, ny, 0.95, QS_RANKS_AUTO, NULL, &p),
                     qs_hl_ratio(y, ny, x, nx, 0.95, QS_RANKS_AUTO, NULL, &q));
    check_near("ratio interval", p.ci.lo * q.ci.hi, isnan(p.ci.lo) ? NAN : 1, 1e-13, 0);
}

static void test_swapping_and_scaling(void **state)
{
    (void)state;
    struct qs_rng rng;
    double x[30], y[30], xs[30], ys[30];
    qs_rng_seed(&rng, 77, 3);
    for (int round = 0; round < 40; round++) {
        size_t nx = 1 + qs_rng_below(&rng, 30), ny = 1 + qs_rng_below(&rng, 30);
        draw(&rng, x, nx, round % 2 ? 6 : 100000, 0.25);
        draw(&rng, y, ny, round % 2 ? 6 : 100000, 0.25);
        check_swapped(x, nx, y, ny);
        for (size_t i = 0; i < 30; i++) { /* times 8 and plus 64 are exact: nothing but the unit changes */
            xs[i] = i < nx ? 8 * x[i] + 64 : 0;
            ys[i] = i < ny ? 8 * y[i] + 64 : 0;
        }
        struct qs_mwu a, b;
        struct qs_hl p, q;
        (void)qs_mwu(x, nx, y, ny, QS_RANKS_AUTO, &a);
        (void)qs_mwu(xs, nx, ys, ny, QS_RANKS_AUTO, &b);
        check_near("p", a.p, b.p, 0, 0);
        (void)qs_hl(x, nx, y, ny, 0.95, QS_RANKS_AUTO, NULL, &p);
        (void)qs_hl(xs, nx, ys, ny, 0.95, QS_RANKS_AUTO, NULL, &q);
        check_near("shift", 8 * p.shift, q.shift, 0, 0);
        check_near("hi", 8 * p.ci.hi, q.ci.hi, 0, 0);
    }
}

static void test_exact_by_hand(void **state)
{
    (void)state;
    static const double x[] = {1, 2}, y[] = {2, 2, 3};
    struct qs_mwu got;
    assert_int_equal(qs_mwu(x, 2, y, 3, QS_RANKS_EXACT, &got), QS_OK);
    /* midranks 1, 3, 3, 3, 5: three of them sum to 7 or 9 with the 1 (6 ways), to 9 without 1 and 5 (1 way),
     * and to 11, as y does, in 3 ways of 10 */
    check_near("u", got.u, 5, 0, 0);
    check_near("p", got.p, 0.6, 1e-15, 0);
    check_near("least p", got.p_min, 0.2, 1e-15, 0);
    static const double a[] = {1, 2, 3}, b[] = {4, 5, 6};
    assert_int_equal(qs_mwu(a, 3, b, 3, QS_RANKS_AUTO, &got), QS_OK);
    check_near("p of 3 v 3", got.p, 0.1, 1e-15, 0);
    EXPECT(qs_mwu_runs_needed(0.05) == 4 && qs_mwu_runs_needed(0.01) == 5 && qs_mwu_runs_needed(0.001) == 7);
    static const struct {
        size_t n;
        double p;
    } least[] = {{3, 0.1}, {4, 0.0286}, {5, 0.0079}, {6, 0.0022}, {8, 1.6e-4}}; /* statistics.md 8.4 */
    double lower[8] = {1, 2, 3, 4, 5, 6, 7, 8}, higher[8] = {11, 12, 13, 14, 15, 16, 17, 18};
    for (size_t i = 0; i < sizeof least / sizeof *least; i++) {
        assert_int_equal(qs_mwu(lower, least[i].n, higher, least[i].n, QS_RANKS_AUTO, &got), QS_OK);
        check_near("least p", got.p, least[i].p, 0, 5.1e-5);
        check_near("least p", got.p, got.p_min, 1e-14, 0);
    }
}

static void test_edges(void **state)
{
    (void)state;
    static const double x[] = {1, 2, 3}, same[] = {2, 2, 2}, bad[] = {1, INFINITY, 3}, zero[] = {0, 1, 2};
    static const double huge[] = {1.7e308, 1}, low[] = {-1.7e308, 1};
    double many[QS_RANKS_EXACT_MAX + 1] = {0};
    struct qs_mwu mwu;
    struct qs_hl hl;
    assert_int_equal(qs_mwu(x, 0, x, 3, QS_RANKS_AUTO, &mwu), QS_ENODATA);
    assert_int_equal(qs_mwu(x, 3, bad, 3, QS_RANKS_AUTO, &mwu), QS_EDOM);
    EXPECT(isnan(mwu.u) && isnan(mwu.p));
    assert_int_equal(qs_mwu(same, 3, same, 3, QS_RANKS_AUTO, &mwu), QS_OK);
    check_near("all tied", mwu.p, 1, 0, 0);
    check_near("all tied", mwu.cliff, 0, 0, 0);
    assert_int_equal(qs_mwu(many, QS_RANKS_EXACT_MAX + 1, x, 3, QS_RANKS_EXACT, &mwu), QS_EDOM);
    EXPECT(isfinite(mwu.u) && isnan(mwu.p));
    assert_int_equal(qs_hl(x, 3, x, 0, 0.95, QS_RANKS_AUTO, NULL, &hl), QS_ENODATA);
    assert_int_equal(qs_hl(x, 3, bad, 3, 0.95, QS_RANKS_AUTO, NULL, &hl), QS_EDOM);
    assert_int_equal(qs_hl(x, 3, x, 3, 1, QS_RANKS_AUTO, NULL, &hl), QS_EDOM);
    assert_int_equal(qs_hl(low, 2, huge, 2, 0.95, QS_RANKS_AUTO, NULL, &hl), QS_EDOM);
    assert_int_equal(qs_hl(x, 3, same, 3, 0.95, QS_RANKS_AUTO, NULL, &hl),
                     QS_ETOOFEW); /* 3 v 3 cannot reach 95 % */
    check_near("shift", hl.shift, 0, 0, 0);
    EXPECT(isnan(hl.ci.lo) && isnan(hl.lo_rank) && hl.n_needed == 4);
    assert_int_equal(qs_hl_ratio(zero, 3, x, 3, 0.5, QS_RANKS_AUTO, NULL, &hl), QS_EDOM);
    EXPECT(isnan(hl.shift));
    assert_int_equal(qs_hl_ratio(x, 3, x, 0, 0.5, QS_RANKS_AUTO, NULL, &hl), QS_ENODATA);
    static const double twos[] = {2, 2, 2, 2, 2}, threes[] = {3, 3, 3, 3, 3};
    assert_int_equal(qs_hl(twos, 5, threes, 5, 0.95, QS_RANKS_AUTO, NULL, &hl), QS_OK);
    EXPECT(hl.ci.lo <= 1 && hl.ci.lo >= 1 && hl.ci.hi <= 1 && hl.ci.hi >= 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_r),
        cmocka_unit_test(test_shift_vectors),
        cmocka_unit_test(test_bounds_vectors),
        cmocka_unit_test(test_selects_what_sorting_gives),
        cmocka_unit_test(test_selects_across_magnitudes),
        cmocka_unit_test(test_ten_billion_pairs),
        cmocka_unit_test(test_swapping_and_scaling),
        cmocka_unit_test(test_exact_by_hand),
        cmocka_unit_test(test_edges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
