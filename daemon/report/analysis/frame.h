/* What the documents of files have around their statistics. Private to report. */
#ifndef QS_REPORT_ANALYSIS_FRAME_H
#define QS_REPORT_ANALYSIS_FRAME_H

#include "report/analysis/impl.h"

struct qs_told_head {
    const char *quiesce;
    size_t version;
    struct qs_told_options {
        const char *seed;
        char seed_digits[24];
        double level, margin_ratio, resolution;
        size_t resamples;
        enum qs_unit_of_work per;
    } options;
    struct qs_field_list files;
};
extern const struct qs_field qs_head_rows[];
/* Until qs_fields_free; not to be copied. */
void qs_tell_head(const struct qs_analysis_file *files, size_t count, const struct qs_analysis_opts *opts,
                  struct qs_told_head *ret);

struct qs_told_name {
    const char *benchmark, *metric, *unit;
};
struct qs_told_series {
    struct qs_told_name name;
    bool lower_is_better, direction_known;
};
extern const struct qs_field qs_name_rows[], qs_series_rows[];
struct qs_told_name qs_tell_name(const struct qs_import_series *s);
struct qs_told_series qs_tell_series(const struct qs_import_series *s, const struct qs_analysis_opts *opts);

extern const char *const qs_per_words[]; /* of enum qs_unit_of_work */
/* The documents themselves (analysis.c). */
extern const struct qs_field qs_analysis_rows[], qs_compared_rows[], qs_history_rows[];

#endif
