/* What the sensors of a gate said while it waited: so many readings at most, evenly thinned. */
#ifndef QS_DEVICE_WINDOW_WAIT_H
#define QS_DEVICE_WINDOW_WAIT_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "proto/msg.h"

enum { QS_WAIT_READINGS_MAX = 64 };

struct qs_wait { /* zeros: there was none */
    struct qs_wait_reading {
        int64_t at_ms, value;
        uint16_t expectation;
    } at[QS_WAIT_READINGS_MAX];
    size_t count;
    int64_t apart_ms; /* two of them are no closer */
};
/* What could not be read is left out. */
void qs_wait_add(struct qs_wait *wait, const struct qs_msg_waiting *m);
/* "[[ms, expectation, value], ...]"; empty where there is nothing. */
void qs_wait_json(const struct qs_wait *wait, struct qs_buf *out);

#endif
