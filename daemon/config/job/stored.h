/* A job as the store keeps it: {"name","text","files":{path:sha256},"where"}, and its conditions. */
#ifndef QS_CONFIG_JOB_STORED_H
#define QS_CONFIG_JOB_STORED_H

#include "base/err.h"
#include "base/json.h"
#include "config/job/job.h"

/* With its files bound, the devices that a reproduction was given, and this seed; QS_E_JOB where this version
 * cannot read it. */
bool qs_job_from_store(const char *spec_json, uint64_t seed, struct qs_job_spec **ret_spec,
                       struct qs_err *err);

/* Conditions as rows of points and arms keep them (schema/README.md): everything of a set, defaults written
 * out. */
void qs_job_put_conditions(struct qs_json *j, const struct qs_job_conditions *set);

#endif
