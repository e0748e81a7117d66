/* What a run or a job has, row by row for people: each row is borrowed for its callback. A number that is not
 * known is INT64_MIN. */
#ifndef QS_STORE_READ_SHOWN_H
#define QS_STORE_READ_SHOWN_H

#include "store/store.h"

/* A window as it was written, without its iterations, of which n is the number. */
typedef void qs_window_shown_fn(const struct qs_window_row *window, bool of_stream, void *user);
/* Of a run, in order. */
bool qs_read_windows_shown(struct qs_store_reader *r, const uint8_t run_uid[16], qs_window_shown_fn *fn,
                           void *user, struct qs_err *err);

struct qs_gate_wait {                                   /* for one sensor of a gate */
    const char *run, *arm, *device, *outcome, *busiest; /* run: hex; busiest may be NULL */
    int64_t window_id, block, window, waited_ns;        /* ns: of the gate */
    const char *sensor, *trace;                         /* "[[ms, value], ...]" */
    int64_t first, last;                                /* of its values */
    int64_t gates, total_ns; /* how many of the job's waited with readings, and how long in all */
};
typedef void qs_gate_wait_fn(const struct qs_gate_wait *wait, void *user);
/* Of the `most` gates of a job that waited longest and read sensors meanwhile; the longest first. */
bool qs_read_gate_waits(struct qs_store_reader *r, int64_t job, size_t most, qs_gate_wait_fn *fn, void *user,
                        struct qs_err *err);

struct qs_cooling_wait {        /* of a gate, for one temperature */
    int64_t wall_ns;            /* when its run began */
    int64_t facts_id;           /* equal for equal facts */
    const char *facts_json;     /* of the boot */
    const char *sensor, *trace; /* "[[ms, mc], ...]" */
};
typedef void qs_cooling_wait_fn(const struct qs_cooling_wait *wait, void *user);
/* Of a device's last 1000 waits for a sensor `thermal:*`, among the last 200,000 windows of the farm; the
 * newest first. */
bool qs_read_cooling_waits(struct qs_store_reader *r, const char *device, qs_cooling_wait_fn *fn, void *user,
                           struct qs_err *err);

struct qs_artifact_info {
    const char *kind, *name, *sha256, *why; /* sha256: hex, "" where nothing was kept; why may be NULL */
    int64_t kept_bytes, total_bytes;
    bool is_trace; /* what follows is of a trace alone */
    int64_t started_ns, stopped_ns, window;
    uint32_t flags; /* 1 killed, 2 cut, 4 ended early, 8 left children */
};
typedef void qs_artifact_fn(const struct qs_artifact_info *artifact, void *user);
/* The artifacts of a run. */
bool qs_read_artifacts(struct qs_store_reader *r, const uint8_t run_uid[16], qs_artifact_fn *fn, void *user,
                       struct qs_err *err);

struct qs_taint_count { /* of a code in an arm of a job */
    const char *arm, *code, *example;
    const char *busiest; /* of the processes that kept gates shut the one named most often, or NULL */
    int64_t windows, iterations;
};
typedef void qs_taint_count_fn(const struct qs_taint_count *count, void *user);
bool qs_read_taints(struct qs_store_reader *r, int64_t job, qs_taint_count_fn *fn, void *user,
                    struct qs_err *err);

struct qs_extreme { /* the fastest or the slowest iteration of a point, arm and device */
    int64_t point, arm;
    const char *arm_name, *device;
    bool traced, fastest, slowest; /* in a traced window; of these */
    uint8_t run_uid[16];
    int64_t block, window, seq, start_ns, duration_ns, evals;
    struct { /* to look at: of its own window where that is traced, else the nearest one in time */
        bool found;
        uint8_t run_uid[16];
        const char *name, *sha256;
        int64_t started_ns;
    } trace;
};
typedef void qs_extreme_fn(const struct qs_extreme *extreme, void *user);
/* Of a job, or (run: its id, else 0) of one of its runs; by point, arm and device. *ret_has: the job has
 * traces, without which nothing is looked for. */
bool qs_read_extremes(struct qs_store_reader *r, int64_t job, int64_t run, bool *ret_has, qs_extreme_fn *fn,
                      void *user, struct qs_err *err);

struct qs_evals_found { /* how the number of evaluations was found */
    int64_t point;
    const char *label, *device, *evals_json; /* as in run.harness */
};
typedef void qs_evals_found_fn(const struct qs_evals_found *found, void *user);
/* Of each point and device of a job, from its first run. */
bool qs_read_evals_found(struct qs_store_reader *r, int64_t job, qs_evals_found_fn *fn, void *user,
                         struct qs_err *err);

#endif
