/* From the words of CLOSED and of iterations to those of the store. Private to device. */
#ifndef QS_DEVICE_WINDOW_CLOSED_H
#define QS_DEVICE_WINDOW_CLOSED_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/msg.h"
#include "store/rows.h"

/* Taints of a window by itself: its gate, its evidence, its link; noisy: the silence of the link was broken.
 */
uint32_t qs_closed_taint(const struct qs_msg_closed *m, bool noisy);
/* Taints of an iteration by its flags (enum qs_iteration_flag). */
uint32_t qs_closed_iteration_taint(uint32_t flags);
const char *qs_closed_how_word(enum qs_closed_how how);

/* Names, units and directions of a window's metrics: those of the wire, and those that a program declared. */
struct qs_metric_names {
    const char *names[QS_ROW_METRICS_MAX];
    struct qs_metric_kind kinds[QS_ROW_METRICS_MAX];
    char text[QS_ROW_METRICS_MAX][2 * (QS_NAME_MAX_BYTES + 1)]; /* what they point to */
};

/* declared: of CLOSED. A metric that nobody names is called by its number. count <= QS_ROW_METRICS_MAX. */
void qs_metric_names_of(const struct qs_list *declared, const uint16_t *ids, size_t count,
                        struct qs_metric_names *out);

#endif
