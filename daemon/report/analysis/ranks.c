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

static enum qs_status put_mann_whitney(const struct qs_pair *p, struct qs_json *j)
{
    static const struct qs_field fields[] = {
        QS_NUMBER_FIELD(struct qs_mwu, u), QS_NUMBER_FIELD(struct qs_mwu, p),
        QS_NUMBER_FIELD(struct qs_mwu, p_min), QS_NUMBER_FIELD(struct qs_mwu, cles),
        QS_BOOL_FIELD(struct qs_mwu, exact)};
    struct qs_mwu m;
    enum qs_status status = qs_mwu(p->x, p->nx, p->y, p->ny, QS_RANKS_AUTO, &m);
    qs_put_fields(j, fields, sizeof fields / sizeof *fields, &m);
    struct qs_mwu normal = m, uncorrected;
    if (m.exact)
        (void)qs_mwu(p->x, p->nx, p->y, p->ny, QS_RANKS_NORMAL, &normal);
    (void)qs_mwu(p->x, p->nx, p->y, p->ny, QS_RANKS_NORMAL_UNCORRECTED, &uncorrected);
    qs_json_kdouble(j, "p_normal", normal.p);
    qs_json_kdouble(j, "p_normal_uncorrected", uncorrected.p);
    qs_json_kint(j, "runs_needed", (int64_t)qs_mwu_runs_needed(1 - p->opts->level));
    qs_put_flags(j, m.flags);
    return status;
}

typedef enum qs_status hl_fn(const double *x, size_t nx, const double *y, size_t ny, double level,
                             enum qs_ranks_method method, const struct qs_progress *progress,
                             struct qs_hl *out);

/* Where ranks are not exact, they are the normal ones already. */
static enum qs_status put_hl_of(const struct qs_pair *p, struct qs_json *j, hl_fn *hl)
{
    struct qs_hl h;
    enum qs_status status =
        hl(p->x, p->nx, p->y, p->ny, p->opts->level, QS_RANKS_AUTO, &p->opts->progress, &h);
    struct qs_ci ci = h.ci;
    ci.flags |= h.flags;
    qs_json_kdouble(j, "estimate", h.shift);
    qs_put_ci(j, &ci);
    qs_json_kdouble(j, "lo_rank", h.lo_rank);
    qs_json_kdouble(j, "hi_rank", h.hi_rank);
    qs_json_kint(j, "runs_needed", (int64_t)h.n_needed);
    qs_json_kbool(j, "exact", h.exact);
    if (h.exact)
        (void)hl(p->x, p->nx, p->y, p->ny, p->opts->level, QS_RANKS_NORMAL, NULL, &h);
    qs_json_kdouble(j, "normal_lo", h.ci.lo);
    qs_json_kdouble(j, "normal_hi", h.ci.hi);
    return status;
}

static enum qs_status put_hl(const struct qs_pair *p, struct qs_json *j)
{
    return put_hl_of(p, j, qs_hl);
}

static enum qs_status put_hl_ratio(const struct qs_pair *p, struct qs_json *j)
{
    return put_hl_of(p, j, qs_hl_ratio);
}

static enum qs_status put_ks(const struct qs_pair *p, struct qs_json *j)
{
    static const struct qs_field fields[] = {
        QS_NUMBER_FIELD(struct qs_ks2, d), QS_NUMBER_FIELD(struct qs_ks2, p),
        QS_NUMBER_FIELD(struct qs_ks2, p_asym), QS_BOOL_FIELD(struct qs_ks2, exact)};
    struct qs_ks2 k;
    enum qs_status status = qs_ks2(p->x, p->nx, p->y, p->ny, &k);
    qs_put_fields(j, fields, sizeof fields / sizeof *fields, &k);
    qs_put_flags(j, k.flags);
    return status;
}

static enum qs_status put_effect(const struct qs_pair *p, struct qs_json *j)
{
    static const struct qs_field fields[] = {
        QS_NUMBER_FIELD(struct qs_effect, cohen_d), QS_NUMBER_FIELD(struct qs_effect, hedges_g),
        QS_NUMBER_FIELD(struct qs_effect, cles), QS_NUMBER_AS("cliff_delta", struct qs_effect, cliff)};
    struct qs_effect e;
    enum qs_status status = qs_effect(p->x, p->nx, p->y, p->ny, &e);
    qs_put_fields(j, fields, sizeof fields / sizeof *fields, &e);
    qs_json_kstring(j, "cliff_band", qs_cliff_band(e.cliff));
    return status;
}

static enum qs_status put_variances(const struct qs_pair *p, struct qs_json *j)
{
    struct qs_var_test t;
    enum qs_status status = qs_var_test(p->x, p->nx, p->y, p->ny, p->opts->level, &t);
    qs_json_kdouble(j, "f", t.f);
    qs_json_kdouble(j, "df_candidate", t.df[0]);
    qs_json_kdouble(j, "df_base", t.df[1]);
    qs_json_kdouble(j, "p", t.p);
    qs_json_kdouble(j, "larger_over_less", t.larger_over_less);
    qs_put_ci(j, &t.ci);
    return status;
}

static enum qs_status put_fieller(const struct qs_pair *p, struct qs_json *j)
{
    struct qs_fieller f;
    enum qs_status status = qs_fieller(p->x, p->nx, p->y, p->ny, p->opts->level, &f);
    qs_json_kdouble(j, "estimate", f.ratio);
    qs_put_ci(j, &f.ci);
    return status;
}

static enum qs_status put_hier_boot(const struct qs_pair *p, struct qs_json *j)
{
    const struct qs_tree x = qs_nested_tree(&p->base->nested), y = qs_nested_tree(&p->cand->nested);
    const struct qs_hier_boot_opts opts = {
        .seed = p->opts->seed,
        .stream = qs_analysis_stream(p->base->id, "hierarchical_bootstrap"),
        .resamples = qs_analysis_resamples(p->opts, p->base->n + p->cand->n),
        .level = p->opts->level,
        .progress = p->opts->progress};
    struct qs_hier_boot b;
    enum qs_status status = qs_hier_boot_ratio(&x, &y, &opts, &b);
    qs_json_kdouble(j, "estimate", b.ratio);
    qs_put_ci(j, &b.ci);
    qs_json_kint(j, "n_infinite", (int64_t)b.n_infinite);
    qs_json_kint(j, "resamples", (int64_t)b.resamples);
    return status;
}

struct qs_stepfit_opts qs_step_opts(enum qs_step_kind kind)
{
    return (struct qs_stepfit_opts){
        .kind = kind, .sd_min = 0.001, .interesting = kind == QS_STEP_MANN_WHITNEY ? 0.05 : 25};
}

void qs_put_step(struct qs_json *j, enum qs_step_kind kind, const struct qs_stepfit *fit)
{
    static const char *const words[] = {"uninteresting", "low", "high"};
    qs_json_kobject(j, qs_step_kind_name(kind));
    qs_json_kdouble(j, "step", fit->step);
    qs_json_kdouble(j, "regression", fit->regression);
    qs_json_kdouble(j, "lse", fit->lse);
    qs_json_kstring(j, "direction", words[fit->status]);
    qs_json_object_end(j);
}

static enum qs_status put_step_fit(const struct qs_pair *p, struct qs_json *j)
{
    enum qs_status status = QS_OK;
    for (int k = 0; k < QS_STEP_KINDS; k++) {
        struct qs_stepfit fit;
        const struct qs_stepfit_opts opts = qs_step_opts((enum qs_step_kind)k);
        enum qs_status one = qs_stepfit_halves(p->x, p->nx, p->y, p->ny, &opts, &fit);
        status = k == 0 ? one : status;
        qs_put_step(j, opts.kind, &fit);
    }
    return status;
}

/* Shares of the baseline's modes in both: a median can move because values change mode. */
static enum qs_status put_mode_shares(const struct qs_pair *p, struct qs_json *j)
{
    struct qs_modes m = {0};
    double x[QS_MODES_MAX] = {0}, y[QS_MODES_MAX] = {0};
    size_t changed = 0;
    enum qs_status status = qs_lowland(p->x, p->nx, &p->opts->progress, &m);
    if (status == QS_OK)
        status = qs_mode_shares(p->x, p->nx, m.cut, m.count - 1, x);
    if (status == QS_OK)
        status = qs_mode_shares(p->y, p->ny, m.cut, m.count - 1, y);
    for (size_t i = 0; status == QS_OK && i < m.count; i++)
        changed += qs_share_change(x[i], p->nx, y[i], p->ny, p->opts->level).changed;
    qs_json_kint(j, "modes", (int64_t)m.count);
    qs_put_numbers(j, "base", x, status == QS_OK ? m.count : 0);
    qs_put_numbers(j, "candidate", y, status == QS_OK ? m.count : 0);
    qs_json_kbool(j, "changed", changed > 0);
    return status;
}

const struct qs_pair_stat qs_rank_stats[] = {
    {"mann_whitney", "exact below 50 values a side without ties, else normal with correction",
     put_mann_whitney, false, false},
    {"hodges_lehmann", "median of all differences candidate - baseline", put_hl, false, false},
    {"hodges_lehmann_ratio", "the same on logarithms", put_hl_ratio, false, false},
    {"kolmogorov_smirnov", "two samples; exact and conditional on ties below n1 n2 = 10000", put_ks, false,
     false},
    {"effect_size", "Cohen, Hedges, Cliff", put_effect, false, false},
    {"variance_ratio", "F test, candidate over baseline", put_variances, false, false},
    {"fieller", "Fieller's interval of the ratio of means", put_fieller, false, false},
    {"hierarchical_bootstrap", "runs, then iterations drawn with replacement; ratio of means", put_hier_boot,
     true, true},
    {"mode_shares", "lowland modes of the baseline, Wald's bound", put_mode_shares, false, false},
    {"step_fit", "Skia Perf's kinds, baseline as the first half", put_step_fit, false, false},
};
const size_t qs_rank_stat_count = sizeof qs_rank_stats / sizeof *qs_rank_stats;
