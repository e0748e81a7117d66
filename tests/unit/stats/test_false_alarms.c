/* Unchanged binaries, 12 nights: how often each method calls two of them different. Tests on iterations do so
 * far above their level, because iterations of one night share what that night drew; that is why verdicts
 * take runs. The bounds are those of a table over more nights (statistics.md 8.8), loosely. */
#include "nights.h"
#include "reference.h"

#include "stats/ks.h"
#include "stats/multi.h"
#include "stats/opinion.h"
#include "stats/ranks.h"
#include "stats/rng.h"
#include "stats/twosample.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct nights nights;

struct calls {
    int pairs, pooled, welch, mwu, ks, rule[QS_OPINION_RULES];
};

static void ask_rules(const struct qs_nested *base, const struct qs_nested *cand, struct calls *t)
{
    struct qs_opinion_opts opts = {.lower_is_better = true, .level = 0.95, .one_ms = 1e6, .seed = 1};
    for (enum qs_opinion_rule r = 0; r < QS_OPINION_RULES; r++) {
        struct qs_opinion opinion;
        assert_int_equal(qs_opinion(r, base, cand, &opts, &opinion), QS_OK);
        t->rule[r] += opinion.answer == QS_OPINION_REGRESSION || opinion.answer == QS_OPINION_IMPROVEMENT;
    }
}

/* One night's iterations against another's. */
static void compare_pair(size_t b, size_t i, size_t j, struct calls *t)
{
    const double *x = nights.v[b][i], *y = nights.v[b][j];
    size_t nx = nights.count[b][i], ny = nights.count[b][j], off_x[] = {0, nx}, off_y[] = {0, ny};
    struct qs_ttest test;
    struct qs_mwu mwu;
    struct qs_ks2 ks;
    double sd;
    struct qs_nested base = {.v = x, .off = off_x, .k = 1}, cand = {.v = y, .off = off_y, .k = 1};
    t->pairs++;
    assert_int_equal(qs_pooled(x, nx, y, ny, 0.95, &test, &sd), QS_OK);
    t->pooled += test.p < 0.05;
    assert_int_equal(qs_welch(x, nx, y, ny, 0.95, &test), QS_OK);
    t->welch += test.p < 0.05;
    assert_int_equal(qs_mwu(x, nx, y, ny, QS_RANKS_AUTO, &mwu), QS_OK);
    t->mwu += mwu.p < 0.05;
    assert_int_equal(qs_ks2(x, nx, y, ny, &ks), QS_OK);
    t->ks += ks.p < 0.05;
    ask_rules(&base, &cand, t);
}

static double share(int calls, int pairs)
{
    return (double)calls / pairs;
}

static void test_single_nights(void **state)
{
    (void)state;
    struct calls t = {0};
    for (size_t b = 0; b < nights.n; b++)
        for (size_t i = 0; i < NIGHTS; i++)
            for (size_t j = 0; j < i; j++)
                compare_pair(b, j, i, &t);
    int judge = t.rule[QS_OPINION_JUDGE], futhark = t.rule[QS_OPINION_FUTHARK];
    print_message(
        "# of %d pairs: pooled %d, Welch %d, Mann-Whitney %d, KS %d, judge %d, futhark %d, android %d\n",
        t.pairs, t.pooled, t.welch, t.mwu, t.ks, judge, futhark, t.rule[QS_OPINION_ANDROID]);
    EXPECT(share(t.mwu, t.pairs) > 0.12 && share(t.mwu, t.pairs) < 0.25);
    EXPECT(share(t.ks, t.pairs) > 0.11 && share(t.ks, t.pairs) < 0.24);
    EXPECT(share(t.pooled, t.pairs) > 0.05 && share(t.pooled, t.pairs) < 0.12);
    EXPECT(t.welch <= t.pooled + t.pairs / 100 && share(t.welch, t.pairs) > 0.05);
    EXPECT(share(judge, t.pairs) < 0.04);
    EXPECT(t.rule[QS_OPINION_ANDROID] == 0); /* 25 iterations are fewer than it wants */
    EXPECT(t.rule[QS_OPINION_KALIBERA2005] + t.rule[QS_OPINION_RANCID] + t.rule[QS_OPINION_SKIA] == 0);
}

/* Six nights against the other six, 25 iterations in each run. */
static void test_runs(void **state)
{
    (void)state;
    enum { HALF = NIGHTS / 2, CUT = 20 };
    double v[2][HALF * CUT];
    size_t off[HALF + 1];
    struct calls t = {0};
    for (size_t j = 0; j <= HALF; j++)
        off[j] = j * CUT;
    for (size_t b = 0; b < nights.n; b++) {
        for (size_t i = 0; i < NIGHTS; i++) /* every other night, so that a drift meets both */
            memcpy(v[i % 2] + i / 2 * CUT, nights.v[b][i], CUT * sizeof(double));
        struct qs_nested base = {.v = v[0], .off = off, .k = HALF}, cand = {.v = v[1], .off = off, .k = HALF};
        t.pairs++;
        ask_rules(&base, &cand, &t);
    }
    for (enum qs_opinion_rule r = 0; r < QS_OPINION_RULES; r++)
        print_message("# %s: %d of %d\n", qs_opinion_rule_names[r], t.rule[r], t.pairs);
    EXPECT(share(t.rule[QS_OPINION_KALIBERA2005], t.pairs) <= 0.05);
    EXPECT(share(t.rule[QS_OPINION_JUDGE], t.pairs) <= 0.04);
    EXPECT(share(t.rule[QS_OPINION_RANCID], t.pairs) <= 0.02);
    EXPECT(t.rule[QS_OPINION_SKIA] == 0 && t.rule[QS_OPINION_PERFHERDER] == 0);
}

static int discoveries(const double *p, enum qs_multi_method method)
{
    double adjusted[MAX_BENCHMARKS];
    int found = 0;
    assert_int_equal(qs_adjust(p, nights.n, method, adjusted), QS_OK);
    for (size_t b = 0; b < nights.n; b++)
        found += adjusted[b] <= 0.05;
    return found;
}

static int sweep_iterations(size_t i, size_t j, double *p)
{
    for (size_t b = 0; b < nights.n; b++) {
        struct qs_mwu mwu;
        assert_int_equal(qs_mwu(nights.v[b][i], nights.count[b][i], nights.v[b][j], nights.count[b][j],
                                QS_RANKS_AUTO, &mwu),
                         QS_OK);
        p[b] = mwu.p;
    }
    return discoveries(p, QS_MULTI_BH);
}

/* Five nights drawn at random against five others, every benchmark. */
static int sweep_runs(struct qs_rng *rng, double *p)
{
    size_t order[NIGHTS];
    for (size_t i = 0; i < NIGHTS; i++) {
        size_t j = qs_rng_below(rng, i + 1);
        order[i] = order[j];
        order[j] = i;
    }
    for (size_t b = 0; b < nights.n; b++) {
        double side[2][5];
        struct qs_ratio_test test;
        for (size_t k = 0; k < 10; k++)
            side[k % 2][k / 2] = nights.median[b][order[k]];
        assert_int_equal(qs_log_welch(side[0], 5, side[1], 5, 0.95, &test), QS_OK);
        p[b] = test.log.p;
    }
    return discoveries(p, QS_MULTI_BH);
}

/* statistics.md 8.12: Benjamini & Hochberg leave false discoveries of Mann-Whitney on iterations, and none of
 * Welch on five run medians a side. */
static void test_sweeps(void **state)
{
    (void)state;
    enum { DRAWS = 200 };
    double p[MAX_BENCHMARKS];
    int by_iteration = 0, by_run = 0, sweeps = 0;
    for (size_t i = 0; i < NIGHTS; i++) {
        for (size_t j = 0; j < i; j++, sweeps++)
            by_iteration += sweep_iterations(i, j, p);
    }
    struct qs_rng rng;
    qs_rng_seed(&rng, 812, 1);
    for (int draw = 0; draw < DRAWS; draw++)
        by_run += sweep_runs(&rng, p);
    print_message("# false discoveries: %d in %d sweeps of iterations, %d in %d of runs\n", by_iteration,
                  sweeps, by_run, DRAWS);
    EXPECT(by_iteration > 3 * sweeps);
    EXPECT(by_run == 0);
}

static int load(void **state)
{
    (void)state;
    nights_load(&nights);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_single_nights),
        cmocka_unit_test(test_runs),
        cmocka_unit_test(test_sweeps),
    };
    return cmocka_run_group_tests(tests, load, NULL);
}
