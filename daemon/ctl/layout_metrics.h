/* The metrics of a job beside the duration, as text. */
#ifndef QS_CTL_LAYOUT_METRICS_H
#define QS_CTL_LAYOUT_METRICS_H

#include "ctl/layout.h"

/* `metrics` of a result (schema/comparison.md): changes in words, then a table of all. Nothing where there
 * are none. */
void qs_layout_metrics(const struct qs_layout *layout, const json_t *result, struct qs_buf *out);
/* `metrics` of an arm or a run of a report (schema/report.md): a row for each, and what is wrong with them.
 * Nothing where there are none. */
void qs_layout_metric_samples(const struct qs_layout *layout, const json_t *part, struct qs_buf *out);
/* "calls (system calls)"; the name alone where it says the unit itself. Appended. */
void qs_metric_title(const json_t *metric, struct qs_buf *out);
/* A value in the metric's unit, without it where the title has it. Appended; "-" where it is not known. */
void qs_metric_value(const struct qs_layout *layout, const json_t *metric, double v, struct qs_buf *out);
/* "12.3-12.9 ms" likewise. */
void qs_metric_range(const struct qs_layout *layout, const json_t *metric, double lo, double hi,
                     double typical, struct qs_buf *out);

#endif
