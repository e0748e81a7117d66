/* The conversation around the runs: hello, proof of the key, heartbeats, facts, complaints. */
#include "core/actions.h"
#include "core/print.h"
#include "proto/names.h"

#include <string.h>

size_t qs_talk_begin(struct qs_agent *agent)
{
    qs_writer_init(&agent->w, agent->tx, QS_FRAME_HEADER_BYTES + agent->max_frame_bytes);
    return qs_frame_begin(&agent->w);
}

bool qs_talk_end(struct qs_agent *agent, size_t at, uint8_t type)
{
    agent->w.cap += agent->tx_seal.on ? QS_SEAL_BYTES : 0; /* tx has room for it beyond what was agreed */
    if (!agent->link_up || !qs_frame_end_sealed(&agent->w, at, type, agent->tx_seq, &agent->tx_seal)) {
        return false;
    }
    agent->tx_seq++;
    if (agent->is_guest && type == QS_MSG_HELLO_AGENT) {
        return true; /* it has it */
    }
    return agent->port.send(agent->port.ctx, agent->tx, agent->w.len);
}

bool qs_talk_send(struct qs_agent *agent, uint8_t type, const void *m)
{
    size_t at = qs_talk_begin(agent);
    qs_msg_encode(type, &agent->w, m);
    return qs_talk_end(agent, at, type);
}

void qs_talk_error(struct qs_agent *agent, const struct qs_uid *run, enum qs_wire_code code,
                   enum qs_wire_blame blame, const char *text)
{
    struct qs_msg_error m = {.code = (uint16_t)code, .blame = blame, .text = qs_text_of(text)};
    if (run) {
        m.run = *run;
    }
    qs_talk_send(agent, QS_MSG_ERROR, &m);
}

enum qs_agent_event qs_talk_fatal(struct qs_agent *agent, enum qs_wire_code code, const char *text)
{
    enum qs_wire_blame blame = code == QS_CODE_AUTH       ? QS_WIRE_BLAME_OPERATOR
                               : code == QS_CODE_INTERNAL ? QS_WIRE_BLAME_QUIESCE
                                                          : QS_WIRE_BLAME_HOST;
    qs_talk_error(agent, NULL, code, blame, text);
    agent->port.close_link(agent->port.ctx);
    agent->link_up = false;
    return QS_EV_LINK_DOWN;
}

enum qs_agent_event qs_talk_malformed(struct qs_agent *agent, int err)
{
    char text[160];
    qs_print(text, sizeof text, "%s: %s", qs_msg_name(agent->frame.type), qs_wire_err_text(err));
    return qs_talk_fatal(agent, QS_CODE_PROTOCOL, text);
}

enum qs_agent_event qs_act_greet(struct qs_agent *agent)
{
    qs_files_release(agent); /* where the session before has ended in a run */
    if (agent->port.survey.bind) {
        agent->port.survey.bind(agent->port.ctx, NULL); /* they were another host's */
        agent->bound.count = 0;
    }
    agent->control.more = false;
    agent->link_up = true;
    agent->tx_seq = 0;
    agent->tx_seal = (struct qs_seal){.on = false};
    agent->max_frame_bytes = QS_FRAME_FLOOR_BYTES;
    agent->heard_ns = qs_agent_now_ns(agent);
    qs_framer_init(&agent->framer, agent->rx, sizeof agent->rx);
    if (!agent->is_guest) {
        agent->port.random(agent->port.ctx, agent->nonce, sizeof agent->nonce);
    }
    return QS_EV_NONE;
}

/* The features for which this port has no operations. */
static uint32_t beyond(const struct qs_port *port)
{
    return (port->pull ? 0U : QS_FEATURE_PULL) | (port->tracer.start ? 0U : QS_FEATURE_TRACE) |
           (port->program_start ? 0U : QS_FEATURE_HARNESS | QS_FEATURE_EVALS) |
           (port->files ? 0U : QS_FEATURE_FILES) | (port->document ? 0U : QS_FEATURE_STREAM) |
           (port->survey.find ? 0U : QS_FEATURE_SURVEY | QS_FEATURE_SLOW) |
           (port->survey.counters ? 0U : QS_FEATURE_COUNTERS) | (port->control ? 0U : QS_FEATURE_CONTROL) |
           (port->control && port->control->tools ? 0U : QS_FEATURE_SWITCH) |
           (port->load.start ? 0U : QS_FEATURE_LOAD | QS_FEATURE_HOLD) |
           (port->gives_priority ? 0U : QS_FEATURE_PRIORITY);
}

static struct qs_msg_hello_agent our_hello(const struct qs_agent *agent, const struct qs_msg_hello_host *host,
                                           const uint8_t *nonce)
{
    const struct qs_agent_options *o = &agent->options;
    struct qs_msg_hello_agent m = {.proto_min = QS_PROTO_MIN,
                                   .proto_max = QS_PROTO_MAX,
                                   .features = (uint32_t)QS_FEATURE_ALL & ~beyond(&agent->port),
                                   .session = host->session,
                                   .auth = o->key ? QS_AUTH_SEALED : QS_AUTH_NONE,
                                   .software = qs_text_of(o->software),
                                   .boot_id = qs_text_of(o->boot_id),
                                   .clock = qs_text_of(o->clock),
                                   .max_frame_bytes = QS_FRAME_MAX_BYTES,
                                   .max_iterations = QS_ITERATIONS_MAX,
                                   .clock_resolution_ns = o->clock_resolution_ns,
                                   .clock_cost_ps = o->clock_cost_ps};
    memcpy(m.nonce, nonce, sizeof m.nonce);
    return m;
}

size_t qs_agent_greeting(const struct qs_agent *agent, const uint8_t *hello, size_t n,
                         uint8_t ret_nonce[QS_NONCE_BYTES], uint8_t *out, size_t cap)
{
    struct qs_msg_hello_host host;
    struct qs_writer w;
    if (qs_msg_decode_hello_host(hello, n, &host) != 0) {
        return 0;
    }
    agent->port.random(agent->port.ctx, ret_nonce, QS_NONCE_BYTES);
    const struct qs_msg_hello_agent m = our_hello(agent, &host, ret_nonce);
    qs_writer_init(&w, out, cap);
    size_t at = qs_frame_begin(&w);
    qs_msg_encode_hello_agent(&w, &m);
    return qs_frame_end(&w, at, QS_MSG_HELLO_AGENT, 0) ? w.len : 0;
}

enum qs_agent_event qs_act_hello(struct qs_agent *agent)
{
    const struct qs_msg_hello_host *host = &agent->msg->hello_host;
    struct qs_agreed agreed;
    const struct qs_msg_hello_agent m = our_hello(agent, host, agent->nonce);
    struct qs_sha256 hellos;
    agent->session = host->session;
    agent->farm = host->farm;
    agent->heartbeat_ns = (int64_t)host->heartbeat_ms * 1000000;
    qs_talk_send(agent, QS_MSG_HELLO_AGENT, &m);
    qs_sha256_init(&hellos);
    qs_sha256_add(&hellos, agent->frame.payload, agent->frame.len);
    qs_sha256_add(&hellos, agent->tx + QS_FRAME_HEADER_BYTES, agent->w.len - QS_FRAME_HEADER_BYTES);
    qs_sha256_final(&hellos, agent->hellos);
    int err = qs_msg_agree(host, &m, &agreed);
    if (err != 0) {
        return qs_talk_fatal(agent, QS_CODE_VERSION, qs_wire_err_text(err));
    }
    agent->max_frame_bytes = agreed.max_frame_bytes;
    agent->features = agreed.features;
    return agent->options.key ? QS_EV_CHALLENGED : QS_EV_ACCEPTED;
}

enum qs_agent_event qs_act_verify(struct qs_agent *agent)
{
    const struct qs_agent_options *o = &agent->options;
    struct qs_msg_auth answer;
    uint8_t expected[QS_SHA256_BYTES];
    qs_auth_mac_host(o->key, o->key_bytes, &agent->session, agent->nonce, &agent->farm, expected);
    if (!qs_auth_equal(expected, agent->msg->auth.mac, sizeof expected)) {
        return qs_talk_fatal(agent, QS_CODE_AUTH,
                             "the host's proof is wrong: its key file differs from this agent's");
    }
    qs_auth_mac_agent(o->key, o->key_bytes, &agent->session, agent->nonce, &agent->farm, answer.mac);
    qs_talk_send(agent, QS_MSG_AUTH, &answer);
    qs_seal_make(o->key, o->key_bytes, &agent->session, agent->nonce, &agent->farm, agent->hellos,
                 &agent->framer.seal, &agent->tx_seal);
    return QS_EV_ACCEPTED;
}

/* Is this run of the session's farm among the first `before` windows of the ring? */
static bool offered(const struct qs_agent *agent, size_t before)
{
    const struct qs_ring_window *w = &agent->ring.windows[before];
    for (size_t i = 0; i < before; i++) {
        const struct qs_ring_window *v = &agent->ring.windows[i];
        if (qs_uid_equal(&v->farm, &w->farm) && qs_uid_equal(&v->run, &w->run)) {
            return true;
        }
    }
    return false;
}

enum qs_agent_event qs_act_offer(struct qs_agent *agent)
{
    struct qs_build list;
    qs_build_init(&list, agent->work, sizeof agent->work);
    for (size_t i = 0; i < agent->ring.count; i++) {
        const struct qs_ring_window *w = &agent->ring.windows[i];
        struct qs_ring_span span;
        if (!qs_uid_equal(&w->farm, &agent->farm) || offered(agent, i) ||
            !qs_ring_span(&agent->ring, &w->farm, &w->run, &span)) {
            continue;
        }
        const struct qs_held held = {.run = w->run, .first_seq = span.first, .next_seq = span.next};
        qs_build_held(&list, &held);
    }
    const struct qs_msg_held m = {.held = qs_build_list(&list)};
    qs_talk_send(agent, QS_MSG_HELD, &m);
    return QS_EV_NONE;
}

enum qs_agent_event qs_act_pong(struct qs_agent *agent)
{
    const struct qs_msg_ping *ping = &agent->msg->ping;
    struct qs_msg_pong m = {.id = ping->id, .t_send_ns = ping->t_send_ns, .t_recv_ns = agent->heard_ns};
    m.t_reply_ns = qs_agent_now_ns(agent);
    qs_talk_send(agent, QS_MSG_PONG, &m);
    return QS_EV_NONE;
}

enum qs_agent_event qs_act_facts(struct qs_agent *agent)
{
    struct qs_build list;
    struct qs_port_fact fact;
    qs_build_init(&list, agent->work, sizeof agent->work);
    for (size_t i = 0; i < QS_FACTS_MAX && agent->port.fact(agent->port.ctx, i, &fact); i++) {
        const struct qs_fact f = {.key = qs_text_of(fact.key), .value = qs_text_of(fact.value)};
        qs_build_fact(&list, &f);
    }
    const struct qs_msg_facts m = {.facts = qs_build_list(&list)};
    if (!qs_talk_send(agent, QS_MSG_FACTS, &m)) {
        qs_talk_error(agent, NULL, QS_CODE_INTERNAL, QS_WIRE_BLAME_QUIESCE, "the facts do not fit a frame");
    }
    return QS_EV_NONE;
}

void qs_talk_add_reading(struct qs_build *list, const char *sensor, const struct qs_port_reading *r)
{
    const struct qs_reading reading = {.sensor = qs_text_of(sensor),
                                       .status = (enum qs_reading_status)r->status,
                                       .value = r->value,
                                       .age_ns = r->age_ns};
    qs_build_reading(list, &reading);
}

/* What a gate can wait for: evidence has all but the share of busy time, which takes two looks. */
enum qs_agent_event qs_act_read(struct qs_agent *agent)
{
    const int64_t between_looks_ns = 200000000;
    struct qs_port_reading first;
    agent->asked_id = agent->msg->read.id;
    agent->port.read_sensor(agent->port.ctx, QS_SENSOR_CPU_BUSY, &first);
    agent->bound.since_ns = qs_agent_now_ns(agent);
    agent->deadline_ns = agent->bound.since_ns + between_looks_ns;
    return QS_EV_WORKING;
}

static bool is_bound(const struct qs_agent *agent, const char *kind)
{
    size_t i = 0;
    while (i < agent->bound.count && strcmp(agent->bound.names[i], kind) != 0) {
        i++;
    }
    return i < agent->bound.count;
}

/* Those of the host's making come first: they may take their time. */
enum qs_agent_event qs_act_readings(struct qs_agent *agent)
{
    struct qs_port_evidence *rows = agent->window.evidence; /* no window is open */
    struct qs_port_reading reading;
    struct qs_build list;
    qs_build_init(&list, agent->work, sizeof agent->work);
    if (!qs_control_add_bound(agent, &list)) {
        return QS_EV_NONE;
    }
    size_t n = agent->port.evidence(agent->port.ctx, false, rows, QS_EVIDENCE_MAX - 1 - list.count);
    agent->port.read_sensor(agent->port.ctx, QS_SENSOR_CPU_BUSY, &reading);
    qs_talk_add_reading(&list, QS_SENSOR_CPU_BUSY, &reading);
    for (size_t i = 0; i < n; i++) {
        reading = (struct qs_port_reading){.status = rows[i].status, .value = rows[i].before};
        if (!is_bound(agent, rows[i].kind)) {
            qs_talk_add_reading(&list, rows[i].kind, &reading);
        }
    }
    const struct qs_msg_readings m = {.id = agent->asked_id, .readings = qs_build_list(&list)};
    qs_talk_send(agent, QS_MSG_READINGS, &m);
    return QS_EV_ANSWERED;
}

enum qs_agent_event qs_act_bye(struct qs_agent *agent)
{
    agent->port.close_link(agent->port.ctx);
    agent->link_up = false;
    return QS_EV_LINK_DOWN;
}
