/* What is claimed of a window's silence, and the rows that show it. Pure; their texts are static. Private to
 * device. */
#ifndef QS_DEVICE_WINDOW_SILENCE_H
#define QS_DEVICE_WINDOW_SILENCE_H

#include <stdbool.h>
#include <stddef.h>

#include "device/session/session.h"
#include "store/rows_window.h"

enum { QS_SILENCE_ROWS = 8 }; /* of evidence, or of taints, about the silence of a window: at most */

/* local: the benchmark's machine is this one. */
enum qs_silence qs_silence_claim(const struct qs_msg_closed *m, const struct qs_session_quiet *quiet,
                                 bool local);
size_t qs_silence_evidence(const struct qs_msg_closed *m, const struct qs_session_quiet *quiet,
                           struct qs_evidence_row out[QS_SILENCE_ROWS]);
size_t qs_silence_taints(const struct qs_msg_closed *m, const struct qs_session_quiet *quiet,
                         struct qs_taint_row out[QS_SILENCE_ROWS]);

#endif
