/* What the pages of stored series and of files share: what was found beside the changes, and marks of a
 * chart. */
#ifndef QS_CTL_LAYOUT_CHANGES_H
#define QS_CTL_LAYOUT_CHANGES_H

#include "ctl/layout/layout.h"
#include "ctl/layout/chart.h"

struct qs_stretch {      /* all borrowed */
    const json_t *found; /* with "changes", "smaller", "alone" and "detectable_ratio" */
    const json_t *trend; /* with "slope" a point, its "lo" and "hi", "p" */
    int64_t points;
    double level, margin_ratio; /* level: of the points, in their own unit */
    void (*add_moment)(const void *page, int64_t point, struct qs_buf *out); /* names a point */
    const void *page;
};

/* Lines: that nothing changed and what would have shown, the trend then, single points that stand out,
 * changes below the margin. */
void qs_layout_beside(const struct qs_layout *layout, const struct qs_stretch *s, struct qs_buf *out);

/* " from 12.40 ms to 13.10 ms": the medians on either side; nothing where there are none. */
void qs_layout_medians(const struct qs_layout *layout, const json_t *change, double factor,
                       struct qs_buf *text);

/* points.c: the history of a file's series, a result of the document: its changes, what is beside
 * them, a chart. The factor makes its values those of the layout. */
void qs_layout_points(const struct qs_layout *layout, const json_t *doc, const json_t *result, double factor,
                      struct qs_buf *out);

/* Marks the points of a change in a chart of n points. */
void qs_layout_mark(const json_t *change, enum qs_chart_mark *mark, size_t n);

#endif
