/* The files of a job on the device: what its cache lacks is pushed, each arm's are laid out in a directory of
 * the session, and that goes with the session. Private to device. */
#ifndef QS_DEVICE_ACTIVITY_FILES_H
#define QS_DEVICE_ACTIVITY_FILES_H

#include <stddef.h>

struct qs_job_run;

/* An arm's directory on the device; NULL where it has no files. */
const char *qs_activity_files_dir(const struct qs_job_run *job, size_t arm);

#endif
