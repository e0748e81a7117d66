/* What the pages of files and of runs share: a sample (schema/analysis.schema.json) as text. */
#ifndef QS_CTL_LAYOUT_SAMPLE_H
#define QS_CTL_LAYOUT_SAMPLE_H

#include "ctl/layout/layout.h"

/* The layout for values of the result's `unit`, and the factor that makes them ns. */
struct qs_layout qs_sample_layout(const struct qs_layout *layout, const json_t *result, double *ret_factor);
/* "12.3-12.9 ms", with the digits that fit a typical value; and "12.3 ms". */
void qs_sample_range(const struct qs_layout *layout, double lo, double hi, double typical,
                     struct qs_buf *out);
void qs_sample_value(const struct qs_layout *layout, double v, struct qs_buf *out);
/* Whether one of its `warnings` has that code. */
bool qs_sample_warns(const json_t *sample, const char *code);
/* The interval that counts: over runs where there are several, else over values (`median_ci_dependent` where
 * the sample warns of dependence); the words for its units. */
const json_t *qs_sample_interval(const json_t *sample, const char **ret_one, const char **ret_many,
                                 int64_t *ret_n);
/* The interval of the median in bold, and mean and spread. */
void qs_sample_headline(const struct qs_layout *layout, const json_t *sample, double factor,
                        struct qs_buf *out);
void qs_sample_spread(const struct qs_layout *layout, const json_t *sample, double factor,
                      struct qs_buf *out);
/* "View of a: discard-first 10 leaves 40 of 50 iterations, then fenced leaves 38 of 40 iterations"; who may
 * be "". Nothing where there are none. */
void qs_sample_views(const struct qs_layout *layout, const char *who, const json_t *views,
                     struct qs_buf *out);
/* strip.c: a `strip` (schema/report.md). */
void qs_layout_strip(const struct qs_layout *layout, const json_t *strip, struct qs_buf *out);
/* Table, histogram and doubts of samples. */
void qs_sample_table(const struct qs_layout *layout, const struct qs_shown *shown, size_t count,
                     struct qs_buf *out);

#endif
