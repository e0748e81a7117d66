/* What a clock can tell apart, from readings that follow each other without a pause: seed of the number of
 * evaluations that one iteration needs. Pure; the port reads. */
#ifndef QS_AGENT_CORE_CLOCK_H
#define QS_AGENT_CORE_CLOCK_H

#include <stddef.h>
#include <stdint.h>

#include "core/port_program.h"

enum {
    QS_CLOCK_INTERVALS = 100000,
    QS_CLOCK_BURST = 1000, /* intervals between readings that are taken at once; divides the above */
    QS_CLOCK_TOP = 101     /* so many of them are not below the quantile 0.999 */
};

struct qs_clock {
    uint32_t count;
    int64_t least_ns;             /* above 0; INT64_MAX: none yet */
    int64_t top_ns[QS_CLOCK_TOP]; /* the longest ones, falling */
    int64_t lowest_ns;            /* below 0 for a clock that goes back */
};

void qs_clock_init(struct qs_clock *clock);
/* QS_CLOCK_BURST + 1 readings. */
void qs_clock_take(struct qs_clock *clock, const int64_t *readings_ns);
/* After QS_CLOCK_INTERVALS: the shortest interval above 0, and the quantile 0.999 (type 7) of all. Zeros for
 * a clock that went back, or never forward. */
void qs_clock_judge(const struct qs_clock *clock, struct qs_port_clock *out);

#endif
