/* A clock of this machine, read without a loop: what a loop measures is in loop.h. */
#ifndef QS_BASE_CLOCK_H
#define QS_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* CLOCK_MONOTONIC for how long something takes, CLOCK_REALTIME for when it is. */
int64_t qs_clock_ns(clockid_t clock);

#endif
