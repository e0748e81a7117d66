/* Conditions with several frequencies: an arm for each of them. */
#ifndef QS_CONFIG_JOB_SWEEP_H
#define QS_CONFIG_JOB_SWEEP_H

#include "config/document/schema.h"
#include "config/job/job.h"

/* Once all is right and filled in: every arm whose conditions have several frequencies becomes as many arms,
 * in their order ("1.8GHz", or "old 1.8GHz" where the job has arms), with conditions of that name. The
 * baseline is the first of those that it becomes. A problem where there are too many, or where it is not
 * clear whose they are. */
void qs_job_sweep(struct qs_schema_reader *r, const struct qs_node *root, struct qs_job_spec *spec);

#endif
