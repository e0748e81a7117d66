/* What a difference in a variable of the environment may do to a comparison: one table, which an operator
 * extends in farm.yaml (`variables`). schema/sides.md shows it. */
#ifndef QS_REPORT_VARIABLES_H
#define QS_REPORT_VARIABLES_H

#include <stdbool.h>
#include <stddef.h>

#include "config/farm/farm.h"
#include "report/env_diff.h"

struct qs_variable_rule {
    enum qs_env_class class; /* MACHINE, or RECORDED */
    const char *what;        /* these variables in a few words */
    const char *names;       /* patterns with one blank between */
};

/* The rows in the order in which they are asked; a variable that none names is NOTED. Static. */
const struct qs_variable_rule *qs_variable_rules(size_t *ret_count);

/* Whether a pattern means this key: the key itself, what lies below it (`env` for env.PATH), or, of a pattern
 * that ends in `*`, whatever begins so. n: bytes of the pattern. An empty one means nothing. */
bool qs_env_match(const char *pattern, size_t n, const char *key);

/* The class of a variable by its name. The operator's lists, which may be NULL, are asked first: refuse,
 * note, ignore. */
enum qs_env_class qs_variable_class(const char *name, const struct qs_farm_variables *of_farm);

/* What is kept of a variable that nobody has written into a job: the value where a difference is refused, and
 * of all others, which may be secrets, "sha256:0123456789abcdef, 12 bytes". */
void qs_variable_keep(const char *name, const char *value, const struct qs_farm_variables *of_farm,
                      struct qs_buf *out);
/* Bytes of the value of which this was kept. */
size_t qs_variable_kept_bytes(const char *kept);

#endif
