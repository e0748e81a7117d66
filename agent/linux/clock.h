/* How well a clock resolves where a program runs (Linux). */
#ifndef QS_LINUX_CLOCK_H
#define QS_LINUX_CLOCK_H

#include <sched.h>
#include <time.h>

#include "core/port.h"

/* Reads the clock 100 000 times on these processors, then goes back to its own; see core/clock.h. */
void qs_linux_clock_read(clockid_t clock, const cpu_set_t *cpus, struct qs_port_clock *out);

#endif
