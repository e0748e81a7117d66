#include "store/metrics.h"

#include <string.h>

const char *const qs_rusage_names[QS_RUSAGE_COLUMNS] = {
    "user_time_us",       "system_time_us",       "max_rss_bytes", "minor_faults", "major_faults",
    "voluntary_switches", "involuntary_switches", "block_in",      "block_out",
};

static int column_of(const char *name)
{
    for (int c = 0; c < QS_RUSAGE_COLUMNS; c++)
        if (strcmp(name, qs_rusage_names[c]) == 0)
            return c;
    return -1;
}

void qs_metric_map(const char *const *names, size_t count, struct qs_metric_map *ret)
{
    *ret = (struct qs_metric_map){.other_count = 0};
    for (int c = 0; c < QS_RUSAGE_COLUMNS; c++)
        ret->rusage[c] = -1;
    for (size_t k = 0; k < count; k++) {
        int c = column_of(names[k]);
        if (c >= 0) {
            ret->rusage[c] = (int)k;
            ret->any_rusage = true;
        } else {
            ret->others[ret->other_count++] = k;
        }
    }
}
