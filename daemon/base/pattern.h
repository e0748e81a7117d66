/* A regular expression (POSIX extended) with one group, which is what it is for. Bounded in what it can cost:
 * its own length, its groups and repeats (before it is compiled), the length of a line; references back into
 * the match are refused. */
#ifndef QS_BASE_PATTERN_H
#define QS_BASE_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

enum {
    QS_PATTERN_BYTES = 256,
    QS_PATTERN_REPEATS = 255, /* all {bounds} of a pattern, multiplied */
    QS_PATTERN_LINE_BYTES = 1024
};

struct qs_pattern;

/* QS_E_JOB says what is wrong with it. */
bool qs_pattern_new(const char *text, struct qs_pattern **ret, struct qs_err *err);
void qs_pattern_free(struct qs_pattern *pattern); /* NULL is allowed */
/* The group of the first match in a line (no line ends in it, at most QS_PATTERN_LINE_BYTES: longer ones do
 * not match). False where nothing matches, or the group took no part in it. */
bool qs_pattern_find(const struct qs_pattern *pattern, const char *line, size_t n, size_t *ret_at,
                     size_t *ret_n);

#endif
