/* What a person is told while no answer comes, how often, and why that may be. */
#ifndef QS_CTL_CLIENT_PATIENCE_H
#define QS_CTL_CLIENT_PATIENCE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"

struct qs_patience {
    int64_t asked_ns; /* of the monotonic clock, as every now_ns here */
    int64_t due_ns;   /* then it is said, or said again */
};

/* Something was asked for just now. */
void qs_patience_begin(struct qs_patience *p, int64_t now_ns);
/* After 3 s, and then after twice the time, at most 10 minutes later: appends a line with its end, which says
 * since when (wall_ns is now); else false. `stopped`: the daemon's process where it is known to be stopped,
 * or 0. */
bool qs_patience_line(struct qs_patience *p, int64_t now_ns, int64_t wall_ns, pid_t stopped,
                      struct qs_buf *out);
/* The process at the other end of a Unix socket where it was stopped (SIGSTOP, a debugger); else 0. */
pid_t qs_patience_stopped(int fd);

#endif
