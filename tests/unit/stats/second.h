/* The series behind reference-second-implementation.json's "series". */
#ifndef QS_TESTS_STATS_SECOND_H
#define QS_TESTS_STATS_SECOND_H

#include "reference.h"

/* The values of series.<name>; the caller frees. */
struct series second_series(const char *name);

/* Calls check(name, expected, series) for each series; returns how many there were. */
size_t second_each(void (*check)(const char *name, json_t *want, const struct series *s));

#endif
