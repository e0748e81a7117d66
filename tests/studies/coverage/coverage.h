/* The tables of coverage_study. */
#ifndef QS_STUDIES_COVERAGE_H
#define QS_STUDIES_COVERAGE_H

#include <stddef.h>

#include "stats/rng.h"

/* A draw of the standard normal distribution. */
double coverage_normal(struct qs_rng *rng);

/* Intervals for runs of iterations: for the mean over runs, and for the ratio of two sides. */
void coverage_print_runs(size_t repetitions, size_t resamples);

#endif
