/* What the conditions want at a window's end. */
#ifndef QS_DEVICE_WINDOW_ENDS_H
#define QS_DEVICE_WINDOW_ENDS_H

#include <stddef.h>

#include "config/job/conditions.h"
#include "proto/limits.h"
#include "proto/msg.h"
#include "store/rows.h"

/* Taints of sensors that are out of it, and the texts of their codes. */
struct qs_ends {
    struct qs_taint_row rows[QS_GATE_MAX];
    char codes[QS_GATE_MAX][QS_NAME_MAX_BYTES + 1];
    size_t count;
};
/* By the readings after the window; what could not be read is out of it, too, unless that is fine. Nothing of
 * a window that did not begin. `ends` stays where it is: its rows point into it. */
void qs_ends_judge(const struct qs_job_conditions *set, const struct qs_msg_closed *m, struct qs_ends *ends);

#endif
