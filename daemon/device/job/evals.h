/* How many evaluations an iteration of one point has: given, known from before, or tuned on the baseline
 * before anything is measured (Chen & Revels 2016, Algorithm 1; stats/timer.h). Pure: what has to be asked or
 * measured next is told as a step. */
#ifndef QS_DEVICE_JOB_EVALS_H
#define QS_DEVICE_JOB_EVALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/json.h"
#include "config/job/job.h"
#include "store/tuning.h"

#define QS_EVALS_SCAN_NS INT64_C(500000000) /* no iteration of the scan starts later */

enum qs_evals_how {
    QS_EVALS_OPEN,   /* not known yet */
    QS_EVALS_GIVEN,  /* by the job */
    QS_EVALS_KEPT,   /* what an earlier life of the daemon measured this point with */
    QS_EVALS_ONCE,   /* the program takes one */
    QS_EVALS_UNABLE, /* the agent is too old, or the scan gave nothing: one */
    QS_EVALS_CACHED, /* an earlier job found it */
    QS_EVALS_TUNED
};

enum qs_evals_step {
    QS_EVALS_PROGRAM, /* the baseline's program has to be started */
    QS_EVALS_LOOK,    /* look for what was found earlier */
    QS_EVALS_WARM,    /* a window of one evaluation each, which does not count */
    QS_EVALS_SCAN,    /* a window of rising evaluations */
    QS_EVALS_MEASURE  /* known */
};

struct qs_evals {
    enum qs_evals_step step;
    enum qs_evals_how how;
    struct qs_tuning found; /* .evals where it is known; all of it where how is TUNED or CACHED */
};

/* given: 0 is auto. */
void qs_evals_init(struct qs_evals *e, uint32_t given);
void qs_evals_keep(struct qs_evals *e, uint32_t evals);
/* The baseline's program is there. able: its agent can tune; most: evaluations that it takes, 0 is any. */
void qs_evals_program(struct qs_evals *e, bool able, uint32_t most);
/* NULL: nobody has found it. */
void qs_evals_looked(struct qs_evals *e, const struct qs_tuning *earlier);

struct qs_evals_scan {
    int64_t precision_ns, accuracy_ns; /* of the clock; 0: not known, taken as 1 and 1000 */
    const int64_t *total_ns;           /* of 1, 2, .. evaluations; -1: not valid */
    size_t n;
};
/* A window of WARM or SCAN is over; scan may be NULL but for SCAN. */
void qs_evals_window(struct qs_evals *e, const struct qs_evals_scan *scan);

const char *qs_evals_how_name(enum qs_evals_how how);
/* Appends what schema/comparison.md calls evaluations; null where it is not known. */
void qs_evals_json(const struct qs_evals *e, struct qs_json *j);

/* All that a tuned number depends on. Texts are borrowed. */
struct qs_evals_key {
    const char *device, *agent, *clock;
    const char *operating_json; /* facts of clock, frequencies and processors as achieved */
    const char *cpus;           /* that the program runs on */
    const char *held;           /* at which it is held, or NULL: it is not */
    const char *executable;     /* SHA-256, 64 hex digits */
    const char *benchmark;
    const struct qs_strings *arguments, *env, *params;
};
/* Canonical JSON. */
void qs_evals_depends(const struct qs_evals_key *key, struct qs_buf *out);

#endif
