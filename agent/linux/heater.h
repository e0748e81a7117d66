/* Processes that keep processors busy, so that the device becomes warm. They share nothing with the agent,
 * and end with it. */
#ifndef QS_LINUX_HEATER_H
#define QS_LINUX_HEATER_H

#include <sched.h>
#include <stdbool.h>
#include <sys/types.h>

#define QS_HEATER_NAME "qs-heater" /* of its processes */

struct qs_heater {
    pid_t group; /* of its processes; 0: there is none */
};

/* One process for each of these processors, none of which was stopped before them: false, with errno. */
bool qs_heater_start(struct qs_heater *heater, const cpu_set_t *cpus);
/* Ends them. True: none of them is left; false: they have not ended within a tenth of a second, and are to be
 * asked for again. */
bool qs_heater_stop(struct qs_heater *heater);

#endif
