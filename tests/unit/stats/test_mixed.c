/* Values of which some were disturbed: both kinds count with what each is worth. Seeds are fixed: the counts
 * are the same on every machine. */
#include "reference.h"

#include "stats/mixed_median.h"
#include "stats/rng.h"
#include "stats/verdict.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

enum { N = 40, REPS = 400 };

static double normal(struct qs_rng *rng)
{
    double u = 1 - qs_rng_unit(rng), v = qs_rng_unit(rng);
    return sqrt(-2 * log(u)) * cos(2 * M_PI * v);
}

struct outcome {
    double coverage, width, clean,
        pooled; /* mean widths: of both, of the clean ones alone, of all with one weight */
    int contradict;
};

/* So many clean ones of 40, the others scattering so many times as much, and off by so much. */
static struct outcome trial(size_t clean, double scatter, double off)
{
    struct outcome o = {0};
    struct qs_rng rng;
    qs_rng_seed(&rng, 1900 + clean, (uint64_t)(scatter * 10));
    for (int r = 0; r < REPS; r++) {
        double d[N];
        bool disturbed[N], none[N] = {false};
        struct qs_mixed m, all;
        for (size_t i = 0; i < N; i++) {
            disturbed[i] = (i * 7) % N >= clean; /* in any order */
            d[i] = 5 + (disturbed[i] ? off + scatter * normal(&rng) : normal(&rng));
        }
        assert_int_equal(qs_mixed_mean(d, disturbed, N, 0.95, &m), QS_OK);
        assert_int_equal(qs_mixed_mean(d, none, N, 0.95, &all), QS_OK);
        o.coverage += m.test.ci.lo <= 5 && m.test.ci.hi >= 5;
        o.width += m.test.ci.hi - m.test.ci.lo;
        o.pooled += all.test.ci.hi - all.test.ci.lo;
        o.clean += clean >= 2 ? m.alone[QS_CLEAN].ci.hi - m.alone[QS_CLEAN].ci.lo : INFINITY;
        o.contradict += m.contradict;
    }
    o.coverage /= REPS;
    return o;
}

/* From no clean value to all of them: the interval holds its level, gets narrower step by step, and is never
 * wider than the better one of the two that each kind of looking away would give. */
static void there_is_no_cliff(void **state)
{
    (void)state;
    static const double scatters[] = {1, 3, 10};
    for (size_t s = 0; s < 3; s++) {
        double before = INFINITY;
        for (size_t clean = 0; clean <= N; clean++) {
            struct outcome o = trial(clean, scatters[s], 0);
            /* four standard errors are 4.4 % */
            if (o.coverage < 0.91 || o.coverage > 0.995)
                fail_msg("%zu clean, scatter %g: coverage %.3f", clean, scatters[s], o.coverage);
            if (o.width > 1.16 * before || o.width > 1.25 * fmin(o.clean, o.pooled))
                fail_msg("%zu clean, scatter %g: width %.3f, before %.3f, clean %.3f, pooled %.3f", clean,
                         scatters[s], o.width / REPS, before / REPS, o.clean / REPS, o.pooled / REPS);
            EXPECT(o.contradict <= REPS / 50);
            before = o.width;
        }
    }
}

/* Disturbed values that measure something else do not count. */
static void a_contradiction_rests_on_the_clean_ones(void **state)
{
    (void)state;
    struct outcome o = trial(10, 2, 12);
    EXPECT(o.contradict > REPS * 95 / 100);
    EXPECT(o.coverage > 0.91);
    double d[] = {1, 2, 3, 91, 92, 93};
    bool disturbed[] = {false, false, false, true, true, true};
    struct qs_mixed m;
    assert_int_equal(qs_mixed_mean(d, disturbed, 6, 0.95, &m), QS_OK);
    EXPECT(m.contradict);
    check_near("mean", m.test.diff, 2, 1e-12, 0);
    check_near("half width", m.test.ci.hi - 2, 4.302652729911275 / sqrt(3), 1e-9, 0);
    assert_int_equal(m.test.n[0], 3);
    check_near("worth", m.worth, 0, 0, 0);
    check_near("alone", m.alone[QS_DISTURBED].diff, 92, 1e-12, 0);
}

/* Where nothing tells them apart it is Student's t; where one kind is missing, too. */
static void alike_they_are_one_sample(void **state)
{
    (void)state;
    double d[] = {1, 2, 4, 3, 2, 3, 1, 4};
    bool disturbed[8] = {false, true, false, true, false, true, false, true};
    struct qs_mixed m, plain;
    assert_int_equal(qs_mixed_mean(d, NULL, 8, 0.95, &plain), QS_OK);
    check_near("mean", plain.test.diff, 2.5, 1e-12, 0);
    check_near("df", plain.test.df, 7, 1e-12, 0);
    check_near("se", plain.test.se, sqrt(10.0 / 7 / 8), 1e-12, 0);
    EXPECT(isnan(plain.agree_p) && isnan(plain.alone[QS_DISTURBED].diff));
    assert_int_equal(qs_mixed_mean(d, disturbed, 8, 0.95, &m), QS_OK);
    check_near("worth", m.worth, 1, 1e-12, 0);
    check_near("mean", m.test.diff, plain.test.diff, 1e-12, 0);
    check_near("se", m.test.se, plain.test.se, 1e-12, 0);
    check_near("sd", m.test.sd[0], plain.test.sd[0], 1e-12, 0);
    EXPECT(m.test.df > 5 && m.test.df <= 7);
    assert_int_equal(qs_mixed_mean(d, disturbed, 1, 0.95, &m), QS_ETOOFEW);
    check_near("one", m.test.diff, 1, 0, 0);
    assert_int_equal(qs_mixed_mean(d, disturbed, 0, 0.95, &m), QS_ENODATA);
    for (size_t i = 0; i < 8; i++)
        d[i] = 3;
    assert_int_equal(qs_mixed_mean(d, disturbed, 8, 0.95, &m), QS_OK);
    assert_int_equal(m.test.flags & QS_FLAG_EXACT, QS_FLAG_EXACT);
    d[0] = NAN;
    assert_int_equal(qs_mixed_mean(d, disturbed, 8, 0.95, &m), QS_EDOM);
}

/* One wild block among many clean ones: its weight is next to nothing, and it widens next to nothing. */
static void a_wild_one_is_worth_little(void **state)
{
    (void)state;
    double x[21], y[21];
    bool disturbed[21] = {false};
    struct qs_verdict_opts opts = qs_verdict_opts_default();
    struct qs_verdict v, clean;
    struct qs_mixed m;
    for (size_t i = 0; i < 21; i++) {
        x[i] = 100;
        y[i] = 100 * exp(0.04 + 0.001 * ((double)(i % 5) - 2));
    }
    assert_int_equal(qs_verdict_mixed_blocks(x, y, NULL, 20, 0, &opts, &clean, &m), QS_OK);
    y[20] = 300;
    disturbed[20] = true;
    assert_int_equal(qs_verdict_mixed_blocks(x, y, disturbed, 21, 2, &opts, &v, &m), QS_OK);
    check_near("ratio", v.ratio, exp(0.04), 0.001, 0);
    EXPECT(v.l95.hi - v.l95.lo < 1.05 * (clean.l95.hi - clean.l95.lo));
    assert_int_equal(v.kind, QS_VERDICT_REGRESSION);
    assert_string_equal(v.method, "paired-log-t-weighted");
    assert_int_equal(v.n_used[0], 21);
    assert_int_equal(v.n_dropped[0], 2);
    EXPECT(m.worth < 1e-3);
}

/* So many clean ones of 40 on both sides, the others scattering so many times as much, and off by so much:
 * what they are off by is on both sides, and cancels. */
static struct outcome trial_two(size_t clean, double scatter, double off)
{
    struct outcome o = {0};
    struct qs_rng rng;
    qs_rng_seed(&rng, 2000 + clean, (uint64_t)(scatter * 10));
    for (int r = 0; r < REPS; r++) {
        double v[2][N];
        bool disturbed[2][N];
        struct qs_mixed_side side[2];
        struct qs_mixed m;
        struct qs_ttest all;
        for (size_t k = 0; k < 2; k++) {
            for (size_t i = 0; i < N; i++) {
                disturbed[k][i] = (i * 7) % N >= clean;
                v[k][i] = (k == 0 ? 2 : 5) + (disturbed[k][i] ? off + scatter * normal(&rng) : normal(&rng));
            }
            side[k] = (struct qs_mixed_side){v[k], disturbed[k], N};
        }
        assert_int_equal(qs_mixed_two(&side[0], &side[1], 0.95, &m), QS_OK);
        assert_int_equal(qs_welch(v[0], N, v[1], N, 0.95, &all), QS_OK);
        o.coverage += m.test.ci.lo <= 3 && m.test.ci.hi >= 3;
        o.width += m.test.ci.hi - m.test.ci.lo;
        o.pooled += all.ci.hi - all.ci.lo;
        o.clean += clean >= 2 ? m.alone[QS_CLEAN].ci.hi - m.alone[QS_CLEAN].ci.lo : INFINITY;
        o.contradict += m.contradict;
    }
    o.coverage /= REPS;
    return o;
}

static void there_is_no_cliff_between_two_samples(void **state)
{
    (void)state;
    static const double scatters[] = {1, 3, 10}, offs[] = {0, 1};
    for (size_t s = 0; s < 6; s++) {
        double before = INFINITY, scatter = scatters[s / 2], off = offs[s % 2];
        for (size_t clean = 0; clean <= N; clean++) {
            struct outcome o = trial_two(clean, scatter, off);
            if (o.coverage < 0.89 || o.coverage > 0.995) /* 0.91 in 2000 of 3 clean ones and scatter 10 */
                fail_msg("%zu clean, scatter %g, off %g: coverage %.3f", clean, scatter, off, o.coverage);
            if (o.width > 1.1 * before || o.width > 1.25 * fmin(o.clean, o.pooled))
                fail_msg("%zu clean, scatter %g, off %g: width %.3f, before %.3f, clean %.3f, pooled %.3f",
                         clean, scatter, off, o.width / REPS, before / REPS, o.clean / REPS, o.pooled / REPS);
            EXPECT(o.contradict <= REPS / 50);
            before = o.width;
        }
    }
}

/* x clean 1 2 3, disturbed 11 12 13 14; y clean 2 3 4, disturbed 13 14 15 16: both variances are at most
 * those of the clean ones times 1.67, so that both count alike. Pairs of 3 and 3 are worth 1.5, of 4 and 4
 * are worth 2. */
static void like_is_compared_with_like(void **state)
{
    (void)state;
    double x[] = {1, 11, 2, 12, 3, 13, 14}, y[] = {13, 2, 14, 3, 15, 4, 16};
    bool dx[] = {false, true, false, true, false, true, true},
         dy[] = {true, false, true, false, true, false, true};
    struct qs_mixed m;
    assert_int_equal(
        qs_mixed_two(&(struct qs_mixed_side){x, dx, 7}, &(struct qs_mixed_side){y, dy, 7}, 0.95, &m), QS_OK);
    check_near("clean", m.alone[QS_CLEAN].diff, 1, 1e-12, 0);
    check_near("disturbed", m.alone[QS_DISTURBED].diff, 2, 1e-12, 0);
    check_near("worth", m.worth, 1, 0, 0);
    double a = 1.5 / 3.5, b = 2 / 3.5, va = a * a * 2 / 3, vb = b * b * 5 / 6;
    check_near("difference", m.test.diff, a * 1 + b * 2, 1e-12, 0);
    check_near("se", m.test.se, sqrt(va + vb), 1e-12, 0);
    check_near("df", m.test.df, (va + vb) * (va + vb) / (va * va / 4 + vb * vb / 6), 1e-9, 0);
    check_near("sd", hypot(m.test.sd[0], m.test.sd[1]) / sqrt(7), m.test.se, 1e-12, 0);
    assert_int_equal(m.test.n[0], 7);
    for (size_t i = 0; i < 7; i++) /* disturbed ones tell of another difference: the clean ones count */
        y[i] += dy[i] ? 40 : 0;
    assert_int_equal(
        qs_mixed_two(&(struct qs_mixed_side){x, dx, 7}, &(struct qs_mixed_side){y, dy, 7}, 0.95, &m), QS_OK);
    EXPECT(m.contradict);
    check_near("clean counts", m.test.diff, 1, 1e-12, 0);
    assert_int_equal(m.test.n[1], 3);
}

/* One side is disturbed and the other is not: nothing cancels. */
static void unlike_sides_keep_to_the_clean_ones(void **state)
{
    (void)state;
    double x[12], y[12];
    bool none[12] = {false}, most[12];
    struct qs_mixed m;
    for (size_t clean = 5; clean <= 6; clean++) {
        for (size_t i = 0; i < 12; i++) {
            x[i] = 10 + (double)(i % 3);
            most[i] = i >= clean;
            y[i] = x[i] + (most[i] ? 1 : 0);
        }
        struct qs_ttest all;
        assert_int_equal(qs_mixed_two(&(struct qs_mixed_side){x, none, 12},
                                      &(struct qs_mixed_side){y, most, 12}, 0.95, &m),
                         QS_OK);
        assert_int_equal(qs_welch(x, 12, y, clean == 5 ? 12 : 6, 0.95, &all), QS_OK);
        check_near("difference", m.test.diff, all.diff, 1e-12, 0);
        check_near("lo", m.test.ci.lo, all.ci.lo, 1e-12, 0);
        EXPECT(clean == 5 ? isnan(m.worth) : m.worth <= 0);
        check_near("alone", m.alone[QS_CLEAN].diff, clean == 6 ? 0 : -0.2, 1e-12, 0);
    }
    for (size_t i = 0; i < 12; i++) { /* four are enough to see that the others are something else */
        most[i] = i >= 4;
        y[i] = x[i] + (most[i] ? 9 : 0);
    }
    assert_int_equal(
        qs_mixed_two(&(struct qs_mixed_side){x, none, 12}, &(struct qs_mixed_side){y, most, 12}, 0.95, &m),
        QS_OK);
    EXPECT(m.contradict && m.agree_p < 0.001);
    assert_int_equal(m.test.n[1], 4);
    check_near("difference", m.test.diff, -0.25, 1e-12, 0);
    assert_int_equal(
        qs_mixed_two(&(struct qs_mixed_side){x, NULL, 1}, &(struct qs_mixed_side){y, NULL, 12}, 0.95, &m),
        QS_ETOOFEW);
    y[3] = NAN;
    assert_int_equal(
        qs_mixed_two(&(struct qs_mixed_side){x, NULL, 12}, &(struct qs_mixed_side){y, NULL, 12}, 0.95, &m),
        QS_EDOM);
}

/* Times of one arm: so many clean ones of 40, the others longer by so many sd. */
static struct outcome trial_median(size_t clean, double scatter, double off)
{
    struct outcome o = {0};
    struct qs_rng rng;
    qs_rng_seed(&rng, 2100 + clean, (uint64_t)(scatter * 10));
    for (int r = 0; r < REPS; r++) {
        double v[N];
        bool disturbed[N];
        struct qs_mixed_median m;
        struct qs_median_ci all;
        for (size_t i = 0; i < N; i++) {
            disturbed[i] = (i * 7) % N >= clean;
            v[i] = 100 + (disturbed[i] ? off + scatter * normal(&rng) : normal(&rng));
        }
        assert_int_equal(qs_mixed_median(v, disturbed, N, 0.95, &m), QS_OK);
        assert_int_equal(qs_median_ci(v, N, 0.95, &all), QS_OK);
        const struct qs_ci *alone = &m.alone[QS_CLEAN].ci;
        o.coverage += m.ci.lo <= 100 && m.ci.hi >= 100;
        o.width += m.ci.hi - m.ci.lo;
        o.pooled += all.ci.hi - all.ci.lo;
        o.clean += isfinite(alone->lo) ? alone->hi - alone->lo : INFINITY;
    }
    o.coverage /= REPS;
    return o;
}

/* Of values that differ in nothing but their scatter the interval holds its level, and clean ones make it
 * narrower, at six of them as anywhere. */
static void there_is_no_cliff_in_a_median(void **state)
{
    (void)state;
    static const double scatters[] = {1, 3, 10};
    for (size_t s = 0; s < 3; s++) {
        double before = INFINITY;
        for (size_t clean = 0; clean <= N; clean += clean < 8 ? 1 : 4) {
            struct outcome o = trial_median(clean, scatters[s], 0);
            if (o.coverage < 0.91 || o.coverage > 0.995)
                fail_msg("%zu clean, scatter %g: coverage %.3f", clean, scatters[s], o.coverage);
            if (o.width > (clean == QS_MIXED_LEAST ? 1.5 : 1.25) * before ||
                o.width > (clean < 6 ? 1.5 : 1.3) * fmin(o.clean, o.pooled))
                fail_msg("%zu clean, scatter %g: width %.3f, before %.3f, clean %.3f, pooled %.3f", clean,
                         scatters[s], o.width / REPS, before / REPS, o.clean / REPS, o.pooled / REPS);
            before = o.width;
        }
    }
}

/* What all disturbed ones have in common is no scatter: where they are longer by sd the clean ones decide
 * more the more it is, before and after the six that have an interval by themselves. */
static void what_is_common_to_disturbed_times_is_seen(void **state)
{
    (void)state;
    static const struct {
        double off;
        size_t clean;
        double
            least; /* coverage; of an interval of all of them alike it is at most 0.5, and 0 from 1 sd on */
    } cases[] = {{0.5, 6, 0.7}, {0.5, 20, 0.86}, {1, 3, 0.6},  {1, 6, 0.74}, {1, 10, 0.84},
                 {1, 30, 0.9},  {2, 3, 0.8},     {2, 5, 0.92}, {2, 6, 0.92}, {2, 10, 0.93},
                 {5, 5, 0.93},  {5, 6, 0.93},    {5, 20, 0.93}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct outcome o = trial_median(cases[i].clean, 1, cases[i].off);
        if (o.coverage < cases[i].least)
            fail_msg("%zu clean, others off by %g: coverage %.3f", cases[i].clean, cases[i].off, o.coverage);
    }
    for (size_t off = 1; off <= 2; off++)
        EXPECT(trial_median(6, 1, (double)off).width < 1.1 * trial_median(5, 1, (double)off).width);
}

/* Three clean values 1 2 3, six disturbed ones 2.2 .. 2.7: mean 2.45, variance 0.035, less than that of the
 * clean ones (1): r = 1. They differ by 0.45, of which chance makes sqrt(1/3 + 0.035/6): all count alike, and
 * the interval of nine is from the second to the eighth (P(Bin(9) <= 1) = 10/512). */
static void a_median_by_hand(void **state)
{
    (void)state;
    double v[] = {2.2, 1, 2.3, 2, 2.4, 3, 2.5, 2.6, 2.7};
    bool disturbed[] = {true, false, true, false, true, false, true, true, true};
    struct qs_mixed_median m;
    assert_int_equal(qs_mixed_median(v, disturbed, 9, 0.95, &m), QS_OK);
    check_near("worth", m.worth, 1, 0, 0);
    check_near("median", m.median, 2.4, 0, 0);
    check_near("lo", m.ci.lo, 2, 0, 0);
    check_near("hi", m.ci.hi, 2.7, 0, 0);
    check_near("level", m.ci.level, 1 - 20.0 / 512, 1e-12, 0);
    assert_int_equal(m.alone[QS_CLEAN].n, 3);
    check_near("clean", m.alone[QS_CLEAN].median, 2, 0, 0);
    EXPECT(isnan(m.alone[QS_CLEAN].ci.lo));
    check_near("disturbed", m.alone[QS_DISTURBED].median, 2.45, 1e-12, 0);
    check_near("disturbed lo", m.alone[QS_DISTURBED].ci.lo, 2.2, 0, 0);
    /* 20 longer: d^2 = 20.45^2 - 1/3 - 0.035/6, v = 1, six of them */
    for (size_t i = 0; i < 9; i++)
        v[i] += disturbed[i] ? 20 : 0;
    assert_int_equal(qs_mixed_median(v, disturbed, 9, 0.95, &m), QS_OK);
    check_near("worth", m.worth, 1 / (1 + 6 * (20.45 * 20.45 - 1.0 / 3 - 0.035 / 6)), 1e-12, 0);
    check_near("median", m.median, 2, 0, 0);
    check_near("lo", m.ci.lo, 1, 0, 0); /* (1, 0): P = 1/8 + 3/8 * 1/64 */
    /* from above: no clean one and at most k of six has P(Bin(6) <= k) / 8: 7/512 at 1, 22/512 at 2 */
    check_near("hi", m.ci.hi, 22.6, 1e-12, 0);
    check_near("level", m.ci.level, 1 - 1.0 / 512 - 7.0 / 512, 1e-12, 0);
}

/* Six clean values have an interval by themselves, and others that are far off do not touch it. */
static void far_times_leave_a_median_to_the_clean_ones(void **state)
{
    (void)state;
    double v[12], equal[12];
    bool disturbed[12];
    struct qs_mixed_median m;
    for (size_t i = 0; i < 12; i++) {
        disturbed[i] = i >= 6;
        v[i] = (double)i + (disturbed[i] ? 100 : 0);
        equal[i] = 7;
    }
    assert_int_equal(qs_mixed_median(v, disturbed, 12, 0.95, &m), QS_OK);
    check_near("worth", m.worth, 0, 0, 0);
    check_near("median", m.median, 2.5, 0, 0);
    check_near("lo", m.ci.lo, 0, 0, 0);
    check_near("hi", m.ci.hi, 5, 0, 0);
    check_near("level", m.ci.level, 1 - 2.0 / 64, 1e-12, 0);
    assert_int_equal(qs_mixed_median(equal, disturbed, 12, 0.95, &m), QS_OK);
    check_near("alike", m.worth, 1, 0, 0);
    check_near("a point", m.ci.hi - m.ci.lo, 0, 0, 0);
    assert_int_equal(qs_mixed_median(v, NULL, 6, 0.95, &m), QS_OK);
    EXPECT(isnan(m.worth));
    check_near("one kind", m.ci.hi, 5, 0, 0);
    assert_int_equal(qs_mixed_median(v + 4, disturbed + 4, 5, 0.95, &m), QS_ETOOFEW);
    check_near("all alike", m.median, 106, 0, 0);
    EXPECT(isnan(m.ci.lo));
    assert_int_equal(qs_mixed_median(v, disturbed, 0, 0.95, &m), QS_ENODATA);
    assert_int_equal(qs_mixed_median(v, disturbed, 12, 1, &m), QS_EDOM);
    v[1] = NAN;
    assert_int_equal(qs_mixed_median(v, disturbed, 12, 0.95, &m), QS_EDOM);
}

static void check_test(const struct qs_mixed *m, const double want[9])
{
    const struct qs_ttest *t = &m->test;
    const double got[] = {t->diff, t->se, t->df, m->worth, t->t, t->p, t->ci.lo, t->ci.hi, m->agree_p};
    for (size_t i = 0; i < 9; i++)
        check_near("as in R", got[i], want[i], 1e-9, 0);
}

/* In R from the matrices: weights w, projection M = I - 1 w', A of w^2 / (1 - w), se^2 = d' M'AM d, and with
 * B = M'AM times the variances of both kinds df = tr(B)^2 / tr(B^2); qf and t.test. Estimate, se, df, worth,
 * t, p, interval, agreement. */
static void weights_are_those_of_matrices(void **state)
{
    (void)state;
    static const struct {
        size_t n, clean; /* the first ones */
        double d[11], want[9];
    } samples[] = {
        {11,
         4,
         {5.1, 4.9, 5.3, 5.0, 4.2, 6.9, 3.1, 7.7, 5.6, 1.9, 8.4},
         {5.11594617969682, 0.13293617837064, 8.75937567486114, 0.0823710694847831, 38.4842278633364,
          4.46489559148162e-11, 4.81395965913217, 5.41793270026147, 0.736892946542895}},
        {8,
         3,
         {1, 1.5, 0.8, 4, -3, 2.5, -2, 6},
         {1.26508166066341, 0.681095118461491, 5.26793529502893, 0.421631604742979, 1.85742288613236,
          0.119409831457575, -0.459281212048967, 2.98944453337578, 0.829591857320629}},
        {5,
         4,
         {2, 2.2, 2.1, 2.3, 40},
         {2.15192014631638, 0.0645839692957171, 3.00707094359924, 0.00020293196630325, 33.3197257737933,
          5.83418192941738e-05, 1.94665827625929, 2.35718201637346, NAN}}, /* one does not tell */
    };
    static const bool disturbed[] = {false, false, false, false, true, true, true, true, true, true, true};
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        struct qs_mixed m;
        assert_int_equal(
            qs_mixed_mean(samples[i].d, disturbed + 4 - samples[i].clean, samples[i].n, 0.95, &m), QS_OK);
        check_test(&m, samples[i].want);
        EXPECT(!m.contradict && m.test.n[0] == samples[i].n);
    }
}

/* The same of two samples: pooled variances, their ratio's bound by qf, each kind's difference by t.test. */
static void differences_are_joined_as_in_r(void **state)
{
    (void)state;
    static const bool dx[] = {false, false, false, false, true, true, true, true},
                      dy[] = {false, false, false, true, true, true, true, true},
                      dz[] = {false, false, false, false, false, true, true, true};
    static const double x[] = {10, 10.2, 9.9, 10.1, 9, 12, 14, 8.5},
                        y[] = {11, 11.3, 10.8, 10, 15, 9.5, 13, 12},
                        v[] = {10, 10.2, 9.9, 10.1, 10.4, 9.6, 10},
                        z[] = {10.5, 10.3, 10.8, 10.9, 10.1, 10.3, 10.9, 11.1};
    static const double apart[] = {0.985483179939887,  0.172927604774542, 4.62232476161247,
                                   0.0419682832262777, 5.69881934827427,  0.00298985907996501,
                                   0.529808835405749,  1.44115752447402,  0.980634075049029},
                        alike[] = {
                            0.58955223880597, 0.165870975058395,   7.70859932421679,  1,
                            3.5542821075141,  0.00792789444316805, 0.204521581628032, 0.974582895983908,
                            0.455047189624346};
    struct qs_mixed m;
    assert_int_equal(
        qs_mixed_two(&(struct qs_mixed_side){x, dx, 8}, &(struct qs_mixed_side){y, dy, 8}, 0.95, &m), QS_OK);
    check_test(&m, apart);
    assert_int_equal(
        qs_mixed_two(&(struct qs_mixed_side){v, dx, 7}, &(struct qs_mixed_side){z, dz, 8}, 0.95, &m), QS_OK);
    check_test(&m, alike);
    EXPECT(m.test.n[0] == 7 && m.test.n[1] == 8 && !m.contradict);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_are_those_of_matrices),
        cmocka_unit_test(differences_are_joined_as_in_r),
        cmocka_unit_test(there_is_no_cliff),
        cmocka_unit_test(a_contradiction_rests_on_the_clean_ones),
        cmocka_unit_test(alike_they_are_one_sample),
        cmocka_unit_test(a_wild_one_is_worth_little),
        cmocka_unit_test(there_is_no_cliff_between_two_samples),
        cmocka_unit_test(like_is_compared_with_like),
        cmocka_unit_test(unlike_sides_keep_to_the_clean_ones),
        cmocka_unit_test(there_is_no_cliff_in_a_median),
        cmocka_unit_test(what_is_common_to_disturbed_times_is_seen),
        cmocka_unit_test(a_median_by_hand),
        cmocka_unit_test(far_times_leave_a_median_to_the_clean_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
