/* Processors that are kept busy between runs. */
#include "core/actions.h"

/* What could not be ended is tried again, until it is. */
#define AGAIN_NS INT64_C(1000000000)

bool qs_load_end(struct qs_agent *agent)
{
    struct qs_agent_gate *gate = &agent->window.gate;
    bool on = gate->heats || gate->loaded || agent->load_until_ns != 0;
    bool over = !on || agent->port.load.stop(agent->port.ctx);
    gate->heats = gate->loaded = gate->holds = false;
    agent->load_until_ns = over ? 0 : qs_agent_now_ns(agent) + AGAIN_NS;
    return over;
}

enum qs_agent_event qs_act_load(struct qs_agent *agent)
{
    const struct qs_msg_load *m = &agent->msg->load;
    struct qs_msg_loaded answer = {.id = m->id, .outcome = QS_LOAD_OFF};
    char cpus[QS_PORT_CPUS_BYTES];
    if (!(agent->features & QS_FEATURE_LOAD)) {
        return qs_talk_malformed(agent, QS_WIRE_E_TYPE);
    }
    if (!qs_load_end(agent)) {
        answer.outcome = QS_LOAD_FAILED;
    } else if (m->for_ms > 0) {
        qs_text_copy(m->cpus, cpus, sizeof cpus);
        answer.outcome = (enum qs_load_outcome)agent->port.load.start(agent->port.ctx, cpus);
    }
    if (answer.outcome == QS_LOAD_ON) {
        agent->load_until_ns = qs_agent_now_ns(agent) + (int64_t)m->for_ms * 1000000;
    }
    qs_talk_send(agent, QS_MSG_LOADED, &answer);
    return QS_EV_NONE;
}
