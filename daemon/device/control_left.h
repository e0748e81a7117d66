/* What a run has left: fetched and stored between its last window and its end. Private to device. */
#ifndef QS_DEVICE_CONTROL_LEFT_H
#define QS_DEVICE_CONTROL_LEFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

struct qs_control;
struct qs_timer;

struct qs_control_left { /* what the run in hand has left, fetched at its end */
    bool on;
    size_t next;            /* 0 the kernel's log, then the declared files */
    uint32_t id, kept;      /* of the last PULL; rows stored */
    struct qs_buf bytes;    /* owned: of the one in hand */
    struct qs_buf output;   /* owned: what its windows wrote */
    uint64_t output_bytes;  /* kept or not */
    struct qs_timer *again; /* owned: to ask for the token */
};

/* Fetches it, stores it, then ends the run on the agent. */
void qs_control_left_begin(struct qs_control *c);
void qs_control_left_output(struct qs_control *c); /* of the window in hand */
void qs_control_left_refused(struct qs_control *c,
                             const struct qs_err *err); /* the agent's ERROR to what was asked for last */
void qs_control_left_stop(struct qs_control *c);        /* the link is gone, or the job is over */
void qs_control_left_done(struct qs_control *c);        /* frees */

#endif
