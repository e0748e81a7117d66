/* The process that outlives the agent (Linux): it waits for it with nothing else to do, and ends whatever a
 * killed agent leaves behind. */
#ifndef QS_LINUX_SUPERVISOR_H
#define QS_LINUX_SUPERVISOR_H

#include <stdbool.h>
#include <stdint.h>

/* What the supervised process, the agent, knows of the other. */
struct qs_supervised {
    int32_t started_by; /* the process that started us both */
    int alive_fd;       /* owned: hangs up when the supervisor has ended */
};

/* Splits this process. The one that was there stays as the supervisor: it never returns, passes signals on,
 * and ends as the agent does. The new one is the agent, and returns true. False: errno, nothing was split. */
bool qs_supervisor_split(struct qs_supervised *agent);

#endif
