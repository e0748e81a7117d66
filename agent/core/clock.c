#include "core/clock.h"

#include <string.h>

void qs_clock_init(struct qs_clock *clock)
{
    memset(clock, 0, sizeof *clock);
    clock->least_ns = INT64_MAX;
}

/* Keeps the longest: nearly all intervals are shorter than those that are there already. */
static void keep(struct qs_clock *clock, int64_t interval_ns)
{
    size_t i = QS_CLOCK_TOP - 1;
    if (interval_ns <= clock->top_ns[i]) {
        return;
    }
    for (; i > 0 && clock->top_ns[i - 1] < interval_ns; i--) {
        clock->top_ns[i] = clock->top_ns[i - 1];
    }
    clock->top_ns[i] = interval_ns;
}

void qs_clock_take(struct qs_clock *clock, const int64_t *readings_ns)
{
    for (size_t i = 0; i < QS_CLOCK_BURST; i++) {
        int64_t interval_ns = readings_ns[i + 1] - readings_ns[i];
        clock->lowest_ns = interval_ns < clock->lowest_ns ? interval_ns : clock->lowest_ns;
        if (interval_ns > 0 && interval_ns < clock->least_ns) {
            clock->least_ns = interval_ns;
        }
        keep(clock, interval_ns);
    }
    clock->count += QS_CLOCK_BURST;
}

void qs_clock_judge(const struct qs_clock *clock, struct qs_port_clock *out)
{
    const int64_t *top = clock->top_ns;
    *out = (struct qs_port_clock){.precision_ns = 0};
    if (clock->count < QS_CLOCK_INTERVALS || clock->lowest_ns < 0 || clock->least_ns == INT64_MAX) {
        return;
    }
    /* The place of the quantile among n = 100000 is (n - 1) * 0.999 = 99899.001, counted from 0. */
    int64_t step_ns = top[QS_CLOCK_TOP - 2] - top[QS_CLOCK_TOP - 1];
    out->precision_ns = clock->least_ns;
    out->accuracy_ns = top[QS_CLOCK_TOP - 1] + step_ns / 1000 + (step_ns % 1000 >= 500);
}
