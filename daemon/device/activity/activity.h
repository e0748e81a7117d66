/* What a job does with a device: activities, one file each, which the job run walks by its table
 * (job/table.h). An activity keeps a state of its own from the job's first step to its last, and has one or
 * more steps; a state of the table that has a step starts it when it is entered. Private to device. */
#ifndef QS_DEVICE_ACTIVITY_ACTIVITY_H
#define QS_DEVICE_ACTIVITY_ACTIVITY_H

#include <stddef.h>

#include "device/job/table.h"

struct qs_job_run;

struct qs_step {
    /* Begins it; its outcome is one input of the table (qs_job_run_tell), at once or later. */
    void (*start)(struct qs_job_run *job);
    /* The job was cancelled while it is on. NULL: it goes to its end. */
    void (*cancel)(struct qs_job_run *job);
};

struct qs_activity { /* every operation may be NULL */
    size_t state_bytes;
    void (*init)(struct qs_job_run *job);    /* its state is zeros until then */
    void (*new_run)(struct qs_job_run *job); /* a run begins: what belongs to the last one is forgotten */
    /* The link is lost, or the job is over or abandoned, for this reason: nothing that it has asked for is
     * answered any more. It gives back what it holds. Told to all of them, whichever is on, the last one
     * first; a new link begins with `settle`. why is NULL where the job run is freed: nothing is stored or
     * told any more. */
    void (*stop)(struct qs_job_run *job, const char *why);
    void (*done)(struct qs_job_run *job); /* stopped before: frees what its state owns */
};

/* A(SYMBOL, name): the activities, in the order of a job's life. */
#define QS_ACTIVITIES(A)                                                                                     \
    A(SESSION, session)                                                                                      \
    A(LOCK, lock)                                                                                            \
    A(FILES, files)                                                                                          \
    A(HOOKS, hooks)                                                                                          \
    A(RUN, run)                                                                                              \
    A(TUNE, tune)                                                                                            \
    A(HOST, host)                                                                                            \
    A(FETCH, fetch)                                                                                          \
    A(TRACE, trace)                                                                                          \
    A(ARTIFACTS, artifacts)

enum qs_activity_id {
#define A(symbol, name) QS_ACTIVITY_##symbol,
    QS_ACTIVITIES(A)
#undef A
        QS_ACTIVITY_COUNT
};

#define A(symbol, name) extern const struct qs_activity qs_activity_##name;
QS_ACTIVITIES(A)
#undef A
#define S(symbol, name, waits, step) extern const struct qs_step qs_step_##step;
QS_JOB_RUN_STATES(S)
#undef S

#endif
