/* Go benchmarks of an unchanged binary on 12 nights: what changes there is noise. */
#ifndef QS_TESTS_STATS_NIGHTS_H
#define QS_TESTS_STATS_NIGHTS_H

#include <stddef.h>

enum { NIGHTS = 12, REPETITIONS = 25, MAX_BENCHMARKS = 128 };

struct nights {
    double v[MAX_BENCHMARKS][NIGHTS][REPETITIONS]; /* ns/op; a few nights have fewer than 25 */
    size_t count[MAX_BENCHMARKS][NIGHTS];
    double median[MAX_BENCHMARKS][NIGHTS];
    size_t n; /* benchmarks: 101 */
};

/* Reads tests/data/gobench; fails the test where it is not as expected. */
void nights_load(struct nights *out);

#endif
