/* told.c: what became of writes on the device, as rows of the store. Private to device. */
#ifndef QS_DEVICE_ACTIVITY_TOLD_H
#define QS_DEVICE_ACTIVITY_TOLD_H

#include "device/job/impl.h"
#include "proto/msg_control.h"
#include "proto/request.h"
#include "store/control.h"

/* The texts of one row. */
struct qs_told {
    char path[QS_CONTROL_PATH_MAX_BYTES + 1];
    char before[QS_TUNE_SAID_MAX_BYTES + 1];
    char said[QS_TUNE_SAID_MAX_BYTES + 1];
};

/* Of a command the path becomes one line for people. */
struct qs_control_row qs_told_row(const struct qs_job_run *job, struct qs_told *told, struct qs_text path,
                                  const struct qs_tuned *t);
/* Of this run, or (NULL) of the session; nobody waits for it. */
void qs_told_store(struct qs_job_run *job, const struct qs_control_row *rows, size_t count,
                   const uint8_t *run_uid);

#endif
