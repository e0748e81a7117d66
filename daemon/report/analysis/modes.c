/* How many modes a sample has, what stands out of its neighbourhood, and whether a run settles
 * (statistics.md, sections 6.4, 7 and 9.5). */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "report/analysis/impl.h"
#include "stats/modality.h"
#include "stats/outlier.h"
#include "stats/pelt.h"
#include "stats/steady.h"

/* Segmenting takes time with the square of the length where little changes. */
enum { SEGMENTED_MOST = 20000 };

static void put_modes(struct qs_json *j, const struct qs_modes *m)
{
    qs_json_kint(j, "modes", (int64_t)m->count);
    qs_put_numbers(j, "locations", m->location, m->count);
    qs_put_numbers(j, "cuts", m->cut, m->count > 0 ? m->count - 1 : 0);
    qs_json_kint(j, "bins", (int64_t)m->bins);
}

static enum qs_status put_modality(const struct qs_view *v, struct qs_json *j)
{
    struct qs_modality_test t = {.quantum = NAN, .mvalue = NAN, .ties = {.smallest_gap = NAN}};
    double quantum = v->opts->resolution > 0 ? v->opts->resolution : NAN;
    enum qs_status status = qs_modality_test(v->sorted, v->n, quantum, &v->opts->progress, &t);
    qs_json_kstring(j, "modality", qs_modality_name(t.modality));
    qs_json_kint(j, "n_distinct", (int64_t)t.ties.n_distinct);
    qs_json_kdouble(j, "smallest_gap", t.ties.smallest_gap);
    qs_json_kdouble(j, "quantum", t.quantum);
    qs_json_kdouble(j, "mvalue", t.mvalue);
    put_modes(j, &t.modes);
    qs_put_numbers(j, "medians", t.median, t.modes.count);
    qs_put_numbers(j, "shares", t.share, t.modes.count);
    return status;
}

static enum qs_status put_lowland(const struct qs_view *v, struct qs_json *j)
{
    struct qs_modes m = {0};
    enum qs_status status = qs_lowland(v->sorted, v->n, &v->opts->progress, &m);
    put_modes(j, &m);
    return status;
}

static enum qs_status put_mvalue(const struct qs_view *v, struct qs_json *j)
{
    double m = NAN;
    enum qs_status status = qs_mvalue(v->sorted, v->n, &m);
    qs_json_kdouble(j, "m", m);
    return status;
}

static enum qs_status put_dip(const struct qs_view *v, struct qs_json *j)
{
    struct qs_dip d;
    enum qs_status status = qs_dip(v->sorted, v->n, &d);
    qs_json_kdouble(j, "dip", d.dip);
    qs_json_kdouble(j, "p", d.p);
    return status;
}

static enum qs_status put_pelt_mean(const struct qs_view *v, struct qs_json *j)
{
    size_t *changes = qs_calloc(v->n, sizeof *changes), count = 0;
    enum qs_status status =
        v->n > SEGMENTED_MOST ? QS_EDOM : qs_pelt_mean(v->x, v->n, &v->opts->progress, changes, &count);
    qs_put_counts(j, "indexes", changes, count);
    free(changes);
    return status;
}

static enum qs_status put_window(const struct qs_view *v, struct qs_json *j)
{
    static const struct qs_field fields[] = {QS_COUNT_FIELD(struct qs_window_outliers, window),
                                             QS_COUNT_FIELD(struct qs_window_outliers, n_assessed),
                                             QS_COUNT_FIELD(struct qs_window_outliers, n_low),
                                             QS_COUNT_FIELD(struct qs_window_outliers, n_high)};
    struct qs_window_outliers w = {0};
    enum qs_status status = qs_window_flags(v->x, v->n, 0, NULL, &w);
    qs_put_fields(j, fields, sizeof fields / sizeof *fields, &w);
    return status;
}

enum qs_status qs_steady_of_run(const struct qs_view *v, size_t run, struct qs_steady *ret)
{
    const struct qs_import_series *series = v->series;
    size_t from = series->off[run], n = series->off[run + 1] - from;
    const struct qs_steady_opts opts = {.delta_ratio = 0.01,
                                        .lower_is_better = series->direction != QS_DIRECTION_HIGHER,
                                        .resolution = v->opts->resolution,
                                        .progress = v->opts->progress};
    *ret = (struct qs_steady){.class = QS_STEADY_UNKNOWN, .mean = NAN};
    if (!qs_progress_go_on(&v->opts->progress, 0))
        return QS_ECANCELED;
    if (n > SEGMENTED_MOST)
        return QS_EDOM;
    uint8_t *flags = qs_calloc(n, sizeof *flags);
    struct qs_window_outliers w;
    bool flagged = qs_window_flags(v->x + from, n, 0, flags, &w) == QS_OK;
    enum qs_status status = qs_steady_state(v->x + from, n, flagged ? flags : NULL, &opts, ret);
    free(flags);
    return status;
}

/* Each run for itself; `start` and `mean` are those of the first run. */
static enum qs_status put_steady(const struct qs_view *v, struct qs_json *j)
{
    enum qs_steady_class *classes = qs_calloc(v->runs, sizeof *classes);
    const struct qs_steady first = v->steady[0];
    for (size_t i = 0; i < v->runs; i++)
        classes[i] = v->steady[i].class;
    qs_json_kstring(j, "class", qs_steady_class_name(qs_steady_of_runs(classes, v->runs)));
    qs_json_kint(j, "start", (int64_t)first.start);
    qs_json_kint(j, "segments", (int64_t)first.segments);
    qs_json_kdouble(j, "mean", first.mean);
    free(classes);
    return v->steady_status;
}

static enum qs_status put_pelt_with(const struct qs_view *v, bool raw, size_t least, struct qs_json *j)
{
    struct qs_pelt_opts opts = qs_pelt_opts_default();
    size_t *changes = qs_calloc(v->n / 2 + 1, sizeof *changes), count = 0;
    opts.raw = raw;
    opts.least = least;
    opts.resolution = v->opts->resolution;
    opts.progress = v->opts->progress;
    enum qs_status status = v->n > SEGMENTED_MOST ? QS_EDOM : qs_pelt(v->x, v->n, &opts, changes, &count);
    qs_put_counts(j, "indexes", changes, count);
    free(changes);
    return status;
}

static enum qs_status put_pelt(const struct qs_view *v, struct qs_json *j)
{
    return put_pelt_with(v, false, 0, j);
}

static enum qs_status put_pelt_r(const struct qs_view *v, struct qs_json *j)
{
    return put_pelt_with(v, true, 2, j);
}

const struct qs_view_stat qs_mode_stats[] = {
    {"modality", "ties spread; lowland, then mvalue", put_modality, QS_BASIS_ITERATIONS, false},
    {"lowland",
     "Akinshin 2020 on the values as they are; 100 bins of equal share between Harrell-Davis quantiles",
     put_lowland, QS_BASIS_ITERATIONS, false},
    {"mvalue", "Gregg, padded histogram, largest over bin widths", put_mvalue, QS_BASIS_ITERATIONS, false},
    {"dip", "Hartigan & Hartigan 1985; p from a table of simulated uniform samples", put_dip,
     QS_BASIS_ITERATIONS, false},
    {"pelt_mean", "changes of the mean: sum of squares + ln m, 3 ln n, standardised (R's cpt.mean)",
     put_pelt_mean, QS_BASIS_ITERATIONS, false},
    {"window_outliers", "median +- 3 (P90 - P10) of a sliding window", put_window, QS_BASIS_ITERATIONS,
     false},
    {"steady_state", "PELT segments equivalent to the last within 1 %", put_steady, QS_BASIS_ITERATIONS,
     false},
    {"pelt", "normal mean and variance, 15 ln n, standardised, segments of max(5, n/100)", put_pelt,
     QS_BASIS_ITERATIONS, false},
    {"pelt_r", "the same as R's changepoint: raw values, segments of 2", put_pelt_r, QS_BASIS_ITERATIONS,
     false},
};
const size_t qs_mode_stat_count = sizeof qs_mode_stats / sizeof *qs_mode_stats;
