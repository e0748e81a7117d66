/* What a running job may know: how precise its comparison is by now, and how long it will take. Precision
 * only, never the effect. */
#ifndef QS_REPORT_JOB_LOOK_H
#define QS_REPORT_JOB_LOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Half-width of the 95 % interval as a ratio: the widest over the arms compared with the baseline, from block
 * medians (medians_ns[block * arm_count + arm], NaN where the arm has no accepted data in that block: the
 * block is left out), disturbed (or NULL) for each block, paired form of statistics.md 8.11: (exp(hi) -
 * exp(lo)) / 2 relative to the estimate. One arm: half-width of the interval of the median, each
 * block for what it is worth (stats/mixed_median.h), over the median. NaN where there is too little data
 * (fewer than 3 complete blocks; one arm: fewer than 6). */
double qs_look_half_width(const double *medians_ns, const bool *disturbed, size_t blocks, size_t arm_count,
                          size_t baseline, double alpha);
/* Whether disturbed times (positive) differ from clean ones beyond chance: stats/mixed.h, on logs. */
bool qs_look_times_differ(const double *ns, const bool *disturbed, size_t n);

#endif
