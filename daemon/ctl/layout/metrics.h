/* The metrics of a job beside the duration, as text. */
#ifndef QS_CTL_LAYOUT_METRICS_H
#define QS_CTL_LAYOUT_METRICS_H

#include "ctl/layout/layout.h"

/* Those of a result (schema/comparison.md) behind the first: changes in words, then a table of all. Nothing
 * where there are none. */
void qs_layout_metrics(const struct qs_layout *layout, const json_t *doc, const json_t *result,
                       struct qs_buf *out);
/* `metrics` of an arm or a run of a report (schema/report.md) behind the first: a row for each, and what is
 * wrong with them. Nothing where there are none. */
void qs_layout_metric_samples(const struct qs_layout *layout, const json_t *part, struct qs_buf *out);
/* "calls (system calls)"; the name alone where it says the unit itself. Appended. */
void qs_metric_title(const json_t *metric, struct qs_buf *out);

#endif
