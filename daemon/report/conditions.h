/* What is compared of the conditions that two runs or sessions were measured under: the one rule for history
 * and comparison. Controls make another series; a gate and bounds decide which values there are, and matter;
 * waits, repeats and stop rules decide how many there are, and are noted. */
#ifndef QS_REPORT_CONDITIONS_H
#define QS_REPORT_CONDITIONS_H

#include "base/json.h"
#include "config/job/job.h"

/* A key below it, and the name of the set, are noted (report/env_diff.h). */
#define QS_CONDITIONS_EFFORT "conditions.effort."
#define QS_CONDITIONS_SET    "conditions.set"

/* Whether what the store keeps are all of them: an earlier version has kept the controls alone. */
bool qs_conditions_known(const char *stored_json);
/* The value of a key "conditions": {"set", "affinity", "frequency", "gate", "bounds", "effort"}. Of
 * what the store keeps, or, where that is not all, of what the job (NULL: it cannot be read) says. False:
 * neither has them all, which two sides must have to be compared; the controls alone were written. */
bool qs_conditions_put(struct qs_json *j, const char *stored_json, const struct qs_job_spec *spec,
                       size_t point, size_t arm);

/* The same of runs in turn, most of which follow one under the same conditions: those are not read again. */
struct qs_conditions_made {
    const char *stored_json; /* borrowed, as spec */
    bool is_all;             /* of what the store keeps: the job was not asked */
    const struct qs_job_spec *spec;
    size_t point, arm;
    char *text; /* owned; NULL: nothing was made yet */
};
void qs_conditions_put_made(struct qs_json *j, struct qs_conditions_made *made, const char *stored_json,
                            const struct qs_job_spec *spec, size_t point, size_t arm);
void qs_conditions_made_done(struct qs_conditions_made *made);

#endif
