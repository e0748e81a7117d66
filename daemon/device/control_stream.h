/* Runs of mode stream inside the controller: from the process that the device measured to the values that it
 * wrote. Private to device. */
#ifndef QS_DEVICE_CONTROL_STREAM_H
#define QS_DEVICE_CONTROL_STREAM_H

#include <stdbool.h>

#include "device/streamed.h"

struct qs_control;
struct qs_msg_run_begin;

bool qs_control_is_stream(const struct qs_control *c); /* the point in hand */
void qs_control_stream_fill(const struct qs_control *c, struct qs_msg_run_begin *m);
/* A window begins. */
void qs_control_stream_reset(struct qs_control *c);
/* The process's row has come: the document is read in the pool, then the window is stored. */
void qs_control_stream_read(struct qs_control *c, const struct qs_row *row, const struct qs_list *metrics);
/* Fills the window's row from what was read. */
void qs_control_stream_rows(struct qs_control *c, struct qs_window_row *row);
/* How long the process took: a pilot's measure. */
int64_t qs_control_stream_took_ns(const struct qs_control *c);

#endif
