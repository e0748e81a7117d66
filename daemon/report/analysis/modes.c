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

struct modes {
    size_t modes, bins;
    struct qs_field_list locations, cuts;
};
static const struct qs_field modes_rows[] = {QS_ROW(modes, modes, COUNT, "how many; 0: not assessed"),
                                             QS_ROW(modes, locations, NUMBERS, "where each is"),
                                             QS_ROW(modes, cuts, NUMBERS, "between neighbouring modes"),
                                             QS_ROW(modes, bins, COUNT, "of the density that was searched"),
                                             {.name = NULL}};

static struct modes modes_of(const struct qs_modes *m)
{
    return (struct modes){.modes = m->count,
                          .bins = m->bins,
                          .locations = qs_numbers_of(m->location, m->count),
                          .cuts = qs_numbers_of(m->cut, m->count > 0 ? m->count - 1 : 0)};
}

struct modality {
    struct qs_modality_test test;
    struct modes modes;
    struct qs_field_list medians, shares;
};
static const struct qs_field modality_rows[] = {
    QS_ROW_AS("modality", modality, test.modality, WORD, "what it comes to", .words = qs_modality_names),
    QS_ROW_AS("n_distinct", modality, test.ties.n_distinct, COUNT, "different values"),
    QS_ROW_AS("smallest_gap", modality, test.ties.smallest_gap, DOUBLE, "between different values"),
    QS_ROW_AS("quantum", modality, test.quantum, DOUBLE, "what was spread"),
    QS_ROW_AS("mvalue", modality, test.mvalue, DOUBLE, "Gregg's mvalue of the spread values"),
    QS_ROWS_OF(modality, modes, modes_rows),
    QS_ROW(modality, medians, NUMBERS, "of the values of each mode"),
    QS_ROW(modality, shares, NUMBERS, "of all values, in each mode"),
    {.name = NULL}};

static enum qs_status tell_modality(const struct qs_sample *s, void *ret)
{
    struct modality *told = ret;
    struct qs_modality_test *t = &told->test;
    double quantum = s->opts->resolution > 0 ? s->opts->resolution : NAN;
    *t = (struct qs_modality_test){.quantum = NAN, .mvalue = NAN, .ties = {.smallest_gap = NAN}};
    enum qs_status status = qs_modality_test(s->sorted, s->n, quantum, &s->opts->progress, t);
    told->modes = modes_of(&t->modes);
    told->medians = qs_numbers_of(t->median, t->modes.count);
    told->shares = qs_numbers_of(t->share, t->modes.count);
    return status;
}

static enum qs_status tell_lowland(const struct qs_sample *s, void *ret)
{
    struct qs_modes m = {0};
    enum qs_status status = qs_lowland(s->sorted, s->n, &s->opts->progress, &m);
    *(struct modes *)ret = modes_of(&m);
    return status;
}

struct mvalue {
    double m;
};
static const struct qs_field mvalue_rows[] = {
    QS_ROW(mvalue, m, DOUBLE, "the largest over the widths of bins"), {.name = NULL}};

static enum qs_status tell_mvalue(const struct qs_sample *s, void *ret)
{
    struct mvalue *told = ret;
    told->m = NAN;
    return qs_mvalue(s->sorted, s->n, &told->m);
}

static const struct qs_field dip_rows[] = {
    QS_ROW(qs_dip, dip, DOUBLE, "1/(2n) to 0.25"),
    QS_ROW(qs_dip, p, DOUBLE, "that uniform values dip as far, interpolated; 0.001: at most that"),
    {.name = NULL}};

static enum qs_status tell_dip(const struct qs_sample *s, void *ret)
{
    return qs_dip(s->sorted, s->n, ret);
}

static enum qs_status tell_pelt_mean(const struct qs_sample *s, void *ret)
{
    struct qs_field_list *indexes = &((struct qs_indexes *)ret)->indexes;
    indexes->v = qs_calloc(s->n, sizeof(size_t));
    return s->n > SEGMENTED_MOST ? QS_EDOM
                                 : qs_pelt_mean(s->x, s->n, &s->opts->progress, indexes->v, &indexes->n);
}

static const struct qs_field window_rows[] = {
    QS_ROW(qs_window_outliers, window, COUNT, "values of the window"),
    QS_ROW(qs_window_outliers, n_assessed, COUNT, "values with a whole window before them"),
    QS_ROW(qs_window_outliers, n_low, COUNT, "those of them far below it"),
    QS_ROW(qs_window_outliers, n_high, COUNT, "those far above it"),
    {.name = NULL}};

static enum qs_status tell_window(const struct qs_sample *s, void *ret)
{
    return qs_window_flags(s->x, s->n, 0, NULL, ret);
}

enum qs_status qs_steady_of_run(const struct qs_sample *s, size_t run, struct qs_steady *ret)
{
    const struct qs_import_series *series = s->series;
    size_t from = series->off[run], n = series->off[run + 1] - from;
    const struct qs_steady_opts opts = {.delta_ratio = 0.01,
                                        .lower_is_better = series->direction != QS_DIRECTION_HIGHER,
                                        .resolution = s->opts->resolution,
                                        .progress = s->opts->progress};
    *ret = (struct qs_steady){.class = QS_STEADY_UNKNOWN, .mean = NAN};
    if (!qs_progress_go_on(&s->opts->progress, 0))
        return QS_ECANCELED;
    if (n > SEGMENTED_MOST)
        return QS_EDOM;
    uint8_t *flags = qs_calloc(n, sizeof *flags);
    struct qs_window_outliers w;
    bool flagged = qs_window_flags(s->x + from, n, 0, flags, &w) == QS_OK;
    enum qs_status status = qs_steady_state(s->x + from, n, flagged ? flags : NULL, &opts, ret);
    free(flags);
    return status;
}

static const struct qs_field steady_rows[] = {
    QS_ROW(qs_steady, class, WORD, "of all runs together", .words = qs_steady_class_names),
    QS_ROW(qs_steady, start, COUNT, "the first steady iteration of the first run; n: none"),
    QS_ROW(qs_steady, segments, COUNT, "that the first run was cut into"),
    QS_ROW(qs_steady, mean, DOUBLE, "of the last segment of the first run"),
    {.name = NULL}};

static enum qs_status tell_steady(const struct qs_sample *s, void *ret)
{
    struct qs_steady *told = ret;
    enum qs_steady_class *classes = qs_calloc(s->runs, sizeof *classes);
    for (size_t i = 0; i < s->runs; i++)
        classes[i] = s->steady[i].class;
    *told = s->steady[0];
    told->class = qs_steady_of_runs(classes, s->runs);
    free(classes);
    return s->steady_status;
}

static enum qs_status tell_pelt_with(const struct qs_sample *s, bool raw, size_t least,
                                     struct qs_indexes *ret)
{
    struct qs_pelt_opts opts = qs_pelt_opts_default();
    struct qs_field_list *indexes = &ret->indexes;
    indexes->v = qs_calloc(s->n / 2 + 1, sizeof(size_t));
    opts.raw = raw;
    opts.least = least;
    opts.resolution = s->opts->resolution;
    opts.progress = s->opts->progress;
    return s->n > SEGMENTED_MOST ? QS_EDOM : qs_pelt(s->x, s->n, &opts, indexes->v, &indexes->n);
}

static enum qs_status tell_pelt(const struct qs_sample *s, void *ret)
{
    return tell_pelt_with(s, false, 0, ret);
}

static enum qs_status tell_pelt_r(const struct qs_sample *s, void *ret)
{
    return tell_pelt_with(s, true, 2, ret);
}

const struct qs_sample_stat qs_mode_stats[] = {
    {QS_STAT("modality", modality, modality_rows, "ties spread; lowland, then mvalue",
             "How many modes; ties are spread first, by the declared resolution or the smallest gap"),
     .tell = tell_modality},
    {QS_STAT(
         "lowland", modes, modes_rows,
         "Akinshin 2020 on the values as they are; 100 bins of equal share between Harrell-Davis quantiles",
         "Lowland test on the values as they are"),
     .tell = tell_lowland},
    {QS_STAT("mvalue", mvalue, mvalue_rows, "Gregg, padded histogram, largest over bin widths",
             "Gregg's mvalue of the values as they are: 2 one mode, 4 two equal ones"),
     .tell = tell_mvalue},
    {QS_STAT("dip", qs_dip, dip_rows, "Hartigan & Hartigan 1985; p from a table of simulated uniform samples",
             "How far the values are from having one mode"),
     .tell = tell_dip},
    {QS_STAT("pelt_mean", qs_indexes, qs_indexes_rows,
             "changes of the mean: sum of squares + ln m, 3 ln n, standardised (R's cpt.mean)",
             "Segments of constant mean"),
     .tell = tell_pelt_mean},
    {QS_STAT("window_outliers", qs_window_outliers, window_rows,
             "median +- 3 (P90 - P10) of a sliding window", "Outliers of their own neighbourhood"),
     .tell = tell_window},
    {QS_STAT("steady_state", qs_steady, steady_rows, "PELT segments equivalent to the last within 1 %",
             "Warm-up: each run for itself, all runs together as class; outliers of the window are left out"),
     .tell = tell_steady},
    {QS_STAT("pelt", qs_indexes, qs_indexes_rows,
             "normal mean and variance, 15 ln n, standardised, segments of max(5, n/100)",
             "Segments of constant mean and variance in the order of time"),
     .tell = tell_pelt},
    {QS_STAT("pelt_r", qs_indexes, qs_indexes_rows, "the same as R's changepoint: raw values, segments of 2",
             "The same as R's changepoint computes it"),
     .tell = tell_pelt_r},
    {.tell = NULL},
};
