/* Inside PELT: the search for the best segmentation, whatever a segment costs. */
#ifndef QS_STATS_PELT_PARTS_H
#define QS_STATS_PELT_PARTS_H

#include "stats/status.h"

#include <stddef.h>

struct qs_pelt_search {
    size_t n, least; /* values; in a segment, 1 <= least <= n */
    double penalty;
    double (*cost)(const void *model, size_t from, size_t end); /* of the values from .. end-1 */
    const void *model;
    const struct qs_progress *progress;
};

/* changes has room for n/least. QS_ENOMEM, QS_ECANCELED. */
enum qs_status qs_pelt_search(const struct qs_pelt_search *search, size_t *changes, size_t *count);

#endif
