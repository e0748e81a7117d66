#include "linux/io.h"
#include "linux/port.h"
#include "linux/slow.h"

/* A command may run beside a program that sleeps between windows, never beside a child that is measured, nor
 * beside a tracer. */
static bool may_ask(const struct qs_linux *os)
{
    enum qs_agent_state state = os->agent.state;
    return (state == QS_STATE_READY || state == QS_STATE_RUN_OPEN || state == QS_STATE_WAITING) &&
           (!os->child.runs || os->child.job == QS_JOB_PROGRAM) && !os->tracer.runs;
}

/* While it runs it is no stray. */
static void spare(struct qs_linux *os)
{
    if (!os->tracer.runs) {
        os->child.spare = os->probe.slow.pid;
    }
}

void qs_linux_read_sensor(struct qs_linux *os, const char *name, struct qs_port_reading *reading)
{
    os->probe.slow.shut = !may_ask(os);
    qs_probe_sensor(&os->probe, name, qs_io_now_ns(os->clock), reading);
    spare(os);
}

bool qs_linux_is_settled(struct qs_linux *os)
{
    os->probe.slow.shut = !may_ask(os);
    bool settled = qs_slow_settled(&os->probe, qs_io_now_ns(os->clock));
    spare(os);
    return settled;
}

void qs_linux_look_after_slow(struct qs_linux *os)
{
    if (os->probe.slow.pid != 0) {
        qs_slow_turn(&os->probe, qs_io_now_ns(os->clock));
        spare(os);
    }
}

void qs_linux_end_slow(struct qs_linux *os)
{
    qs_slow_stop(&os->probe);
    spare(os);
}
