/* One countermeasure left out at a time: a job's baseline under all of its conditions, and under all of them
 * but one, as arms. */
#ifndef QS_CONFIG_JOB_ABLATE_H
#define QS_CONFIG_JOB_ABLATE_H

#include "config/document/schema.h"
#include "config/job/job.h"

#define QS_JOB_ABLATE_FULL    "full" /* the arm that has all of them */
#define QS_JOB_ABLATE_WITHOUT "without "

/* Once all is right and filled in. Arms but the baseline are dropped. False with a problem where there is
 * nothing to leave out, or too much. */
bool qs_job_ablate(struct qs_schema_reader *r, const struct qs_node *root, struct qs_job_spec *spec);
/* What the arm lacks of the conditions: "gate"; NULL: nothing, or the job is none of these. Borrowed. */
const char *qs_job_left_out(const struct qs_job_spec *spec, size_t arm);

#endif
