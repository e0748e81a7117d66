/* programs.c: the programs among a job's files. Private to device. */
#ifndef QS_DEVICE_ACTIVITY_PROGRAMS_H
#define QS_DEVICE_ACTIVITY_PROGRAMS_H

#include "device/job/impl.h"

/* False: one of them is for another processor than the device's, QS_E_JOB with which one and what it takes.
 * True also where nobody knows: what is not there is told by whoever needs it. */
bool qs_programs_fit(const struct qs_job_run *job, struct qs_err *err);
/* The agent could not start the arm's program, and says why: appends what else is to be said, if anything. */
void qs_programs_explain(const struct qs_job_run *job, size_t arm, struct qs_text why, struct qs_buf *out);

#endif
