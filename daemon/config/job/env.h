/* Which variables of the environment around them the processes of a job are handed. */
#ifndef QS_CONFIG_JOB_ENV_H
#define QS_CONFIG_JOB_ENV_H

#include "config/job/job.h"

/* Whether a list of "K=V" has the name of this one, which may be a name alone. */
bool qs_env_sets(const struct qs_strings *env, const char *kv);

/* What the job itself sets for the processes of (arm, point): the last of a name counts, as it does in a
 * process. */
typedef void qs_job_variable_fn(const char *name, const char *value, void *user);
void qs_job_set_variables(const struct qs_job_spec *spec, size_t arm, size_t point, qs_job_variable_fn *fn,
                          void *user);
/* Whether it is set on purpose: the whole environment of a caller, which comes without the agent's below it,
 * has much that nobody chose. */
bool qs_job_chooses(const struct qs_job_spec *spec, const char *name);

/* Whether the processes of (arm, point) are handed this inherited "K=V": the benchmark inherits, neither it
 * nor the arm sets the name, and it is one that any `user` gets (PATH, LANG, LC_ALL) where the benchmark has
 * one. */
bool qs_job_inherits(const struct qs_job_spec *spec, size_t arm, size_t point, const char *kv);
/* Whether any process of the job is. */
bool qs_job_inherits_any(const struct qs_job_spec *spec, const char *kv);

#endif
