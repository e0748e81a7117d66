/* Names, units and directions of a window's metrics: those of the wire, and those that a program declared.
 * Private to device. */
#ifndef QS_DEVICE_WINDOW_METRICS_H
#define QS_DEVICE_WINDOW_METRICS_H

#include <stddef.h>
#include <stdint.h>

#include "proto/msg.h"
#include "store/rows.h"

struct qs_metric_names {
    const char *names[QS_ROW_METRICS_MAX];
    struct qs_metric_kind kinds[QS_ROW_METRICS_MAX];
    char text[QS_ROW_METRICS_MAX][2 * (QS_NAME_MAX_BYTES + 1)]; /* what they point to */
};

/* declared: of CLOSED. A metric that nobody names is called by its number. count <= QS_ROW_METRICS_MAX. */
void qs_metric_names_of(const struct qs_list *declared, const uint16_t *ids, size_t count,
                        struct qs_metric_names *out);

#endif
