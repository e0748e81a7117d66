/* Inside the session only: from a frame to an event of the table. */
#ifndef QS_DEVICE_SESSION_FRAMES_H
#define QS_DEVICE_SESSION_FRAMES_H

#include "device/session/impl.h"
#include "proto/frame.h"

/* Decodes the frame, finds the event that it is, and fires it. */
void qs_session_take_frame(struct qs_session *s, const struct qs_frame *frame);
/* The framer gave up with this enum qs_wire_err: the connection is lost. */
void qs_session_take_garbage(struct qs_session *s, int wire_err);

#endif
