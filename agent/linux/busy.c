#include "linux/busy.h"

#include <string.h>

/* A shorter look is mostly rounding (a tick is 10 ms), a longer one is not "now" any more. Looks that are
 * kept lie APART_NS apart, so that the oldest of them is always old enough. */
#define BACK_MIN_NS INT64_C(90000000)
#define BACK_MAX_NS INT64_C(1000000000)
#define APART_NS    INT64_C(10000000)

void qs_busy_restart(struct qs_busy *busy)
{
    busy->count = 0;
}

static void keep(struct qs_busy *b, const struct qs_busy_look *now)
{
    if (b->count > 0 && now->at_ns - b->looks[b->count - 1].at_ns < APART_NS) {
        return;
    }
    if (b->count == QS_BUSY_LOOKS) {
        memmove(&b->looks[0], &b->looks[1], (QS_BUSY_LOOKS - 1) * sizeof b->looks[0]);
        b->count--;
    }
    b->looks[b->count++] = *now;
}

static bool runs_on(const struct qs_busy_look *then, const struct qs_busy_look *now)
{
    return now->at_ns >= then->at_ns && now->busy_ns >= then->busy_ns && now->all_ns >= then->all_ns &&
           now->ours_ns >= then->ours_ns;
}

bool qs_busy_take(struct qs_busy *b, const struct qs_busy_look *now, int64_t *ppm)
{
    const struct qs_busy_look *then = NULL;
    *ppm = 0;
    if (b->count > 0 && !runs_on(&b->looks[b->count - 1], now)) {
        qs_busy_restart(b);
    }
    for (size_t i = 0; i < b->count; i++) {
        int64_t back_ns = now->at_ns - b->looks[i].at_ns;
        then = back_ns >= BACK_MIN_NS && back_ns <= BACK_MAX_NS ? &b->looks[i] : then;
    }
    if (then != NULL) {
        int64_t all_ns = now->all_ns - then->all_ns;
        int64_t foreign_ns = now->busy_ns - then->busy_ns - (now->ours_ns - then->ours_ns);
        foreign_ns = foreign_ns < all_ns ? foreign_ns : all_ns;
        *ppm = all_ns > 0 && foreign_ns > 0 ? (int64_t)((double)foreign_ns * 1e6 / (double)all_ns) : 0;
    }
    keep(b, now);
    return then != NULL;
}
