/* Rows of the store as JSON objects, each the same wherever it shows. */
#ifndef QS_API_RENDER_H
#define QS_API_RENDER_H

#include "base/json.h"
#include "config/job/job.h"
#include "store/read/read.h"

/* The members of a job, without the braces. */
void qs_render_job(struct qs_json *j, const struct qs_job_info *job);
/* The same of a run, but for its windows: a number in a list, an array where one is shown. */
void qs_render_run(struct qs_json *j, const struct qs_run_info *run);
/* {"metrics","iterations"}, and next: the seq to go on from where the page was full, else null. */
void qs_render_iterations(struct qs_json *j, const struct qs_iterations *it, size_t limit);
/* Of arms, their names; of points, their labels. Arrays under these keys. */
void qs_render_spec(struct qs_json *j, const struct qs_job_spec *spec);
/* ["gate","exit"] of taint bits. */
void qs_render_taint(struct qs_json *j, uint32_t taint);

#endif
