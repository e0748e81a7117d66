/* The rows that go into the store and come out of it. Text is UTF-8, NUL-terminated; borrowed where it goes
 * in, owned by the result where it comes out (store/read/read.h). Times named wall are ns since the epoch,
 * others of the device's clock. */
#ifndef QS_STORE_ROWS_H
#define QS_STORE_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/rows_window.h"

enum qs_job_state { QS_JOB_QUEUED, QS_JOB_RUNNING, QS_JOB_DONE, QS_JOB_FAILED, QS_JOB_CANCELLED };
enum qs_run_state { QS_RUN_RUNNING, QS_RUN_DONE, QS_RUN_FAILED, QS_RUN_INTERRUPTED, QS_RUN_CANCELLED };

/* Taint bits (schema/README.md has the same list); table taint carries code, number and bound. */
enum qs_taint_bit {
    QS_TAINT_GATE = 1 << 0, /* measured although the gate did not open in time */
    QS_TAINT_EVIDENCE =
        1 << 1, /* a bound on evidence was passed: steal, switches, throttling, a busy neighbour */
    QS_TAINT_LINK = 1 << 2,        /* the link was not silent */
    QS_TAINT_EXIT = 1 << 3,        /* unexpected exit code or signal */
    QS_TAINT_TIMEOUT = 1 << 4,     /* a limit ended it */
    QS_TAINT_CHILDREN = 1 << 5,    /* left processes behind */
    QS_TAINT_OUTPUT = 1 << 6,      /* output was cut */
    QS_TAINT_HOOK = 1 << 7,        /* prepare or conclude failed */
    QS_TAINT_INTERRUPTED = 1 << 8, /* the block was not completed: agent, daemon or link died, it was
                                      cancelled, or a run gave nothing */
    QS_TAINT_CLOCK = 1 << 9,       /* time went backwards or overflowed */
    QS_TAINT_LAUNCH = 1 << 10      /* an app was started in another way than was asked for, or not drawn */
};

struct qs_arm_row {
    const char *name;
    const char *build_label;     /* or NULL */
    const char *build_content;   /* hex sha256 over sorted (path, mode, sha256), or NULL */
    const char *argv_json;       /* as asked, for people */
    const char *conditions_json; /* its own, canonical, or NULL: those of the point */
};

struct qs_point_row {
    const char *benchmark;
    const char *params_json;     /* canonical */
    const char *conditions_json; /* canonical; what is under "controls" makes it another series */
    const char *label;
};

struct qs_job_row {
    const char *idem; /* or NULL */
    const char *owner;
    const char *name;
    const char *spec_json; /* the job's document as checked and bound: enough to run it again */
    uint64_t seed;         /* stored as the same 64 bits */
    int64_t submitted_wall_ns;
    const struct qs_arm_row *arms;
    size_t arm_count;
    const struct qs_point_row *points;
    size_t point_count;
};

struct qs_device_row {
    const char *name, *serial, *port_path, *profile; /* profile may be NULL */
    bool simulated;
};

struct qs_boot_row {
    const char *device, *boot_uuid, *fingerprint_json, *clock;
    int64_t seen_wall_ns;
};

struct qs_clock_row {
    const char *device, *boot_uuid;
    int64_t host_ns, device_ns, rtt_ns, wall_ns;
};

struct qs_session_row {
    uint8_t uid[16];
    int64_t job;
    const char *device, *boot_uuid;
    const char *env_json; /* the environment achieved: canonical, stored once by hash */
    int64_t started_wall_ns;
};

struct qs_run_row {
    uint8_t uid[16];
    uint8_t session_uid[16];
    int64_t job;
    uint32_t arm, point;      /* indices in the job */
    uint32_t block;           /* 0 = pilot, 1.. counted */
    uint32_t pos;             /* place in the block */
    uint32_t attempt;         /* 0 first; repeats of an interrupted block count up */
    const char *harness_json; /* what a harness program was given, or NULL */
    const char *stream_json;  /* how its documents are read (config/document/form.h), or NULL */
    int64_t started_wall_ns;
};

struct qs_run_end_row {
    uint8_t uid[16];
    enum qs_run_state state;
    const char *stop_reason; /* or NULL */
    uint32_t warmup_n; /* accepted iterations at the beginning that do not count; 0: what is there stays */
    uint32_t taint;    /* or-ed into the run's */
    const char *error_slug, *error_text; /* or NULL */
    const char *exe_path, *exe_sha256;   /* resolved on the device; NULL: not known, what is there stays */
    const char *harness_json;            /* NULL: what is there stays */
    int64_t ended_wall_ns;
};

struct qs_trace_row {               /* of an artifact of kind "trace" */
    bool has_window;                /* a window was traced; without it the tracer was missing before */
    uint32_t window;                /* its number in the run */
    uint32_t flags;                 /* enum qs_trace_flag of the wire */
    int64_t started_ns, stopped_ns; /* device clock; 0: not */
};

struct qs_artifact_row {
    uint8_t run_uid[16];
    uint32_t idx;
    const char *kind, *name; /* "output", "kernel-log", "file", "trace" */
    struct qs_files *files;  /* borrowed until done: where the content goes; NULL where there is none */
    const void *bytes;
    size_t n;                         /* kept; 0: nothing is, and why says so */
    int64_t total_bytes;              /* that it had */
    const char *why;                  /* or NULL */
    const struct qs_trace_row *trace; /* of kind trace, else NULL */
};

/* The event after which no life of the daemon takes its job up again; its body says `why`. */
#define QS_EVENT_CANCEL  "job.cancel"
#define QS_EVENT_ACTIONS "action.stage"

struct qs_event_row {
    int64_t wall_ns;
    const char *kind;       /* "job.state", "window.closed", "gate.waiting", ... */
    const char *device;     /* or NULL */
    int64_t job;            /* or 0 */
    const uint8_t *run_uid; /* or NULL */
    const char *body_json;
};

const char *qs_job_state_name(enum qs_job_state state);
const char *qs_run_state_name(enum qs_run_state state);
/* Names of the bits, comma-separated ("gate,steal"); "" for 0. Returns out. */
const char *qs_taint_names(uint32_t taint, char *out, size_t bytes);

#endif
