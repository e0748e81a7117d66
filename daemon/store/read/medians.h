/* Medians of runs, kept once they were computed: table run_median. What they are computed from stays where it
 * is; a trigger takes a median away when that changes. */
#ifndef QS_STORE_READ_MEDIANS_H
#define QS_STORE_READ_MEDIANS_H

#include "store/store.h"

/* How values.c chooses the values of a run. Another way is another number: what was kept by an older one is
 * computed again. */
enum { QS_MEDIAN_METHOD = 2 };

struct qs_median_row {
    uint8_t run_uid[16];
    int64_t metric;            /* 0: the time of an iteration */
    double median;             /* NaN: the run has no value */
    int64_t n;                 /* values that it is the median of */
    bool disturbed;            /* softly tainted ones, because there was no clean one */
    int64_t windows, warmup_n; /* of the run when its values were read */
};

/* Keeps them, each unless its run has more windows or another warm-up by then. done(NULL): committed. */
void qs_store_medians(struct qs_store *store, const struct qs_median_row *rows, size_t count,
                      qs_store_done_fn *done, void *user);

#endif
