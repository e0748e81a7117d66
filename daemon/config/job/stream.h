/* The part of a benchmark that is of mode stream alone. Owned by the job's spec (job.h). */
#ifndef QS_CONFIG_JOB_STREAM_H
#define QS_CONFIG_JOB_STREAM_H

#include <stddef.h>
#include <stdint.h>

#include "config/document/form.h"

struct qs_job_spec;

enum { QS_JOB_UNIT_MAX_BYTES = 16, QS_JOB_METRIC_MAX_BYTES = 32 };
enum qs_job_better { QS_JOB_BETTER_UNSAID, QS_JOB_BETTER_LOWER, QS_JOB_BETTER_HIGHER };

struct qs_job_stream {
    unsigned format; /* enum qs_form_kind */
    char *unit;      /* of the values: a time, or what `metric` is in; NULL: the document says it */
    char *metric;    /* or NULL: the default */
    unsigned better; /* enum qs_job_better */
    char *pattern;   /* or NULL */
    int64_t document_max_bytes; /* default 1 MiB */
};

/* The form of a point's documents, {parameters} filled in; the caller ends it with qs_form_done. */
void qs_job_form(const struct qs_job_spec *spec, size_t arm, size_t point, struct qs_form *ret);

#endif
