/* What a job does with a device: activities, one file each, which the job run walks by its table
 * (job/table.h). An activity keeps a state of its own from the job's first step to its last, and has one or
 * more steps; a state of the table that has a step starts it when it is entered. Private to device. */
#ifndef QS_DEVICE_ACTIVITY_ACTIVITY_H
#define QS_DEVICE_ACTIVITY_ACTIVITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "device/job/table.h"
#include "device/session/session.h"

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
    A(METERS, meters)                                                                                        \
    A(PROBE, probe)                                                                                          \
    A(SENSE, sense)                                                                                          \
    A(APP, app)                                                                                              \
    A(CHARACTERIZE, characterize)                                                                            \
    A(SOAK, soak)                                                                                            \
    A(KNOBS, knobs)                                                                                          \
    A(PIN, pin)                                                                                              \
    A(PRIORITY, priority)                                                                                    \
    A(FILES, files)                                                                                          \
    A(INSTALL, install)                                                                                      \
    A(ACTIONS, actions)                                                                                      \
    A(HOOKS, hooks)                                                                                          \
    A(RUN, run)                                                                                              \
    A(TUNE, tune)                                                                                            \
    A(HOST, host)                                                                                            \
    A(AMBIENT, ambient)                                                                                      \
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

/* What some of them are asked for by the job run and by each other. */
struct qs_msg_run_begin;

/* hooks.c: "exited with code 3"; out has n bytes. */
const char *qs_hook_how(const struct qs_msg_hook_done *m, char *out, size_t n);

/* session.c: the job's session on the device, its row on disk, from lock to restore. */
const uint8_t *qs_activity_session_uid(const struct qs_job_run *job); /* 16 bytes, of the last one begun */

/* Something of its environment that is known only now ("achieved.KEY"): stored with it. False: it is so
 * already, or there is no session. */
bool qs_activity_session_fact(struct qs_job_run *job, const char *key, const char *value);

/* files.c: what the device's cache lacks is pushed, each arm's are laid out in a directory of the session. */
/* An arm's directory on the device; NULL where it has no files. */
const char *qs_activity_files_dir(const struct qs_job_run *job, size_t arm);

/* stream.c: runs of mode stream, from the process that the device measured to the values that it wrote. */
bool qs_stream_is_on(const struct qs_job_run *job); /* the point in hand */
void qs_stream_fill(const struct qs_job_run *job, struct qs_msg_run_begin *m);
/* The process's row has come: the document is read in the pool, then the window is stored. */
void qs_stream_read(struct qs_job_run *job);

/* window.c: the window in hand, and what it gave to the run in hand. */
/* What the session tells of windows, from RUN_BEGIN to the run's end. */
struct qs_run_events qs_activity_window_events(struct qs_job_run *job);
void qs_activity_window_whole(struct qs_job_run *job); /* all rows are here: metrics first, then the store */
void qs_activity_window_count(struct qs_job_run *job); /* the committed iterations go to the run in hand */
double qs_activity_window_median(const struct qs_job_run *job); /* of the run's; NaN: there are none */

/* trace.c: traced windows of a run, after its measured ones, so that they cannot disturb them. */
/* Is a traced window of the run in hand due? */
bool qs_activity_trace_is_due(const struct qs_job_run *job);
bool qs_activity_trace_is_on(
    const struct qs_job_run *job); /* a tracer stands: the window in hand is traced */
/* The traced window in hand is committed: its iterations are numbered, and count for nothing. */
void qs_activity_trace_count(struct qs_job_run *job);

#endif
