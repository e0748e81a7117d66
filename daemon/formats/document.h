/* The document of a window of mode stream or app as the values that its program measured. The bytes are
 * hostile until they were read: every size is bounded, and a mistake is located, quoted and explained. */
#ifndef QS_FORMATS_DOCUMENT_H
#define QS_FORMATS_DOCUMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "config/document/form.h"

enum {
    QS_DOCUMENT_VALUES = 65536,    /* of one document */
    QS_DOCUMENT_METRICS = 16,      /* beside the time: cpu_time_ps and the first counters */
    QS_DOCUMENT_METRIC_BYTES = 64, /* of a metric's name; counters with longer ones are left out */
    QS_DOCUMENT_EVALS = 1 << 30
};

struct qs_document_metric {
    char *name, *unit; /* owned */
    bool higher_is_better;
};

/* Times are whole ns: of `evals` evaluations together, which is 1 but for Google Benchmark, where it is the
 * least of the repetitions' `iterations`. Rounded to the nearest; where that would change the time of one
 * evaluation by more than 0.1 % it is refused. Counters are kept in millionths (NAME_micro), cpu_time_ps is
 * of one evaluation: how many there are differs from process to process. Of values that are no times
 * (QS_FORM_OTHER) there is no duration: they are those of the one metric, METRIC_UNIT_micro, in millionths.
 */
struct qs_document {
    int64_t *durations_ns; /* owned, n of them, in the order of the document; NULL: of no times */
    size_t n;
    uint32_t evals;
    struct qs_document_metric metrics[QS_DOCUMENT_METRICS];
    size_t metric_count;
    int64_t *values; /* owned: [value][metric]; INT64_MIN where there is none */
    bool *off;       /* owned, n of them, or NULL: starts that were others than was asked for */
    size_t body_at;  /* where the file begins that is worth keeping; what am said stands before it */
};

/* text[len] is '\0'. False with QS_E_DATA: "stdout:3:1: what is wrong (what to do)". A document without a
 * value is wrong. */
bool qs_document_read(const struct qs_form *form, const char *text, size_t len, struct qs_document *ret,
                      struct qs_err *err);
void qs_document_done(struct qs_document *document);

#endif
