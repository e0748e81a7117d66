/* The measured windows of a job or a run with everything that was read around them: what may have gone along
 * with the times. Owned by the caller, inside a qs_store_read function like store/read/read.h. */
#ifndef QS_STORE_READ_WINDOWS_H
#define QS_STORE_READ_WINDOWS_H

#include "store/values.h"

struct qs_window_value {
    uint32_t kind;        /* index into qs_windows.kinds */
    double before, after; /* in the unit that ends the kind's name; NaN: missing. What belongs to the whole
                             window is in both. */
};

struct qs_window_info {
    uint8_t run_uid[16];
    int64_t id, run; /* numbers of the window and of its run */
    uint32_t ord, attempt, taint, evals;
    int64_t opened_ns, closed_ns; /* device clock */
    double *durations_ns;         /* n, in order, of one evaluation each */
    enum qs_worth *worth;         /* n */
    uint32_t *places;             /* n: their places in the window, ascending */
    size_t n;
    struct qs_window_value *values; /* evidence, how long the gate waited (gate.wait_ns), and means of
                                       counted resources and declared metrics over the iterations that the
                                       run stands on (iteration.minor_faults) */
    size_t value_count;
};

struct qs_windows {
    struct qs_window_info *at; /* by run, in order */
    size_t count;
    char **kinds;
    size_t kind_count;
};

/* Windows that have iterations: of the job's counted runs (block >= 1), or of one run, whatever its block. */
bool qs_read_job_windows(struct qs_store_reader *r, int64_t job, struct qs_windows *ret, struct qs_err *err);
bool qs_read_run_windows(struct qs_store_reader *r, const uint8_t run_uid[16], struct qs_windows *ret,
                         struct qs_err *err);
void qs_windows_free(struct qs_windows *windows);

#endif
