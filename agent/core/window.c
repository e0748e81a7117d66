/* From OPEN to silence: the gate, and the agreement of both sides that the window begins. */
#include "core/actions.h"

#include "core/print.h"
#include "proto/names.h"

#include <string.h>

#define POLL_NS       INT64_C(100000000)
#define POLL_STALE_NS INT64_C(20000000) /* a sensor will be ready soon */
#define SAY_NS        INT64_C(1000000000)

static void refuse(struct qs_agent *agent, const struct qs_uid *run, enum qs_wire_code code,
                   enum qs_wire_blame blame, const char *text)
{
    qs_talk_error(agent, run, code, blame, text);
}

/* A program that takes few evaluations would end with an error in the window. */
static bool admit_evals(struct qs_agent *agent, const struct qs_msg_open *m)
{
    const struct qs_agent_harness *h = &agent->run.harness;
    bool tune = m->phase == QS_PHASE_TUNE;
    char text[128];
    uint32_t needs = tune ? QS_FEATURE_EVALS : m->phase == QS_PHASE_TRACED ? QS_FEATURE_TRACE : 0U;
    if ((agent->features & needs) != needs) {
        refuse(agent, &m->run, QS_CODE_UNSUPPORTED, QS_WIRE_BLAME_HOST,
               "OPEN asks for a phase that was not agreed on in this session");
        return false;
    }
    if (tune && !h->on) {
        refuse(agent, &m->run, QS_CODE_STATE, QS_WIRE_BLAME_HOST, "only harness mode has evaluations");
        return false;
    }
    if (h->evals_max > 0 && (m->evals > h->evals_max || (tune && m->iterations > h->evals_max))) {
        qs_print(text, sizeof text, "the program takes at most %u evaluations per iteration, not %u",
                 (unsigned)h->evals_max, (unsigned)(m->evals + (tune ? m->iterations - 1 : 0)));
        refuse(agent, &m->run, QS_CODE_UNSUPPORTED, QS_WIRE_BLAME_OPERATOR, text);
        return false;
    }
    return true;
}

/* What is kept is never given up for what comes: without room for a window, there and on the disk, it is not
 * opened. */
static bool make_room(struct qs_agent *agent, const struct qs_ring_window *head, uint32_t rows)
{
    const struct qs_port_spool *spool = agent->port.spool;
    struct qs_port_fault fault = {.code = 0};
    char text[320];
    size_t bytes = qs_ring_room(head, rows);
    if (spool && !spool->reserve(agent->port.ctx, &agent->ring, bytes, &fault)) {
        refuse(agent, &head->run, QS_CODE_RESOURCE, QS_WIRE_BLAME_DEVICE, fault.text);
        return false;
    }
    if (qs_ring_open(&agent->ring, head, rows)) {
        return true;
    }
    qs_print(text, sizeof text,
             "no room for %u more iterations: %zu windows are kept until they are acknowledged (%zu of %zu "
             "bytes); another farm's can only be freed by that farm, or by %s",
             (unsigned)rows, agent->ring.count, agent->ring.used, agent->ring.cap,
             spool ? "removing the files spool.* of the folder --state while no agent runs"
                   : "restarting the agent");
    refuse(agent, &head->run, QS_CODE_RESOURCE, QS_WIRE_BLAME_DEVICE, text);
    return false;
}

/* Checks an OPEN against the run and makes room for its iterations. */
static bool admit(struct qs_agent *agent, const struct qs_msg_open *m)
{
    const struct qs_agent_run *run = &agent->run;
    char text[200];
    if (!qs_uid_equal(&m->run, &run->uid)) {
        refuse(agent, &m->run, QS_CODE_UNKNOWN_RUN, QS_WIRE_BLAME_HOST,
               "OPEN names a run that is not open here");
        return false;
    }
    if (run->counting && m->first_seq != run->next_seq) {
        qs_print(text, sizeof text,
                 "OPEN numbers its iterations from %llu, the next number of this run is %llu",
                 (unsigned long long)m->first_seq, (unsigned long long)run->next_seq);
        refuse(agent, &m->run, QS_CODE_STATE, QS_WIRE_BLAME_HOST, text);
        return false;
    }
    bool harness = run->harness.on;
    if (harness && m->iterations > run->harness.capacity) {
        refuse(agent, &m->run, QS_CODE_STATE, QS_WIRE_BLAME_HOST,
               "OPEN asks for more iterations than RUN_BEGIN made room for");
        return false;
    }
    if (run->document_max_bytes > 0 && m->iterations != 1) {
        refuse(agent, &m->run, QS_CODE_STATE, QS_WIRE_BLAME_HOST,
               "OPEN asks for another number of iterations than the one of stream mode");
        return false;
    }
    if (!admit_evals(agent, m)) {
        return false;
    }
    if (!qs_load_end(agent)) {
        refuse(agent, &m->run, QS_CODE_RESOURCE, QS_WIRE_BLAME_DEVICE,
               "the processors that were kept busy do not end, so nothing would be measured in peace");
        return false;
    }
    const struct qs_ring_window head = {.farm = agent->farm,
                                        .run = m->run,
                                        .window = m->window,
                                        .first_seq = m->first_seq,
                                        .metrics = harness ? run->harness.metric_count : QS_PORT_METRICS,
                                        .first_metric = harness ? QS_METRIC_DECLARED : 1,
                                        .document_bytes = run->document_max_bytes};
    return make_room(agent, &head, m->iterations);
}

static void load_bounds(struct qs_agent_window *w, const struct qs_list *bounds)
{
    struct qs_iter it = qs_list_iter(bounds);
    struct qs_bound b;
    w->bound_count = 0;
    while (w->bound_count < QS_BOUNDS_MAX && qs_list_bound(&it, &b)) {
        qs_text_copy(b.kind, w->bounds[w->bound_count].kind, sizeof w->bounds[0].kind);
        w->bounds[w->bound_count++].bound = b.bound;
    }
}

enum qs_agent_event qs_act_open(struct qs_agent *agent)
{
    const struct qs_msg_open *m = &agent->msg->open;
    struct qs_agent_window *w = &agent->window;
    if (!admit(agent, m)) {
        return QS_EV_UNOPENED;
    }
    agent->run.counting = true;
    agent->run.next_seq = m->first_seq;
    w->number = m->window;
    w->armings = 0;
    w->phase = m->phase;
    w->first_seq = m->first_seq;
    w->planned = m->iterations;
    w->done = 0;
    w->max_ns = m->max_ns;
    w->quiet_lead_ns = m->quiet_lead_ns;
    w->opened_ns = w->closed_ns = 0;
    w->how = QS_CLOSED_DONE;
    w->cancelled = false;
    w->frames = 0;
    w->evals = m->evals > 0 ? m->evals : 1;
    w->wakes = 0;
    w->start_delay_ns = -1;
    w->said_ns = 0;
    w->busiest[0] = w->failure[0] = '\0';
    w->evidence_count = 0;
    load_bounds(w, &m->bounds);
    qs_agent_gate_load(&w->gate, &m->gate, qs_agent_now_ns(agent));
    return agent->run.harness.on && !agent->run.harness.alive ? QS_EV_GONE : qs_act_poll(agent);
}

static void ask_busiest(struct qs_agent *agent)
{
    if (agent->port.busiest) {
        char name[sizeof agent->window.busiest];
        agent->port.busiest(agent->port.ctx, name, sizeof name);
        if (name[0]) {
            memcpy(agent->window.busiest, name, sizeof name);
        }
    }
}

/* WAITING, at most once a second, as soon as there is a value to tell. */
static void say(struct qs_agent *agent, int64_t now_ns)
{
    struct qs_agent_window *w = &agent->window;
    size_t i;
    if (!qs_agent_gate_blocker(&w->gate, &i) || (w->said_ns != 0 && now_ns - w->said_ns < SAY_NS) ||
        w->gate.items[i].reading.status == QS_READING_STALE) {
        return;
    }
    const struct qs_gate_item *item = &w->gate.items[i];
    w->said_ns = now_ns;
    ask_busiest(agent);
    const struct qs_msg_waiting m = {.run = agent->run.uid,
                                     .window = w->number,
                                     .elapsed_ns = now_ns - w->gate.began_ns,
                                     .expectation = (uint16_t)i,
                                     .value = item->reading.value,
                                     .status = (enum qs_reading_status)item->reading.status,
                                     .eta_ns = qs_agent_gate_eta(item, now_ns),
                                     .note = qs_text_of(w->busiest)};
    qs_talk_send(agent, QS_MSG_WAITING, &m);
}

/* One look at the gate; `shut` is what follows when it is not open. */
static enum qs_agent_event look(struct qs_agent *agent, enum qs_agent_event open, enum qs_agent_event shut)
{
    struct qs_agent_gate *gate = &agent->window.gate;
    int64_t now = qs_agent_now_ns(agent);
    enum qs_gate_answer answer = qs_agent_gate_poll(gate, &agent->port, now);
    agent->deadline_ns = now + (gate->stale ? POLL_STALE_NS : POLL_NS);
    switch (answer) {
    case QS_GATE_ANSWER_OPEN:
        return open;
    case QS_GATE_ANSWER_OVER:
        return QS_EV_GATE_OVER;
    case QS_GATE_ANSWER_WAIT:
        break;
    }
    return shut;
}

enum qs_agent_event qs_act_poll(struct qs_agent *agent)
{
    enum qs_agent_event event = look(agent, QS_EV_GATE_OPEN, QS_EV_NONE);
    if (event == QS_EV_NONE) {
        say(agent, qs_agent_now_ns(agent));
    } else if (agent->window.said_ns != 0) {
        ask_busiest(agent); /* we had to wait: for the record */
    }
    return event;
}

enum qs_agent_event qs_act_watch(struct qs_agent *agent)
{
    return look(agent, QS_EV_NONE, QS_EV_GATE_LOST);
}

enum qs_agent_event qs_act_arm(struct qs_agent *agent)
{
    const struct qs_msg_window m = {
        .run = agent->run.uid, .window = agent->window.number, .arming = agent->window.armings++};
    qs_talk_send(agent, QS_MSG_ARM, &m);
    return QS_EV_NONE;
}

/* The host's answer to an ARM. One to an ARM that was taken back since is late, and means nothing. */
static enum qs_agent_event answer(struct qs_agent *agent, const struct qs_uid *run, uint32_t window,
                                  uint32_t arming, enum qs_agent_event event)
{
    const struct qs_agent_window *w = &agent->window;
    if (!qs_uid_equal(run, &agent->run.uid) || window != w->number || arming >= w->armings) {
        return qs_talk_fatal(agent, QS_CODE_PROTOCOL,
                             "the answer to ARM names another window than the one that is armed");
    }
    return arming + 1 == w->armings ? event : QS_EV_NONE;
}

enum qs_agent_event qs_act_hold(struct qs_agent *agent)
{
    const struct qs_msg_window_why *m = &agent->msg->window_why;
    return answer(agent, &m->run, m->window, m->arming, QS_EV_PUT_OFF);
}

enum qs_agent_event qs_act_rest(struct qs_agent *agent)
{
    qs_agent_gate_pause(&agent->window.gate, &agent->port);
    agent->deadline_ns = qs_agent_now_ns(agent) + POLL_NS;
    return QS_EV_NONE;
}

enum qs_agent_event qs_act_disarm(struct qs_agent *agent)
{
    char why[160] = "the gate was lost";
    size_t i;
    if (qs_agent_gate_blocker(&agent->window.gate, &i)) {
        const struct qs_gate_item *item = &agent->window.gate.items[i];
        qs_print(why, sizeof why, "%s left its band: %lld", item->sensor, (long long)item->reading.value);
    }
    const struct qs_msg_window_why m = {.run = agent->run.uid,
                                        .window = agent->window.number,
                                        .arming = agent->window.armings - 1,
                                        .why = qs_text_of(why)};
    qs_talk_send(agent, QS_MSG_DISARM, &m);
    agent->heard_ns = qs_agent_now_ns(agent); /* heartbeats begin again */
    qs_control_window_over(agent);
    return QS_EV_NONE;
}

enum qs_agent_event qs_act_quiet(struct qs_agent *agent)
{
    const struct qs_msg_window *m = &agent->msg->window;
    return answer(agent, &m->run, m->window, m->arming, QS_EV_SILENCED);
}

enum qs_agent_event qs_act_drain(struct qs_agent *agent)
{
    agent->window.frames = 0;
    agent->window.quiet_ns = qs_agent_now_ns(agent);
    if (agent->port.drain) {
        agent->port.drain(agent->port.ctx);
    }
    return qs_act_decide(agent);
}

enum qs_agent_event qs_act_decide(struct qs_agent *agent)
{
    int64_t end_ns = agent->window.quiet_ns + agent->window.quiet_lead_ns;
    bool ready = qs_agent_now_ns(agent) >= end_ns;
    if (ready) {
        qs_agent_gate_let_go(&agent->window.gate, &agent->port);
    }
    if (ready && agent->run.harness.on) { /* a harness window begins right after the deciding reading */
        qs_act_prepare_window(agent);
    }
    enum qs_agent_event event = look(agent, ready ? QS_EV_DRAINED : QS_EV_NONE, QS_EV_GATE_LOST);
    if (event == QS_EV_NONE && agent->deadline_ns > end_ns) {
        agent->deadline_ns = end_ns;
    }
    return event;
}
