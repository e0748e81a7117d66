/* A history as a chart of characters. */
#ifndef QS_CTL_LAYOUT_CHART_H
#define QS_CTL_LAYOUT_CHART_H

#include <stddef.h>
#include <stdint.h>

#include "ctl/layout/layout.h"

enum qs_chart_mark { /* of a point, the weightier ones higher */
                     QS_CHART_PLAIN,
                     QS_CHART_DRIFT,  /* within one */
                     QS_CHART_CHANGE, /* the first after a step of no sure direction */
                     QS_CHART_BETTER,
                     QS_CHART_WORSE,
                     QS_CHART_BREAK /* the first in another environment */
};

struct qs_chart { /* all borrowed */
    const double *v;
    const enum qs_chart_mark *mark;
    size_t n;
    const char *top, *bottom; /* labels of the axis: the highest and the lowest value */
    const char *first, *last; /* and of the points */
};

/* Eight lines of the points, one line of marks, one of labels, at most as wide as the face. Where there are
 * more points than columns, a column shows the mean of several and their weightiest mark. */
void qs_layout_chart(const struct qs_face *face, const struct qs_chart *chart, struct qs_buf *out);

#endif
