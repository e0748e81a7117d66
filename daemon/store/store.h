/* What is remembered. One writer per database: requests are queued and committed in groups (whole windows,
 * synchronous=FULL) by one work item at a time; done callbacks come after the commit. Reads run off the loop
 * on read-only connections. Neither SQL nor SQLite shows here: things are named by their natural keys (job
 * number, run uid, device name), so that requests need not wait for ids. Requests copy what they are given. A
 * request that fails changes nothing; its done callback carries the error. */
#ifndef QS_STORE_STORE_H
#define QS_STORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "store/rows.h"

struct qs_loop;
struct qs_store;
struct qs_store_reader;

struct qs_store_events {
    /* The disk or the database failed (a failed commit, a full disk): what was queued is reported by its done
     * callbacks, nothing is retried on that connection; the store reopens by itself where it can. Told once,
     * with the first commit that fails; on_recovered with the first that succeeds again. */
    void (*on_trouble)(const struct qs_err *err, void *user);
    void (*on_recovered)(void *user);
    /* The log beside the database cannot begin anew, because somebody keeps a transaction open on it: a
     * borrowed text that says so; or (NULL) it could again. Nothing fails or waits for it below
     * QS_STORE_LOG_MAX_BYTES. */
    void (*on_log)(int64_t bytes, const char *notice, void *user);
    void *user;
    /* No event, but who hears of them: where the owner can be asked (one line: the API's socket), noted from
     * the first moment for whoever finds the database taken; NULL: nowhere. Borrowed until the store is open.
     */
    const char *contact;
};

enum { QS_STORE_LOG_MAX_BYTES = 256 * 1024 * 1024 };

/* Opens or creates the database (0600) and applies migrations, each in one transaction. Errors:
 * QS_E_STORE_NEWER (left untouched), QS_E_STORE (a failed migration leaves the file as it was; another
 * process owns it). path ":memory:" is refused: tests use files. */
bool qs_store_open(struct qs_loop *loop, const char *path, const struct qs_store_events *events,
                   struct qs_store **ret_store, struct qs_err *err);
/* To read only, beside whoever owns the database: takes no lock, makes no file but SQLite's own, and every
 * request fails with QS_E_STORE. A database that is not there reads as an empty one and is not made; one of
 * an older version is migrated first, which takes its lock for that moment (QS_E_STORE_TAKEN).
 * QS_E_STORE_NEWER, QS_E_STORE. */
bool qs_store_open_reading(struct qs_loop *loop, const char *path, struct qs_store **ret_store,
                           struct qs_err *err);
/* Commits what is queued, then closes. Synchronous; done callbacks still come (before it returns). */
void qs_store_close(struct qs_store *store);

const char *qs_store_path(const struct qs_store *store); /* absolute, without links */
/* Where the owner of a database can be asked, as it noted for whoever finds it taken (qs_store_events): owned
 * by the caller, NULL where nobody did. */
char *qs_store_contact(const char *path);
/* A process has opened the database to write: it owns it. */
bool qs_store_is_owned(const char *path);
void qs_store_farm_uid(const struct qs_store *store,
                       uint8_t ret_uid[16]); /* made at creation from the loop's randomness */

/* Silence: while held (a count), no commit and no read begins; the queues grow. */
void qs_store_hold(struct qs_store *store);
void qs_store_release(struct qs_store *store);
/* Why the last commit failed, until one succeeds; NULL: all is well. Borrowed until the loop's next turn. */
const struct qs_err *qs_store_trouble(const struct qs_store *store);
/* The log has reached QS_STORE_LOG_MAX_BYTES: nothing should be measured before it has room again. */
bool qs_store_log_is_full(const struct qs_store *store);
/* What an operator should know: somebody's open transaction keeps the log above its bound. Owned by the
 * caller, or NULL. */
char *qs_store_notice(const struct qs_store *store);
/* A group is being committed right now. */
bool qs_store_is_busy(const struct qs_store *store);

/* err is NULL after a commit; id: the number of the new job or event, else 0. Runs on the loop. */
typedef void qs_store_done_fn(const struct qs_err *err, int64_t id, void *user);

/* The same idem key again gives the id of the first submission (and QS_E_CONFLICT where the spec differs).
 * Arms, points, builds and metrics are made with the job. A build label whose content differs from what it
 * had: QS_E_CONFLICT. */
void qs_store_submit(struct qs_store *store, const struct qs_job_row *job, qs_store_done_fn *done,
                     void *user);
/* The same in two steps: the copy is made on any thread, and belongs to the caller until it is submitted. Who
 * submits the job and when (idem, owner, seed, submitted_wall_ns) is told then, by `job`. */
struct qs_request;
struct qs_request *qs_store_copy_job(const struct qs_job_row *job);
void qs_store_drop_copy(struct qs_request *copy); /* NULL is allowed */
void qs_store_submit_copy(struct qs_store *store, struct qs_request *copy, const struct qs_job_row *job,
                          qs_store_done_fn *done, void *user);
void qs_store_job_state(struct qs_store *store, int64_t job, enum qs_job_state state, const char *reason,
                        int64_t at_ns, qs_store_done_fn *done, void *user);
struct qs_job_end_row {
    int64_t job, at_ns;
    enum qs_job_state state;  /* done, failed or cancelled */
    const char *reason;       /* or NULL */
    uint32_t runs_per_block;  /* fewer of them are a block that was not completed */
    const char *verdict_json; /* its verdicts in one, or NULL */
    const char *result_json;  /* body of event job.result, or NULL */
    const char *state_json;   /* body of event job.state */
};

/* The job's end with its events, and the ends of its runs and sessions that are still open, in one commit;
 * done's id is that of event job.state (job.result's is one less). A job that has ended stays as it ended:
 * done brings the event of then, so that an end whose commit is uncertain may be asked for again. */
void qs_store_job_end(struct qs_store *store, const struct qs_job_end_row *end, qs_store_done_fn *done,
                      void *user);
/* Before anything else is written: the ends of runs and sessions that a daemon which died has left open. */
void qs_store_end_former_life(struct qs_store *store, int64_t at_ns, qs_store_done_fn *done, void *user);
void qs_store_device(struct qs_store *store, const struct qs_device_row *device, qs_store_done_fn *done,
                     void *user);
void qs_store_boot(struct qs_store *store, const struct qs_boot_row *boot, qs_store_done_fn *done,
                   void *user);
void qs_store_clock_pair(struct qs_store *store, const struct qs_clock_row *pair, qs_store_done_fn *done,
                         void *user);
void qs_store_session_begin(struct qs_store *store, const struct qs_session_row *session,
                            qs_store_done_fn *done, void *user);
void qs_store_session_env(struct qs_store *store, const uint8_t uid[16], const char *env_json,
                          qs_store_done_fn *done, void *user);
void qs_store_session_end(struct qs_store *store, const uint8_t uid[16], int64_t at_ns, const char *reason,
                          qs_store_done_fn *done, void *user);
void qs_store_run_begin(struct qs_store *store, const struct qs_run_row *run, qs_store_done_fn *done,
                        void *user);
/* A whole window with its gate, evidence, taints, iterations and metrics, in one commit; idempotent by (run
 * uid, seq): equal content again is accepted and changes nothing, other content is QS_E_CONFLICT, a gap
 * before first_seq is QS_E_CONFLICT. After done(NULL) the agent may be acknowledged up to first_seq + n. */
void qs_store_window(struct qs_store *store, const struct qs_window_row *window, qs_store_done_fn *done,
                     void *user);
void qs_store_run_end(struct qs_store *store, const struct qs_run_end_row *end, qs_store_done_fn *done,
                      void *user);
/* done's id is the event's number: strictly increasing, in order of commit. */
void qs_store_event(struct qs_store *store, const struct qs_event_row *event, qs_store_done_fn *done,
                    void *user);
/* Writes the content beside the database (synced), then the row. The same again changes nothing. */
void qs_store_artifact(struct qs_store *store, const struct qs_artifact_row *artifact, qs_store_done_fn *done,
                       void *user);
void qs_store_file(struct qs_store *store, const char sha256[65], int64_t bytes, qs_store_done_fn *done,
                   void *user);

/* Runs read(reader, user, err) beside the loop with a read-only connection, then after(err or NULL, user) on
 * the loop. While works are held (base/loop.h) what is read rests. */
typedef bool qs_store_read_fn(struct qs_store_reader *reader, void *user, struct qs_err *err);
typedef void qs_store_after_fn(const struct qs_err *err, void *user);
void qs_store_read(struct qs_store *store, qs_store_read_fn *read, qs_store_after_fn *after, void *user);
/* The same for what may take minutes, computations among it: such wait for each other, and nothing for them.
 */
void qs_store_read_long(struct qs_store *store, qs_store_read_fn *read, qs_store_after_fn *after, void *user);
/* The same, here and now: for start-up and tests. */
bool qs_store_read_now(struct qs_store *store, qs_store_read_fn *read, void *user, struct qs_err *err);

#endif
