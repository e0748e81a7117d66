/* A write that waits for its group: a deep copy of what the caller gave, the function that applies it, and
 * who wants to know. Internal to store. */
#ifndef QS_STORE_WRITE_REQUEST_H
#define QS_STORE_WRITE_REQUEST_H

#include "store/db.h"
#include "store/rows.h"
#include "store/store.h"

struct qs_chunk;

/* Memory of one request: given out in pieces, freed at once. */
struct qs_arena {
    struct qs_chunk *chunks; /* owned */
    size_t bytes;            /* handed out */
};
void qs_arena_done(struct qs_arena *a);
void *qs_arena_copy(struct qs_arena *a, const void *from, size_t bytes);
const char *qs_arena_text(struct qs_arena *a, const char *s); /* NULL stays NULL */

/* Applies a row inside the writer's transaction. What it has changed when it returns false is rolled back by
 * the writer. */
typedef bool qs_apply_fn(struct qs_db *db, const void *row, int64_t *ret_id, struct qs_err *err);

struct qs_request {
    struct qs_request *next;
    struct qs_arena arena;
    qs_apply_fn *apply;
    const void *row; /* in the arena */
    qs_store_done_fn *done;
    void *user;
    int64_t id;
    bool ok;
    struct qs_err err;
};
struct qs_request *qs_request_new(qs_apply_fn *apply, qs_store_done_fn *done, void *user);
void qs_request_free(struct qs_request *req);

struct qs_job_state_row {
    int64_t job, at_ns;
    enum qs_job_state state;
    const char *reason;
};
struct qs_session_end_row {
    uint8_t uid[16];
    int64_t at_ns;
    const char *reason;
};
struct qs_session_env_row {
    uint8_t uid[16];
    const char *env_json;
};
struct qs_file_row {
    char sha256[65];
    int64_t bytes;
};

qs_apply_fn qs_apply_job;         /* struct qs_job_row */
qs_apply_fn qs_apply_job_state;   /* struct qs_job_state_row */
qs_apply_fn qs_apply_job_end;     /* struct qs_job_end_row */
qs_apply_fn qs_apply_former_life; /* int64_t: the wall time, ns */
qs_apply_fn qs_apply_device;      /* struct qs_device_row */
qs_apply_fn qs_apply_boot;        /* struct qs_boot_row */
qs_apply_fn qs_apply_clock_pair;  /* struct qs_clock_row */
qs_apply_fn qs_apply_session;     /* struct qs_session_row */
qs_apply_fn qs_apply_session_end; /* struct qs_session_end_row */
qs_apply_fn qs_apply_session_env; /* struct qs_session_env_row */
qs_apply_fn qs_apply_run;         /* struct qs_run_row */
qs_apply_fn qs_apply_run_end;     /* struct qs_run_end_row */
qs_apply_fn qs_apply_window;      /* struct qs_window_row */
qs_apply_fn qs_apply_event;       /* struct qs_event_row */
qs_apply_fn qs_apply_artifact;    /* struct qs_artifact_row */
qs_apply_fn qs_apply_file;        /* struct qs_file_row */

/* Takes the request over: it is committed with the next group. In store.c. */
void qs_store_enqueue(struct qs_store *store, struct qs_request *req);

#endif
