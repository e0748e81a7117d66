/* Under which conditions a job measures: sets of controls, gate, bounds and stop rule. The first set is the
 * job's own (`conditions`), the others are those of `condition_sets`; points and arms refer to them. All are
 * owned by the job's spec, and say everything: what a named set leaves out is filled in from the job's own.
 */
#ifndef QS_CONFIG_JOB_CONDITIONS_H
#define QS_CONFIG_JOB_CONDITIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/profile/wish.h"
#include "proto/msg_start.h"
#include "stats/rule.h"

#define QS_JOB_CONDITIONS_OWN "default" /* the name of the first set; no other has it */

/* How long processors are kept busy for `frequency: hold` before a window, at most. */
#define QS_JOB_HOLD_NS INT64_C(10000000000)

#define QS_JOB_ONE_BIG "one-big" /* one big processor, each block the next one */

enum { QS_JOB_CONDITION_SETS_MAX = 100 };

enum qs_job_on_timeout {
    QS_ON_TIMEOUT_TAINT,
    QS_ON_TIMEOUT_DEFER,
    QS_ON_TIMEOUT_REQUEUE,
    QS_ON_TIMEOUT_FAIL
};

struct qs_job_expectation { /* one line of the gate */
    char *sensor;           /* "cpu.busy_ratio_ppm", "thermal:x86_pkg_temp" */
    bool has_lo, has_hi, unreadable_ok;
    bool heat; /* a temperature below lo is raised */
    bool has_end, has_back;
    bool returns; /* of the line before it: once that was above, the reading comes down to hi */
    bool lo_ambient, hi_ambient; /* lo or hi is what the ambient temperature is added to */
    int64_t lo, hi;              /* in the sensor's unit */
    int64_t end;                 /* it is at most this after the window, or taints it */
    int64_t back;                /* as it is read; then it is the hi of a line of its own, which `returns` */
    int64_t dwell_ns, timeout_ns;
    enum qs_job_on_timeout on_timeout;
    bool backoff; /* default true: each window in a row that was tainted by the gate halves the next one's
                     timeout */
};

struct qs_job_bound { /* evidence: a difference above it taints the window */
    char *kind;
    int64_t bound;
};

struct qs_job_controls { /* what is set on the device */
    char *cpus;          /* "" = any; "0-3,6"; "all", a cluster's name, or: */
    struct qs_wishes wishes;
    struct qs_start start; /* of the processes that are measured */
};

/* An Android app that must be as the job wants it, or nothing is measured. */
enum qs_job_app_debuggable { QS_APP_ANY, QS_APP_YES, QS_APP_NO };
struct qs_job_app {
    char *package; /* NULL: none is checked */
    enum qs_job_app_debuggable debuggable;
    char *compiled; /* "speed"; or NULL: any */
};

struct qs_job_enough {    /* when a run has enough */
    struct qs_rule *stop; /* a tree, asked at window ends; NULL: one window a run */
    int64_t cap_time_ns;  /* what ends a run whatever its rule says */
    uint32_t cap_iterations;
};

struct qs_job_conditions {
    char *name;
    struct qs_job_controls controls;
    struct qs_job_expectation *gate;
    size_t gate_count;
    int64_t patience_ns; /* for gates that mark, in all windows; 0: there is no such gate */
    struct qs_job_bound *bounds;
    size_t bound_count;
    uint32_t repeat_tainted; /* times a tainted window is repeated */
    int64_t trip_mc;         /* no temperature of the device's may be above it; 0: there is no such limit */
    struct qs_job_app app;
    struct qs_job_enough enough;
};

struct qs_job_spec;

/* Of an arm at a point: the arm's set, else its benchmark's, else the job's own. The index is that of
 * spec->conditions. */
size_t qs_job_conditions_index(const struct qs_job_spec *spec, size_t point, size_t arm);
const struct qs_job_conditions *qs_job_conditions(const struct qs_job_spec *spec, size_t point, size_t arm);
/* The next set in use, from this one on: some arm is measured under it at some point. spec->condition_count
 * where there is none. */
size_t qs_job_next_set(const struct qs_job_spec *spec, size_t from);
/* "fifo 50", "nice -5", "normal" */
void qs_job_put_priority(const struct qs_start *start, struct qs_buf *out);
/* How often a block is repeated: as often as any of its arms allows for a window. */
uint32_t qs_job_repeats(const struct qs_job_spec *spec, size_t point);
/* The external rules of all sets, each once, at most `most` of them; returns how many there are. */
size_t qs_job_externals(const struct qs_job_spec *spec, const char **names, size_t most);

#endif
