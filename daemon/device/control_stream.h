/* Runs of mode stream inside the controller: from the process that the device measured to the values that it
 * wrote. Private to device. */
#ifndef QS_DEVICE_CONTROL_STREAM_H
#define QS_DEVICE_CONTROL_STREAM_H

#include <stdbool.h>

struct qs_control;
struct qs_msg_run_begin;

bool qs_control_is_stream(const struct qs_control *c); /* the point in hand */
void qs_control_stream_fill(const struct qs_control *c, struct qs_msg_run_begin *m);
/* The process's row has come: the document is read in the pool, then the window is stored. */
void qs_control_stream_read(struct qs_control *c);

#endif
