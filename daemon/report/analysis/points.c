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

static const struct qs_field theil_sen_rows[] = {
    QS_ROW(qs_theil_sen, slope, DOUBLE, "per point"),
    QS_ROW(qs_theil_sen, intercept, DOUBLE, "level at the first point"),
    QS_ROWS_OF(qs_theil_sen, ci, qs_ci_rows),
    {.name = NULL}};

static enum qs_status tell_theil_sen(const struct qs_points *p, void *ret)
{
    struct qs_theil_sen *t = ret;
    *t = (struct qs_theil_sen){.slope = NAN, .intercept = NAN, .ci = qs_ci_none(p->sample->opts->level)};
    return p->n > PAIRS_MOST
               ? QS_EDOM
               : qs_theil_sen_ci(p->v, p->n, p->sample->opts->level, &p->sample->opts->progress, t);
}

static const struct qs_field mann_kendall_rows[] = {
    QS_ROW(qs_mann_kendall, s, DOUBLE, "pairs that rise less pairs that fall"),
    QS_ROW(qs_mann_kendall, var_s, DOUBLE, "variance of s where there is no trend"),
    QS_ROW(qs_mann_kendall, z, DOUBLE, "s in standard deviations"),
    QS_ROW(qs_mann_kendall, p, DOUBLE, "two-sided"),
    QS_ROW(qs_mann_kendall, tau, DOUBLE, "Kendall's tau-b"),
    {.name = NULL}};

static enum qs_status tell_mann_kendall(const struct qs_points *p, void *ret)
{
    return qs_mann_kendall(p->v, p->n, ret);
}

struct gesd {
    size_t most;
    struct qs_gesd of;
    struct qs_field_list indexes;
};
static const struct qs_field gesd_rows[] = {
    QS_ROW(gesd, most, COUNT, "how many were looked for"),
    QS_ROW_AS("statistic", gesd, of.statistic, DOUBLE,
              "of the last one that stands out; of the first look where none does"),
    QS_ROW_AS("limit", gesd, of.limit, DOUBLE, "what it was held against"),
    QS_ROW(gesd, indexes, COUNTS, "the points that stand out, from 0"),
    {.name = NULL}};

/* Looks for a tenth of the points, at most GESD_MOST. */
static enum qs_status tell_gesd(const struct qs_points *p, void *ret)
{
    struct gesd *told = ret;
    struct qs_gesd_opts opts = {.most = p->n / 10, .alpha = 1 - p->sample->opts->level};
    uint8_t *flags = qs_calloc(p->n, sizeof *flags);
    size_t *indexes = qs_calloc(p->n, sizeof *indexes);
    opts.most = opts.most > GESD_MOST ? GESD_MOST : opts.most;
    opts.most = opts.most > 0 ? opts.most : 1;
    opts.progress = p->sample->opts->progress;
    *told = (struct gesd){opts.most, {.statistic = NAN, .limit = NAN}, {.v = indexes}};
    enum qs_status status = qs_gesd_flags(p->v, p->n, &opts, flags, &told->of);
    for (size_t i = 0; i < p->n; i++)
        if (flags[i] != 0)
            indexes[told->indexes.n++] = i;
    free(flags);
    return status;
}

struct change {
    struct qs_change_point of;
    const char *label;
};
static const struct qs_field change_rows[] = {
    QS_ROW_AS("index", change, of.index, COUNT, "the first point after the change, from 0"),
    QS_ROW_AS("p", change, of.p, DOUBLE,
              "Student's t between both stretches, as optimistic as the place is chosen"),
    QS_ROW_AS("before", change, of.before, DOUBLE, "mean of the stretch before"),
    QS_ROW_AS("after", change, of.after, DOUBLE, "mean of the stretch after"),
    QS_ROW_AS("magnitude", change, of.magnitude, DOUBLE,
              "the greater of |after / before - 1| and |before / after - 1|"),
    QS_ROW_AS("ratio", change, of.ratio, DOUBLE, "after / before, of geometric means"),
    QS_ROW_AS("confirmed", change, of.confirmed, BOOL, "at least 4 points follow"),
    QS_ROWS_OF(change, of.ci, qs_ci_rows),
    QS_ROW(change, label, TEXT, "name of the point; null where the file has none"),
    {.name = NULL}};

static struct qs_hunter_opts hunter_opts(const struct qs_points *p, double min_magnitude)
{
    struct qs_hunter_opts opts = qs_hunter_opts_default();
    opts.level = p->sample->opts->level;
    opts.min_magnitude = min_magnitude;
    opts.window = p->sample->opts->change_window;
    opts.p_max = p->sample->opts->change_p_max;
    opts.progress = p->sample->opts->progress;
    return opts;
}

struct hunter {
    size_t window;
    double p_max, min_magnitude;
    struct qs_field_list indexes, points;
};
static const struct qs_field hunter_rows[] = {
    QS_ROW(hunter, window, COUNT, "points that are searched at once"),
    QS_ROW(hunter, p_max, DOUBLE, "a change has a p below it"),
    QS_ROW(hunter, min_magnitude, DOUBLE, "and a magnitude above this"),
    QS_ROW(hunter, indexes, COUNTS, "where the changes are"),
    QS_ROW(hunter, points, OBJECTS, "the changes", .of = change_rows, .bytes = sizeof(struct change)),
    {.name = NULL}};

static enum qs_status tell_hunter_with(const struct qs_points *p, double min_magnitude, struct hunter *ret)
{
    const struct qs_hunter_opts opts = hunter_opts(p, min_magnitude);
    struct qs_change_point *points = qs_calloc(p->n, sizeof *points);
    size_t *indexes = qs_calloc(p->n, sizeof *indexes), count = 0;
    struct change *changes = qs_calloc(p->n, sizeof *changes);
    enum qs_status status = p->n > POINTS_MOST ? QS_EDOM : qs_hunter(p->v, p->n, &opts, points, &count);
    for (size_t i = 0; i < count; i++) {
        indexes[i] = points[i].index;
        changes[i] = (struct change){points[i], p->labels ? p->labels[points[i].index] : NULL};
    }
    *ret = (struct hunter){opts.window, opts.p_max, opts.min_magnitude, {indexes, count}, {changes, count}};
    free(points);
    return status;
}

static enum qs_status tell_changes(const struct qs_points *p, void *ret)
{
    return tell_hunter_with(p, p->sample->opts->margin_ratio, ret);
}

static enum qs_status tell_hunter(const struct qs_points *p, void *ret)
{
    return tell_hunter_with(p, 0, ret);
}

struct edivisive {
    size_t permutations;
    double p_max;
    struct qs_field_list points;
};
static const struct qs_field edivisive_point_rows[] = {
    QS_ROW(qs_edivisive_point, index, COUNT, "the first point after the change, from 0"),
    QS_ROW(qs_edivisive_point, q, DOUBLE, "the statistic"),
    QS_ROW(qs_edivisive_point, p, DOUBLE, "by permutations"),
    {.name = NULL}};
static const struct qs_field edivisive_rows[] = {
    QS_ROW(edivisive, permutations, COUNT, "of each test"),
    QS_ROW(edivisive, p_max, DOUBLE, "a change has at most this p"),
    QS_ROW(edivisive, points, OBJECTS, "the changes", .of = edivisive_point_rows,
           .bytes = sizeof(struct qs_edivisive_point)),
    {.name = NULL}};

static enum qs_status tell_edivisive(const struct qs_points *p, void *ret)
{
    struct edivisive *told = ret;
    const struct qs_edivisive_opts opts = {.seed = p->sample->opts->seed,
                                           .stream = qs_analysis_stream(p->sample->id, "edivisive"),
                                           .permutations = PERMUTATIONS,
                                           .p_max = 0.05,
                                           .progress = p->sample->opts->progress};
    struct qs_edivisive_point *points = qs_calloc(p->n, sizeof *points);
    *told = (struct edivisive){PERMUTATIONS, opts.p_max, {.v = points}};
    return p->n > PERMUTED_MOST ? QS_EDOM : qs_edivisive(p->v, p->n, &opts, points, &told->points.n);
}

struct perfherder {
    struct qs_field_list indexes, t;
};
static const struct qs_field perfherder_rows[] = {
    QS_ROW(perfherder, indexes, COUNTS, "the first point after each change, from 0"),
    QS_ROW(perfherder, t, NUMBERS, "of each, what exceeds the limit"),
    {.name = NULL}};

static enum qs_status tell_perfherder(const struct qs_points *p, void *ret)
{
    const struct qs_perfherder_opts opts = qs_perfherder_opts_default();
    double *t = qs_calloc(p->n, sizeof *t);
    size_t *changes = qs_calloc(p->n, sizeof *changes), count = 0;
    enum qs_status status = qs_perfherder(p->v, p->n, &opts, t, changes, &count);
    for (size_t i = 0; i < count; i++)
        t[i] = t[changes[i]]; /* ascending: none is overwritten before it is read */
    *(struct perfherder *)ret = (struct perfherder){{changes, count}, {t, count}};
    return status;
}

/* The history as one trace, split in the middle; sd_min and the other constants as for two samples. */
static enum qs_status tell_step_fit(const struct qs_points *p, void *ret)
{
    struct qs_steps *told = ret;
    enum qs_status status = QS_OK;
    for (int k = 0; k < QS_STEP_KINDS; k++) {
        const struct qs_stepfit_opts opts = qs_step_opts((enum qs_step_kind)k);
        enum qs_status one = qs_stepfit(p->v, p->n, &opts, &told->of[k]);
        status = k == 0 ? one : status;
    }
    return status;
}

static const struct qs_field drift_rows[] = {
    QS_ROW(qs_drift, n_eff, DOUBLE, "how many independent values the residuals are worth"),
    QS_ROW(qs_drift, p, DOUBLE, "two-sided, the variance widened by n / n_eff"),
    QS_ROW(qs_drift, slope, DOUBLE, "Theil-Sen, per point"),
    QS_ROW(qs_drift, intercept, DOUBLE, "level at the first point"),
    QS_ROWS_OF(qs_drift, ci, qs_ci_rows),
    {.name = NULL}};

static enum qs_status tell_drift(const struct qs_points *p, void *ret)
{
    return qs_drift(p->v, p->n, p->sample->opts->level, &p->sample->opts->progress, ret);
}

struct labelled_change {
    struct qs_change of;
    const char *label;
};
static const struct qs_field labelled_change_rows[] = {
    QS_ROWS_OF(labelled_change, of, qs_change_rows),
    QS_ROW(labelled_change, label, TEXT, "name of the point; null where the file has none"),
    {.name = NULL}};
struct labelled {
    struct qs_field_list changes;
    struct qs_beside_changes beside;
};
static const struct qs_field labelled_rows[] = {
    QS_ROW(labelled, changes, OBJECTS, "steps and drifts in their order", .of = labelled_change_rows,
           .bytes = sizeof(struct labelled_change)),
    QS_ROWS_OF(labelled, beside, qs_beside_changes_rows),
    {.name = NULL}};

/* What people are told: steps above the margin, and drifts as what they are. */
static enum qs_status tell_labelled(const struct qs_points *p, void *ret)
{
    struct labelled *told = ret;
    const struct qs_hunter_opts opts = hunter_opts(p, p->sample->opts->margin_ratio);
    struct qs_changes changes = {.phi = NAN, .detectable_ratio = NAN};
    enum qs_status status = p->n > POINTS_MOST ? QS_EDOM : qs_changes_find(p->v, p->n, &opts, &changes);
    struct labelled_change *at = qs_calloc(changes.count, sizeof *at);
    for (size_t i = 0; i < changes.count; i++)
        at[i] = (struct labelled_change){changes.at[i], p->labels ? p->labels[changes.at[i].from] : NULL};
    *told = (struct labelled){{at, changes.count}, qs_beside_changes(&changes, 0)};
    qs_changes_free(&changes);
    return status;
}

static enum qs_status tell_pelt_points(const struct qs_points *p, void *ret)
{
    struct qs_pelt_opts opts = qs_pelt_opts_default();
    struct qs_field_list *indexes = &((struct qs_indexes *)ret)->indexes;
    indexes->v = qs_calloc(p->n / 2 + 1, sizeof(size_t));
    opts.progress = p->sample->opts->progress;
    return p->n > SEGMENTED_MOST ? QS_EDOM : qs_pelt(p->v, p->n, &opts, indexes->v, &indexes->n);
}

struct ed_pelt {
    size_t least;
    struct qs_field_list indexes;
};
static const struct qs_field ed_pelt_rows[] = {
    QS_ROW(ed_pelt, least, COUNT, "points of a segment at least"),
    QS_ROW(ed_pelt, indexes, COUNTS, "the first point of each segment but the first, from 0"),
    {.name = NULL}};

static enum qs_status tell_ed_pelt(const struct qs_points *p, void *ret)
{
    struct ed_pelt *told = ret;
    *told = (struct ed_pelt){ED_PELT_LEAST, {.v = qs_calloc(p->n / 2 + 1, sizeof(size_t))}};
    return p->n > SEGMENTED_MOST ? QS_EDOM
                                 : qs_ed_pelt(p->v, p->n, ED_PELT_LEAST, &p->sample->opts->progress,
                                              told->indexes.v, &told->indexes.n);
}

const struct qs_points_stat qs_points_stats[] = {
    {QS_STAT("labelled", labelled, labelled_rows,
             "steps of corrected Hunter that hold for tails and dependent points, above the margin; "
             "neighbouring ones that one ramp explains are a drift",
             "Changes above the margin, steps and drifts apart"),
     .tell = tell_labelled},
    {QS_STAT("change_points", hunter, hunter_rows, "corrected Hunter, changes above the margin",
             "Changes of at least the margin"),
     .tell = tell_changes},
    {QS_STAT("hunter", hunter, hunter_rows, "corrected Hunter, changes of any size", "Changes of any size"),
     .tell = tell_hunter},
    {QS_STAT("edivisive", edivisive, edivisive_rows, "Matteson-James 2014, permutation test",
             "A second opinion on changes; at most 1000 points", .random = true),
     .tell = tell_edivisive},
    {QS_STAT("pelt_points", qs_indexes, qs_indexes_rows,
             "normal mean and variance, 15 ln n, standardised, segments of max(5, n/100)",
             "A second opinion on changes: segments of constant mean and variance of the points"),
     .tell = tell_pelt_points},
    {QS_STAT("ed_pelt", ed_pelt, ed_pelt_rows, "Haynes-Fearnhead-Eckley 2017, 3 ln n",
             "A second opinion on changes: segments of one distribution, whatever it is"),
     .tell = tell_ed_pelt},
    {QS_STAT("perfherder", perfherder, perfherder_rows, "Mozilla's weighted windows, t above 7",
             "A second opinion on changes"),
     .tell = tell_perfherder},
    {QS_STAT("step_fit", qs_steps, qs_steps_rows, "Skia Perf's kinds on the whole trace",
             "Skia Perf's step detection; of two samples the baseline is the first half"),
     .tell = tell_step_fit},
    {QS_STAT("mann_kendall", qs_mann_kendall, mann_kendall_rows,
             "Mann 1945, Kendall 1975, normal with ties and the correction for continuity",
             "Is there a monotonic trend?"),
     .tell = tell_mann_kendall},
    {QS_STAT("drift", qs_drift, drift_rows, "Mann-Kendall with the variance for dependent values, Theil-Sen",
             "Is there a trend, in values that depend on each other?"),
     .tell = tell_drift},
    {QS_STAT("theil_sen", qs_theil_sen, theil_sen_rows, "median of the slopes of all pairs, Sen's interval",
             "Slope per point"),
     .tell = tell_theil_sen},
    {QS_STAT("gesd", gesd, gesd_rows,
             "Rosner 1983, mean and sd of all points: after a step a whole level stands out, labelled.alone "
             "does not",
             "Single points that stand out; they are flagged, not removed"),
     .tell = tell_gesd},
    {.tell = NULL},
};
