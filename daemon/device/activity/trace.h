/* Traced windows of a run: after its measured ones, so that they cannot disturb them. Private to device. */
#ifndef QS_DEVICE_ACTIVITY_TRACE_H
#define QS_DEVICE_ACTIVITY_TRACE_H

#include <stdbool.h>
#include <stdint.h>

struct qs_job_run;

struct qs_job_run_trace {
    bool runs;        /* a tracer stands: the window in hand is traced */
    uint32_t id;      /* of the last TRACE, over all runs */
    uint32_t windows; /* of the run in hand, begun so far */
    uint64_t rows;    /* iterations of its traced windows */
    bool given_up;    /* none will follow in this run */
    bool told;        /* people know that traces are missing */
    uint32_t window;  /* number of the traced window in hand */
    uint32_t flags;   /* enum qs_trace_flag of the wire */
    int64_t started_ns, stopped_ns, total_bytes;
};

void qs_job_run_trace_reset(struct qs_job_run *job); /* a run begins */
/* Is a traced window of the run in hand due? */
bool qs_job_run_trace_is_due(const struct qs_job_run *job);
/* The traced window in hand is committed: its iterations are numbered, and count for nothing. */
void qs_job_run_trace_count(struct qs_job_run *job);

#endif
