/* What a waiting person is told: a pure machine from events to a line that is redrawn and to lines that stay.
 * Precision and time only, never the effect of a running job. */
#ifndef QS_CTL_PROGRESS_H
#define QS_CTL_PROGRESS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

struct qs_progress {
    struct qs_buf line;  /* the state now; empty: nothing to show. UTF-8, not yet escaped or fitted */
    struct qs_buf notes; /* lines to keep since the last call of qs_progress_take_notes */
    bool live;           /* a line can be redrawn; else progress comes as few notes */
    bool quiet;          /* no notes but warnings */
    int64_t noted_block; /* without a live line: the last block that was noted */
    int64_t gate_waits, gate_timeouts, repeats, announced, holds;
    bool ended;     /* the final job.state has come */
    char state[16]; /* of the job: "done", "failed", "cancelled", ... */
    char reason[256];
    int exit;                /* of job.result, -1 before */
    bool fail_on_regression; /* the job file asks for it */
};

void qs_progress_init(struct qs_progress *p, bool live, bool quiet);
void qs_progress_done(struct qs_progress *p);
void qs_progress_on_event(struct qs_progress *p, const char *kind, const json_t *data);

#endif
