/* A tracer beside the traced windows of a run: started before one, stopped after it. What it does meanwhile
 * is no event of the session: whether it is still there is seen when it is to be stopped. */
#include "core/actions.h"

#include <string.h>

#define GRACE_FORCED_NS INT64_C(5000000000) /* from SIGKILL to giving up */

static void arm(struct qs_agent *agent, int64_t span_ns)
{
    agent->trace.deadline_ns = qs_agent_now_ns(agent) + span_ns;
    agent->deadline_ns = agent->trace.deadline_ns;
}

static void tell(struct qs_agent *agent, enum qs_trace_status status, const struct qs_port_traced *traced)
{
    const struct qs_agent_trace *t = &agent->trace;
    const struct qs_msg_traced m = {.id = t->id,
                                    .status = status,
                                    .flags = t->flags | traced->flags,
                                    .started_ns = t->started_ns,
                                    .stopped_ns = t->stopped_ns,
                                    .total_bytes =
                                        traced->total_bytes < QS_SEQ_MAX ? traced->total_bytes : QS_SEQ_MAX,
                                    .said = {.p = traced->said, .n = (uint16_t)traced->said_bytes},
                                    .why = qs_text_of(traced->why)};
    qs_talk_send(agent, QS_MSG_TRACED, &m);
}

static bool refuse(struct qs_agent *agent, const struct qs_uid *run, enum qs_wire_code code, const char *text)
{
    qs_talk_error(agent, run, code, QS_WIRE_BLAME_HOST, text);
    return false;
}

static bool admit(struct qs_agent *agent, const struct qs_uid *run)
{
    if (!qs_uid_equal(run, &agent->run.uid)) {
        return refuse(agent, run, QS_CODE_UNKNOWN_RUN,
                      "a trace was asked for in a run that is not open here");
    }
    return (agent->features & QS_FEATURE_TRACE) != 0 ||
           refuse(agent, run, QS_CODE_UNSUPPORTED, "this agent starts no tracers");
}

enum qs_agent_event qs_act_trace(struct qs_agent *agent)
{
    const struct qs_msg_trace *m = &agent->msg->trace;
    struct qs_port_fault fault = {.code = 0};
    if (!admit(agent, &m->run)) {
        return QS_EV_NONE;
    }
    if (agent->trace.on) {
        refuse(agent, &m->run, QS_CODE_STATE, "another tracer of this run has not been stopped");
        return QS_EV_NONE;
    }
    qs_load_end(agent);
    agent->trace = (struct qs_agent_trace){
        .id = m->id, .stop_ns = m->stop_ns, .started_ns = qs_agent_now_ns(agent), .stage = QS_STAGE_RUNS};
    agent->trace.on = agent->port.tracer.start(agent->port.ctx, m, &fault);
    if (!agent->trace.on) {
        struct qs_port_traced none = {.there = false};
        agent->trace.started_ns = 0;
        memcpy(none.why, fault.text, sizeof none.why);
        tell(agent, QS_TRACE_MISSING, &none);
        return QS_EV_NONE;
    }
    arm(agent, m->settle_ns);
    return QS_EV_WORKING;
}

enum qs_agent_event qs_act_trace_stands(struct qs_agent *agent)
{
    const struct qs_port_traced nothing_yet = {.there = false};
    agent->deadline_ns = 0;
    tell(agent, QS_TRACE_RUNS, &nothing_yet);
    return QS_EV_ANSWERED;
}

/* It has ended, or was given up. */
static enum qs_agent_event conclude(struct qs_agent *agent, bool early)
{
    struct qs_port_traced traced = {.there = false};
    bool there;
    agent->deadline_ns = 0;
    agent->trace.on = false;
    agent->port.tracer.result(agent->port.ctx, &traced);
    if (agent->trace.stopped_ns == 0) {
        agent->trace.stopped_ns = traced.ended_ns;
        agent->trace.flags |= QS_TRACE_ENDED_EARLY;
    }
    there = traced.there && !early;
    if (there) {
        traced.why[0] = '\0';
    }
    tell(agent, there ? QS_TRACE_STOPPED : QS_TRACE_MISSING, &traced);
    return QS_EV_ANSWERED;
}

enum qs_agent_event qs_act_trace_failed(struct qs_agent *agent)
{
    return conclude(agent, true);
}

enum qs_agent_event qs_act_trace_over(struct qs_agent *agent)
{
    return conclude(agent, false);
}

enum qs_agent_event qs_act_untrace(struct qs_agent *agent)
{
    const struct qs_msg_trace_stop *m = &agent->msg->trace_stop;
    if (!admit(agent, &m->run)) {
        return QS_EV_NONE;
    }
    if (!agent->trace.on || m->id != agent->trace.id) {
        refuse(agent, &m->run, QS_CODE_STATE, "there is no such tracer");
        return QS_EV_NONE;
    }
    int64_t now_ns = qs_agent_now_ns(agent);
    if (!agent->port.tracer.end(agent->port.ctx, false)) {
        conclude(agent, false);
        return QS_EV_NONE;
    }
    agent->trace.stopped_ns = now_ns;
    agent->trace.stage = QS_STAGE_ASKED;
    arm(agent, agent->trace.stop_ns);
    return QS_EV_WORKING;
}

enum qs_agent_event qs_act_trace_limit(struct qs_agent *agent)
{
    struct qs_agent_trace *t = &agent->trace;
    t->flags |= QS_TRACE_KILLED;
    if (t->stage == QS_STAGE_ASKED) {
        agent->port.tracer.end(agent->port.ctx, true);
        t->stage = QS_STAGE_FORCED;
        arm(agent, GRACE_FORCED_NS);
        return QS_EV_NONE;
    }
    return conclude(agent, false);
}

/* The program of a harness run ends meanwhile; the end of a child takes the deadline away. */
enum qs_agent_event qs_act_trace_gone(struct qs_agent *agent)
{
    qs_act_gone(agent);
    agent->deadline_ns = agent->trace.deadline_ns;
    return QS_EV_NONE;
}
