/* What a run has left: fetched and stored between its last window and its end. Private to device. */
#ifndef QS_DEVICE_ACTIVITY_ARTIFACTS_H
#define QS_DEVICE_ACTIVITY_ARTIFACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

struct qs_job_run;

struct qs_job_run_artifacts {     /* what the run in hand has left, fetched at its end */
    size_t next;                  /* 0 the kernel's log, then the declared files */
    uint32_t kept;                /* rows stored, traces among them */
    struct qs_buf output, errors; /* owned: what its windows wrote; errors: where the streams are apart */
    uint64_t output_bytes, errors_bytes; /* kept or not */
    bool apart;
};

/* Fetches it, stores it, then ends the run on the agent. */
void qs_job_run_artifacts_begin(struct qs_job_run *job);
void qs_job_run_artifacts_output(struct qs_job_run *job); /* of the window in hand */
void qs_job_run_artifacts_stop(struct qs_job_run *job);   /* the link is gone, or the job is over */
void qs_job_run_artifacts_done(struct qs_job_run *job);   /* frees */

#endif
