/* The process that outlives the agent (Linux): it waits for it with nothing else to do, ends whatever a
 * killed agent leaves behind, and puts back what that has changed on the device. */
#ifndef QS_LINUX_SUPERVISOR_H
#define QS_LINUX_SUPERVISOR_H

#include <stdbool.h>
#include <stdint.h>

struct qs_keeper;

/* What the supervised process, the agent, knows of the other. */
struct qs_supervised {
    int32_t started_by;    /* the process that started us both */
    int fd;                /* owned: to the keeper; hangs up when the supervisor has ended */
    int state_fd, lock_fd; /* owned: the folder of the journal and its lock, where they are shared; else -1 */
};

/* Splits this process. The one that was there stays as the supervisor: it never returns, passes signals on,
 * serves the agent's keeper, and ends as the agent does. The new one is the agent, and returns true; the
 * keeper is closed there. False: errno, nothing was split. */
bool qs_supervisor_split(struct qs_supervised *agent, struct qs_keeper *keeper);
/* Ends this process as another has ended, of whom waitpid told `status`: by exit code or signal. */
void qs_supervisor_end_as(int status) __attribute__((noreturn));

#endif
