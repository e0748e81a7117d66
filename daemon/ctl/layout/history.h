/* Series of the store as text. */
#ifndef QS_CTL_LAYOUT_HISTORY_H
#define QS_CTL_LAYOUT_HISTORY_H

#include "ctl/layout/layout.h"

/* {"series":[...]}: one line each. */
void qs_layout_series(const struct qs_layout *layout, const json_t *doc, struct qs_buf *out);
/* One series (schema/history.schema.json): what happened, a chart, the last `rows` points. */
void qs_layout_history(const struct qs_layout *layout, const json_t *doc, size_t rows, struct qs_buf *out);
/* Its points as CSV with a header line; values as the document has them. */
void qs_layout_history_csv(const json_t *doc, struct qs_buf *out);
/* "gzip level=6" */
void qs_layout_series_name(const json_t *series, struct qs_buf *out);

#endif
