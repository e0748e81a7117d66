/* Typed reads, inside a qs_store_read function. Results are owned by the caller and freed by the _free beside
 * them. Long lists come in pages (keyset: after the last key seen), so that no read holds a snapshot for
 * long. */
#ifndef QS_STORE_READ_READ_H
#define QS_STORE_READ_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "store/values.h"

struct qs_job_info {
    int64_t id;
    char *idem, *owner, *name, *spec_json, *reason; /* idem, reason may be NULL */
    char *verdict_json; /* its verdicts in one; NULL before its end, and where nothing was compared */
    uint64_t seed;
    enum qs_job_state state;
    int64_t submitted_wall_ns, started_wall_ns, ended_wall_ns; /* 0 = not yet */
    uint32_t runs, runs_tainted;
    uint64_t iterations;
};
struct qs_jobs {
    struct qs_job_info *at;
    size_t count;
};
/* Newest first, id < before_id (0 = from the newest), at most limit (1..1000). spec_json is left NULL in
 * lists. */
bool qs_read_jobs(struct qs_store_reader *r, int64_t before_id, size_t limit, struct qs_jobs *ret,
                  struct qs_err *err);
/* count 0 or 1; QS_E_NOT_FOUND where there is none. With spec_json. */
bool qs_read_job(struct qs_store_reader *r, int64_t id, struct qs_jobs *ret, struct qs_err *err);
void qs_jobs_free(struct qs_jobs *jobs);
/* Why somebody cancelled the job (a QS_EVENT_CANCEL of it is stored); NULL where nobody did. Owned by the
 * caller. */
bool qs_read_cancel(struct qs_store_reader *r, int64_t job, char **ret_why, struct qs_err *err);
/* Were the job's actions before it (stage before_job) done on this device, to their end? By its events. */
bool qs_read_was_prepared(struct qs_store_reader *r, int64_t job, const char *device, bool *ret,
                          struct qs_err *err);

struct qs_run_info {
    uint8_t uid[16];
    int64_t id, job;
    uint32_t arm, point, block, pos, attempt, taint, windows;
    uint64_t n, n_tainted; /* iterations of measured windows */
    uint64_t warmup_n;     /* of the accepted ones the first so many do not count */
    enum qs_run_state state;
    char *arm_name, *device, *stop_reason, *error_slug, *error_text, *exe_path, *exe_sha256, *env_json;
    char *build;         /* label of its arm's build, or NULL */
    char *harness_json;  /* NULL in other modes */
    char *stream_json;   /* NULL in other modes */
    uint64_t device_seq; /* the device's number of the next iteration not stored */
    int64_t started_wall_ns, acked_seq;
    bool simulated;
};
struct qs_runs {
    struct qs_run_info *at;
    size_t count;
};
bool qs_read_runs(struct qs_store_reader *r, int64_t job, int64_t after_id, size_t limit, struct qs_runs *ret,
                  struct qs_err *err);
bool qs_read_run(struct qs_store_reader *r, const uint8_t uid[16], struct qs_runs *ret, struct qs_err *err);
void qs_runs_free(struct qs_runs *runs);

struct qs_iteration_info {
    uint64_t seq;
    uint32_t window, i, taint;
    enum qs_phase phase;
    int64_t start_ns; /* device clock; INT64_MIN: not known */
    int64_t duration_ns;
    uint32_t evals; /* that duration_ns is of */
    int32_t status;
    int64_t values[QS_ROW_METRICS_MAX]; /* INT64_MIN where the metric is missing */
};
struct qs_iterations {
    struct qs_iteration_info *at;
    size_t count;
    char *metrics[QS_ROW_METRICS_MAX];
    size_t metric_count;
};
/* Iterations of a run with seq >= from_seq, at most limit (1..10000). */
bool qs_read_iterations(struct qs_store_reader *r, const uint8_t run_uid[16], uint64_t from_seq, size_t limit,
                        struct qs_iterations *ret, struct qs_err *err);
void qs_iterations_free(struct qs_iterations *it);

/* One run of a job as the statistics see it: what was measured in it, and what of that counts. */
struct qs_measured_run {
    int64_t id; /* number of the run */
    uint8_t run_uid[16];
    uint32_t arm, point, block, pos, attempt, taint;
    bool superseded; /* its block was begun again: it counts for nothing */
    enum qs_run_state state;
    int64_t session, boot; /* numbers of both; 0: imported */
    char *device;
    bool simulated;
    struct qs_values values; /* its durations, of one evaluation each */
    uint32_t window_n;       /* iterations of the longest measured window: r, where no window was cut short */
    uint32_t evals;   /* evaluations of each iteration of its measured windows; 0: none were measured */
    char *evals_json; /* how that number was found, as in run.harness, or NULL */
    int64_t opened_ns;
    int64_t waited_ns; /* for the gates of its windows, traced ones apart */
    int64_t taken_ns;  /* from its begin to its end, waits included; 0: it has none */
    char *busiest;     /* the process that was named at the longest of these waits, or NULL */
    uint32_t windows_tainted, windows_left; /* of them; the latter: and no repeat of it followed */
    uint32_t windows[QS_SILENCES]; /* measured windows that have iterations, by what is claimed of them */
    double user_us_mean, system_us_mean,
        rss_max_bytes; /* of the iterations that the run stands on; NaN where missing */
};
struct qs_measured_runs {
    struct qs_measured_run *at;
    size_t count;
};
/* Every run of the job with block >= 1, ordered by point, device, block, pos. */
bool qs_read_measured_runs(struct qs_store_reader *r, int64_t job, struct qs_measured_runs *ret,
                           struct qs_err *err);
void qs_measured_runs_free(struct qs_measured_runs *measured);

struct qs_event_info {
    int64_t id, wall_ns, job;
    char *kind, *device, *run, *body_json; /* device, run may be NULL */
};
struct qs_event_list {
    struct qs_event_info *at;
    size_t count;
};
/* Events with id > after_id, of one job or of all (job 0), at most limit. */
bool qs_read_events(struct qs_store_reader *r, int64_t job, int64_t after_id, size_t limit,
                    struct qs_event_list *ret, struct qs_err *err);
void qs_events_free(struct qs_event_list *events);

/* What a daemon that starts takes over from the one before. */
struct qs_live_job {
    int64_t id;
    bool running; /* else queued */
};
struct qs_live_jobs {
    struct qs_live_job *at;
    size_t count;
};
/* All that are queued or running, oldest first. */
bool qs_read_live_jobs(struct qs_store_reader *r, struct qs_live_jobs *ret, struct qs_err *err);
/* Has a daemon that died left runs or sessions open? Before this one begins any. */
bool qs_read_left_open(struct qs_store_reader *r, bool *ret_open, struct qs_err *err);
void qs_live_jobs_free(struct qs_live_jobs *jobs);

#endif
