/* How busy the processors are with what is not ours: two looks at running sums, some time apart. Pure. */
#ifndef QS_LINUX_BUSY_H
#define QS_LINUX_BUSY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { QS_BUSY_LOOKS = 16 };

/* Sums since some moment in the past. ours_ns is the part of busy_ns that we know to be our own. */
struct qs_busy_look {
    int64_t at_ns, busy_ns, all_ns, ours_ns;
};

struct qs_busy {
    struct qs_busy_look looks[QS_BUSY_LOOKS]; /* oldest first */
    size_t count;
};

/* What was before does not count. */
void qs_busy_restart(struct qs_busy *busy);
/* Takes a look and tells the foreign share (0 to 1000000 ppm) since the latest one that is at least 90 ms and
 * at most 1 s old. False: there is none yet, ask again soon; *ppm is 0. Sums that run backwards (a processor
 * was taken offline) begin anew. */
bool qs_busy_take(struct qs_busy *busy, const struct qs_busy_look *now, int64_t *ppm);

#endif
