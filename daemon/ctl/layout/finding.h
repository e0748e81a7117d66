/* One verdict in words, and its cells in a table. */
#ifndef QS_CTL_LAYOUT_FINDING_H
#define QS_CTL_LAYOUT_FINDING_H

#include "ctl/findings.h"
#include "ctl/layout/layout.h"

/* "Regression: worse by more than the margin of 2 %." and what an inconclusive one lacks. */
void qs_layout_finding(const struct qs_layout *layout, const struct qs_finding *f, struct qs_buf *out);
/* The next cell: a value in its unit; the interval of the change in percent, or the change that was found
 * exactly. */
void qs_finding_value(const struct qs_layout *layout, struct qs_grid *grid, double v, const char *unit);
void qs_finding_change(struct qs_grid *grid, const struct qs_finding *f);
/* The sentence of "tally"; nothing of a job, which has none: the ratios of different arms have no
 * mean. */
void qs_layout_tally(const struct qs_layout *layout, const json_t *doc, struct qs_buf *out);

#endif
