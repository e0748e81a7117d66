/* Runs of harness mode inside the job run: what their program is given, how it is moved, how it ended.
 * Private to device. */
#ifndef QS_DEVICE_ACTIVITY_HARNESS_H
#define QS_DEVICE_ACTIVITY_HARNESS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "config/job/harness.h"
#include "proto/msg.h"

struct qs_job_run;

struct qs_job_run_program { /* of a run in harness mode */
    struct qs_job_layout layout;
    uint32_t header_version, ready_flags; /* RUN_READY; 0: not yet */
    uint32_t evals_max;                   /* 0: any number */
    char cpus[QS_NOTE_MAX_BYTES + 1];     /* that it runs on */
    enum qs_ended_how how;                /* RUN_ENDED */
    int32_t code;
    uint32_t ended_flags;
};

bool qs_job_run_is_harness(const struct qs_job_run *job); /* the point in hand */
void qs_job_run_harness_draw(struct qs_job_run *job);     /* the run's layout */
/* Appends what is known of the run's program so far. */
void qs_job_run_harness_json(const struct qs_job_run *job, struct qs_buf *out);
bool qs_job_run_harness_fill(struct qs_job_run *job, struct qs_build *params, struct qs_msg_run_begin *m);
void qs_job_run_harness_ready(struct qs_job_run *job, const struct qs_msg_run_ready *m);
void qs_job_run_harness_ended(struct qs_job_run *job, const struct qs_msg_run_ended *m);

#endif
