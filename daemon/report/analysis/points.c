/* Statistics of a history (statistics.md, sections 9.2 to 9.6). */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "report/analysis/impl.h"
#include "report/put.h"
#include "stats/drift.h"
#include "stats/edivisive.h"
#include "stats/outlier.h"
#include "stats/hunter.h"
#include "stats/pelt.h"
#include "stats/stepfit.h"
#include "stats/trend.h"

/* Permutations, and the points that are permuted at most. */
enum { PERMUTATIONS = 199, PERMUTED_MOST = 1000 };

/* Points whose pairs are all looked at; points of a history at most; single nights that are looked for. */
enum { PAIRS_MOST = 5000, POINTS_MOST = 100000, GESD_MOST = 50 };

/* Points that PELT segments; values of a segment of ED-PELT (perfolizer's). */
enum { SEGMENTED_MOST = 20000, ED_PELT_LEAST = 20 };

static enum qs_status put_theil_sen(const struct qs_points *p, struct qs_json *j)
{
    struct qs_theil_sen t = {.slope = NAN, .intercept = NAN, .ci = qs_ci_none(p->view->opts->level)};
    enum qs_status status =
        p->n > PAIRS_MOST ? QS_EDOM
                          : qs_theil_sen_ci(p->v, p->n, p->view->opts->level, &p->view->opts->progress, &t);
    qs_json_kdouble(j, "slope", t.slope);
    qs_json_kdouble(j, "intercept", t.intercept);
    qs_put_ci(j, &t.ci);
    return status;
}

static enum qs_status put_mann_kendall(const struct qs_points *p, struct qs_json *j)
{
    static const struct qs_field fields[] = {
        QS_NUMBER_FIELD(struct qs_mann_kendall, s), QS_NUMBER_FIELD(struct qs_mann_kendall, var_s),
        QS_NUMBER_FIELD(struct qs_mann_kendall, z), QS_NUMBER_FIELD(struct qs_mann_kendall, p),
        QS_NUMBER_FIELD(struct qs_mann_kendall, tau)};
    struct qs_mann_kendall m;
    enum qs_status status = qs_mann_kendall(p->v, p->n, &m);
    qs_put_fields(j, fields, sizeof fields / sizeof *fields, &m);
    return status;
}

/* Looks for a tenth of the points, at most GESD_MOST. */
static enum qs_status put_gesd(const struct qs_points *p, struct qs_json *j)
{
    struct qs_gesd_opts opts = {.most = p->n / 10, .alpha = 1 - p->view->opts->level};
    struct qs_gesd g = {.statistic = NAN, .limit = NAN};
    uint8_t *flags = qs_calloc(p->n, sizeof *flags);
    opts.most = opts.most > GESD_MOST ? GESD_MOST : opts.most;
    opts.most = opts.most > 0 ? opts.most : 1;
    opts.progress = p->view->opts->progress;
    enum qs_status status = qs_gesd_flags(p->v, p->n, &opts, flags, &g);
    qs_json_kint(j, "most", (int64_t)opts.most);
    qs_json_kdouble(j, "statistic", g.statistic);
    qs_json_kdouble(j, "limit", g.limit);
    qs_json_karray(j, "indexes");
    for (size_t i = 0; i < p->n; i++)
        if (flags[i] != 0)
            qs_json_uint(j, i);
    qs_json_array_end(j);
    free(flags);
    return status;
}

static void put_change(const struct qs_points *p, const struct qs_change_point *c, struct qs_json *j)
{
    static const struct qs_field fields[] = {
        QS_COUNT_FIELD(struct qs_change_point, index),      QS_NUMBER_FIELD(struct qs_change_point, p),
        QS_NUMBER_FIELD(struct qs_change_point, before),    QS_NUMBER_FIELD(struct qs_change_point, after),
        QS_NUMBER_FIELD(struct qs_change_point, magnitude), QS_NUMBER_FIELD(struct qs_change_point, ratio),
        QS_BOOL_FIELD(struct qs_change_point, confirmed)};
    qs_json_object(j);
    qs_put_fields(j, fields, sizeof fields / sizeof *fields, c);
    qs_put_ci(j, &c->ci);
    qs_json_kstring(j, "label", p->labels ? p->labels[c->index] : NULL);
    qs_json_object_end(j);
}

static struct qs_hunter_opts hunter_opts(const struct qs_points *p, double min_magnitude)
{
    struct qs_hunter_opts opts = qs_hunter_opts_default();
    opts.level = p->view->opts->level;
    opts.min_magnitude = min_magnitude;
    opts.window = p->view->opts->change_window;
    opts.p_max = p->view->opts->change_p_max;
    opts.progress = p->view->opts->progress;
    return opts;
}

static enum qs_status put_hunter_with(const struct qs_points *p, double min_magnitude, struct qs_json *j)
{
    const struct qs_hunter_opts opts = hunter_opts(p, min_magnitude);
    struct qs_change_point *points = qs_calloc(p->n, sizeof *points);
    size_t count = 0;
    enum qs_status status = p->n > POINTS_MOST ? QS_EDOM : qs_hunter(p->v, p->n, &opts, points, &count);
    qs_json_kint(j, "window", (int64_t)opts.window);
    qs_json_kdouble(j, "p_max", opts.p_max);
    qs_json_kdouble(j, "min_magnitude", opts.min_magnitude);
    qs_json_karray(j, "indexes");
    for (size_t i = 0; i < count; i++)
        qs_json_uint(j, points[i].index);
    qs_json_array_end(j);
    qs_json_karray(j, "points");
    for (size_t i = 0; i < count; i++)
        put_change(p, &points[i], j);
    qs_json_array_end(j);
    free(points);
    return status;
}

static enum qs_status put_changes(const struct qs_points *p, struct qs_json *j)
{
    return put_hunter_with(p, p->view->opts->margin_ratio, j);
}

static enum qs_status put_hunter(const struct qs_points *p, struct qs_json *j)
{
    return put_hunter_with(p, 0, j);
}

static enum qs_status put_edivisive(const struct qs_points *p, struct qs_json *j)
{
    const struct qs_edivisive_opts opts = {.seed = p->view->opts->seed,
                                           .stream = qs_analysis_stream(p->view->id, "edivisive"),
                                           .permutations = PERMUTATIONS,
                                           .p_max = 0.05,
                                           .progress = p->view->opts->progress};
    struct qs_edivisive_point *points = qs_calloc(p->n, sizeof *points);
    size_t count = 0;
    enum qs_status status = p->n > PERMUTED_MOST ? QS_EDOM : qs_edivisive(p->v, p->n, &opts, points, &count);
    qs_json_kint(j, "permutations", PERMUTATIONS);
    qs_json_kdouble(j, "p_max", opts.p_max);
    qs_json_karray(j, "points");
    for (size_t i = 0; i < count; i++) {
        qs_json_object(j);
        qs_json_kint(j, "index", (int64_t)points[i].index);
        qs_json_kdouble(j, "q", points[i].q);
        qs_json_kdouble(j, "p", points[i].p);
        qs_json_object_end(j);
    }
    qs_json_array_end(j);
    free(points);
    return status;
}

static enum qs_status put_perfherder(const struct qs_points *p, struct qs_json *j)
{
    const struct qs_perfherder_opts opts = qs_perfherder_opts_default();
    double *t = qs_calloc(p->n, sizeof *t);
    size_t *changes = qs_calloc(p->n, sizeof *changes), count = 0;
    enum qs_status status = qs_perfherder(p->v, p->n, &opts, t, changes, &count);
    qs_put_counts(j, "indexes", changes, count);
    qs_json_karray(j, "t");
    for (size_t i = 0; i < count; i++)
        qs_json_double(j, t[changes[i]]);
    qs_json_array_end(j);
    free(changes);
    free(t);
    return status;
}

/* The history as one trace, split in the middle; sd_min and the other constants as for two samples. */
static enum qs_status put_step_fit(const struct qs_points *p, struct qs_json *j)
{
    enum qs_status status = QS_OK;
    for (int k = 0; k < QS_STEP_KINDS; k++) {
        struct qs_stepfit fit;
        const struct qs_stepfit_opts opts = qs_step_opts((enum qs_step_kind)k);
        enum qs_status one = qs_stepfit(p->v, p->n, &opts, &fit);
        status = k == 0 ? one : status;
        qs_put_step(j, opts.kind, &fit);
    }
    return status;
}

static enum qs_status put_drift(const struct qs_points *p, struct qs_json *j)
{
    static const struct qs_field fields[] = {
        QS_NUMBER_FIELD(struct qs_drift, n_eff), QS_NUMBER_FIELD(struct qs_drift, p),
        QS_NUMBER_FIELD(struct qs_drift, slope), QS_NUMBER_FIELD(struct qs_drift, intercept)};
    struct qs_drift d;
    enum qs_status status = qs_drift(p->v, p->n, p->view->opts->level, &p->view->opts->progress, &d);
    qs_put_fields(j, fields, sizeof fields / sizeof *fields, &d);
    qs_put_ci(j, &d.ci);
    return status;
}

/* What people are told: steps above the margin, and drifts as what they are. */
static enum qs_status put_labelled(const struct qs_points *p, struct qs_json *j)
{
    const struct qs_hunter_opts opts = hunter_opts(p, p->view->opts->margin_ratio);
    struct qs_changes changes = {.phi = NAN, .detectable_ratio = NAN};
    enum qs_status status = p->n > POINTS_MOST ? QS_EDOM : qs_changes_find(p->v, p->n, &opts, &changes);
    qs_json_karray(j, "changes");
    for (size_t i = 0; i < changes.count; i++) {
        qs_json_object(j);
        qs_put_change(j, &changes.at[i]);
        qs_json_kstring(j, "label", p->labels ? p->labels[changes.at[i].from] : NULL);
        qs_json_object_end(j);
    }
    qs_json_array_end(j);
    qs_put_changes_beside(j, &changes, 0);
    qs_changes_free(&changes);
    return status;
}

static enum qs_status put_pelt_points(const struct qs_points *p, struct qs_json *j)
{
    struct qs_pelt_opts opts = qs_pelt_opts_default();
    size_t *changes = qs_calloc(p->n / 2 + 1, sizeof *changes), count = 0;
    opts.progress = p->view->opts->progress;
    enum qs_status status = p->n > SEGMENTED_MOST ? QS_EDOM : qs_pelt(p->v, p->n, &opts, changes, &count);
    qs_put_counts(j, "indexes", changes, count);
    free(changes);
    return status;
}

static enum qs_status put_ed_pelt(const struct qs_points *p, struct qs_json *j)
{
    size_t *changes = qs_calloc(p->n / 2 + 1, sizeof *changes), count = 0;
    enum qs_status status = p->n > SEGMENTED_MOST ? QS_EDOM
                                                  : qs_ed_pelt(p->v, p->n, ED_PELT_LEAST,
                                                               &p->view->opts->progress, changes, &count);
    qs_json_kint(j, "least", ED_PELT_LEAST);
    qs_put_counts(j, "indexes", changes, count);
    free(changes);
    return status;
}

const struct qs_points_stat qs_points_stats[] = {
    {"labelled",
     "steps of corrected Hunter that hold for tails and dependent points, above the margin; neighbouring "
     "ones that one ramp explains are a drift",
     put_labelled, false},
    {"change_points", "corrected Hunter, changes above the margin", put_changes, false},
    {"hunter", "corrected Hunter, changes of any size", put_hunter, false},
    {"edivisive", "Matteson-James 2014, permutation test", put_edivisive, true},
    {"pelt_points", "normal mean and variance, 15 ln n, standardised, segments of max(5, n/100)",
     put_pelt_points, false},
    {"ed_pelt", "Haynes-Fearnhead-Eckley 2017, 3 ln n", put_ed_pelt, false},
    {"perfherder", "Mozilla's weighted windows, t above 7", put_perfherder, false},
    {"step_fit", "Skia Perf's kinds on the whole trace", put_step_fit, false},
    {"mann_kendall", "Mann 1945, Kendall 1975, normal with ties and the correction for continuity",
     put_mann_kendall, false},
    {"drift", "Mann-Kendall with the variance for dependent values, Theil-Sen", put_drift, false},
    {"theil_sen", "median of the slopes of all pairs, Sen's interval", put_theil_sen, false},
    {"gesd",
     "Rosner 1983, mean and sd of all points: after a step a whole level stands out, labelled.alone does not",
     put_gesd, false},
};
const size_t qs_points_stat_count = sizeof qs_points_stats / sizeof *qs_points_stats;

void qs_put_points(struct qs_json *j, const struct qs_points *points)
{
    qs_put_numbers(j, "values", points->v, points->n);
    qs_json_karray(j, "labels");
    for (size_t i = 0; points->labels && i < points->n; i++)
        qs_json_string(j, points->labels[i]);
    qs_json_array_end(j);
}
