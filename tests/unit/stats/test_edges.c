/* Options at their bounds: the last value that is taken and the first that is refused; words of what is no
 * value of an enumeration. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "stats/effect.h"
#include "stats/android.h"
#include "stats/bootstrap.h"
#include "stats/stopping.h"
#include "stats/dependence.h"
#include "stats/describe.h"
#include "stats/drift.h"
#include "stats/edivisive.h"
#include "stats/twosample.h"
#include "stats/harrell_davis.h"
#include "stats/hier.h"
#include "stats/hunter.h"
#include "stats/impact.h"
#include "stats/interval.h"
#include "stats/mixed.h"
#include "stats/mixed_median.h"
#include "stats/modality.h"
#include "stats/multi.h"
#include "stats/normality.h"
#include "stats/opinion.h"
#include "stats/outlier.h"
#include "stats/pelt.h"
#include "stats/design.h"
#include "stats/power.h"
#include "stats/rancid.h"
#include "stats/ranks.h"
#include "stats/ratio.h"
#include "stats/rule.h"
#include "stats/special.h"
#include "stats/steady.h"
#include "stats/sum.h"
#include "stats/stepfit.h"
#include "stats/timer.h"
#include "stats/trend.h"
#include "stats/variance.h"
#include "stats/verdict.h"

enum { N = 60 };

static double x[N], y[N];
static bool disturbed[N];
static size_t run_off[] = {0, 6, 12, 18, 24, 30, 36, 42, 48, 54, N};

static int fill(void **state)
{
    (void)state;
    for (size_t i = 0; i < N; i++) { /* between 100 and 110, and neighbours apart */
        x[i] = 100 + (double)(i * 37 % 101) / 10;
        y[i] = 100 + (double)(i * 53 % 97) / 10;
        disturbed[i] = i % 3 == 0;
    }
    return 0;
}

static void words_of_no_value(void **state)
{
    (void)state;
    assert_string_equal(qs_verdict_name((enum qs_verdict_kind)(QS_VERDICT_INCONCLUSIVE + 1)), "inconclusive");
    assert_string_equal(qs_verdict_reason_name((enum qs_verdict_reason)(QS_REASON_NO_SPREAD + 1)), "none");
    assert_string_equal(qs_multi_name((enum qs_multi_method)(QS_MULTI_HOLM + 1)), "unknown");
    assert_null(qs_opinion_answer_names[QS_OPINION_IMPROVEMENT + 1]);
    assert_string_equal(qs_opinion_unit_name((enum qs_opinion_unit)(QS_OPINION_PLAIN + 1)), "plain");
    assert_null(qs_opinion_rule_names[QS_OPINION_RULES]);
    assert_string_equal(qs_opinion_rule_names[QS_OPINION_RULES - 1], "skia");
    assert_string_equal(qs_status_name((enum qs_status)(QS_ECANCELED + 1)), "unknown");
    assert_string_equal(qs_status_name(QS_ENOMEM), "no-memory");
    assert_null(qs_rule_row(QS_RULE_KINDS));
    assert_string_equal(qs_rule_row(QS_RULE_KINDS - 1)->name, "xor");
    const struct qs_rule rule = {.kind = QS_RULE_FUTHARK, .arg = {2, 1e9, 1, -1, 10}};
    char text[99];
    qs_rule_text(&rule, text, sizeof text);
    assert_string_equal(text, "futhark(metrics ?, initial 1 s, root ?)");
    enum qs_rule_kind kind;
    assert_true(qs_rule_find("xor", &kind) && kind == QS_RULE_XOR && !qs_rule_find("nor", &kind));
}

union answer {
    struct qs_ci ci;
    struct qs_median_ci median;
    struct qs_ttest t;
    struct qs_ratio_test ratio;
    struct qs_paired paired;
    struct qs_hl hl;
    struct qs_fieller fieller;
    struct qs_var_test var;
    struct qs_boot boot;
    struct qs_theil_sen theil_sen;
    struct qs_drift drift;
    struct qs_kalibera2005 kalibera;
    struct qs_hier_boot hier;
    struct qs_rancid rancid;
    struct qs_mixed mixed;
    struct qs_mixed_median mixed_median;
    struct qs_android android;
    struct qs_change_point points[N];
    struct qs_opinion opinion;
};

enum { LEVELS = 28 };

/* Each function that has a level. */
static void ask_with_level(double level, enum qs_status ret[LEVELS])
{
    const struct qs_nested runs = {.v = x, .off = run_off, .k = 10};
    const struct qs_tree tree = qs_nested_tree(&runs);
    const struct qs_boot_opts boot = {.statistic = qs_statistic_mean, .level = level, .resamples = 100};
    const struct qs_hier_boot_opts hier = {.resamples = 100, .level = level};
    const struct qs_opinion_opts opinion = {.lower_is_better = true, .level = level, .one_ms = 1};
    const struct qs_mixed_side sides[] = {{x, disturbed, N}, {y, disturbed, N}};
    struct qs_hunter_opts hunter = qs_hunter_opts_default();
    union answer out;
    struct qs_paired paired;
    double sd;
    size_t count;
    hunter.level = level;
    const enum qs_status all[LEVELS] = {qs_mean_ci(x, N, NAN, level, &out.ci),
                                        qs_median_ci(x, N, level, &out.median),
                                        qs_hd_ci(x, N, 0.5, level, &out.ci),
                                        qs_welch(x, N, y, N, level, &out.t),
                                        qs_pooled(x, N, y, N, level, &out.t, &sd),
                                        qs_log_welch(x, N, y, N, level, &out.ratio),
                                        qs_paired_blocks(x, y, N, level, &out.paired),
                                        qs_hl(x, N, y, N, level, QS_RANKS_AUTO, NULL, &out.hl),
                                        qs_hl_ratio(x, N, y, N, level, QS_RANKS_AUTO, NULL, &out.hl),
                                        qs_fieller(x, N, y, N, level, &out.fieller),
                                        qs_var_test(x, N, y, N, level, &out.var),
                                        qs_boot_ci(x, N, &boot, &out.boot),
                                        qs_block_boot_ci(x, N, NULL, 0, 3, &boot, &out.boot),
                                        qs_theil_sen_ci(x, N, level, NULL, &out.theil_sen),
                                        qs_drift(x, N, level, NULL, &out.drift),
                                        qs_drift_about(x, y, N, level, NULL, &out.drift),
                                        qs_hier_ci(&runs, level, &out.ci),
                                        qs_tree_ci(&tree, level, &out.ci),
                                        qs_hier_kalibera2005(&runs, level, &out.kalibera),
                                        qs_hier_boot_ratio(&tree, &tree, &hier, &out.hier),
                                        qs_rancid(x, 6, y, 6, level, 0, NULL, &out.rancid),
                                        qs_mixed_mean(x, disturbed, N, level, &out.mixed),
                                        qs_mixed_two(&sides[0], &sides[1], level, &out.mixed),
                                        qs_mixed_blocks(x, y, disturbed, N, level, &paired, &out.mixed),
                                        qs_mixed_median(x, disturbed, N, level, &out.mixed_median),
                                        qs_android(x, N, y, N, level, &out.android),
                                        qs_hunter(x, N, &hunter, out.points, &count),
                                        qs_opinion(QS_OPINION_JUDGE, &runs, &runs, &opinion, &out.opinion)};
    memcpy(ret, all, sizeof all);
}

static void levels_lie_between_0_and_1(void **state)
{
    static const double bad[] = {0, 1, -0.5, 1.5, NAN};
    enum qs_status status[LEVELS];
    (void)state;
    ask_with_level(0.5, status);
    for (size_t k = 0; k < LEVELS; k++)
        if (status[k] != QS_OK)
            fail_msg("function %zu: %s", k, qs_status_name(status[k]));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ask_with_level(bad[i], status);
        for (size_t k = 0; k < LEVELS; k++)
            if (status[k] != QS_EDOM)
                fail_msg("function %zu at level %g: %s", k, bad[i], qs_status_name(status[k]));
    }
}

static enum qs_status verdict_with(size_t which, double v)
{
    struct qs_verdict_opts o = qs_verdict_opts_default();
    double *const field[] = {&o.margin, &o.alpha,    &o.call_alpha,       &o.power,
                             &o.power,  &o.extra_se, &o.resolution_ratio, &o.call_alpha};
    const struct qs_side_runs base = {.v = x, .n = N}, cand = {.v = y, .n = N};
    struct qs_verdict verdict;
    o.extra_df = 3;
    o.call_alpha = which == 1 ? 1e-3 : o.call_alpha;
    *field[which] = v;
    return qs_verdict_runs(&base, &cand, &o, &verdict);
}

/* The least value that is taken, one below; the greatest, one above. NaN: the same on no side. */
static void bounds_of_a_verdict(void **state)
{
    static const struct {
        double least, below, most, above;
    } fields[] = {{0, -1e-9, 1e300, INFINITY}, {1e-3, 0, 0.499, 0.5},     {1e-9, 0, 0.05, 0.0501},
                  {0.0251, 0.025, 0.999, 1},   {0.0251, NAN, 0.999, NAN}, {0, -1e-9, 1, NAN},
                  {0, -1e-9, 1, INFINITY},     {1e-300, -1, 0.05, NAN}};
    (void)state;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        assert_int_equal(verdict_with(i, fields[i].least), QS_OK);
        assert_int_equal(verdict_with(i, fields[i].most), QS_OK);
        assert_int_equal(verdict_with(i, fields[i].below), QS_EDOM);
        assert_int_equal(verdict_with(i, fields[i].above), QS_EDOM);
    }
}

static enum qs_verdict_kind constants(double base, double cand, double margin, bool lower_is_better)
{
    double a[3], b[3];
    struct qs_verdict_opts o = qs_verdict_opts_default();
    struct qs_verdict v;
    for (size_t i = 0; i < 3; i++) {
        a[i] = base;
        b[i] = cand;
    }
    o.margin = margin;
    o.lower_is_better = lower_is_better;
    const struct qs_side_runs x_runs = {.v = a, .n = 3}, y_runs = {.v = b, .n = 3};
    assert_int_equal(qs_verdict_runs(&x_runs, &y_runs, &o, &v), QS_OK);
    return v.kind;
}

/* Where nothing varies the interval is a point: what lies on the bound itself is within. */
static void verdicts_on_the_bound(void **state)
{
    (void)state;
    for (int lower = 0; lower < 2; lower++) {
        assert_int_equal(constants(7, 7, 0, lower), QS_VERDICT_EQUIVALENT);
        assert_int_equal(constants(1, 2, 1, lower), QS_VERDICT_NEGLIGIBLE); /* ln 2 <= ln(1 + 1) */
        assert_int_equal(constants(2, 1, 1, lower), QS_VERDICT_NEGLIGIBLE);
        assert_int_equal(constants(1, 2, 0.99, lower),
                         lower ? QS_VERDICT_REGRESSION : QS_VERDICT_IMPROVEMENT);
        assert_int_equal(constants(2, 1, 0.99, lower),
                         lower ? QS_VERDICT_IMPROVEMENT : QS_VERDICT_REGRESSION);
    }
}

static void bounds_of_change_points(void **state)
{
    struct qs_hunter_opts o = qs_hunter_opts_default();
    struct qs_change_point points[N];
    size_t count, places[N];
    (void)state;
#define HUNTER(field, v) (o = qs_hunter_opts_default(), o.field = (v), qs_hunter(x, N, &o, points, &count))
    assert_int_equal(HUNTER(window, 1), QS_EDOM);
    assert_int_equal(HUNTER(window, 2), QS_OK);
    assert_int_equal(HUNTER(window, 10000), QS_OK);
    assert_int_equal(HUNTER(window, 10001), QS_EDOM);
    assert_int_equal(HUNTER(p_max, 0), QS_EDOM);
    assert_int_equal(HUNTER(p_max, 1), QS_EDOM);
    assert_int_equal(HUNTER(p_max, 0.999), QS_OK);
    assert_int_equal(HUNTER(min_magnitude, 0), QS_OK);
    assert_int_equal(HUNTER(min_magnitude, -1e-9), QS_EDOM);
#define PELT(field, v) (p = qs_pelt_opts_default(), p.field = (v), qs_pelt(x, N, &p, places, &count))
    struct qs_pelt_opts p;
    assert_true(PELT(least, 1) == QS_EDOM && PELT(least, 2) == QS_OK);
    assert_true(PELT(penalty, -1e-9) == QS_EDOM && PELT(penalty, 0) == QS_OK);
    assert_int_equal(PELT(resolution, -1e-9), QS_EDOM);
    assert_int_equal(PELT(resolution, INFINITY), QS_EDOM);
    assert_int_equal(qs_ed_pelt(x, N, 0, NULL, places, &count), QS_EDOM);
    assert_int_equal(qs_ed_pelt(x, N, 1, NULL, places, &count), QS_OK);
}

static void bounds_of_other_change_points(void **state)
{
    size_t count, places[N];
    (void)state;
    struct qs_edivisive_point found[N];
    struct qs_edivisive_opts e = {.permutations = 0, .p_max = 0.05};
    assert_int_equal(qs_edivisive(x, N, &e, found, &count), QS_EDOM);
    e.permutations = 1;
    assert_int_equal(qs_edivisive(x, N, &e, found, &count), QS_OK);
    e.permutations = 1000001;
    assert_int_equal(qs_edivisive(x, N, &e, found, &count), QS_EDOM);
    e.permutations = 19;
    for (e.p_max = 0; e.p_max < 2; e.p_max++)
        assert_int_equal(qs_edivisive(x, N, &e, found, &count), QS_EDOM);
    double t[N];
    static const struct qs_perfherder_opts bad[] = {
        {0, 5, 5, 1}, {5, 4, 5, 1}, {5, 5, 0, 1}, {5, 5, 5, -1e-9}};
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(qs_perfherder(x, N, &bad[i], t, places, &count), QS_EDOM);
    const struct qs_perfherder_opts least = {1, 1, 1, 0};
    assert_int_equal(qs_perfherder(x, N, &least, t, places, &count), QS_OK);
    struct qs_steady_opts s = {.delta_ratio = 0};
    struct qs_steady steady;
    assert_int_equal(qs_steady_state(x, N, NULL, &s, &steady), QS_OK);
    s.delta_ratio = -1e-9;
    assert_int_equal(qs_steady_state(x, N, NULL, &s, &steady), QS_EDOM);
    struct qs_stepfit fit;
    const struct qs_stepfit_opts step[] = {
        {QS_STEP_COHEN, 0, 1}, {QS_STEP_COHEN, 1e-300, 0}, {QS_STEP_COHEN, 1, -1e-9}};
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(qs_stepfit(x, N, &step[i], &fit), i == 1 ? QS_OK : QS_EDOM);
}

static void bounds_of_resampling(void **state)
{
    const struct qs_nested runs = {.v = x, .off = run_off, .k = 10};
    const struct qs_tree tree = qs_nested_tree(&runs);
    static const size_t counts[] = {0, 1, 99, 100, 10000001};
    (void)state;
    for (size_t i = 0; i < 5; i++) {
        const struct qs_boot_opts boot = {
            .statistic = qs_statistic_mean, .level = 0.9, .resamples = counts[i] > 0 ? counts[i] : 1};
        const struct qs_hier_boot_opts hier = {.resamples = counts[i], .level = 0.9};
        const struct qs_impact_opts rounds = {.rounds = counts[i]};
        struct qs_boot b;
        struct qs_hier_boot h;
        struct qs_impact f;
        assert_int_equal(qs_boot_ci(x, N, &boot, &b), counts[i] == 100 ? QS_OK : QS_EDOM);
        enum qs_status wanted = i == 0 || i == 4 ? QS_EDOM : QS_OK;
        assert_int_equal(qs_hier_boot_ratio(&tree, &tree, &hier, &h), wanted);
        assert_int_equal(qs_impact_factor(&runs, &rounds, &f), wanted);
    }
    const struct qs_boot_opts boot = {.statistic = qs_statistic_mean, .level = 0.9, .resamples = 100};
    struct qs_boot b;
    assert_int_equal(qs_block_boot_ci(x, N, NULL, 0, N, &boot, &b), QS_OK);
    assert_int_equal(qs_block_boot_ci(x, N, NULL, 0, N + 1, &boot, &b), QS_EDOM);
}

static void bounds_of_one_sample(void **state)
{
    struct qs_gesd_opts o = {.most = 0, .alpha = 0.05};
    struct qs_gesd g;
    (void)state;
    assert_int_equal(qs_gesd_flags(x, N, &o, NULL, &g), QS_EDOM);
    o.most = N - 2;
    assert_int_equal(qs_gesd_flags(x, N, &o, NULL, &g), QS_OK);
    o.most = N - 1;
    assert_int_equal(qs_gesd_flags(x, N, &o, NULL, &g), QS_EDOM);
    o.most = 1;
    for (o.alpha = 0; o.alpha < 2; o.alpha++)
        assert_int_equal(qs_gesd_flags(x, N, &o, NULL, &g), QS_EDOM);
    struct qs_window_outliers w;
    assert_int_equal(qs_window_flags(x, N, 6, NULL, &w), QS_ETOOFEW);
    assert_int_equal(qs_window_flags(x, N, 8, NULL, &w), QS_OK);
    assert_int_equal(qs_window_flags(x, N, 9, NULL, &w), QS_EDOM);
    assert_int_equal(qs_window_flags(x, N, N, NULL, &w), QS_OK);
    assert_int_equal(qs_window_flags(x, N, N + 2, NULL, &w), QS_ETOOFEW);
    struct qs_shape_test shape;
    struct qs_fit fit;
    for (int i = 0; i < 2; i++)
        assert_int_equal(qs_shape_test(x, N, i, &shape), QS_EDOM);
    assert_int_equal(qs_ks_normal(x, N, 105, 0, &fit), QS_EDOM);
    assert_int_equal(qs_ks_normal(x, N, 105, 1e-300, &fit), QS_OK);
}

static void bounds_of_lags_and_quantiles(void **state)
{
    (void)state;
    struct qs_ljung_box l;
    assert_int_equal(qs_ljung_box(x, N, NULL, 0, N - 1, &l), QS_OK);
    assert_int_equal(qs_ljung_box(x, N, NULL, 0, N, &l), QS_ETOOFEW);
    static const size_t breaks[][2] = {{0, 5}, {5, 5}, {6, 5}, {5, N}, {1, N - 1}};
    double r[2];
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(qs_acf(x, N, breaks[i], 2, 1, r), i == 4 ? QS_OK : QS_EDOM);
    double spread[N];
    assert_int_equal(qs_spread_ties(x, N, 0, spread), QS_OK);
    assert_int_equal(qs_spread_ties(x, N, -1e-9, spread), QS_EDOM);
    double sorted[] = {1, 2, 3, 4}, q;
    for (int p = 0; p < 2; p++)
        assert_true(qs_quantile(sorted, 4, p, QS_QTYPE_7) == sorted[3 * p] &&
                    qs_quantile(sorted, 4, p, QS_QTYPE_8) == sorted[3 * p] &&
                    qs_hd_quantile(sorted, 4, p, &q, NULL) == QS_OK && q == sorted[3 * p]);
    assert_true(isnan(qs_quantile(sorted, 4, 1.001, QS_QTYPE_7)) &&
                isnan(qs_quantile(sorted, 4, -0.001, QS_QTYPE_7)));
    assert_true(qs_trimmed_mean(sorted, 4, 0) == 2.5 && isnan(qs_trimmed_mean(sorted, 4, 0.5)) &&
                isnan(qs_trimmed_mean(sorted, 4, -1e-9)));
    assert_int_equal(qs_hd_quantile(sorted, 4, 1.001, &q, NULL), QS_EDOM);
    assert_int_equal(qs_hd_quantile(sorted, 4, -0.001, &q, NULL), QS_EDOM);
}

static void bounds_of_chances(void **state)
{
    static const double few[] = {0, 1, 0.5}, above[] = {0.5, 1.0001}, below[] = {-1e-9, 0.5};
    double out[3];
    (void)state;
    assert_int_equal(qs_adjust(few, 3, QS_MULTI_BH, out), QS_OK);
    assert_int_equal(qs_adjust(above, 2, QS_MULTI_BH, out), QS_EDOM);
    assert_int_equal(qs_adjust(below, 2, QS_MULTI_BH, out), QS_EDOM);
    assert_true(isnan(qs_fcr_level(0, 5, 0.1)) && isnan(qs_fcr_level(6, 5, 0.1)));
    assert_true(isnan(qs_fcr_level(5, 5, 0)) && isnan(qs_fcr_level(5, 5, 1)));
    assert_true(fabs(qs_fcr_level(5, 5, 0.1) - 0.9) < 1e-12 && fabs(qs_fcr_level(1, 5, 0.1) - 0.98) < 1e-12);
    assert_true(isnan(qs_pocock_p(0)) && isnan(qs_pocock_p(6)) && qs_pocock_p(1) > qs_pocock_p(5));
    assert_int_equal(qs_mwu_runs_needed(0), 0);
    assert_int_equal(qs_mwu_runs_needed(1), 0);
    assert_int_equal(qs_mwu_runs_needed(0.999), 2); /* 2/C(4, 2) = 1/3, 2/C(2, 1) = 1 */
    struct qs_share_change c = qs_share_change(0, 1, 1, 1, 0.9);
    assert_true(fabs(c.difference - 1) < 1e-12);
    assert_true(isnan(qs_share_change(-0.1, 1, 1, 1, 0.9).difference));
    assert_true(isnan(qs_share_change(0, 1, 1.1, 1, 0.9).difference));
    for (size_t i = 0; i < 2; i++) {
        assert_true(isnan(qs_share_change(0, i, 1, 1 - i, 0.9).difference));
        assert_true(isnan(qs_share_change(0, 1, 1, 1, (double)i).difference));
    }
    static const double deltas[] = {0.147, 0.33, 0.474, -0.147, 0.1469, 0.3299, 0.4739};
    static const char *const bands[] = {"small", "medium", "large", "small", "negligible", "small", "medium"};
    for (size_t i = 0; i < 7; i++)
        assert_string_equal(qs_cliff_band(deltas[i]), bands[i]);
    assert_string_equal(qs_cliff_band(NAN), "unknown");
}

/* What the special functions say beyond their ends. */
static void ends_of_distributions(void **state)
{
    (void)state;
    for (double t = -2; t <= 2; t += 0.5) { /* from 10^10 degrees of freedom on normal, and so below */
        assert_true(fabs(qs_pt(t, 1e11) - qs_pnorm(t)) < 1e-9 && fabs(qs_pt(t, 9e9) - qs_pnorm(t)) < 1e-9);
        assert_true(fabs(qs_qt(qs_pnorm(t), 1e11) - t) < 1e-9 && fabs(qs_qt(qs_pnorm(t), 9e9) - t) < 1e-9);
    }
    assert_true(isnan(qs_pchisq(NAN, 3)) && isnan(qs_pchisq(1, 0)) && isnan(qs_pchisq(1, INFINITY)));
    assert_true(isnan(qs_pchisq_upper(NAN, 3)) && isnan(qs_pchisq_upper(1, 0)) &&
                isnan(qs_pchisq_upper(1, INFINITY)));
    assert_true(qs_pchisq(0, 3) == 0 && qs_pchisq(-1, 3) == 0 && qs_pchisq(INFINITY, 3) == 1);
    assert_true(qs_pchisq_upper(0, 3) == 1 && qs_pchisq_upper(-1, 3) == 1 &&
                qs_pchisq_upper(INFINITY, 3) == 0);
    assert_true(qs_pf(-1, 2, 3) == 0 && qs_pf(0, 2, 3) == 0 && qs_pf_upper(-1, 2, 3) == 1);
    assert_true(qs_pbinom(0, 0, 0.5) == 1 && qs_pbinom(0, 3, 0) == 1 && qs_pbinom(2, 3, 1) == 0);
    assert_true(isnan(qs_pbinom(1, -1, 0.5)) && isnan(qs_pbinom(1, 2.5, 0.5)) &&
                isnan(qs_pbinom(1, INFINITY, 0.5)));
    assert_true(isnan(qs_pbinom(1, 3, -0.1)) && isnan(qs_pbinom(1, 3, 1.1)) && qs_pbinom(3, 3, 1) == 1);
    assert_true(qs_pt(0, 5) == 0.5 && qs_pt(-INFINITY, 5) == 0 && qs_pt(INFINITY, 5) == 1);
    assert_true(qs_pnorm(0) == 0.5 && qs_pnorm(-INFINITY) == 0 && qs_pnorm(INFINITY) == 1);
    assert_true(fabs(qs_qf(0.999999, 1, 1) / 405284734568.0 - 1) < 1e-5); /* tan(pi p/2)^2 */
}

/* The statistic is not defined where one value is left out. */
static double of_all(double *v, size_t n, void *user)
{
    (void)user;
    return n == N ? v[0] : NAN;
}

static void what_is_not_defined(void **state)
{
    const struct qs_boot_opts boot = {.statistic = of_all, .level = 0.9, .resamples = 100};
    struct qs_boot b;
    double logs[2];
    (void)state;
    assert_int_equal(qs_boot_ci(x, N, &boot, &b), QS_EDOM);
    assert_int_equal(qs_logs((const double[]){1, M_E}, 2, logs), QS_OK);
    assert_true(logs[0] == 0 && fabs(logs[1] - 1) < 1e-15);
    static const double bad[] = {0, -1, INFINITY, NAN};
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(qs_logs((const double[]){1, bad[i]}, 2, logs), QS_EDOM);
    struct qs_futhark f;
    assert_int_equal(qs_futhark_metrics((const double[]){-1, 1, 0}, 3, NULL, 0, QS_ROOT_SQUARE, &f), QS_EDOM);
    assert_int_equal(qs_futhark_metrics(x, N, (const size_t[]){0}, 1, QS_ROOT_SQUARE, &f), QS_EDOM);
    assert_int_equal(qs_futhark_metrics(x, N, NULL, 0, QS_ROOT_SQUARE, &f), QS_OK);
    assert_int_equal(qs_futhark_metrics((const double[]){3, 3, 3}, 3, NULL, 0, QS_ROOT_SQUARE, &f), QS_OK);
    assert_true(f.rse == 0 && f.r1 == 1);
}

/* Of four clean ones that are all 10, and 11, 12, 13, 14: d = 2.5, v = 5/3 of the disturbed ones alone, d^2
 * less 2 v/4 is 65/12; 1/(1 + 4 (65/12)/(5/3)) = 1/14. Where neither kind varies they are worth nothing. */
static void worth_beside_what_does_not_vary(void **state)
{
    const double v[] = {10, 10, 10, 10, 11, 12, 13, 14}, w[] = {10, 10, 10, 12, 12, 12};
    const bool off[] = {false, false, false, false, true, true, true, true}, last[] = {0, 0, 0, 1, 1, 1};
    struct qs_mixed_median m;
    (void)state;
    (void)qs_mixed_median(v, off, 8, 0.9, &m);
    assert_true(fabs(m.worth - 1.0 / 14) < 1e-12 && m.median == 10);
    (void)qs_mixed_median(w, last, 6, 0.5, &m);
    assert_true(m.worth == 0 && m.median == 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(words_of_no_value),
                                       cmocka_unit_test(levels_lie_between_0_and_1),
                                       cmocka_unit_test(bounds_of_a_verdict),
                                       cmocka_unit_test(verdicts_on_the_bound),
                                       cmocka_unit_test(bounds_of_change_points),
                                       cmocka_unit_test(bounds_of_other_change_points),
                                       cmocka_unit_test(bounds_of_resampling),
                                       cmocka_unit_test(bounds_of_one_sample),
                                       cmocka_unit_test(bounds_of_chances),
                                       cmocka_unit_test(bounds_of_lags_and_quantiles),
                                       cmocka_unit_test(ends_of_distributions),
                                       cmocka_unit_test(what_is_not_defined),
                                       cmocka_unit_test(worth_beside_what_does_not_vary)};
    return cmocka_run_group_tests_name("edges", tests, fill, NULL);
}
