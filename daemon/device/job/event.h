/* An event while it is written: a JSON object of one kind, told once. Private to device/job. */
#ifndef QS_DEVICE_JOB_EVENT_H
#define QS_DEVICE_JOB_EVENT_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/json.h"

struct qs_job_run;

struct qs_event {
    struct qs_buf buf;
    struct qs_json json;
};

void qs_event_begin(struct qs_event *n);
/* Ends it, and tells it with the run in hand or without; its memory is given back. */
void qs_event_tell(struct qs_job_run *job, struct qs_event *n, const char *kind, bool with_run);

#endif
