#include "core/agent.h"

#include "core/actions.h"
#include "core/print.h"

#include <string.h>

void qs_agent_init(struct qs_agent *agent, const struct qs_port *port, const struct qs_agent_options *options)
{
    agent->port = *port;
    agent->options = *options;
    agent->state = QS_STATE_DOWN;
    memset(agent->row_hits, 0, sizeof agent->row_hits);
    agent->link_up = agent->is_guest = false;
    agent->child = NULL;
    agent->asked = NULL;
    memset(&agent->run, 0, sizeof agent->run);
    memset(&agent->window, 0, sizeof agent->window);
    agent->trace.on = false;
    agent->bound.count = 0;
    agent->control.lease_ns = 0;
    agent->control.more = false;
    agent->load_until_ns = 0;
    agent->stage = QS_STAGE_RUNS;
    agent->timed_out = false;
    agent->deadline_ns = 0;
    qs_ring_init(&agent->ring, options->ring, options->ring_bytes);
    qs_files_begin(agent);
}

int64_t qs_agent_now_ns(const struct qs_agent *agent)
{
    return agent->port.now_ns(agent->port.ctx);
}

bool qs_agent_takes_link(const struct qs_agent *agent)
{
    return agent->state == QS_STATE_DOWN && !agent->link_up;
}

bool qs_agent_is_silent(const struct qs_agent *agent)
{
    return agent->state == QS_STATE_DRAINING || agent->state == QS_STATE_MEASURING ||
           agent->state == QS_STATE_EVIDENCE || agent->state == QS_STATE_ALONE;
}

void qs_agent_on_link_up(struct qs_agent *agent)
{
    if (qs_agent_takes_link(agent)) {
        qs_states_dispatch(agent, QS_EV_LINK_UP);
    }
}

void qs_agent_on_link_down(struct qs_agent *agent)
{
    if (agent->link_up) {
        agent->link_up = false;
        qs_states_dispatch(agent, QS_EV_LINK_DOWN);
    }
}

static void fail_session(struct qs_agent *agent, const char *text)
{
    qs_states_dispatch(agent, qs_talk_fatal(agent, QS_CODE_PROTOCOL, text));
}

/* Nothing of a message is read that the state does not allow: before the proof it is a stranger's. */
static void take_message(struct qs_agent *agent)
{
    union qs_msg m;
    int err = qs_msg_decode(agent->frame.type, agent->frame.payload, agent->frame.len, &m);
    agent->msg = &m;
    qs_states_dispatch(agent, err == 0 ? agent->frame.type : (unsigned)qs_talk_malformed(agent, err));
    agent->msg = NULL;
}

static void handle_frame(struct qs_agent *agent)
{
    char text[160];
    int accepted = qs_msg_accept(agent->frame.type, QS_SIDE_HOST);
    agent->heard_ns = qs_agent_now_ns(agent);
    if (qs_agent_is_silent(agent)) {
        agent->window.frames++;
    }
    qs_control_heard(agent);
    if (accepted == 0) {
        return;
    }
    if (accepted < 0) {
        qs_print(text, sizeof text, "message type %u (%s) is not for an agent", (unsigned)agent->frame.type,
                 qs_msg_name(agent->frame.type));
        fail_session(agent, text);
    } else if (!qs_states_expect(agent, agent->frame.type)) {
        qs_print(text, sizeof text, "%s is not expected in state %s%s%s", qs_msg_name(agent->frame.type),
                 qs_states_name(agent->state), agent->asked ? ", before the answer to " : "",
                 agent->asked ? qs_msg_name(agent->asked->type) : "");
        fail_session(agent, text);
    } else {
        take_message(agent);
    }
}

static void feed(struct qs_agent *agent, const uint8_t *bytes, size_t n)
{
    while (n > 0 && agent->link_up) {
        size_t used = 0;
        int got = qs_framer_feed(&agent->framer, bytes, n, &used, &agent->frame);
        if (got < 0) {
            char text[160];
            qs_print(text, sizeof text, "what arrived is not a frame: %s", qs_wire_err_text(got));
            fail_session(agent, text);
            return;
        }
        if (got == 1) {
            handle_frame(agent);
        }
        bytes += used;
        n -= used;
        if (got == 0) {
            return;
        }
    }
}

void qs_agent_on_bytes(struct qs_agent *agent, const uint8_t *bytes, size_t n)
{
    agent->heard_ns = qs_agent_now_ns(agent);
    feed(agent, bytes, n);
    agent->heard_ns = qs_agent_now_ns(agent); /* what the answers took is our silence, not the host's */
}

bool qs_agent_on_guest(struct qs_agent *agent, const uint8_t nonce[QS_NONCE_BYTES], const uint8_t *bytes,
                       size_t n)
{
    memcpy(agent->nonce, nonce, sizeof agent->nonce);
    agent->is_guest = agent->options.key != NULL;
    qs_agent_on_link_up(agent);
    qs_agent_on_bytes(agent, bytes, n);
    agent->is_guest = false;
    return agent->link_up && agent->state != QS_STATE_HELLO && agent->state != QS_STATE_AUTH;
}

void qs_agent_on_child(struct qs_agent *agent, const struct qs_port_child *child)
{
    agent->child = child;
    agent->deadline_ns = 0;
    qs_states_dispatch(agent, QS_EV_CHILD);
    agent->child = NULL;
}

void qs_agent_on_wake(struct qs_agent *agent)
{
    qs_states_dispatch(agent, QS_EV_WAKE);
}

void qs_agent_on_tracer(struct qs_agent *agent)
{
    qs_states_dispatch(agent, QS_EV_TRACER);
}

/* When the link is dead if nothing is heard until then; INT64_MAX: it may stay silent. */
static int64_t link_deadline(const struct qs_agent *agent)
{
    bool greeting = agent->state == QS_STATE_HELLO || agent->state == QS_STATE_AUTH;
    if (!agent->link_up || greeting || qs_agent_is_silent(agent)) {
        return INT64_MAX;
    }
    return agent->heard_ns + QS_HEARTBEAT_LOST_AFTER * agent->heartbeat_ns;
}

int64_t qs_agent_next_deadline_ns(const struct qs_agent *agent)
{
    int64_t link = link_deadline(agent);
    int64_t load = agent->load_until_ns != 0 && agent->load_until_ns < link ? agent->load_until_ns : link;
    return agent->deadline_ns != 0 && agent->deadline_ns < load ? agent->deadline_ns : load;
}

void qs_agent_on_time(struct qs_agent *agent)
{
    int64_t now = qs_agent_now_ns(agent);
    if (now >= link_deadline(agent) && agent->port.unread && agent->port.unread(agent->port.ctx) > 0) {
        agent->heard_ns = now; /* we were kept from reading what the host said */
    }
    if (now >= link_deadline(agent)) {
        fail_session(agent, "nothing was heard for three heartbeats");
    }
    if (agent->load_until_ns != 0 && now >= agent->load_until_ns) {
        qs_load_end(agent);
    }
    if (agent->deadline_ns != 0 && now >= agent->deadline_ns) {
        agent->deadline_ns = 0;
        qs_states_dispatch(agent, QS_EV_TIME);
    }
}

void qs_agent_stop(struct qs_agent *agent, const char *why)
{
    if (agent->deadline_ns != 0 || qs_agent_is_silent(agent)) {
        agent->port.end_child(agent->port.ctx, true);
    }
    qs_load_end(agent);
    if (agent->link_up) {
        const struct qs_msg_bye bye = {.why = qs_text_of(why)};
        qs_talk_send(agent, QS_MSG_BYE, &bye);
    }
    qs_files_release(agent);
}
