/* Fetching one thing that a run has left on the device, piece by piece, between its windows. Private to
 * device. */
#ifndef QS_DEVICE_ACTIVITY_FETCH_H
#define QS_DEVICE_ACTIVITY_FETCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "proto/msg_pull.h"

struct qs_job_run;
struct qs_timer;

/* last: the answer that ended it, its bytes are in job->fetch.bytes; NULL: it cannot even be asked for, or
 * the agent refused: why. */
typedef void qs_job_run_fetched(struct qs_job_run *job, const struct qs_msg_pulled *last,
                                const struct qs_err *why);

struct qs_job_run_fetch {
    uint32_t id; /* of the last PULL */
    enum qs_pull_source source;
    char *path; /* owned: of a file, else "" */
    size_t limit_bytes;
    struct qs_buf bytes;    /* owned: what has come */
    struct qs_timer *again; /* owned: to ask for the farm's token */
    qs_job_run_fetched *done;
};

/* At most limit_bytes (>= 1), from the beginning. done follows, unless the link is lost. */
void qs_job_run_fetch_begin(struct qs_job_run *job, enum qs_pull_source source, const char *path,
                            size_t limit_bytes, qs_job_run_fetched *done);
void qs_job_run_fetch_stop(struct qs_job_run *job);
void qs_job_run_fetch_done(struct qs_job_run *job); /* frees */

#endif
