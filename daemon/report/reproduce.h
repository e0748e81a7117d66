/* A job and its repetition: whether they drew the same, what differs around them, and whether the values
 * agree. Pure. schema/reproduction.md describes the document. */
#ifndef QS_REPORT_REPRODUCE_H
#define QS_REPORT_REPRODUCE_H

#include "base/buf.h"
#include "base/err.h"
#include "store/read/read.h"
#include "stats/status.h"
#include "store/read/arms.h"

struct qs_reproduce_side { /* borrowed */
    int64_t job;
    uint64_t seed;
    const struct qs_runs *runs;       /* all of them, pilots too */
    const struct qs_arm_runs *values; /* those that count */
};

struct qs_reproduce_input {
    struct qs_reproduce_side original, again;
    const uint8_t *run_uid;     /* of a run of the original that is looked at by itself, or NULL */
    const double *margin_ratio; /* of each point: the smallest difference that matters */
    size_t point_count;
    double alpha;                              /* intervals hold with 1 - alpha */
    const struct qs_farm_variables *variables; /* the farm's lists, or NULL */
    struct qs_progress progress;
};

/* Appends the document. QS_E_DATA where a stored environment cannot be read; QS_E_NOT_FOUND where run_uid is
 * no run of the original; QS_E_STOPPED where progress ended it, and what was appended is no document. */
bool qs_reproduce_document(const struct qs_reproduce_input *in, struct qs_buf *out, struct qs_err *err);

#endif
