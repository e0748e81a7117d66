/* The port's operations on processors that are kept busy: heater.h does it. */
#include "linux/port.h"

static uint8_t op_load(void *ctx, const char *cpus)
{
    struct qs_linux *os = ctx;
    cpu_set_t set = os->run.iteration.argv && os->run.pinned ? os->run.cpus : os->probe.allowed;
    cpu_set_t beyond;
    bool known = cpus[0] == '\0' || qs_cpus_parse(cpus, &set);
    CPU_AND(&beyond, &set, &os->probe.allowed);
    if (!known || CPU_COUNT(&set) == 0 || !CPU_EQUAL(&beyond, &set)) {
        return QS_LOAD_NO_CPUS;
    }
    return qs_heater_start(&os->heater, &set) ? QS_LOAD_ON : QS_LOAD_FAILED;
}

/* What its processes have used is ours only when they have ended: looks from before that know nothing of it.
 */
static bool op_unload(void *ctx)
{
    struct qs_linux *os = ctx;
    bool over = qs_heater_stop(&os->heater);
    qs_busy_restart(&os->probe.busy);
    return over;
}

const struct qs_port_load qs_linux_load_port = {.start = op_load, .stop = op_unload};
