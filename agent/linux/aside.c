#include "linux/aside.h"

#include "core/print.h"
#include "linux/io.h"

static void choose(struct qs_commands *commands, const cpu_set_t *allowed)
{
    commands->cpus = *allowed;
    for (size_t i = 0; i < QS_CPUS_MAX && CPU_COUNT(allowed) > 1; i++) {
        if (CPU_ISSET(i, allowed)) {
            CPU_CLR(i, &commands->cpus);
            break;
        }
    }
    commands->pinned = true;
}

bool qs_aside_step(struct qs_aside *aside, struct qs_commands *commands, const cpu_set_t *allowed)
{
    cpu_set_t left = *allowed;
    if (!commands->pinned) {
        choose(commands, allowed);
    }
    for (size_t i = 0; i < QS_CPUS_MAX; i++) {
        if (CPU_ISSET(i, &commands->cpus)) {
            CPU_CLR(i, &left);
        }
    }
    aside->on = sched_getaffinity(0, sizeof aside->kept, &aside->kept) == 0 && CPU_COUNT(&left) > 0 &&
                sched_setaffinity(0, sizeof left, &left) == 0;
    return aside->on;
}

/* Where a process of the highest priority spins nothing else runs, and nobody is left to end it: the agent
 * has a processor of its own then, or there is no such process. */
bool qs_aside_begin(struct qs_aside *aside, const struct qs_msg_run_begin *run, struct qs_commands *commands,
                    const cpu_set_t *allowed, struct qs_port_ready *ready, struct qs_port_fault *fault)
{
    bool fifo = run->start.sched == QS_SCHED_FIFO;
    if (run->mode == QS_RUN_HARNESS || fifo) {
        ready->shared_cpu = !qs_aside_step(aside, commands, allowed);
    }
    if (!fifo || !ready->shared_cpu) {
        return true;
    }
    fault->blame = QS_WIRE_BLAME_OPERATOR;
    fault->wire_code = QS_CODE_UNSUPPORTED;
    qs_print(fault->text, sizeof fault->text,
             "`priority: fifo` needs a processor that the agent has for itself: a program that spins could "
             "not be ended "
             "otherwise; %s",
             CPU_COUNT(allowed) > 1 ? "give the run fewer processors (`affinity`)"
                                    : "this agent has only one");
    return false;
}

void qs_aside_back(struct qs_aside *aside)
{
    if (aside->on) {
        sched_setaffinity(0, sizeof aside->kept, &aside->kept);
    }
    aside->on = false;
}
