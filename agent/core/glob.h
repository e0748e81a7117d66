/* Patterns of names, as fnmatch(3) has them, for ASCII. Pure, bounded by the product of both lengths, and a
 * tenth of the size that the library's has. */
#ifndef QS_AGENT_CORE_GLOB_H
#define QS_AGENT_CORE_GLOB_H

#include <stdbool.h>

enum qs_glob {
    QS_GLOB_NAME,    /* a leading dot is matched by a dot alone: a file's name */
    QS_GLOB_ANY_CASE /* upper and lower case are the same */
};

/* `*`, `?`, `[a-z]`, `[!a-z]` or `[^a-z]`, `[[:digit:]]`; a backslash before a character that is meant as it
 * is. A bracket that is never closed is a character. The whole text has to match. */
bool qs_glob_match(const char *pattern, const char *text, enum qs_glob how);

#endif
