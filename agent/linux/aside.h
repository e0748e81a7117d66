/* The agent steps aside: the processes of a run have their processors, the agent the others (Linux). */
#ifndef QS_LINUX_ASIDE_H
#define QS_LINUX_ASIDE_H

#include <sched.h>
#include <stdbool.h>

#include "linux/command.h"

struct qs_aside { /* zeroed: it has not */
    bool on;
    cpu_set_t kept; /* where it was allowed before */
};

/* The run's processes get commands->cpus (all of `allowed` but the lowest where the run did not say), the
 * agent what is left, until it is back. False: nothing is, and it stays where it was. */
bool qs_aside_step(struct qs_aside *aside, struct qs_commands *commands, const cpu_set_t *allowed);
/* For a run that needs it: of harness mode, where *ready says whether it could not, and under SCHED_FIFO.
 * False: *fault says why that may not be. */
bool qs_aside_begin(struct qs_aside *aside, const struct qs_msg_run_begin *run, struct qs_commands *commands,
                    const cpu_set_t *allowed, struct qs_port_ready *ready, struct qs_port_fault *fault);
void qs_aside_back(struct qs_aside *aside);

#endif
