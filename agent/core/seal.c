/* The record of a window: evidence, taints, CLOSED, and its way to the host. */
#include "core/actions.h"

#include "core/print.h"
#include "proto/names.h"

#include <string.h>

enum {
    READINGS_BYTES = 8 * 1024,
    EVIDENCE_BYTES = 32 * 1024,
    DECLARED_BYTES = 4096,
    TAINTS_BYTES = QS_AGENT_WORK_BYTES - READINGS_BYTES - EVIDENCE_BYTES - DECLARED_BYTES
};

static struct qs_list build_readings(struct qs_agent *agent, uint8_t *memory, size_t cap)
{
    const struct qs_agent_gate *gate = &agent->window.gate;
    struct qs_build list;
    qs_build_init(&list, memory, cap);
    for (size_t i = 0; i < gate->count; i++) {
        qs_talk_add_reading(&list, gate->items[i].sensor, &gate->items[i].reading);
    }
    return qs_build_list(&list);
}

static struct qs_list build_evidence(struct qs_agent *agent, uint8_t *memory, size_t cap)
{
    const struct qs_agent_window *w = &agent->window;
    struct qs_build list;
    qs_build_init(&list, memory, cap);
    for (size_t i = 0; i < w->evidence_count; i++) {
        const struct qs_port_evidence *e = &w->evidence[i];
        bool ok = e->status == QS_READING_OK;
        const struct qs_evidence evidence = {.kind = qs_text_of(e->kind),
                                             .status = (enum qs_reading_status)e->status,
                                             .before = ok ? e->before : 0,
                                             .after = ok ? e->after : 0};
        qs_build_evidence(&list, &evidence);
    }
    return qs_build_list(&list);
}

static void taint(struct qs_build *list, int32_t iteration, const char *code, int64_t value, int64_t bound)
{
    const struct qs_taint t = {
        .iteration = iteration, .code = qs_text_of(code), .value = value, .bound = bound};
    if (list->count < QS_TAINTS_MAX) {
        qs_build_taint(list, &t);
    }
}

static void taint_by_gate(struct qs_agent *agent, struct qs_build *list)
{
    const struct qs_agent_gate *gate = &agent->window.gate;
    for (size_t i = 0; i < gate->count; i++) {
        const struct qs_gate_item *item = &gate->items[i];
        if (item->given_up && item->on_timeout == QS_GATE_ON_TIMEOUT_TAINT) {
            char code[QS_NAME_MAX_BYTES + 1];
            qs_print(code, sizeof code, "gate:%.*s", QS_NAME_MAX_BYTES - 5, item->sensor);
            taint(list, -1, code, item->missed_value, item->missed_bound);
        }
    }
}

static void taint_if_grown(const struct qs_agent_window *w, struct qs_build *list, const char *kind,
                           int64_t bound)
{
    for (size_t i = 0; i < w->evidence_count; i++) {
        const struct qs_port_evidence *e = &w->evidence[i];
        int64_t grown;
        if (strcmp(e->kind, kind) == 0 && e->status == QS_READING_OK &&
            !__builtin_sub_overflow(e->after, e->before, &grown) && grown > bound) {
            taint(list, -1, e->kind, grown, bound);
        }
    }
}

static bool has_bound(const struct qs_agent_window *w, const char *kind)
{
    size_t b = 0;
    while (b < w->bound_count && strcmp(w->bounds[b].kind, kind) != 0) {
        b++;
    }
    return b < w->bound_count;
}

/* The host's bounds, and what no window may have whatever the host says: somebody stopped who measures or
 * what is measured, the machine slept, or others used the process that relays our link. Two readings of its
 * clocks differ by less than 10 ms; adbd that only waits uses no time, for the shortest of commands 0.9 ms.
 */
static void taint_by_bounds(struct qs_agent *agent, struct qs_build *list)
{
    static const struct {
        const char *kind;
        int64_t bound;
    } always[] = {{QS_SENSOR_AGENT_STOPS, 0},
                  {QS_SENSOR_PROCESS_STOPS, 0},
                  {QS_SENSOR_SUSPENDED, 10000000},
                  {QS_SENSOR_RELAY, 100}};
    const struct qs_agent_window *w = &agent->window;
    for (size_t b = 0; b < w->bound_count; b++) {
        taint_if_grown(w, list, w->bounds[b].kind, w->bounds[b].bound);
    }
    for (size_t i = 0; i < sizeof always / sizeof always[0]; i++) {
        if (!has_bound(w, always[i].kind)) {
            taint_if_grown(w, list, always[i].kind, always[i].bound);
        }
    }
}

/* What changed that should not, by how much; the host's bound of its name goes before that. */
static void taint_if_unsteady(const struct qs_agent_window *w, struct qs_build *list)
{
    for (size_t i = 0; i < w->evidence_count; i++) {
        const struct qs_port_evidence *e = &w->evidence[i];
        int64_t by;
        if (e->steady && e->status == QS_READING_OK && !has_bound(w, e->kind) &&
            !__builtin_sub_overflow(e->after, e->before, &by) && by != 0) {
            taint(list, -1, e->kind, by, 0);
        }
    }
}

/* What is held must have stood where it was put, before and after. */
static void taint_by_holds(const struct qs_agent_window *w, struct qs_build *list)
{
    for (size_t i = 0; i < w->evidence_count; i++) {
        const struct qs_port_evidence *e = &w->evidence[i];
        const int64_t seen[2] = {e->before, e->after};
        bool lost = e->held && e->status != QS_READING_OK;
        if (lost) {
            taint(list, -1, e->kind, 0, e->hi);
        }
        for (int k = 0; e->held && !lost && k < 2; k++) {
            lost = seen[k] < e->lo || seen[k] > e->hi;
            if (lost) {
                taint(list, -1, e->kind, seen[k], seen[k] < e->lo ? e->lo : e->hi);
            }
        }
    }
}

static struct qs_list rows_of(const struct qs_agent *agent, const struct qs_ring_window *w, uint32_t from,
                              uint32_t n)
{
    uint32_t row_bytes = (uint32_t)qs_ring_row_bytes(w->metrics);
    return (struct qs_list){.bytes = agent->ring.memory + w->at + (size_t)from * row_bytes,
                            .len = n * row_bytes,
                            .count = (uint16_t)n};
}

/* What went wrong with single processes; cut output is a remark, not a failure. */
static void taint_by_rows(struct qs_agent *agent, const struct qs_ring_window *held, struct qs_build *list)
{
    const struct qs_list rows = rows_of(agent, held, 0, held->rows);
    struct qs_iter it = qs_list_iter(&rows);
    struct qs_row row;
    for (int32_t i = 0; qs_list_row(&it, held->metrics, &row); i++) {
        uint32_t flags = row.flags & ~(uint32_t)QS_ITERATION_OUTPUT_CUT;
        for (uint32_t bit = 1; flags != 0; bit <<= 1) {
            if (flags & bit) {
                bool late = bit == QS_ITERATION_TIMED_OUT;
                taint(list, i, qs_iteration_flag_name(bit), late ? row.duration_ns : row.status,
                      late ? agent->run.iteration_limit_ns : 0);
            }
            flags &= ~bit;
        }
    }
}

static int64_t rss_bytes(const struct qs_agent *agent, const struct qs_ring_window *held, uint32_t row)
{
    const struct qs_list rows = rows_of(agent, held, row, 1);
    struct qs_iter it = qs_list_iter(&rows);
    struct qs_row r;
    qs_list_row(&it, held->metrics, &r);
    return r.values[QS_METRIC_MAX_RSS_BYTES - 1];
}

/* Of programs that are a process for each iteration: a harness program has it as evidence. */
static void taint_by_growth(const struct qs_agent *agent, const struct qs_ring_window *held,
                            struct qs_build *list)
{
    const struct qs_agent_window *w = &agent->window;
    for (size_t b = 0; b < w->bound_count && held->rows > 1 && !agent->run.harness.on; b++) {
        if (strcmp(w->bounds[b].kind, QS_SENSOR_PROGRAM_RSS) == 0) {
            int64_t grown = rss_bytes(agent, held, held->rows - 1) - rss_bytes(agent, held, 0);
            if (grown > w->bounds[b].bound) {
                taint(list, -1, QS_SENSOR_PROGRAM_RSS, grown, w->bounds[b].bound);
            }
        }
    }
}

/* Everything but the lists and the output, which are built behind each other in agent->work. */
static struct qs_msg_closed describe(const struct qs_agent *agent, uint32_t unread)
{
    const struct qs_agent_window *w = &agent->window;
    return (struct qs_msg_closed){
        .run = agent->run.uid,
        .window = w->number,
        .phase = w->phase,
        .how = w->how,
        .iterations = w->done,
        .opened_ns = w->opened_ns,
        .closed_ns = w->closed_ns,
        .gate = {.began_ns = w->gate.began_ns,
                 .decided_ns = w->gate.decided_ns,
                 .outcome = w->gate.outcome,
                 .polls = w->gate.polls,
                 .busiest = qs_text_of(w->busiest)},
        .failure = qs_text_of(w->failure),
        .frames_in_window = w->frames,
        .unread_bytes_at_close = unread,
        .evals = agent->run.harness.on ? w->evals : 0,
        .apart = agent->run.apart,
    };
}

static struct qs_list build_taints(struct qs_agent *agent, uint32_t unread, uint8_t *memory, size_t cap)
{
    const struct qs_agent_window *w = &agent->window;
    struct qs_build list;
    qs_build_init(&list, memory, cap);
    taint_by_gate(agent, &list);
    taint_by_bounds(agent, &list);
    taint_by_holds(w, &list);
    taint_if_unsteady(w, &list);
    taint_by_growth(agent, &agent->ring.windows[agent->ring.count - 1], &list);
    if (w->frames > 0) {
        taint(&list, -1, "link.frames", w->frames, 0);
    }
    if (unread > 0) {
        taint(&list, -1, "link.unread_bytes", unread, 0);
    }
    if (w->wakes > 1) {
        taint(&list, -1, "program.wakes", w->wakes, 1);
    }
    taint_by_rows(agent, &agent->ring.windows[agent->ring.count - 1], &list);
    return qs_build_list(&list);
}

/* Where the frame is too small for everything, the output goes first, then the lists. */
static size_t encode_closed(const struct qs_msg_closed *whole, uint8_t *memory, size_t cap)
{
    struct qs_msg_closed m = *whole;
    struct qs_writer out;
    qs_writer_init(&out, memory, cap);
    if (qs_msg_encode_closed(&out, &m)) {
        return out.len;
    }
    m.output.n = m.errors.n = 0;
    qs_writer_init(&out, memory, cap);
    if (qs_msg_encode_closed(&out, &m)) {
        return out.len;
    }
    m.taints = m.evidence = (struct qs_list){.count = 0};
    qs_writer_init(&out, memory, cap);
    return qs_msg_encode_closed(&out, &m) ? out.len : 0;
}

/* Ends the window in the ring; its CLOSED lies behind the rows. */
static void finish(struct qs_agent *agent)
{
    struct qs_agent_window *w = &agent->window;
    bool ran = w->opened_ns != 0;
    uint32_t unread = ran && agent->port.unread ? agent->port.unread(agent->port.ctx) : 0;
    struct qs_msg_closed m = describe(agent, unread);
    uint8_t *work = agent->work;
    m.gate.readings = build_readings(agent, work, READINGS_BYTES);
    if (ran) {
        struct qs_port_output output = {.kept = NULL};
        agent->port.output(agent->port.ctx, &output);
        m.output_bytes = output.total_bytes;
        m.output = (struct qs_text){.p = output.kept, .n = (uint16_t)output.kept_bytes};
        m.errors_bytes = output.errors_total_bytes;
        m.errors = (struct qs_text){.p = output.errors, .n = (uint16_t)output.errors_bytes};
        work += READINGS_BYTES;
        m.evidence = build_evidence(agent, work, EVIDENCE_BYTES);
        work += EVIDENCE_BYTES;
        m.taints = build_taints(agent, unread, work, TAINTS_BYTES);
    }
    if (agent->run.harness.on) {
        m.declared =
            qs_harness_declared(agent, agent->work + sizeof agent->work - DECLARED_BYTES, DECLARED_BYTES);
    }
    size_t cap;
    uint8_t *memory = qs_ring_closed(&agent->ring, &cap);
    cap = cap < agent->max_frame_bytes ? cap : agent->max_frame_bytes;
    w->closed = (struct qs_agent_bytes){.p = memory, .n = encode_closed(&m, memory, cap)};
    if (ran && w->done > 0 && agent->run.document_max_bytes > 0) {
        qs_act_keep_document(agent, w->closed.n);
    }
    w->held = qs_ring_close(&agent->ring, w->closed.n);
    agent->deadline_ns = 0;
}

/* A later host may take shorter frames than the one for which it was encoded: then it is cut again. */
static void send_closed(struct qs_agent *agent, const uint8_t *payload, size_t n)
{
    struct qs_msg_closed m;
    size_t at = qs_talk_begin(agent);
    if (n > agent->max_frame_bytes && qs_msg_decode_closed(payload, n, &m) == 0) {
        n = encode_closed(&m, agent->work, agent->max_frame_bytes);
        payload = agent->work;
    }
    qs_put_bytes(&agent->w, payload, n);
    qs_talk_end(agent, at, QS_MSG_CLOSED);
}

static void send_rows(struct qs_agent *agent, const struct qs_ring_window *held)
{
    uint8_t ids[2 * QS_METRICS_MAX];
    struct qs_build metrics;
    uint32_t most = (agent->max_frame_bytes - 128) / (uint32_t)qs_ring_row_bytes(held->metrics);
    most = most < QS_ROWS_MAX ? most : QS_ROWS_MAX;
    qs_build_init(&metrics, ids, sizeof ids);
    for (uint16_t i = 0; i < held->metrics; i++) {
        qs_build_u16(&metrics, (uint16_t)(held->first_metric + i));
    }
    for (uint32_t from = 0; from < held->rows && agent->link_up; from += most) {
        uint32_t n = held->rows - from < most ? held->rows - from : most;
        const struct qs_msg_iterations m = {.run = held->run,
                                            .window = held->window,
                                            .first_seq = held->first_seq + from,
                                            .first_index = from,
                                            .metrics = qs_build_list(&metrics),
                                            .rows = rows_of(agent, held, from, n)};
        qs_talk_send(agent, QS_MSG_ITERATIONS, &m);
    }
}

void qs_act_send_window(struct qs_agent *agent, struct qs_ring_window *held)
{
    send_closed(agent, agent->ring.memory + held->at + held->rows_bytes, held->closed_bytes);
    qs_act_send_document(agent, held);
    send_rows(agent, held);
    held->sent = true;
}

static void add(struct qs_agent_window *w, const char *kind, int64_t before, int64_t after)
{
    struct qs_port_evidence *e = &w->evidence[w->evidence_count++];
    *e = (struct qs_port_evidence){.status = QS_READING_OK, .before = before, .after = after};
    qs_print(e->kind, sizeof e->kind, "%s", kind);
}

static void add_own(struct qs_agent *agent)
{
    struct qs_agent_window *w = &agent->window;
    struct qs_port_clock after = {.precision_ns = 0};
    if (w->start_delay_ns >= 0) {
        add(w, QS_SENSOR_START_DELAY, 0, w->start_delay_ns);
    }
    if (w->phase == QS_PHASE_TUNE && w->clock.precision_ns > 0) {
        agent->port.program_clock(agent->port.ctx, &after);
    }
    if (after.precision_ns > 0) {
        add(w, QS_SENSOR_CLOCK_PRECISION, w->clock.precision_ns, after.precision_ns);
        add(w, QS_SENSOR_CLOCK_ACCURACY, w->clock.accuracy_ns, after.accuracy_ns);
    }
}

enum qs_agent_event qs_act_seal(struct qs_agent *agent)
{
    struct qs_agent_window *w = &agent->window;
    w->closed_ns = qs_agent_now_ns(agent);
    agent->port.evidence(agent->port.ctx, true, w->evidence, w->evidence_count);
    add_own(agent);
    finish(agent);
    return QS_EV_SEALED;
}

/* What is offered to a host outlives us from then on. */
static void spool(struct qs_agent *agent)
{
    if (agent->port.spool && agent->window.held) {
        agent->port.spool->keep(agent->port.ctx, &agent->ring, agent->window.held);
    }
}

enum qs_agent_event qs_act_deliver(struct qs_agent *agent)
{
    spool(agent);
    agent->heard_ns = qs_agent_now_ns(agent); /* heartbeats begin again */
    qs_control_window_over(agent);
    if (agent->window.held) {
        qs_act_send_window(agent, agent->window.held);
    } else {
        send_closed(agent, agent->window.closed.p, agent->window.closed.n);
    }
    return QS_EV_NONE;
}

enum qs_agent_event qs_act_keep(struct qs_agent *agent)
{
    qs_act_seal(agent);
    spool(agent);
    enum qs_agent_event event = qs_harness_drop(agent);
    agent->port.run_end(agent->port.ctx);
    qs_control_window_over(agent);
    return event;
}

enum qs_agent_event qs_act_close_empty(struct qs_agent *agent)
{
    qs_load_end(agent);
    finish(agent);
    return qs_act_deliver(agent);
}

enum qs_agent_event qs_act_gate_over(struct qs_agent *agent)
{
    agent->window.how = QS_CLOSED_GATE_TIMEOUT;
    return qs_act_close_empty(agent);
}

enum qs_agent_event qs_act_cancel_wait(struct qs_agent *agent)
{
    agent->window.how = QS_CLOSED_CANCELLED;
    return qs_act_close_empty(agent);
}
