/* Fetching one artifact of a run from the device, piece by piece, between its windows. Private to
 * device. */
#ifndef QS_DEVICE_ACTIVITY_FETCH_H
#define QS_DEVICE_ACTIVITY_FETCH_H

#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "proto/msg_pull.h"

struct qs_job_run;

struct qs_fetched { /* borrowed for the call */
    enum qs_pull_source source;
    const char *path;                 /* of a file, else "" */
    const struct qs_msg_pulled *last; /* the answer that ended it; NULL: why says why there is none */
    const struct qs_buf *bytes;       /* where there is an answer */
};

/* why: it cannot even be asked for, or the agent refused. */
typedef void qs_activity_fetched(struct qs_job_run *job, const struct qs_fetched *what,
                                 const struct qs_err *why);

/* At most limit_bytes (>= 1), from the beginning. done follows, unless the link is lost. */
void qs_activity_fetch_begin(struct qs_job_run *job, enum qs_pull_source source, const char *path,
                             size_t limit_bytes, qs_activity_fetched *done);

#endif
