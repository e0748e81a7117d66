/* How many evaluations an iteration of the point in hand has: before its pilot the baseline's program is
 * asked, or measured. Private to device. */
#ifndef QS_DEVICE_ACTIVITY_TUNE_H
#define QS_DEVICE_ACTIVITY_TUNE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "device/job/evals.h"

struct qs_job_run;
struct qs_msg_open;

struct qs_job_run_evals {
    size_t points; /* that were begun */
    struct qs_evals at;
    char *depends; /* owned: the key of what is being found, or NULL where it cannot be known again */
};

void qs_job_run_evals_done(struct qs_job_run *job);
/* A point is set up, for the first time or again: its pilot begins with the baseline where need be. */
void qs_job_run_evals_begin(struct qs_job_run *job);
/* Rows that the window of the run in hand may need beside its own. */
uint32_t qs_job_run_evals_rows(const struct qs_job_run *job);
/* What kind of window comes next: its phase, iterations, longest time and evaluations. */
void qs_job_run_evals_open(const struct qs_job_run *job, struct qs_msg_open *m);
/* The committed window was one of tuning: it is judged here, and the next one is fed. */
bool qs_job_run_evals_window(struct qs_job_run *job);

/* job/run.c: an answer of the store that job->outstanding counts has come. False where it is of no use any
 * more; job may be gone then. */
bool qs_job_run_answered(struct qs_job_run *job, uint64_t epoch);

#endif
