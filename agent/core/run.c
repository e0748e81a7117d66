/* Runs and hooks: what happens outside the windows, and what the host has on disk. */
#include "core/actions.h"

#include "core/print.h"

#include <signal.h>
#include <string.h>

#define GRACE_ASKED_NS  INT64_C(1000000000) /* from SIGTERM to SIGKILL */
#define GRACE_FORCED_NS INT64_C(5000000000) /* from SIGKILL to giving up */

static void keep_exit_codes(struct qs_agent_run *run, const struct qs_list *codes)
{
    struct qs_iter it = qs_list_iter(codes);
    int32_t code;
    run->exit_count = 0;
    while (run->exit_count < QS_EXIT_CODES_MAX && qs_list_i32(&it, &code)) {
        run->exit_codes[run->exit_count++] = code;
    }
}

void qs_act_send_ready(struct qs_agent *agent)
{
    uint8_t declared[QS_DECLARED_MAX * (2 * QS_NAME_MAX_BYTES + 5)];
    const struct qs_agent_run *run = &agent->run;
    struct qs_msg_run_ready m = {.run = run->uid,
                                 .executable = qs_text_of(run->ready.executable),
                                 .cpus = qs_text_of(run->ready.cpus)};
    memcpy(m.sha256, run->ready.sha256, sizeof m.sha256);
    if (run->harness.on) {
        m.header_version = run->harness.layout;
        m.flags = run->ready.shared_cpu ? QS_READY_SHARED_CPU : 0;
        m.evals_max = run->harness.evals_max;
        m.declared = qs_harness_declared(agent, declared, sizeof declared);
    }
    qs_talk_send(agent, QS_MSG_RUN_READY, &m);
}

/* What the run needs and the session has not: one of both sides does not know it. */
static const char *what_lacks(const struct qs_agent *agent, const struct qs_msg_run_begin *m)
{
    uint32_t lacks = ~agent->features;
    return m->mode == QS_RUN_HARNESS && (lacks & QS_FEATURE_HARNESS) ? "harness mode"
           : m->mode == QS_RUN_STREAM && (lacks & QS_FEATURE_STREAM) ? "stream mode"
           : m->output_kind == QS_OUTPUT_KIND_APART && (lacks & QS_FEATURE_APART)
               ? "way to keep the two outputs apart"
           : m->output_kind == QS_OUTPUT_KIND_FILE && (lacks & QS_FEATURE_OUTPUT_FILE)
               ? "way to write the output to a file"
           : qs_start_given(&m->start) && (lacks & QS_FEATURE_PRIORITY)
               ? "way to give a process another priority, or fixed addresses"
               : NULL;
}

enum qs_agent_event qs_act_begin(struct qs_agent *agent)
{
    const struct qs_msg_run_begin *m = &agent->msg->run_begin;
    struct qs_port_fault fault = {.blame = QS_WIRE_BLAME_DEVICE, .wire_code = QS_CODE_RESOURCE};
    struct qs_agent_run *run = &agent->run;
    memset(&run->ready, 0, sizeof run->ready);
    const char *lacks = what_lacks(agent, m);
    if (lacks) {
        char text[80];
        qs_print(text, sizeof text, "this session has no %s", lacks);
        qs_talk_error(agent, &m->run, QS_CODE_UNSUPPORTED, QS_WIRE_BLAME_HOST, text);
        return QS_EV_NONE;
    }
    if (!qs_load_end(agent)) {
        qs_talk_error(agent, &m->run, QS_CODE_RESOURCE, QS_WIRE_BLAME_DEVICE,
                      "the processors that were kept busy do not end, so nothing would be measured in peace");
        return QS_EV_NONE;
    }
    if (!agent->port.run_begin(agent->port.ctx, m, &run->ready, &fault)) {
        qs_talk_error(agent, &m->run, fault.wire_code, fault.blame, fault.text);
        return QS_EV_NONE;
    }
    struct qs_ring_span span;
    run->uid = m->run;
    run->iteration_limit_ns = m->iteration_limit_ns;
    run->hook_limit_ns = m->hook_limit_ns;
    run->output_max_bytes = m->output_kind != QS_OUTPUT_KIND_DISCARD ? m->output_max_bytes : 0;
    run->apart = m->output_kind == QS_OUTPUT_KIND_APART;
    run->prepare = m->prepare.count > 0;
    run->conclude = m->conclude.count > 0;
    run->exit_rule = m->exit_rule;
    keep_exit_codes(run, &m->exit_codes);
    run->counting = qs_ring_span(&agent->ring, &agent->farm, &m->run, &span);
    run->next_seq = run->counting ? span.next : 0;
    run->document_max_bytes = m->mode == QS_RUN_STREAM ? m->stream.document_max_bytes : 0;
    run->harness = (struct qs_agent_harness){.on = m->mode == QS_RUN_HARNESS};
    agent->trace.on = false;
    if (run->harness.on) {
        return qs_harness_begin(agent, m, &fault);
    }
    qs_act_send_ready(agent);
    return QS_EV_BEGUN;
}

enum qs_agent_event qs_act_end(struct qs_agent *agent)
{
    const struct qs_msg_run *m = &agent->msg->run;
    if (!qs_uid_equal(&m->run, &agent->run.uid)) {
        qs_talk_error(agent, &m->run, QS_CODE_UNKNOWN_RUN, QS_WIRE_BLAME_HOST,
                      "RUN_END names a run that is not open here");
        return QS_EV_NONE;
    }
    qs_load_end(agent); /* its processes are not the program's */
    if (agent->run.harness.on) {
        return qs_harness_end(agent);
    }
    agent->port.run_end(agent->port.ctx);
    const struct qs_msg_run_ended answer = {.run = m->run, .seq = agent->run.next_seq};
    qs_talk_send(agent, QS_MSG_RUN_ENDED, &answer);
    return QS_EV_ENDED;
}

enum qs_agent_event qs_act_drop(struct qs_agent *agent)
{
    agent->deadline_ns = 0;
    if (agent->ring.open) {
        qs_ring_close(&agent->ring, 0);
    }
    qs_control_window_over(agent);
    enum qs_agent_event event = qs_harness_drop(agent);
    agent->port.run_end(agent->port.ctx);
    if (event == QS_EV_NONE) {
        qs_files_release(agent);
    }
    return event;
}

enum qs_agent_event qs_act_ack(struct qs_agent *agent)
{
    const struct qs_msg_run_seq *m = &agent->msg->run_seq;
    struct qs_ring_span span;
    bool held = qs_ring_span(&agent->ring, &agent->farm, &m->run, &span);
    if (!held && agent->run.counting && qs_uid_equal(&m->run, &agent->run.uid)) {
        span = (struct qs_ring_span){agent->run.next_seq, agent->run.next_seq, agent->run.next_seq};
    } else if (!held) {
        qs_talk_error(agent, &m->run, QS_CODE_UNKNOWN_RUN, QS_WIRE_BLAME_HOST,
                      "ACK names a run of which nothing is held for this farm");
        return QS_EV_NONE;
    }
    if (m->seq < span.first || m->seq > span.sent) {
        char text[160];
        qs_print(text, sizeof text, "ACK of %llu is outside what was sent and not acknowledged, %llu to %llu",
                 (unsigned long long)m->seq, (unsigned long long)span.first, (unsigned long long)span.sent);
        return qs_talk_fatal(agent, QS_CODE_PROTOCOL, text);
    }
    qs_ring_ack(&agent->ring, &agent->farm, &m->run, m->seq);
    if (agent->port.spool && !qs_agent_is_silent(agent)) { /* else before the next window */
        agent->port.spool->tidy(agent->port.ctx, &agent->ring);
    }
    return QS_EV_NONE;
}

enum qs_agent_event qs_act_resend(struct qs_agent *agent)
{
    const struct qs_msg_run_seq *m = &agent->msg->run_seq;
    bool any = false;
    for (size_t i = 0; i < agent->ring.count && agent->link_up; i++) {
        struct qs_ring_window *w = &agent->ring.windows[i];
        if (qs_uid_equal(&w->farm, &agent->farm) && qs_uid_equal(&w->run, &m->run) &&
            w->first_seq + w->rows > m->seq) {
            qs_act_send_window(agent, w);
            any = true;
        }
    }
    if (!any) {
        qs_talk_error(agent, &m->run, QS_CODE_UNKNOWN_RUN, QS_WIRE_BLAME_HOST,
                      "RESEND names a run of which nothing is held for this farm");
    }
    return QS_EV_NONE;
}

enum qs_agent_event qs_act_pull(struct qs_agent *agent)
{
    const struct qs_msg_pull *m = &agent->msg->pull;
    struct qs_port_piece piece = {.status = QS_PULL_UNREADABLE};
    if (!qs_uid_equal(&m->run, &agent->run.uid)) {
        qs_talk_error(agent, &m->run, QS_CODE_UNKNOWN_RUN, QS_WIRE_BLAME_HOST,
                      "PULL names a run that is not open here");
        return QS_EV_NONE;
    }
    uint32_t needs = QS_FEATURE_PULL | (m->source == QS_PULL_TRACE ? QS_FEATURE_TRACE : 0U);
    if ((agent->features & needs) != needs) {
        qs_talk_error(agent, &m->run, QS_CODE_UNSUPPORTED, QS_WIRE_BLAME_HOST, "nothing can be fetched here");
        return QS_EV_NONE;
    }
    agent->port.pull(agent->port.ctx, m, &piece);
    const struct qs_msg_pulled answer = {.id = m->id,
                                         .status = (enum qs_pull_status)piece.status,
                                         .total_bytes = piece.total_bytes,
                                         .offset = m->offset,
                                         .bytes = {.p = piece.bytes, .n = (uint16_t)piece.n},
                                         .why = qs_text_of(piece.why)};
    qs_talk_send(agent, QS_MSG_PULLED, &answer);
    return QS_EV_NONE;
}

void qs_act_watch_child(struct qs_agent *agent, int64_t limit_ns)
{
    agent->stage = QS_STAGE_RUNS;
    agent->timed_out = false;
    agent->deadline_ns = limit_ns > 0 ? qs_agent_now_ns(agent) + limit_ns : 0;
}

enum qs_agent_event qs_act_stop_child(struct qs_agent *agent)
{
    if (agent->stage == QS_STAGE_RUNS) {
        agent->port.end_child(agent->port.ctx, false);
        agent->stage = QS_STAGE_ASKED;
        agent->deadline_ns = qs_agent_now_ns(agent) + GRACE_ASKED_NS;
    }
    return QS_EV_NONE;
}

enum qs_agent_event qs_act_limit(struct qs_agent *agent)
{
    switch (agent->stage) {
    case QS_STAGE_RUNS:
        agent->timed_out = true;
        return qs_act_stop_child(agent);
    case QS_STAGE_ASKED:
        agent->port.end_child(agent->port.ctx, true);
        agent->stage = QS_STAGE_FORCED;
        agent->deadline_ns = qs_agent_now_ns(agent) + GRACE_FORCED_NS;
        break;
    case QS_STAGE_FORCED:
        agent->stage = QS_STAGE_GIVEN_UP;
        agent->port.abandon_child(agent->port.ctx);
        break;
    case QS_STAGE_GIVEN_UP:
        break;
    }
    return QS_EV_NONE;
}

static void send_hook_done(struct qs_agent *agent, enum qs_hook_how how, int32_t code, struct qs_text output)
{
    const struct qs_msg_hook_done m = {.id = agent->asked_id,
                                       .how = how,
                                       .code = code,
                                       .duration_ns = qs_agent_now_ns(agent) - agent->hook_began_ns,
                                       .output = output};
    if (!qs_talk_send(agent, QS_MSG_HOOK_DONE, &m) && output.n > 0) {
        send_hook_done(agent, how, code, (struct qs_text){.p = NULL, .n = 0});
    }
}

enum qs_agent_event qs_act_hook(struct qs_agent *agent)
{
    const struct qs_msg_hook *m = &agent->msg->hook;
    struct qs_port_fault fault = {.code = 0};
    agent->asked_id = m->id;
    agent->hook_began_ns = qs_agent_now_ns(agent);
    if (agent->state == QS_STATE_RUN_OPEN && agent->run.harness.on) {
        send_hook_done(agent, QS_HOOK_NOT_STARTED, 0, qs_text_of("the program of a harness run is there"));
        return QS_EV_NONE;
    }
    if (!qs_load_end(agent)) { /* its processes would be taken for the hook's */
        send_hook_done(agent, QS_HOOK_NOT_STARTED, 0,
                       qs_text_of("the processors that were kept busy do not end"));
        return QS_EV_NONE;
    }
    if (!agent->port.start_hook(agent->port.ctx, m, &fault)) {
        send_hook_done(agent, QS_HOOK_NOT_STARTED, fault.code, qs_text_of(fault.text));
        return QS_EV_NONE;
    }
    qs_act_watch_child(agent, m->limit_ns);
    return QS_EV_WORKING;
}

enum qs_agent_event qs_act_hook_over(struct qs_agent *agent)
{
    const struct qs_port_child *child = agent->child;
    struct qs_port_output output = {.kept = NULL};
    enum qs_hook_how how = child->how == QS_PORT_EXITED ? QS_HOOK_EXITED : QS_HOOK_SIGNALLED;
    if (agent->timed_out || child->how == QS_PORT_LOST) {
        how = QS_HOOK_TIMED_OUT;
    }
    agent->port.output(agent->port.ctx, &output);
    send_hook_done(agent, how, how == QS_HOOK_TIMED_OUT ? 0 : child->code,
                   (struct qs_text){.p = output.kept, .n = (uint16_t)output.kept_bytes});
    return QS_EV_ANSWERED;
}

enum qs_agent_event qs_act_hook_lost(struct qs_agent *agent)
{
    agent->port.end_child(agent->port.ctx, true);
    agent->port.run_end(agent->port.ctx);
    agent->stage = QS_STAGE_FORCED;
    agent->deadline_ns = qs_agent_now_ns(agent) + GRACE_FORCED_NS;
    return QS_EV_NONE;
}
