/* Files of the device that are changed for a while. The writing is the port's; here is the order of it, and
 * the lease for which the changes stand. */
#include "core/actions.h"

#include <string.h>

#define SAY_NS INT64_C(1000000000) /* the lease is told at most so often */

/* What one row of a list takes at most. */
enum { ROW_BYTES = 2 + QS_CONTROL_PATH_MAX_BYTES + 5 + 2 * (2 + QS_TUNE_SAID_MAX_BYTES) };

static void tell_lease(struct qs_agent *agent, int64_t beyond_ns)
{
    struct qs_agent_control *c = &agent->control;
    c->told_ns = qs_agent_now_ns(agent);
    agent->port.control->lease(agent->port.ctx, c->grant, c->lease_ns + beyond_ns + SAY_NS);
}

/* For so long nothing may be heard of the host, with good reason: in a window, and while we listen to nobody.
 */
static int64_t silence_ahead(const struct qs_agent *agent)
{
    const struct qs_agent_window *w = &agent->window;
    const struct qs_agent_run *run = &agent->run;
    const struct qs_request *request = qs_request_of(agent->frame.type);
    if (agent->frame.type == QS_MSG_QUIET) {
        return w->max_ns + w->quiet_lead_ns + run->iteration_limit_ns + 2 * run->hook_limit_ns;
    }
    return request && request->deaf ? request->reply_ns : 0;
}

void qs_control_heard(struct qs_agent *agent)
{
    const struct qs_agent_control *c = &agent->control;
    if (c->lease_ns == 0 || qs_agent_is_silent(agent)) {
        return;
    }
    int64_t ahead_ns = silence_ahead(agent);
    if (ahead_ns > 0 || qs_agent_now_ns(agent) - c->told_ns >= SAY_NS) {
        tell_lease(agent, ahead_ns);
    }
}

void qs_control_window_over(struct qs_agent *agent)
{
    if (agent->control.lease_ns != 0) {
        tell_lease(agent, 0);
    }
}

void qs_agent_on_lease_end(struct qs_agent *agent, uint32_t id)
{
    if (id == agent->control.grant) { /* else a TUNE has begun another one meanwhile */
        agent->control.lease_ns = 0;
    }
}

void qs_agent_on_control(struct qs_agent *agent, const struct qs_port_controlled *file)
{
    agent->controlled = file;
    qs_states_dispatch(agent, QS_EV_CONTROL);
    agent->controlled = NULL;
}

static void rewind_writes(struct qs_agent_control *c)
{
    const struct qs_list list = {.bytes = c->bytes, .len = c->len, .count = c->count};
    c->it = qs_list_iter(&list);
    c->at = 0;
}

/* Asks for the next file that is to be written, or read back. False: there is none any more. */
static bool ask_next(struct qs_agent *agent)
{
    struct qs_agent_control *c = &agent->control;
    char path[QS_CONTROL_PATH_MAX_BYTES + 1];
    char value[QS_TUNE_VALUE_MAX_BYTES + 1];
    struct qs_tune t;
    for (; qs_list_tune(&c->it, &t); c->at++) {
        bool stands = c->rows[c->at].outcome == QS_TUNE_SET || c->rows[c->at].outcome == QS_TUNE_SAME;
        qs_text_copy(t.path, path, sizeof path);
        qs_text_copy(t.value, value, sizeof value);
        if (!c->looking) {
            agent->port.control->tune(agent->port.ctx, path, value, t.flags);
            return true;
        }
        if (stands && !(t.flags & QS_TUNE_BLIND)) {
            agent->port.control->look(agent->port.ctx, path, value);
            return true;
        }
    }
    return false;
}

static enum qs_agent_event send_tuned(struct qs_agent *agent)
{
    const struct qs_agent_control *c = &agent->control;
    struct qs_build list;
    qs_build_init(&list, agent->work, sizeof agent->work);
    for (size_t i = 0; i < c->count; i++) {
        const struct qs_tuned row = {.outcome = (enum qs_tune_outcome)c->rows[i].outcome,
                                     .error = c->rows[i].error,
                                     .before = qs_text_of(c->rows[i].before),
                                     .now = qs_text_of(c->rows[i].after)};
        qs_build_tuned(&list, &row);
    }
    const struct qs_msg_tuned m = {.id = agent->asked_id, .writes = qs_build_list(&list)};
    qs_talk_send(agent, QS_MSG_TUNED, &m);
    return QS_EV_ANSWERED;
}

static bool has_tool(const struct qs_list *writes)
{
    struct qs_iter it = qs_list_iter(writes);
    struct qs_tune t;
    bool ret = false;
    while (qs_list_tune(&it, &t)) {
        ret = ret || (t.flags & QS_TUNE_COMMAND);
    }
    return ret;
}

enum qs_agent_event qs_act_tune(struct qs_agent *agent)
{
    const struct qs_msg_tune *m = &agent->msg->tune;
    struct qs_agent_control *c = &agent->control;
    if (!(agent->features & QS_FEATURE_CONTROL)) {
        return qs_talk_malformed(agent, QS_WIRE_E_TYPE);
    }
    if (!(agent->features & QS_FEATURE_SWITCH) && has_tool(&m->writes)) {
        return qs_talk_malformed(agent, QS_WIRE_E_VALUE);
    }
    agent->asked_id = m->id;
    agent->deadline_ns = 0;
    c->grant = c->grant == UINT32_MAX ? 1 : c->grant + 1;
    c->lease_ns = (int64_t)m->lease_ms * 1000000;
    c->settle_ns = (int64_t)m->settle_ms * 1000000;
    c->looking = c->more = false;
    c->len = m->writes.len;
    c->count = m->writes.count;
    memcpy(c->bytes, m->writes.bytes, m->writes.len);
    memset(c->rows, 0, sizeof c->rows);
    rewind_writes(c);
    tell_lease(agent, 0);
    ask_next(agent);
    return QS_EV_WORKING;
}

enum qs_agent_event qs_act_tuned(struct qs_agent *agent)
{
    struct qs_agent_control *c = &agent->control;
    const struct qs_port_controlled *file = agent->controlled;
    struct qs_agent_tuned *row = &c->rows[c->at++];
    if (!c->looking) {
        row->outcome = file->outcome;
        row->error = file->error;
        memcpy(row->before, file->before, sizeof row->before);
        memcpy(row->after, file->after, sizeof row->after);
    } else {
        bool stands = file->outcome == QS_TUNE_SET;
        row->outcome = stands ? row->outcome : file->outcome;
        row->error = file->error;
        memcpy(row->after, file->after, sizeof row->after);
    }
    if (ask_next(agent)) {
        return QS_EV_NONE;
    }
    if (c->looking) {
        return send_tuned(agent);
    }
    agent->deadline_ns = qs_agent_now_ns(agent) + c->settle_ns;
    return QS_EV_NONE;
}

enum qs_agent_event qs_act_tune_settled(struct qs_agent *agent)
{
    agent->control.looking = true;
    rewind_writes(&agent->control);
    return ask_next(agent) ? QS_EV_NONE : send_tuned(agent);
}

enum qs_agent_event qs_act_restore(struct qs_agent *agent)
{
    struct qs_agent_control *c = &agent->control;
    if (!(agent->features & QS_FEATURE_CONTROL)) {
        return qs_talk_malformed(agent, QS_WIRE_E_TYPE);
    }
    agent->asked_id = agent->msg->restore.id;
    qs_build_init(&c->list, agent->work, QS_CONTROL_MAX_BYTES);
    agent->port.control->restore(agent->port.ctx, !c->more);
    return QS_EV_WORKING;
}

/* A lease that was for nothing any more would be told at each frame. */
static void end_lease(struct qs_agent *agent)
{
    agent->control.lease_ns = 0;
    agent->port.control->lease(agent->port.ctx, agent->control.grant, 0);
}

enum qs_agent_event qs_act_restored(struct qs_agent *agent)
{
    struct qs_agent_control *c = &agent->control;
    const struct qs_port_controlled *file = agent->controlled;
    if (file->end) {
        end_lease(agent);
    } else {
        bool told = !strchr(file->path, '\n') || (agent->features & QS_FEATURE_SWITCH);
        const struct qs_restored row = {.path = qs_text_of(told ? file->path : "command"),
                                        .result = {.outcome = (enum qs_tune_outcome)file->outcome,
                                                   .error = file->error,
                                                   .before = qs_text_of(file->before),
                                                   .now = qs_text_of(file->after)}};
        qs_build_restored(&c->list, &row);
    }
    const struct qs_list files = qs_build_list(&c->list);
    if (!file->end && files.count < QS_TUNE_MAX && files.len + ROW_BYTES <= QS_CONTROL_MAX_BYTES) {
        agent->port.control->restore(agent->port.ctx, false);
        return QS_EV_NONE;
    }
    c->more = !file->end;
    const struct qs_msg_restored m = {.id = agent->asked_id, .more = c->more, .files = files};
    qs_talk_send(agent, QS_MSG_RESTORED, &m);
    return QS_EV_ANSWERED;
}
