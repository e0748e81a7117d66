/* The verdicts (schema/verdict.md) of a comparison document, whichever it is: of a job's arms
 * (schema/comparison.md), of two sides (schema/sides.md), of two files (schema/analysis.schema.json). */
#ifndef QS_CTL_FINDINGS_H
#define QS_CTL_FINDINGS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct qs_finding {        /* borrowed from the document but for what says owned */
    const char *point;     /* benchmark with its parameters */
    char *where;           /* owned: the device, "3 devices", or the file */
    char *arms;            /* owned: "a → b" where the arms have other names, else "" */
    const char *candidate; /* name of its arm, or "" */
    const char *metric, *unit, *verdict, *reason, *sentence;
    const char *notes;    /* what else it says, or "" */
    double base, cand;    /* medians in the unit; NaN: not known */
    double ratio, lo, hi; /* of the candidate to the base: the interval that the verdict rests on */
    double level;         /* of lo and hi; NaN: not known */
    double margin_ratio, mde_ratio;
    int64_t units, needed;  /* units of a side, and those for the margin; 0: not known */
    double seconds_needed;  /* what those that lack take to measure in this job; NaN: not known */
    const char *units_of;   /* "blocks", "runs", ... */
    bool one_job;           /* more of them can be asked for */
    bool stands;            /* false: expected by chance among so many comparisons */
    const json_t *opinions; /* or NULL */
    const json_t *warnings; /* of its point and device: the first finding has them, the others NULL */
};

struct qs_findings {
    struct qs_finding *at; /* owned */
    size_t count;
};

/* The element of `metrics` with that name, of a result or of an arm or run of a report; NULL: it has none. */
const json_t *qs_metric_named(const json_t *part, const char *name);

void qs_findings_of(const json_t *doc, struct qs_findings *ret);
/* Of one of its results. */
void qs_findings_of_result(const json_t *doc, const json_t *result, struct qs_findings *ret);
/* The duration, which has a page of its own. */
bool qs_finding_is_duration(const struct qs_finding *f);
void qs_findings_done(struct qs_findings *f);
/* From the strictest verdict that ends a build to all that are no good news. */
enum qs_fail_on { QS_FAIL_NEVER, QS_FAIL_REGRESSION, QS_FAIL_PROBABLE, QS_FAIL_INCONCLUSIVE };
/* Whether one of them is a verdict that ends a build: a (probable) regression that stands, or nothing is
 * known. */
bool qs_findings_fail(const struct qs_findings *f, enum qs_fail_on on);
/* The words for what was compared: "12 with build:v2", "a.csv with b.csv", "job 7". Owned by the caller. */
char *qs_findings_title(const json_t *doc);
/* "discard-first 10 leaves 40 of 50 iterations, then fenced leaves 38 of 40 iterations". Appended. */
void qs_views_words(const json_t *views, struct qs_buf *out);
/* "view of the base: discard-first 10 leaves 40 of 50 iterations", a line for each side, file or arm that has
 * views. Appended; nothing where all iterations are looked at. */
void qs_findings_views(const json_t *doc, struct qs_buf *out);
/* Two sides were refused because something else differs. */
bool qs_findings_refused(const json_t *doc);

#endif
