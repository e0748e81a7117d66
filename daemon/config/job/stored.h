/* A job's document as the store keeps it (jobs.spec_json): {"name","text","files":{path:sha256}}; of a job
 * that does another one again also "reproduces" and "where". farm/prepare.c writes it. */
#ifndef QS_CONFIG_JOB_STORED_H
#define QS_CONFIG_JOB_STORED_H

#include "base/json.h"
#include "config/document/doc.h"
#include "config/job/job.h"

struct qs_stored_job {
    struct qs_doc *doc;       /* owned: the texts below are of it */
    const char *text, *where; /* the job file as it was written; where may be NULL */
    const char *name;         /* of the file: "stored job" where it had none */
    struct qs_job_file *files;
    size_t file_count;
    int64_t reproduces; /* 0: no other job */
};

/* json may be NULL. QS_E_JOB where this version cannot read it; *ret is empty then. */
bool qs_stored_job_read(const char *json, struct qs_stored_job *ret, struct qs_err *err);
void qs_stored_job_done(struct qs_stored_job *stored);

/* As a spec, with its files bound, the devices that a reproduction was given, and this seed. */
bool qs_job_from_store(const char *json, uint64_t seed, struct qs_job_spec **ret_spec, struct qs_err *err);
bool qs_job_from_stored(const struct qs_stored_job *stored, uint64_t seed, struct qs_job_spec **ret_spec,
                        struct qs_err *err);

/* Conditions as rows of points and arms keep them (schema/README.md): everything of a set, defaults written
 * out. */
void qs_job_put_conditions(struct qs_json *j, const struct qs_job_conditions *set);
/* "stops": for each set in use its stop rule in words (null: one window a run) and its caps. */
void qs_job_put_stops(struct qs_json *j, const struct qs_job_spec *spec);

#endif
