/* What the device has, for the host to see, and sensors of the host's making. */
#include "core/actions.h"

#include <string.h>

/* For first readings of sensors that are commands. */
#define BOUND_LIMIT_NS INT64_C(30000000000)
#define BOUND_POLL_NS  INT64_C(20000000)

static bool agreed(const struct qs_agent *agent, uint32_t feature)
{
    return (agent->features & feature) != 0;
}

/* One found file becomes one more of the list; false: it has no room for it. */
static bool add_found(struct qs_build *list, const struct qs_port_found *found)
{
    const struct qs_found f = {.path = qs_text_of(found->path),
                               .access = found->access,
                               .error = found->error,
                               .value = {.p = found->value, .n = (uint16_t)found->n}};
    size_t bytes = (size_t)2 + f.path.n + 1 + 4 + 2 + found->n;
    return list->count < QS_FOUND_MAX && list->w.len + bytes <= QS_CONTROL_MAX_BYTES &&
           qs_build_found(list, &f);
}

enum qs_agent_event qs_act_survey(struct qs_agent *agent)
{
    const struct qs_msg_survey *m = &agent->msg->survey;
    char pattern[QS_CONTROL_PATH_MAX_BYTES + 1];
    struct qs_port_found found;
    struct qs_build list;
    struct qs_msg_surveyed answer = {.id = m->id};
    if (!agreed(agent, QS_FEATURE_SURVEY)) {
        return qs_talk_malformed(agent, QS_WIRE_E_TYPE);
    }
    qs_text_copy(m->pattern, pattern, sizeof pattern);
    qs_text_copy(m->after, found.path, sizeof found.path);
    qs_build_init(&list, agent->work, sizeof agent->work);
    while (!answer.more) {
        char after[sizeof found.path];
        memcpy(after, found.path, sizeof after);
        if (!agent->port.survey.find(agent->port.ctx, pattern, after, &found)) {
            break;
        }
        answer.more = !add_found(&list, &found);
    }
    answer.files = qs_build_list(&list);
    qs_talk_send(agent, QS_MSG_SURVEYED, &answer);
    return QS_EV_NONE;
}

bool qs_control_add_bound(struct qs_agent *agent, struct qs_build *list)
{
    const int64_t now_ns = qs_agent_now_ns(agent);
    bool pending = false;
    for (size_t i = 0; i < agent->bound.count; i++) {
        struct qs_port_reading reading;
        agent->port.read_sensor(agent->port.ctx, agent->bound.names[i], &reading);
        qs_talk_add_reading(list, agent->bound.names[i], &reading);
        pending = pending || reading.pending;
    }
    pending = pending && now_ns - agent->bound.since_ns < BOUND_LIMIT_NS;
    agent->deadline_ns = pending ? now_ns + BOUND_POLL_NS : agent->deadline_ns;
    return !pending;
}

static bool answer_bound(struct qs_agent *agent)
{
    struct qs_build list;
    qs_build_init(&list, agent->work, sizeof agent->work);
    if (!qs_control_add_bound(agent, &list)) {
        return false;
    }
    const struct qs_msg_readings answer = {.id = agent->asked_id, .readings = qs_build_list(&list)};
    qs_talk_send(agent, QS_MSG_BOUND, &answer);
    return true;
}

enum qs_agent_event qs_act_bind(struct qs_agent *agent)
{
    const struct qs_msg_bind *m = &agent->msg->bind;
    struct qs_iter it = qs_list_iter(&m->sensors);
    struct qs_binding binding;
    struct qs_agent_bound *bound = &agent->bound;
    if (!agreed(agent, QS_FEATURE_SURVEY)) {
        return qs_talk_malformed(agent, QS_WIRE_E_TYPE);
    }
    agent->port.survey.bind(agent->port.ctx, NULL);
    bound->count = 0;
    while (bound->count < QS_BIND_MAX && qs_list_binding(&it, &binding)) {
        agent->port.survey.bind(agent->port.ctx, &binding);
        qs_text_copy(binding.name, bound->names[bound->count++], sizeof bound->names[0]);
    }
    agent->asked_id = m->id;
    bound->since_ns = qs_agent_now_ns(agent);
    return answer_bound(agent) ? QS_EV_NONE : QS_EV_WORKING;
}

enum qs_agent_event qs_act_bound(struct qs_agent *agent)
{
    return answer_bound(agent) ? QS_EV_ANSWERED : QS_EV_NONE;
}
