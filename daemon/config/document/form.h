/* How the document of a run of mode stream is read: what the job says of it, and what is stored with the run
 * so that it can be read again without the job. */
#ifndef QS_CONFIG_DOCUMENT_FORM_H
#define QS_CONFIG_DOCUMENT_FORM_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"

/* The last two are of mode app: what `am instrument` says, and the benchmarkData.json that its test left;
 * what several `am start -W` say. */
enum qs_form_kind { QS_FORM_GBENCH, QS_FORM_NUMBERS, QS_FORM_PATTERN, QS_FORM_ANDROIDX, QS_FORM_AM_START };
enum qs_form_unit { QS_FORM_NS, QS_FORM_US, QS_FORM_MS, QS_FORM_S, QS_FORM_OTHER };

struct qs_form {
    enum qs_form_kind kind;
    enum qs_form_unit unit; /* NUMBERS, PATTERN: of each value; OTHER: no time, but what follows */
    char *other;            /* owned; OTHER: the unit, such as MB/s; else NULL */
    char *metric;           /* owned; OTHER: what people call the value; ANDROIDX: which of its times is the
                               duration, or NULL; else NULL */
    bool higher_is_better;  /* OTHER */
    char *pattern;          /* owned; PATTERN: its group is the value (base/pattern.h); else NULL */
    char *launch;           /* owned; AM_START: what the starts were to be, "cold"; else NULL */
    char *benchmark;        /* owned; GBENCH, ANDROIDX: which of the document's, or NULL: its only one */
    char *file;             /* owned; where it was written, or NULL: to standard output */
};
void qs_form_done(struct qs_form *form);

extern const char *const qs_form_kinds[];       /* "google-benchmark", ...; NULL ends them */
extern const char *const qs_form_units[];       /* "ns", "us", "ms", "s"; NULL ends them */
double qs_form_unit_ns(enum qs_form_unit unit); /* how many ns it is; not of OTHER */
/* One of the times, or OTHER. */
enum qs_form_unit qs_form_unit_of(const char *text);
const char *qs_form_source(
    const struct qs_form *f); /* what people call the document: its file, or "stdout" */

/* {"format","unit","metric","better","pattern","launch","benchmark","file"}: those that there are. */
void qs_form_json(const struct qs_form *form, struct qs_buf *out);
/* QS_E_DATA where it is not that. */
bool qs_form_from_json(const char *json, struct qs_form *ret, struct qs_err *err);

#endif
