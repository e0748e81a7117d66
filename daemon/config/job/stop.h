/* Stop rules in job files: rules of stats/rule.h as trees that a job owns. `stop: standard` names a preset,
 * `stop: {stable: {least: 50}}` a rule, `stop: {any: [standard, {time: 60s}]}` joins them. */
#ifndef QS_CONFIG_JOB_STOP_H
#define QS_CONFIG_JOB_STOP_H

#include "base/buf.h"
#include "stats/rule.h"

struct qs_json;

/* A copy that owns its children; free with qs_stop_free. */
struct qs_rule *qs_stop_copy(const struct qs_rule *rule);
/* Frees the children, not the rule itself. */
void qs_stop_done(struct qs_rule *rule);
void qs_stop_free(struct qs_rule *rule); /* NULL is allowed */

/* Adds the names of the external rules below it (NULL: none) to `count` others, each once, at most `most` of
 * them; returns how many there are. */
size_t qs_stop_externals(const struct qs_rule *rule, const char **names, size_t most, size_t count);

/* The rules and presets as two Markdown tables, for the reference. */
void qs_stop_reference(struct qs_buf *out);
/* The rule with all its arguments, as a value; null where it is NULL. */
void qs_stop_put(struct qs_json *j, const struct qs_rule *rule);
/* The keywords of the value's JSON Schema, which refers to itself at plan.stop; elsewhere that alone. */
void qs_stop_json_schema(struct qs_json *j);
void qs_stop_json_ref(struct qs_json *j);

#endif
