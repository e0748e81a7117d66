/* What differs between the environments of two sessions or runs: canonical JSON as the store keeps it, nested
 * objects by dotted keys, and facts of a run that the caller adds (its executable, its device). */
#ifndef QS_REPORT_ENV_DIFF_H
#define QS_REPORT_ENV_DIFF_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "config/farm/farm.h"
#include "report/fields.h"

/* What a difference may do to a comparison. A key that is not known here counts as MACHINE: what may matter
 * is told. */
enum qs_env_class {
    QS_ENV_MACHINE,    /* hardware, system, policy: may change what is measured */
    QS_ENV_INSTRUMENT, /* the agent and the daemon: may change how it is measured */
    QS_ENV_NOTED,      /* changes neither as a rule: what can be read, the place in a tree of groups */
    QS_ENV_RECORDED,   /* cannot matter, and is not compared: which terminal a variable tells of */
};

struct qs_env_change {
    char *key;         /* owned, as the next two: "governors", "host.kernel" */
    char *base, *cand; /* NULL: not there on this side */
    enum qs_env_class class;
};

struct qs_env_diff {
    struct qs_env_change *at; /* owned; by key where they come from JSON, then in the order of _add */
    size_t count;
    bool known; /* both environments were given */
};

/* Either text may be NULL (not known): there are no differences then, and known is false. of_farm: the
 * operator's lists of variables, or NULL. QS_E_DATA where a text is not a JSON object. To be freed whatever
 * the answer. */
bool qs_env_diff(const char *base_json, const char *cand_json, const struct qs_farm_variables *of_farm,
                 struct qs_env_diff *ret, struct qs_err *err);

/* Whose environment it was: the processes of an arm at a point. NULL: not known, and taken to inherit all. */
struct qs_env_processes {
    const struct qs_job_spec *spec;
    size_t arm, point;
};
/* Leaves of the inherited variables what processes were handed (qs_job_inherits): a session keeps those of
 * all that its job started. */
void qs_env_diff_inherited(struct qs_env_diff *diff, const struct qs_env_processes *base,
                           const struct qs_env_processes *cand);
/* A job sets this variable on one side: where the other inherits it, both are one difference, or none. False:
 * it does not, and nothing was done. */
bool qs_env_diff_join(struct qs_env_diff *diff, const char *name, const char *base, const char *cand,
                      enum qs_env_class class);
/* Adds a difference where the texts differ; both may be NULL. They are copied. */
void qs_env_diff_add(struct qs_env_diff *diff, const char *key, const char *base, const char *cand,
                     enum qs_env_class class);
void qs_env_diff_free(struct qs_env_diff *diff);

enum qs_env_class qs_env_class_of(const char *key, const struct qs_farm_variables *of_farm);
const char *qs_env_class_name(enum qs_env_class class); /* "machine", "noted"; static */
bool qs_env_matters(enum qs_env_class class);
/* How many differences of MACHINE or INSTRUMENT there are: those that forbid to ascribe a change of the
 * values to the thing under test. */
size_t qs_env_diff_matters(const struct qs_env_diff *diff);
struct qs_env_told {
    struct qs_field_list differences; /* texts borrowed from the differences */
};
extern const struct qs_field qs_env_told_rows[];
/* To be freed by qs_fields_free. */
struct qs_env_told qs_env_diff_told(const struct qs_env_diff *diff);

#endif
