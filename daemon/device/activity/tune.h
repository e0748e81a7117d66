/* How many evaluations an iteration of the point in hand has: before its pilot the baseline's program is
 * asked, or measured. Private to device. */
#ifndef QS_DEVICE_ACTIVITY_TUNE_H
#define QS_DEVICE_ACTIVITY_TUNE_H

#include <stdbool.h>
#include <stdint.h>

struct qs_job_run;
struct qs_json;
struct qs_msg_open;

/* A point is set up, for the first time or again: its pilot begins with the baseline where need be. */
void qs_activity_tune_begin(struct qs_job_run *job);
/* The program of the run in hand is there: ends the step `run` when the first window may be opened. */
void qs_activity_tune_look(struct qs_job_run *job);
/* Rows that the window of the run in hand may need beside its own. */
uint32_t qs_activity_tune_rows(const struct qs_job_run *job);
/* What kind of window comes next: its phase, iterations, longest time and evaluations. */
void qs_activity_tune_open(const struct qs_job_run *job, struct qs_msg_open *m);
/* The committed window was one of tuning: it is judged here, and the next one is fed. */
bool qs_activity_tune_window(struct qs_job_run *job);
/* "evals" of the open object, where it is known. */
void qs_activity_tune_put(const struct qs_job_run *job, struct qs_json *j);

#endif
