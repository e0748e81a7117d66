/* Two proportions: did one side lose more than the other? */
#ifndef QS_STATS_PROPORTION_H
#define QS_STATS_PROPORTION_H

#include <stddef.h>

/* Fisher's exact test, two-sided (the sum of all tables as probable as this one or less, as R's fisher.test):
 * hit1 of n1 against hit2 of n2. 1 where nothing can be told (an empty side, no hit, or nothing but hits);
 * NaN where hit > n. */
double qs_fisher_exact(size_t hit1, size_t n1, size_t hit2, size_t n2);

#endif
