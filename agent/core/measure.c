/* The iterations of a window: prepare, the timed process, conclude, and the next one. */
#include "core/actions.h"

#include "core/print.h"

#include <string.h>

static enum qs_agent_event fail(struct qs_agent *agent, const char *text)
{
    agent->window.how = QS_CLOSED_FAILED;
    if (text != agent->window.failure) {
        qs_print(agent->window.failure, sizeof agent->window.failure, "%s", text);
    }
    return QS_EV_LAST;
}

static enum qs_agent_event start_iteration(struct qs_agent *agent)
{
    struct qs_port_fault fault = {.code = 0};
    agent->window.step = QS_STEP_ITERATION;
    qs_act_watch_child(agent, agent->run.iteration_limit_ns);
    if (!agent->port.start(agent->port.ctx, QS_JOB_ITERATION, &fault)) {
        return fail(agent, fault.text);
    }
    return QS_EV_NONE;
}

/* Begins the next iteration, unless the window's count or its time is used up. */
static enum qs_agent_event next(struct qs_agent *agent)
{
    struct qs_agent_window *w = &agent->window;
    struct qs_port_fault fault = {.code = 0};
    if (w->cancelled) {
        w->how = QS_CLOSED_CANCELLED;
        return QS_EV_LAST;
    }
    if (w->done == w->planned) {
        return QS_EV_LAST;
    }
    if (w->done > 0 && qs_agent_now_ns(agent) - w->opened_ns >= w->max_ns) {
        w->how = QS_CLOSED_TIME_UP;
        return QS_EV_LAST;
    }
    w->row.flags = 0;
    if (!agent->run.prepare) {
        return start_iteration(agent);
    }
    w->step = QS_STEP_PREPARE;
    qs_act_watch_child(agent, agent->run.hook_limit_ns);
    if (!agent->port.start(agent->port.ctx, QS_JOB_PREPARE, &fault)) {
        return fail(agent, fault.text);
    }
    return QS_EV_NONE;
}

void qs_act_record(struct qs_agent *agent)
{
    struct qs_agent_window *w = &agent->window;
    uint16_t metrics = agent->run.harness.on ? agent->run.harness.metric_count : QS_PORT_METRICS;
    struct qs_build row;
    qs_build_init(&row, qs_ring_row(&agent->ring), qs_ring_row_bytes(metrics));
    qs_build_row(&row, metrics, &w->row);
    w->done++;
    agent->run.next_seq++;
}

static bool expected_exit(const struct qs_agent_run *run, int32_t code)
{
    switch (run->exit_rule) {
    case QS_EXIT_RULE_ZERO:
        return code == 0;
    case QS_EXIT_RULE_ANY:
        return true;
    case QS_EXIT_RULE_LIST:
        break;
    }
    for (size_t i = 0; i < run->exit_count; i++) {
        if (run->exit_codes[i] == code) {
            return true;
        }
    }
    return false;
}

static uint32_t flags_of(const struct qs_agent *agent, const struct qs_port_child *child)
{
    uint32_t flags = 0;
    if (agent->timed_out) {
        flags |= QS_ITERATION_TIMED_OUT;
    } else if (child->how == QS_PORT_SIGNALLED) {
        flags |= QS_ITERATION_SIGNALLED | (child->core_dumped ? (uint32_t)QS_ITERATION_CORE_DUMPED : 0);
    } else if (!expected_exit(&agent->run, child->code)) {
        flags |= QS_ITERATION_UNEXPECTED_EXIT;
    }
    flags |= child->left_children ? (uint32_t)QS_ITERATION_LEFT_CHILDREN : 0;
    flags |= child->output_cut ? (uint32_t)QS_ITERATION_OUTPUT_CUT : 0;
    return flags;
}

static enum qs_agent_event iteration_over(struct qs_agent *agent)
{
    const struct qs_port_child *child = agent->child;
    struct qs_agent_window *w = &agent->window;
    struct qs_port_fault fault = {.code = 0};
    if (w->cancelled) {
        return next(agent); /* it was cut short: not a measurement */
    }
    w->row.start_off_ns = child->start_ns - w->opened_ns;
    w->row.duration_ns = child->end_ns - child->start_ns;
    w->row.status = child->how == QS_PORT_SIGNALLED ? -child->code : child->code;
    w->row.flags |= flags_of(agent, child);
    memcpy(w->row.values, child->metrics, sizeof child->metrics);
    if (!agent->run.conclude) {
        qs_act_record(agent);
        return next(agent);
    }
    w->step = QS_STEP_CONCLUDE;
    qs_act_watch_child(agent, agent->run.hook_limit_ns);
    if (!agent->port.start(agent->port.ctx, QS_JOB_CONCLUDE, &fault)) {
        w->row.flags |= QS_ITERATION_CONCLUDE_FAILED;
        qs_act_record(agent);
        return fail(agent, fault.text);
    }
    return QS_EV_NONE;
}

void qs_act_prepare_window(struct qs_agent *agent)
{
    struct qs_agent_window *w = &agent->window;
    struct qs_port_fault fault = {.code = 0};
    w->failure[0] = '\0';
    if (!agent->port.window_open(agent->port.ctx, &fault)) {
        memcpy(w->failure, fault.text, sizeof w->failure);
    }
    if (w->phase == QS_PHASE_TUNE) {
        agent->port.program_clock(agent->port.ctx, &w->clock);
    }
    memset(w->evidence, 0, sizeof w->evidence);
    w->evidence_count =
        agent->port.evidence(agent->port.ctx, false, w->evidence, QS_EVIDENCE_MAX - QS_AGENT_EVIDENCE);
}

enum qs_agent_event qs_act_measure(struct qs_agent *agent)
{
    struct qs_agent_window *w = &agent->window;
    bool harness = agent->run.harness.on;
    if (!harness) {
        qs_act_prepare_window(agent);
    }
    agent->deadline_ns = 0;
    w->opened_ns = qs_agent_now_ns(agent);
    if (w->failure[0]) {
        return fail(agent, w->failure);
    }
    return harness ? qs_harness_measure(agent) : next(agent);
}

enum qs_agent_event qs_act_step(struct qs_agent *agent)
{
    struct qs_agent_window *w = &agent->window;
    const struct qs_port_child *child = agent->child;
    bool good = child->how == QS_PORT_EXITED && child->code == 0 && !agent->timed_out;
    if (agent->run.harness.on) {
        return qs_harness_died(agent);
    }
    if (child->how == QS_PORT_LOST) {
        if (w->step == QS_STEP_CONCLUDE) {
            w->row.flags |= QS_ITERATION_CONCLUDE_FAILED;
            qs_act_record(agent);
        }
        return fail(
            agent,
            "a process did not die from SIGKILL: it waits in the kernel (a driver?); reboot the device");
    }
    switch (w->step) {
    case QS_STEP_PREPARE:
        w->row.flags |= good ? 0 : (uint32_t)QS_ITERATION_PREPARE_FAILED;
        return w->cancelled ? next(agent) : start_iteration(agent);
    case QS_STEP_ITERATION:
        return iteration_over(agent);
    case QS_STEP_CONCLUDE:
        w->row.flags |= good ? 0 : (uint32_t)QS_ITERATION_CONCLUDE_FAILED;
        qs_act_record(agent);
        break;
    }
    return next(agent);
}

enum qs_agent_event qs_act_interrupt(struct qs_agent *agent)
{
    agent->window.cancelled = true;
    return qs_act_stop_child(agent);
}
