/* A job as the store keeps it: {"name","text","files":{path:sha256},"where"}. */
#ifndef QS_CONFIG_JOB_STORED_H
#define QS_CONFIG_JOB_STORED_H

#include "base/err.h"
#include "config/document/doc.h"
#include "config/job/job.h"

/* The document of its text; QS_E_JOB where this version cannot read it. */
bool qs_job_stored_doc(const char *spec_json, struct qs_doc **ret_doc, struct qs_err *err);
/* The same as a spec, with its files bound, the devices that a reproduction was given, and this seed. */
bool qs_job_from_store(const char *spec_json, uint64_t seed, struct qs_job_spec **ret_spec,
                       struct qs_err *err);

#endif
