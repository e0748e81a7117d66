#include "report/analysis/frame.h"

#include <math.h>
#include <stdio.h>

#include "base/mem.h"

enum { ANALYSIS_VERSION = 1 };

const char *const qs_per_words[] = {"run", "iteration", NULL};

static const struct qs_field option_rows[] = {
    QS_ROW(qs_told_options, level, DOUBLE, "confidence of intervals", .known = true),
    QS_ROW(qs_told_options, margin_ratio, DOUBLE, "the smallest change that matters", .known = true),
    QS_ROW(qs_told_options, resolution, DOUBLE, "of the clock, in the unit of the values"),
    QS_ROW(qs_told_options, seed, TEXT, "of everything random", .known = true),
    QS_ROW(qs_told_options, resamples, COUNT, "of each bootstrap at most"),
    QS_ROW(qs_told_options, per, WORD, "what the verdict counts", .words = qs_per_words),
    {.name = NULL}};

struct told_file {
    const char *name, *format;
    size_t bytes, series, values;
    struct qs_told_views views;
};
static const struct qs_field file_rows[] = {
    QS_ROW(told_file, name, TEXT, "as it was asked for", .known = true),
    QS_ROW(told_file, format, TEXT, "what it was read as", .words = qs_format_names + QS_FORMAT_NUMBERS),
    QS_ROW(told_file, bytes, COUNT, "its size"),
    QS_ROW(told_file, series, COUNT, "series in it"),
    QS_ROW(told_file, values, COUNT, "of all series"),
    QS_ROWS_OF(told_file, views, qs_views_rows),
    {.name = NULL}};

const struct qs_field qs_head_rows[] = {
    QS_ROW(qs_told_head, version, COUNT, "of this form"),
    QS_ROW(qs_told_head, quiesce, TEXT, "the version that computed it", .known = true),
    QS_ROW(qs_told_head, options, WITHIN, "what it was asked with", .of = option_rows),
    QS_ROW(qs_told_head, files, OBJECTS, "what was read", .of = file_rows, .bytes = sizeof(struct told_file)),
    {.name = NULL}};

void qs_tell_head(const struct qs_analysis_file *files, size_t count, const struct qs_analysis_opts *opts,
                  struct qs_told_head *ret)
{
    struct told_file *told = qs_calloc(count, sizeof *told);
    for (size_t i = 0; i < count; i++)
        told[i] = (struct told_file){.name = files[i].name,
                                     .format = qs_format_names[files[i].import->format],
                                     .bytes = files[i].bytes,
                                     .series = files[i].import->count,
                                     .values = files[i].import->values,
                                     .views = qs_views_tell(&opts->views, &files[i].tally)};
    *ret = (struct qs_told_head){.quiesce = QS_VERSION,
                                 .version = ANALYSIS_VERSION,
                                 .options = {.seed = ret->options.seed_digits,
                                             .level = opts->level,
                                             .margin_ratio = opts->margin_ratio,
                                             .resolution = opts->resolution > 0 ? opts->resolution : NAN,
                                             .resamples = opts->resamples,
                                             .per = opts->per},
                                 .files = {told, count}};
    snprintf(ret->options.seed_digits, sizeof ret->options.seed_digits, "%llu",
             (unsigned long long)opts->seed);
}

const struct qs_field qs_name_rows[] = {
    QS_ROW(qs_told_name, benchmark, TEXT, "empty where the file names none", .known = true),
    QS_ROW(qs_told_name, metric, TEXT, "what is measured", .known = true),
    QS_ROW(qs_told_name, unit, TEXT, "of all values; squares of it for variances", .known = true),
    {.name = NULL}};

const struct qs_field qs_series_rows[] = {
    QS_ROWS_OF(qs_told_series, name, qs_name_rows),
    QS_ROW(qs_told_series, lower_is_better, BOOL, "which way is better"),
    QS_ROW(qs_told_series, direction_known, BOOL,
           "false: the unit does not say what is better, lower is assumed"),
    {.name = NULL}};

struct qs_told_name qs_tell_name(const struct qs_import_series *s)
{
    return (struct qs_told_name){s->benchmark, s->metric, s->unit};
}

struct qs_told_series qs_tell_series(const struct qs_import_series *s, const struct qs_analysis_opts *opts)
{
    enum qs_direction d = s->direction == QS_DIRECTION_UNKNOWN ? opts->direction : s->direction;
    return (struct qs_told_series){qs_tell_name(s), d != QS_DIRECTION_HIGHER, d != QS_DIRECTION_UNKNOWN};
}
