/* Processors that are kept busy between runs. */
#include "core/actions.h"

void qs_load_end(struct qs_agent *agent)
{
    qs_agent_gate_end(&agent->window.gate, &agent->port);
    if (agent->load_until_ns != 0) {
        agent->port.load.stop(agent->port.ctx);
        agent->load_until_ns = 0;
    }
}

enum qs_agent_event qs_act_load(struct qs_agent *agent)
{
    const struct qs_msg_load *m = &agent->msg->load;
    struct qs_msg_loaded answer = {.id = m->id, .outcome = QS_LOAD_OFF};
    char cpus[QS_PORT_CPUS_BYTES];
    if (!(agent->features & QS_FEATURE_LOAD)) {
        return qs_talk_malformed(agent, QS_WIRE_E_TYPE);
    }
    qs_load_end(agent);
    if (m->for_ms > 0) {
        qs_text_copy(m->cpus, cpus, sizeof cpus);
        answer.outcome = (enum qs_load_outcome)agent->port.load.start(agent->port.ctx, cpus);
    }
    if (answer.outcome == QS_LOAD_ON) {
        agent->load_until_ns = qs_agent_now_ns(agent) + (int64_t)m->for_ms * 1000000;
    }
    qs_talk_send(agent, QS_MSG_LOADED, &answer);
    return QS_EV_NONE;
}
