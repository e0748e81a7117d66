/* Welch, its logarithmic form, and paired blocks. */
#include "reference.h"

#include "stats/twosample.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const double REL = 1e-9;

static void check_pair(const char *name, const struct series *x, const struct series *y, json_t *want)
{
    struct qs_ttest t;
    struct qs_ratio_test ratio;
    json_t *welch = ref_at(want, "welch"), *log = ref_at(want, "log_welch_ratio");
    assert_int_equal(qs_welch(x->v, x->n, y->v, y->n, 0.95, &t), QS_OK);
    check_near(name, t.diff, ref_number(want, "diff"), REL, 0);
    check_near(name, t.sd[0], ref_number(want, "sd_x"), REL, 0);
    check_near(name, t.sd[1], ref_number(want, "sd_y"), REL, 0);
    check_near(name, t.t, ref_number(welch, "t"), REL, 0);
    check_near(name, t.df, ref_number(welch, "df"), REL, 0);
    check_near(name, t.p, ref_number(welch, "p"), REL, 0);
    check_near(name, t.ci.lo, ref_item(ref_at(welch, "ci"), 0), REL, 0);
    check_near(name, t.ci.hi, ref_item(ref_at(welch, "ci"), 1), REL, 0);
    assert_int_equal(qs_log_welch(x->v, x->n, y->v, y->n, 0.95, &ratio), QS_OK);
    check_near(name, ratio.ratio, ref_number(log, "ratio"), REL, 0);
    check_near(name, ratio.log.p, ref_number(log, "p"), REL, 0);
    check_near(name, ratio.ci.lo, ref_item(ref_at(log, "ci"), 0), REL, 0);
    check_near(name, ratio.ci.hi, ref_item(ref_at(log, "ci"), 1), REL, 0);
}

static void test_against_r(void **state)
{
    (void)state;
    ref_each_pair(check_pair);
}

static void test_swap_inverts_and_unit_cancels(void **state)
{
    (void)state;
    static const double x[] = {12.1, 11.9, 12.4, 12.6, 11.8}, y[] = {12.9, 13.1, 12.5, 13.4};
    double xs[5], ys[4];
    struct qs_ratio_test a, b, c;
    for (int i = 0; i < 5; i++)
        xs[i] = x[4 - i] * 1e-7;
    for (int i = 0; i < 4; i++)
        ys[i] = y[3 - i] * 1e-7;
    assert_int_equal(qs_log_welch(x, 5, y, 4, 0.95, &a), QS_OK);
    assert_int_equal(qs_log_welch(y, 4, x, 5, 0.95, &b), QS_OK);
    assert_int_equal(qs_log_welch(xs, 5, ys, 4, 0.95, &c), QS_OK);
    check_near("ratio", a.ratio * b.ratio, 1, 1e-14, 0);
    check_near("ci", a.ci.lo * b.ci.hi, 1, 1e-14, 0);
    check_near("p", a.log.p, b.log.p, 1e-12, 0);
    check_near("unit", c.ci.hi, a.ci.hi, 1e-12, 0);
    check_near("unit p", c.log.p, a.log.p, 1e-10, 0);
}

static void test_nothing_varies(void **state)
{
    (void)state;
    static const double a[] = {2, 2, 2}, b[] = {3, 3}, c[] = {2, 2};
    struct qs_ttest t;
    struct qs_ratio_test r;
    assert_int_equal(qs_welch(a, 3, b, 2, 0.95, &t), QS_OK);
    EXPECT((t.flags & QS_FLAG_EXACT) && isnan(t.t) && isnan(t.df));
    check_near("p", t.p, 0, 0, 0);
    check_near("point", t.ci.lo, 1, 0, 0);
    assert_int_equal(qs_welch(a, 3, c, 2, 0.95, &t), QS_OK);
    check_near("p", t.p, 1, 0, 0);
    assert_int_equal(qs_log_welch(a, 3, b, 2, 0.95, &r), QS_OK);
    check_near("ratio", r.ci.hi, 1.5, 1e-15, 0);
    static const double d[] = {1, 2, 3};
    assert_int_equal(qs_welch(a, 3, d, 3, 0.95, &t), QS_OK); /* one side varies: df are that side's */
    check_near("df", t.df, 2, 1e-15, 0);
}

static void test_bad_samples(void **state)
{
    (void)state;
    static const double x[] = {1, 2, 3}, bad[] = {1, NAN, 3}, zero[] = {1, 0, 3};
    struct qs_ttest t;
    struct qs_ratio_test r;
    assert_int_equal(qs_welch(x, 0, x, 3, 0.95, &t), QS_ENODATA);
    assert_int_equal(qs_welch(x, 1, x, 3, 0.95, &t), QS_ETOOFEW);
    check_near("diff", t.diff, 1, 0, 0);
    EXPECT(isnan(t.p) && isnan(t.ci.lo));
    assert_int_equal(qs_welch(x, 3, bad, 3, 0.95, &t), QS_EDOM);
    assert_int_equal(qs_welch(x, 3, x, 3, 1.5, &t), QS_EDOM);
    assert_int_equal(qs_welch(zero, 3, x, 3, 0.95, &t), QS_OK);
    assert_int_equal(qs_log_welch(zero, 3, x, 3, 0.95, &r), QS_EDOM);
    EXPECT(isnan(r.ratio) && isnan(r.ci.lo));
    assert_int_equal(qs_log_welch(x, 3, x, 0, 0.95, &r), QS_ENODATA);
    assert_int_equal(qs_log_welch(x, 3, x, 1, 0.95, &r), QS_ETOOFEW);
}

/* d = {.1, .2, .3}: t = .2/(.1/sqrt 3), and with 2 df p = 1 - t/sqrt(2 + t^2) */
static void test_paired_by_hand(void **state)
{
    (void)state;
    double x[] = {5, 700, 0.03}, y[3];
    for (int b = 0; b < 3; b++)
        y[b] = x[b] * exp(0.1 * (b + 1));
    struct qs_paired p;
    assert_int_equal(qs_paired_blocks(x, y, 3, 0.95, &p), QS_OK);
    double t = 2 * sqrt(3);
    check_near("ratio", p.test.ratio, exp(0.2), 1e-14, 0);
    check_near("sd", p.test.log.sd[0], 0.1, 1e-13, 0);
    check_near("t", p.test.log.t, t, 1e-12, 0);
    check_near("df", p.test.log.df, 2, 0, 0);
    check_near("p", p.test.log.p, 1 - t / sqrt(2 + t * t), 1e-12, 0);
    check_near("lo", p.test.ci.lo, exp(0.2 - 4.30265272974946 * 0.1 / sqrt(3)), 1e-12, 0);
    check_near("hi", p.test.ci.hi, exp(0.2 + 4.30265272974946 * 0.1 / sqrt(3)), 1e-12, 0);
    check_near("sign test", p.sign_p, 0.25, 1e-14, 0);
    check_near("drift", p.drift, 0.1, 1e-13, 0);
    assert_int_equal(p.n_up, 3);
    assert_int_equal(p.n_down, 0);
}

static void test_paired_cancels_what_blocks_share(void **state)
{
    (void)state;
    static const double x[] = {10, 11, 9, 10.5, 10.2}, y[] = {10.3, 11.4, 9.2, 10.9, 10.4};
    double xs[5], ys[5];
    struct qs_paired a, b;
    for (int i = 0; i < 5; i++) {
        xs[i] = x[i] * (1 + i); /* the device heats up: both arms of a block are slower */
        ys[i] = y[i] * (1 + i);
    }
    assert_int_equal(qs_paired_blocks(x, y, 5, 0.95, &a), QS_OK);
    assert_int_equal(qs_paired_blocks(xs, ys, 5, 0.95, &b), QS_OK);
    check_near("lo", b.test.ci.lo, a.test.ci.lo, 1e-12, 0);
    check_near("p", b.test.log.p, a.test.log.p, 1e-10, 0);
    check_near("drift", b.drift, a.drift, 1e-10, 0);
}

static void test_paired_edges(void **state)
{
    (void)state;
    static const double x[] = {2, 4, 8, 16}, y[] = {4, 8, 16, 32}, zero[] = {2, 0, 8, 16};
    struct qs_paired p;
    assert_int_equal(qs_paired_blocks(x, y, 0, 0.95, &p), QS_ENODATA);
    assert_int_equal(qs_paired_blocks(x, y, 1, 0.95, &p), QS_ETOOFEW);
    check_near("ratio of one block", p.test.ratio, 2, 1e-15, 0);
    EXPECT(isnan(p.test.ci.lo) && isnan(p.drift));
    assert_int_equal(qs_paired_blocks(x, zero, 4, 0.95, &p), QS_EDOM);
    assert_int_equal(qs_paired_blocks(zero, x, 4, 0.95, &p), QS_EDOM);
    assert_int_equal(qs_paired_blocks(x, y, 4, 0, &p), QS_EDOM);
    assert_int_equal(qs_paired_blocks(x, y, 4, 0.95, &p), QS_OK);
    EXPECT((p.test.log.flags & QS_FLAG_EXACT) && p.test.log.p <= 0);
    check_near("drift", p.drift, 0, 0, 0);
    assert_int_equal(qs_paired_blocks(x, x, 4, 0.95, &p), QS_OK);
    EXPECT((p.flags & QS_FLAG_TIES) && p.n_up == 0 && p.n_down == 0);
    check_near("all ties", p.sign_p, 1, 0, 0);
    static const double odd[] = {1, 3, 7, 11, 13};
    double slower[5];
    for (int i = 0; i < 5; i++)
        slower[i] = odd[i] * 1.1; /* the quotients differ in their last bits only */
    assert_int_equal(qs_paired_blocks(odd, slower, 5, 0.95, &p), QS_OK);
    EXPECT((p.test.log.flags & QS_FLAG_EXACT) && p.test.log.sd[0] <= 0);
    for (int i = 0; i < 5; i++)
        slower[i] = odd[i] * 2.7; /* where the logarithms differ in their last bits, too */
    assert_int_equal(qs_paired_blocks(odd, slower, 5, 0.95, &p), QS_OK);
    EXPECT((p.test.log.flags & QS_FLAG_EXACT) && p.test.log.sd[0] <= 0);
    static const double tiny[] = {1e-300, 1e-300}, large[] = {1e300, 1e299};
    assert_int_equal(qs_paired_blocks(tiny, large, 2, 0.95, &p), QS_OK);
    check_near("a ratio beyond doubles", p.test.log.diff, 599.5 * log(10), 1e-13, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_r),      cmocka_unit_test(test_swap_inverts_and_unit_cancels),
        cmocka_unit_test(test_nothing_varies), cmocka_unit_test(test_bad_samples),
        cmocka_unit_test(test_paired_by_hand), cmocka_unit_test(test_paired_cancels_what_blocks_share),
        cmocka_unit_test(test_paired_edges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
