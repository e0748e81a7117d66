/* Which metrics of an iteration live where: those of rusage have a column each in iteration_rusage (one row
 * an iteration), all others a row each in iteration_metric. Internal to store. */
#ifndef QS_STORE_METRICS_H
#define QS_STORE_METRICS_H

#include "store/rows.h"

enum { QS_RUSAGE_COLUMNS = 9 };
extern const char *const qs_rusage_names[QS_RUSAGE_COLUMNS]; /* in the table's order, = metric 1..9 */

#define QS_RUSAGE_COLUMN_LIST                                                                                \
    "user_time_us, system_time_us, max_rss_bytes, minor_faults, major_faults, voluntary_switches,"           \
    " involuntary_switches, block_in, block_out"

struct qs_metric_map {
    int rusage[QS_RUSAGE_COLUMNS]; /* place in values[] of each column, -1: not given */
    bool any_rusage;
    size_t others[QS_ROW_METRICS_MAX]; /* places in values[] of the rest */
    size_t other_count;
};
/* count <= QS_ROW_METRICS_MAX */
void qs_metric_map(const char *const *names, size_t count, struct qs_metric_map *ret);

#endif
