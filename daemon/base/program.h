/* Programs that are installed together, or lie in one build tree, find each other. */
#ifndef QS_BASE_PROGRAM_H
#define QS_BASE_PROGRAM_H

#include <stdbool.h>

/* A regular file that may be executed. */
bool qs_program_is(const char *path);

/* The first of `places` that is a program; they are paths from the folder of the running program, and NULL
 * ends them. Where there is none, a copy of `otherwise`, which may be NULL. Owned by the caller. */
char *qs_program_beside(const char *const *places, const char *otherwise);

#endif
