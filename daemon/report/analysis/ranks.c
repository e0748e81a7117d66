/* Two samples by ranks, distances, ratios and other people's rules (statistics.md, sections 8.2 to 8.7). */
#include <math.h>

#include "report/analysis/impl.h"
#include "stats/effect.h"
#include "stats/twosample.h"
#include "stats/hier.h"
#include "stats/ks.h"
#include "stats/modality.h"
#include "stats/ranks.h"
#include "stats/ratio.h"
#include "stats/stepfit.h"
#include "stats/variance.h"

struct mann_whitney {
    struct qs_mwu of;
    double p_normal, p_normal_uncorrected;
    size_t runs_needed;
};
static const struct qs_field mann_whitney_rows[] = {
    QS_ROW_AS("u", mann_whitney, of.u, DOUBLE, "pairs with candidate > baseline, ties half"),
    QS_ROW_AS("p", mann_whitney, of.p, DOUBLE, "two-sided"),
    QS_ROW_AS("p_min", mann_whitney, of.p_min, DOUBLE, "the least that so many values can reach"),
    QS_ROW_AS("cles", mann_whitney, of.cles, DOUBLE, "the share of all pairs that u is"),
    QS_ROW_AS("exact", mann_whitney, of.exact, BOOL, "p is counted, not approximated"),
    QS_ROW(mann_whitney, p_normal, DOUBLE, "normal approximation with continuity correction"),
    QS_ROW(mann_whitney, p_normal_uncorrected, DOUBLE, "without it"),
    QS_ROW(mann_whitney, runs_needed, COUNT, "values a side for the test to be able to reject"),
    QS_ROW_AS("flags", mann_whitney, of.flags, FLAGS, QS_FLAGS_MEANING, .words = qs_flag_names),
    {.name = NULL}};

static enum qs_status tell_mann_whitney(const struct qs_pair *p, void *ret)
{
    struct mann_whitney *told = ret;
    struct qs_mwu normal, uncorrected;
    enum qs_status status = qs_mwu(p->x, p->nx, p->y, p->ny, QS_RANKS_AUTO, &told->of);
    normal = told->of;
    if (told->of.exact)
        (void)qs_mwu(p->x, p->nx, p->y, p->ny, QS_RANKS_NORMAL, &normal);
    (void)qs_mwu(p->x, p->nx, p->y, p->ny, QS_RANKS_NORMAL_UNCORRECTED, &uncorrected);
    told->p_normal = normal.p;
    told->p_normal_uncorrected = uncorrected.p;
    told->runs_needed = qs_mwu_runs_needed(1 - p->opts->level);
    return status;
}

struct hodges_lehmann {
    struct qs_hl of;
    double normal_lo, normal_hi;
};
static const struct qs_field hodges_lehmann_rows[] = {
    QS_ROW_AS("estimate", hodges_lehmann, of.shift, DOUBLE, "the median of all pairs"),
    QS_ROWS_OF(hodges_lehmann, of.ci, qs_ci_rows),
    QS_ROW_AS("lo_rank", hodges_lehmann, of.lo_rank, DOUBLE, "which of the ordered pairs is lo, from 1"),
    QS_ROW_AS("hi_rank", hodges_lehmann, of.hi_rank, DOUBLE, "which is hi"),
    QS_ROW_AS("runs_needed", hodges_lehmann, of.n_needed, COUNT, "values a side for an interval; 0: enough"),
    QS_ROW_AS("exact", hodges_lehmann, of.exact, BOOL, "the ranks are counted, not approximated"),
    QS_ROW(hodges_lehmann, normal_lo, DOUBLE, "lower bound by normal ranks"),
    QS_ROW(hodges_lehmann, normal_hi, DOUBLE, "upper bound"),
    {.name = NULL}};

typedef enum qs_status hl_fn(const double *x, size_t nx, const double *y, size_t ny, double level,
                             enum qs_ranks_method method, const struct qs_progress *progress,
                             struct qs_hl *out);

/* Where ranks are not exact, they are the normal ones already. */
static enum qs_status tell_hl_of(const struct qs_pair *p, hl_fn *hl, struct hodges_lehmann *ret)
{
    struct qs_hl *h = &ret->of, normal;
    enum qs_status status =
        hl(p->x, p->nx, p->y, p->ny, p->opts->level, QS_RANKS_AUTO, &p->opts->progress, h);
    normal = *h;
    h->ci.flags |= h->flags;
    if (h->exact)
        (void)hl(p->x, p->nx, p->y, p->ny, p->opts->level, QS_RANKS_NORMAL, NULL, &normal);
    ret->normal_lo = normal.ci.lo;
    ret->normal_hi = normal.ci.hi;
    return status;
}

static enum qs_status tell_hl(const struct qs_pair *p, void *ret)
{
    return tell_hl_of(p, qs_hl, ret);
}

static enum qs_status tell_hl_ratio(const struct qs_pair *p, void *ret)
{
    return tell_hl_of(p, qs_hl_ratio, ret);
}

static const struct qs_field ks_rows[] = {
    QS_ROW(qs_ks2, d, DOUBLE, "greatest distance of both distributions"),
    QS_ROW(qs_ks2, p, DOUBLE, "two-sided"),
    QS_ROW(qs_ks2, p_asym, DOUBLE, "by Kolmogorov's limit"),
    QS_ROW(qs_ks2, exact, BOOL, "p is counted, not by the limit"),
    QS_ROW(qs_ks2, flags, FLAGS, QS_FLAGS_MEANING, .words = qs_flag_names),
    {.name = NULL}};

static enum qs_status tell_ks(const struct qs_pair *p, void *ret)
{
    return qs_ks2(p->x, p->nx, p->y, p->ny, ret);
}

static const char *const cliff_words[] = {"negligible", "small", "medium", "large", "unknown", NULL};
struct effect {
    struct qs_effect of;
    const char *cliff_band;
};
static const struct qs_field effect_rows[] = {
    QS_ROW_AS("cohen_d", effect, of.cohen_d, DOUBLE,
              "difference of means over the pooled standard deviation"),
    QS_ROW_AS("hedges_g", effect, of.hedges_g, DOUBLE, "the same, less biased for few values"),
    QS_ROW_AS("cles", effect, of.cles, DOUBLE, "share of pairs with candidate > baseline, ties half"),
    QS_ROW_AS("cliff_delta", effect, of.cliff, DOUBLE, "2 cles - 1"),
    QS_ROW(effect, cliff_band, TEXT, "what that is called", .words = cliff_words),
    {.name = NULL}};

static enum qs_status tell_effect(const struct qs_pair *p, void *ret)
{
    struct effect *told = ret;
    enum qs_status status = qs_effect(p->x, p->nx, p->y, p->ny, &told->of);
    told->cliff_band = qs_cliff_band(told->of.cliff);
    return status;
}

static const struct qs_field variance_rows[] = {
    QS_ROW(qs_var_test, f, DOUBLE, "variance of the candidate over that of the baseline"),
    QS_ROW_AS("df_candidate", qs_var_test, df[0], DOUBLE, "degrees of freedom of the candidate"),
    QS_ROW_AS("df_base", qs_var_test, df[1], DOUBLE, "of the baseline"),
    QS_ROW(qs_var_test, p, DOUBLE, "two-sided"),
    QS_ROW(qs_var_test, larger_over_less, DOUBLE, "the greater variance over the smaller one"),
    QS_ROWS_OF(qs_var_test, ci, qs_ci_rows),
    {.name = NULL}};

static enum qs_status tell_variances(const struct qs_pair *p, void *ret)
{
    return qs_var_test(p->x, p->nx, p->y, p->ny, p->opts->level, ret);
}

static const struct qs_field fieller_rows[] = {QS_ROW_AS("estimate", qs_fieller, ratio, DOUBLE, "the ratio"),
                                               QS_ROWS_OF(qs_fieller, ci, qs_ci_rows),
                                               {.name = NULL}};

static enum qs_status tell_fieller(const struct qs_pair *p, void *ret)
{
    return qs_fieller(p->x, p->nx, p->y, p->ny, p->opts->level, ret);
}

static const struct qs_field hier_boot_rows[] = {
    QS_ROW_AS("estimate", qs_hier_boot, ratio, DOUBLE, "the ratio"),
    QS_ROWS_OF(qs_hier_boot, ci, qs_ci_rows),
    QS_ROW(qs_hier_boot, n_infinite, COUNT, "resamples whose baseline has a mean of 0"),
    QS_ROW(qs_hier_boot, resamples, COUNT, "how many were drawn"),
    {.name = NULL}};

static enum qs_status tell_hier_boot(const struct qs_pair *p, void *ret)
{
    const struct qs_tree x = qs_nested_tree(&p->base->nested), y = qs_nested_tree(&p->cand->nested);
    const struct qs_hier_boot_opts opts = {
        .seed = p->opts->seed,
        .stream = qs_analysis_stream(p->base->id, "hierarchical_bootstrap"),
        .resamples = qs_analysis_resamples(p->opts, p->base->n + p->cand->n),
        .level = p->opts->level,
        .progress = p->opts->progress};
    return qs_hier_boot_ratio(&x, &y, &opts, ret);
}

struct qs_stepfit_opts qs_step_opts(enum qs_step_kind kind)
{
    return (struct qs_stepfit_opts){
        .kind = kind, .sd_min = 0.001, .interesting = kind == QS_STEP_MANN_WHITNEY ? 0.05 : 25};
}

static const char *const direction_words[] = {"uninteresting", "low", "high", NULL};
static const struct qs_field step_rows[] = {
    QS_ROW(qs_stepfit, step, DOUBLE, "baseline - candidate: negative means that values went up"),
    QS_ROW(qs_stepfit, regression, DOUBLE, "what is judged: large where there is a step"),
    QS_ROW(qs_stepfit, lse, DOUBLE, "what the step was divided by, or Mann and Whitney's u"),
    QS_ROW_AS("direction", qs_stepfit, status, WORD, "which way it goes, if it matters",
              .words = direction_words),
    {.name = NULL}};

const struct qs_field qs_steps_rows[] = {
    QS_ROW_AS("original", qs_steps, of[QS_STEP_ORIGINAL], WITHIN, "of the normalised trace", .of = step_rows),
    QS_ROW_AS("absolute", qs_steps, of[QS_STEP_ABSOLUTE], WITHIN, "difference of the means", .of = step_rows),
    QS_ROW_AS("percent", qs_steps, of[QS_STEP_PERCENT], WITHIN, "that over the baseline's", .of = step_rows),
    QS_ROW_AS("percent-median", qs_steps, of[QS_STEP_PERCENT_MEDIAN], WITHIN, "the same of medians",
              .of = step_rows),
    QS_ROW_AS("cohen", qs_steps, of[QS_STEP_COHEN], WITHIN, "difference over the standard deviations",
              .of = step_rows),
    QS_ROW_AS("stepiness", qs_steps, of[QS_STEP_STEPINESS], WITHIN, "how much of all that varies is the step",
              .of = step_rows),
    QS_ROW_AS("mann-whitney", qs_steps, of[QS_STEP_MANN_WHITNEY], WITHIN, "p of Mann and Whitney's test",
              .of = step_rows),
    {.name = NULL}};

static enum qs_status tell_step_fit(const struct qs_pair *p, void *ret)
{
    struct qs_steps *told = ret;
    enum qs_status status = QS_OK;
    for (int k = 0; k < QS_STEP_KINDS; k++) {
        const struct qs_stepfit_opts opts = qs_step_opts((enum qs_step_kind)k);
        enum qs_status one = qs_stepfit_halves(p->x, p->nx, p->y, p->ny, &opts, &told->of[k]);
        status = k == 0 ? one : status;
    }
    return status;
}

struct mode_shares {
    size_t modes;
    struct qs_field_list base, candidate;
    bool changed;
};
static const struct qs_field mode_shares_rows[] = {
    QS_ROW(mode_shares, modes, COUNT, "of the baseline"),
    QS_ROW(mode_shares, base, NUMBERS, "share of the baseline's values in each"),
    QS_ROW(mode_shares, candidate, NUMBERS, "share of the candidate's values between the same bounds"),
    QS_ROW(mode_shares, changed, BOOL, "a share differs by more than chance"),
    {.name = NULL}};

/* Shares of the baseline's modes in both: a median can move because values change mode. */
static enum qs_status tell_mode_shares(const struct qs_pair *p, void *ret)
{
    struct qs_modes m = {0};
    double x[QS_MODES_MAX] = {0}, y[QS_MODES_MAX] = {0};
    size_t changed = 0;
    enum qs_status status = qs_lowland(p->x, p->nx, &p->opts->progress, &m);
    if (status == QS_OK)
        status = qs_mode_shares(p->x, p->nx, m.cut, m.count - 1, x);
    if (status == QS_OK)
        status = qs_mode_shares(p->y, p->ny, m.cut, m.count - 1, y);
    size_t told = status == QS_OK ? m.count : 0;
    for (size_t i = 0; i < told; i++)
        changed += qs_share_change(x[i], p->nx, y[i], p->ny, p->opts->level).changed;
    *(struct mode_shares *)ret =
        (struct mode_shares){m.count, qs_numbers_of(x, told), qs_numbers_of(y, told), changed > 0};
    return status;
}

const struct qs_pair_stat qs_rank_stats[] = {
    {QS_STAT("mann_whitney", mann_whitney, mann_whitney_rows,
             "exact below 50 values a side without ties, else normal with correction",
             "Ranks: does one lie above the other?"),
     .tell = tell_mann_whitney},
    {QS_STAT("hodges_lehmann", hodges_lehmann, hodges_lehmann_rows,
             "median of all differences candidate - baseline", "Shift, candidate - baseline"),
     .tell = tell_hl},
    {QS_STAT("hodges_lehmann_ratio", hodges_lehmann, hodges_lehmann_rows, "the same on logarithms",
             "Ratio, candidate / baseline"),
     .tell = tell_hl_ratio},
    {QS_STAT("kolmogorov_smirnov", qs_ks2, ks_rows,
             "two samples; exact and conditional on ties below n1 n2 = 10000",
             "Do the distributions differ anywhere?"),
     .tell = tell_ks},
    {QS_STAT("effect_size", effect, effect_rows, "Cohen, Hedges, Cliff",
             "How large in units of the spread, or of ranks"),
     .tell = tell_effect},
    {QS_STAT("variance_ratio", qs_var_test, variance_rows, "F test, candidate over baseline",
             "Do both vary alike?"),
     .tell = tell_variances},
    {QS_STAT("fieller", qs_fieller, fieller_rows, "Fieller's interval of the ratio of means",
             "Ratio candidate / baseline of means"),
     .tell = tell_fieller},
    {QS_STAT("hierarchical_bootstrap", qs_hier_boot, hier_boot_rows,
             "runs, then iterations drawn with replacement; ratio of means",
             "Ratio of means, runs and iterations drawn", .random = true, .runs_only = true),
     .tell = tell_hier_boot},
    {QS_STAT("mode_shares", mode_shares, mode_shares_rows, "lowland modes of the baseline, Wald's bound",
             "Shares of the modes of the baseline in both samples"),
     .tell = tell_mode_shares},
    {QS_STAT("step_fit", qs_steps, qs_steps_rows, "Skia Perf's kinds, baseline as the first half",
             "Skia Perf's step detection; of two samples the baseline is the first half"),
     .tell = tell_step_fit},
    {.tell = NULL},
};
