/* The files of a job on the device: what its cache lacks is pushed, each arm's are laid out in a directory of
 * the session, and that goes with the session. Private to device. */
#ifndef QS_DEVICE_ACTIVITY_FILES_H
#define QS_DEVICE_ACTIVITY_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

struct qs_job_run;
struct qs_timer;
struct qs_push_file;
struct qs_push_read;

enum qs_push_step {
    QS_PUSH_IDLE,
    QS_PUSH_ASK,   /* what is there: HAVE */
    QS_PUSH_SEND,  /* what is not: PUT */
    QS_PUSH_STAGE, /* where it lies */
    QS_PUSH_CLEAN
};

struct qs_job_run_push {
    enum qs_push_step step;
    bool asked;                 /* an answer is due */
    bool begun;                 /* this session has something to clean up */
    struct qs_push_file *files; /* owned: each content once */
    size_t count;
    size_t next, batch; /* of files: the next one; how many the last HAVE named */
    size_t arm, place;  /* where STAGE stands */
    size_t batch_places;
    size_t dir_count;
    char **dirs; /* owned, per arm: the directory on the device, or NULL */
    size_t missing;
    int64_t missing_bytes, began_ns;
    struct qs_timer *again;    /* owned: to ask for the token */
    struct qs_push_read *read; /* owned: the file in hand and its block; on the pool or not */
};

/* Inputs of the job run's table: begin and end; cancel. */
void qs_job_run_push_stop(struct qs_job_run *job); /* the link is gone, or the job is over */
void qs_job_run_push_done(struct qs_job_run *job); /* frees */
/* An arm's directory on the device; NULL where it has no files. */
const char *qs_job_run_push_dir(const struct qs_job_run *job, size_t arm);

#endif
