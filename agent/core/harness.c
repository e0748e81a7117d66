/* Runs of harness mode: one program for all windows of a run, from its setup to its teardown. */
#include "core/actions.h"

#include "core/print.h"
#include "proto/names.h"

#include <string.h>

#define START_LEAD_NS                                                                                        \
    INT64_C(200000) /* from the deciding reading to the start: the program's waking fits in */
#define GRACE_FORCED_NS INT64_C(5000000000)

/* QUIESCE_BENCH_EXIT_LAYOUT of bench.h: the program refuses the layout of the memory. */
enum { EXIT_LAYOUT = 120 };

static void look_at(struct qs_agent *agent, struct qs_port_look *look)
{
    agent->port.program_look(agent->port.ctx, look);
}

enum qs_agent_event qs_harness_begin(struct qs_agent *agent, const struct qs_msg_run_begin *m,
                                     struct qs_port_fault *fault)
{
    struct qs_agent_harness *h = &agent->run.harness;
    h->capacity = m->harness.capacity;
    if (!agent->port.program_start(agent->port.ctx, fault)) {
        agent->port.run_end(agent->port.ctx);
        qs_talk_error(agent, &m->run, fault->wire_code, fault->blame, fault->text);
        return QS_EV_NONE;
    }
    h->alive = true;
    qs_act_watch_child(agent, m->hook_limit_ns);
    return QS_EV_WORKING;
}

/* The metrics that it declares, as they are now: later changes of the program's are not looked at. */
static bool take_metrics(struct qs_agent *agent, uint32_t count)
{
    struct qs_agent_harness *h = &agent->run.harness;
    h->metric_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!agent->port.program_metric(agent->port.ctx, i, &h->metrics[i])) {
            return false;
        }
        for (uint32_t k = 0; k < i; k++) {
            if (strcmp(h->metrics[k].name, h->metrics[i].name) == 0) {
                return false;
            }
        }
        h->metric_count = (uint16_t)(i + 1);
    }
    return true;
}

struct qs_list qs_harness_declared(const struct qs_agent *agent, uint8_t *memory, size_t cap)
{
    const struct qs_agent_harness *h = &agent->run.harness;
    struct qs_build list;
    qs_build_init(&list, memory, cap);
    for (uint16_t i = 0; i < h->metric_count; i++) {
        const struct qs_port_metric *m = &h->metrics[i];
        const struct qs_declared declared = {
            .name = qs_text_of(m->name),
            .unit = qs_text_of(m->unit),
            .flags = (uint8_t)((m->lower_is_better ? QS_DECLARED_LOWER_IS_BETTER : 0) |
                               (m->deterministic ? QS_DECLARED_DETERMINISTIC : 0))};
        qs_build_declared(&list, &declared);
    }
    return qs_build_list(&list);
}

/* RUN_BEGIN is refused: the program goes, and its end is answered. */
static enum qs_agent_event refuse(struct qs_agent *agent, const char *why)
{
    qs_print(agent->run.harness.why, sizeof agent->run.harness.why, "%s", why);
    agent->port.end_child(agent->port.ctx, true);
    agent->stage = QS_STAGE_FORCED;
    agent->deadline_ns = qs_agent_now_ns(agent) + GRACE_FORCED_NS;
    return QS_EV_NONE;
}

enum qs_agent_event qs_act_launch(struct qs_agent *agent)
{
    struct qs_agent_harness *h = &agent->run.harness;
    struct qs_port_look look;
    look_at(agent, &look);
    if (look.state == QS_PROGRAM_CORRUPT) {
        return refuse(agent, look.text);
    }
    if (look.state != QS_PROGRAM_PARKED || h->why[0] || agent->stage != QS_STAGE_RUNS) {
        return QS_EV_NONE; /* it failed, and will exit; or nothing has changed */
    }
    if (look.layout == 0 || !take_metrics(agent, look.metrics)) {
        return refuse(agent, "the program declares a metric without a name, or the same one twice");
    }
    h->layout = look.layout;
    h->evals_max = look.evals_max;
    agent->deadline_ns = 0;
    qs_act_send_ready(agent);
    return QS_EV_BEGUN;
}

/* What the program says of its failure, and in which step. */
static void say_failure(const struct qs_port_look *look, char text[QS_PORT_FAULT_BYTES])
{
    qs_print(text, QS_PORT_FAULT_BYTES, "%s%s%.240s", look->in_step ? look->phase : "",
             look->in_step ? ": " : "", look->text);
}

/* How the program ended, kept for the host; `why` for people, unless something was said already. */
static void note_end(struct qs_agent *agent)
{
    struct qs_agent_harness *h = &agent->run.harness;
    const struct qs_port_child *child = agent->child;
    struct qs_port_look look;
    char end[64];
    look_at(agent, &look);
    h->alive = false;
    h->how = child->how == QS_PORT_LOST        ? QS_ENDED_LOST
             : child->how == QS_PORT_SIGNALLED ? QS_ENDED_SIGNALLED
                                               : QS_ENDED_EXITED;
    h->code = child->how == QS_PORT_LOST ? 0 : child->code;
    h->flags = (look.state != QS_PROGRAM_OVER ? (uint32_t)QS_ENDED_NO_TEARDOWN : 0) |
               (agent->timed_out ? (uint32_t)QS_ENDED_TIMED_OUT : 0) |
               (child->left_children ? (uint32_t)QS_ENDED_LEFT_CHILDREN : 0);
    if (h->why[0]) {
        return;
    }
    qs_print(end, sizeof end,
             child->how == QS_PORT_SIGNALLED ? "was ended by signal %d" : "exited with code %d",
             (int)child->code);
    if (child->how == QS_PORT_LOST) {
        qs_print(h->why, sizeof h->why,
                 "the program did not die from SIGKILL: it waits in the kernel (a driver?)");
    } else if (look.state == QS_PROGRAM_FAILED) {
        say_failure(&look, h->why);
    } else if (look.state == QS_PROGRAM_CORRUPT) {
        qs_print(h->why, sizeof h->why, "%s", look.text);
    } else {
        qs_print(h->why, sizeof h->why, "the program %s (%s)%s", end, look.phase,
                 agent->timed_out ? ": it had reached its limit" : "");
    }
}

enum qs_agent_event qs_act_stillborn(struct qs_agent *agent)
{
    struct qs_agent_harness *h = &agent->run.harness;
    const struct qs_port_child *child = agent->child;
    struct qs_port_look look;
    look_at(agent, &look);
    if (!h->why[0] && child->how == QS_PORT_EXITED && child->code == EXIT_LAYOUT) {
        qs_print(
            h->why, sizeof h->why,
            "the program's bench.h has layout %u, this agent has another: build it again with the header of "
            "this version",
            (unsigned)look.layout);
    } else if (!h->why[0] && look.layout == 0 && !agent->timed_out) {
        qs_print(h->why, sizeof h->why,
                 "the program ended with %s %d before it was a benchmark: does it include quiesce/bench.h?",
                 child->how == QS_PORT_SIGNALLED ? "signal" : "code", (int)child->code);
    }
    note_end(agent);
    agent->port.run_end(agent->port.ctx);
    qs_talk_error(agent, &agent->run.uid, QS_CODE_EXECUTABLE, QS_WIRE_BLAME_OPERATOR, h->why);
    agent->run.harness.on = false;
    return QS_EV_ANSWERED;
}

enum qs_agent_event qs_act_gone(struct qs_agent *agent)
{
    note_end(agent);
    return QS_EV_GONE;
}

enum qs_agent_event qs_act_close_gone(struct qs_agent *agent)
{
    agent->window.how = QS_CLOSED_FAILED;
    qs_print(agent->window.failure, sizeof agent->window.failure, "%s", agent->run.harness.why);
    return qs_act_close_empty(agent);
}

static void send_ended(struct qs_agent *agent)
{
    const struct qs_agent_harness *h = &agent->run.harness;
    const struct qs_msg_run_ended m = {
        .run = agent->run.uid, .seq = agent->run.next_seq, .how = h->how, .code = h->code, .flags = h->flags};
    qs_talk_send(agent, QS_MSG_RUN_ENDED, &m);
}

enum qs_agent_event qs_harness_end(struct qs_agent *agent)
{
    if (!agent->run.harness.alive) {
        agent->port.run_end(agent->port.ctx);
        send_ended(agent);
        agent->run.harness.on = false;
        return QS_EV_ENDED;
    }
    agent->port.program_quit(agent->port.ctx);
    qs_act_watch_child(agent, agent->run.hook_limit_ns);
    return QS_EV_WORKING;
}

enum qs_agent_event qs_act_quit_over(struct qs_agent *agent)
{
    note_end(agent);
    return qs_harness_end(agent);
}

enum qs_agent_event qs_harness_drop(struct qs_agent *agent)
{
    struct qs_agent_harness *h = &agent->run.harness;
    bool lingers = h->on && h->alive;
    h->on = h->alive = false;
    if (!lingers) {
        return QS_EV_NONE;
    }
    agent->port.end_child(agent->port.ctx, true);
    agent->stage = QS_STAGE_FORCED;
    agent->deadline_ns = qs_agent_now_ns(agent) + GRACE_FORCED_NS;
    return QS_EV_LINGERS;
}

static enum qs_agent_event fail(struct qs_agent *agent, const char *text)
{
    agent->window.how = QS_CLOSED_FAILED;
    qs_print(agent->window.failure, sizeof agent->window.failure, "%s", text);
    return QS_EV_LAST;
}

enum qs_agent_event qs_harness_measure(struct qs_agent *agent)
{
    struct qs_agent_window *w = &agent->window;
    const struct qs_port_go go = {.window = w->number,
                                  .iterations = w->planned,
                                  .evals = w->evals,
                                  .phase = w->phase,
                                  .start_at_ns = w->opened_ns + START_LEAD_NS,
                                  .max_ns = w->max_ns};
    agent->stage = QS_STAGE_RUNS;
    agent->timed_out = false;
    agent->deadline_ns = go.start_at_ns + w->max_ns + agent->run.iteration_limit_ns;
    agent->port.program_go(agent->port.ctx, &go);
    return QS_EV_NONE;
}

/* Times run forward, from the window's start to now. *from_ns is where the next iteration may begin. */
static bool is_possible(const struct qs_port_row *row, int64_t *from_ns, int64_t now_ns)
{
    int64_t end_ns;
    if (row->start_ns < *from_ns || row->duration_ns < 0 ||
        __builtin_add_overflow(row->start_ns, row->duration_ns, &end_ns) || end_ns > now_ns) {
        return false;
    }
    *from_ns = end_ns;
    return true;
}

static void take_rows(struct qs_agent *agent, uint32_t count)
{
    struct qs_agent_window *w = &agent->window;
    uint16_t metrics = agent->run.harness.metric_count;
    int64_t from_ns = w->opened_ns;
    int64_t now_ns = qs_agent_now_ns(agent);
    for (uint32_t i = 0; i < count; i++) {
        struct qs_port_row row;
        agent->port.program_row(agent->port.ctx, i, metrics, &row);
        bool possible = is_possible(&row, &from_ns, now_ns);
        w->row = (struct qs_row){.duration_ns = row.duration_ns, .flags = possible ? 0 : QS_ITERATION_CLOCK};
        if (__builtin_sub_overflow(row.start_ns, w->opened_ns, &w->row.start_off_ns)) {
            w->row.start_off_ns = -1;
        }
        if (i == 0 && possible) {
            w->start_delay_ns = w->row.start_off_ns;
        }
        memcpy(w->row.values, row.values, metrics * sizeof row.values[0]);
        qs_act_record(agent);
    }
}

/* The rows that may be believed, and how the window ended. */
static enum qs_agent_event take_window(struct qs_agent *agent, const struct qs_port_look *look)
{
    struct qs_agent_window *w = &agent->window;
    char text[QS_PORT_FAULT_BYTES];
    if (look->state == QS_PROGRAM_CORRUPT) {
        return fail(agent, look->text);
    }
    if (look->count > w->planned) {
        qs_print(text, sizeof text, "the program claims %u iterations, %u were asked for",
                 (unsigned)look->count, (unsigned)w->planned);
        return fail(agent, text);
    }
    take_rows(agent, look->count);
    if (look->state == QS_PROGRAM_FAILED) {
        say_failure(look, text);
        return fail(agent, text);
    }
    if (!look->done) {
        return fail(agent, agent->run.harness.why);
    }
    if (look->broke || (!look->time_up && look->count < w->planned)) {
        qs_print(text, sizeof text, "the program ended its window after %u of %u iterations",
                 (unsigned)look->count, (unsigned)w->planned);
        return fail(agent, text);
    }
    w->how = look->time_up && look->count < w->planned ? QS_CLOSED_TIME_UP : QS_CLOSED_DONE;
    return QS_EV_LAST;
}

enum qs_agent_event qs_act_woken(struct qs_agent *agent)
{
    struct qs_port_look look;
    agent->window.wakes++;
    if (!agent->run.harness.on || agent->stage != QS_STAGE_RUNS) {
        return QS_EV_NONE; /* it is being ended */
    }
    look_at(agent, &look);
    if (!look.done && look.state != QS_PROGRAM_FAILED && look.state != QS_PROGRAM_CORRUPT) {
        return QS_EV_NONE;
    }
    return take_window(agent, &look);
}

enum qs_agent_event qs_harness_died(struct qs_agent *agent)
{
    struct qs_agent_window *w = &agent->window;
    struct qs_port_look look;
    look_at(agent, &look);
    if (agent->timed_out) {
        qs_print(agent->run.harness.why, sizeof agent->run.harness.why,
                 "an iteration did not end within its limit: the program was ended (%s)", look.phase);
    }
    note_end(agent);
    enum qs_agent_event event = take_window(agent, &look);
    if (w->cancelled) {
        w->how = QS_CLOSED_CANCELLED;
        w->failure[0] = '\0';
    }
    return event;
}
