#include "linux/clock.h"

#include "core/clock.h"

static void read_burst(clockid_t clock, int64_t *readings_ns)
{
    struct timespec t[QS_CLOCK_BURST + 1];
    for (size_t i = 0; i <= QS_CLOCK_BURST; i++) {
        clock_gettime(clock, &t[i]);
    }
    for (size_t i = 0; i <= QS_CLOCK_BURST; i++) {
        readings_ns[i] = (int64_t)t[i].tv_sec * 1000000000 + t[i].tv_nsec;
    }
}

void qs_linux_clock_read(clockid_t clock, const cpu_set_t *cpus, struct qs_port_clock *out)
{
    struct qs_clock found;
    cpu_set_t kept;
    int64_t readings_ns[QS_CLOCK_BURST + 1];
    sched_getaffinity(0, sizeof kept, &kept);
    sched_setaffinity(0, sizeof *cpus, cpus);
    qs_clock_init(&found);
    read_burst(clock, readings_ns); /* caches and the vDSO's page are cold */
    for (int i = 0; i < QS_CLOCK_INTERVALS / QS_CLOCK_BURST; i++) {
        read_burst(clock, readings_ns);
        qs_clock_take(&found, readings_ns);
    }
    sched_setaffinity(0, sizeof kept, &kept);
    qs_clock_judge(&found, out);
}
