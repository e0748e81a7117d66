#include "core/states.h"

#include "core/actions.h"
#include "core/print.h"
#include "proto/request.h"

#include <assert.h>
#include <string.h>

/* A row of a state: for what happens, and (MSG) for a message. */
#define ROW(from, event, to, act)                                                                            \
    {                                                                                                        \
        QS_STATE_##from, 0, QS_EV_##event, QS_STATE_##to, qs_act_##act, #act                                 \
    }
#define MOVE(from, event, to)                                                                                \
    {                                                                                                        \
        QS_STATE_##from, 0, QS_EV_##event, QS_STATE_##to, NULL, ""                                           \
    }
#define MSG(from, type, to, act)                                                                             \
    {                                                                                                        \
        QS_STATE_##from, 0, QS_MSG_##type, QS_STATE_##to, qs_act_##act, #act                                 \
    }
#define PASS(from, type)                                                                                     \
    {                                                                                                        \
        QS_STATE_##from, 0, QS_MSG_##type, QS_STATE_##from, NULL, ""                                         \
    }

/* What every state with a standing session and an open mouth answers. */
#define TALKS(state)                                                                                         \
    MSG(state, PING, state, pong), PASS(state, PONG), MSG(state, ACK, state, ack),                           \
        MSG(state, ERROR, state, bye), MSG(state, BYE, state, bye)

/* Silent states: heartbeats that crossed QUIET are counted, not answered. */
#define SILENT(state)                                                                                        \
    PASS(state, PING), PASS(state, PONG), MSG(state, ACK, state, ack), MSG(state, ERROR, state, bye),        \
        MSG(state, BYE, state, bye)

/* The program of a harness run ends before its window. */
#define GOES(state) ROW(state, CHILD, state, gone), ROW(state, GONE, RUN_OPEN, close_gone)

/* A request is taken; and what happens while it is worked at. */
#define TAKE(type, act)                                                                                      \
    {                                                                                                        \
        QS_STATE_COUNT, 0, QS_MSG_##type, QS_STATE_COUNT, qs_act_##act, #act                                 \
    }
#define WORK(type, event, act)                                                                               \
    {                                                                                                        \
        QS_STATE_COUNT, QS_MSG_##type, event, QS_STATE_COUNT, qs_act_##act, #act                             \
    }
#define LOST(type, to, act)                                                                                  \
    {                                                                                                        \
        QS_STATE_COUNT, QS_MSG_##type, QS_EV_LINK_DOWN, QS_STATE_##to, qs_act_##act, #act                    \
    }
#define MEANWHILE(type, act)                                                                                 \
    {                                                                                                        \
        QS_STATE_COUNT, QS_STATES_ANY_REQUEST, QS_MSG_##type, QS_STATE_COUNT, qs_act_##act, #act             \
    }
#define LET_PASS(request, type)                                                                              \
    {                                                                                                        \
        QS_STATE_COUNT, request, QS_MSG_##type, QS_STATE_COUNT, NULL, ""                                     \
    }

static const struct qs_states_row rows[] = {
    ROW(DOWN, LINK_UP, HELLO, greet),
    MOVE(DOWN, LINGERS, ENDING),

    MSG(HELLO, HELLO_HOST, HELLO, hello),
    MOVE(HELLO, CHALLENGED, AUTH),
    ROW(HELLO, ACCEPTED, READY, offer),
    MOVE(HELLO, LINK_DOWN, DOWN),

    MSG(AUTH, AUTH, AUTH, verify),
    ROW(AUTH, ACCEPTED, READY, offer),
    MSG(AUTH, ERROR, AUTH, bye),
    MSG(AUTH, BYE, AUTH, bye),
    MOVE(AUTH, LINK_DOWN, DOWN),

    TALKS(READY),
    MSG(READY, FACTS_GET, READY, facts),
    ROW(READY, WORKING, READY, begin_work),
    ROW(READY, ANSWERED, READY, end_work),
    ROW(READY, BEGUN, RUN_OPEN, end_work),
    PASS(READY, CANCEL), /* crossed the end of what it wanted to end */
    MSG(READY, PUT_DATA, READY, put_data),
    ROW(READY, LINK_DOWN, DOWN, leave),

    TALKS(RUN_OPEN),
    MSG(RUN_OPEN, FACTS_GET, RUN_OPEN, facts),
    MSG(RUN_OPEN, OPEN, WAITING, open),
    PASS(RUN_OPEN, QUIET), /* crossed the CLOSED of a gate that timed out; so the next two */
    PASS(RUN_OPEN, HOLD),
    PASS(RUN_OPEN, CANCEL),
    ROW(RUN_OPEN, WORKING, RUN_OPEN, begin_work),
    ROW(RUN_OPEN, ANSWERED, RUN_OPEN, end_work),
    ROW(RUN_OPEN, ENDED, READY, end_work),
    ROW(RUN_OPEN, CHILD, RUN_OPEN, gone),
    ROW(RUN_OPEN, LINK_DOWN, DOWN, drop),

    TALKS(WAITING),
    MOVE(WAITING, UNOPENED, RUN_OPEN),
    ROW(WAITING, TIME, WAITING, poll),
    ROW(WAITING, GATE_OPEN, ARMED, arm),
    ROW(WAITING, GATE_OVER, RUN_OPEN, gate_over),
    PASS(WAITING, QUIET), /* crossed our DISARM; so the next */
    PASS(WAITING, HOLD),
    MSG(WAITING, CANCEL, RUN_OPEN, cancel_wait),
    GOES(WAITING),
    ROW(WAITING, LINK_DOWN, DOWN, drop),

    TALKS(ARMED),
    ROW(ARMED, TIME, ARMED, watch),
    ROW(ARMED, GATE_LOST, WAITING, disarm),
    ROW(ARMED, GATE_OVER, RUN_OPEN, gate_over),
    MSG(ARMED, QUIET, ARMED, quiet),
    ROW(ARMED, SILENCED, DRAINING, drain),
    MSG(ARMED, HOLD, ARMED, hold),
    ROW(ARMED, PUT_OFF, WAITING, rest),
    MSG(ARMED, CANCEL, RUN_OPEN, cancel_wait),
    GOES(ARMED),
    ROW(ARMED, LINK_DOWN, DOWN, drop),

    SILENT(DRAINING),
    ROW(DRAINING, TIME, DRAINING, decide),
    ROW(DRAINING, DRAINED, MEASURING, measure),
    ROW(DRAINING, GATE_LOST, WAITING, disarm),
    ROW(DRAINING, GATE_OVER, RUN_OPEN, gate_over),
    MSG(DRAINING, CANCEL, RUN_OPEN, cancel_wait),
    GOES(DRAINING),
    ROW(DRAINING, LINK_DOWN, DOWN, drop),

    SILENT(MEASURING),
    ROW(MEASURING, CHILD, MEASURING, step),
    ROW(MEASURING, WAKE, MEASURING, woken),
    ROW(MEASURING, TIME, MEASURING, limit),
    MSG(MEASURING, CANCEL, MEASURING, interrupt),
    ROW(MEASURING, LAST, EVIDENCE, seal),
    MOVE(MEASURING, LINK_DOWN, ALONE),

    ROW(EVIDENCE, SEALED, RUN_OPEN, deliver),

    ROW(ALONE, CHILD, ALONE, step),
    ROW(ALONE, WAKE, ALONE, woken),
    ROW(ALONE, TIME, ALONE, limit),
    ROW(ALONE, LAST, DOWN, keep),

    MOVE(ENDING, CHILD, DOWN),
    ROW(ENDING, TIME, ENDING, limit),

    TAKE(RESEND, resend),
    TAKE(RUN_BEGIN, begin),
    TAKE(HOOK, hook),
    TAKE(RUN_END, end),
    TAKE(PULL, pull),
    TAKE(TRACE, trace),
    TAKE(TRACE_STOP, untrace),
    TAKE(HAVE, have),
    TAKE(PUT, put),
    TAKE(STAGE, stage),
    TAKE(CLEAN, clean),
    TAKE(READ, read),
    TAKE(SURVEY, survey),
    TAKE(BIND, bind),
    TAKE(TUNE, tune),
    TAKE(RESTORE, restore),
    TAKE(LOAD, load),

    MEANWHILE(PING, pong),
    LET_PASS(QS_STATES_ANY_REQUEST, PONG),
    MEANWHILE(ACK, ack),
    MEANWHILE(ERROR, bye),
    MEANWHILE(BYE, bye),

    WORK(RUN_BEGIN, QS_EV_WAKE, launch),
    WORK(RUN_BEGIN, QS_EV_CHILD, stillborn),
    WORK(RUN_BEGIN, QS_EV_TIME, limit),
    WORK(RUN_BEGIN, QS_MSG_CANCEL, stop_child),
    LOST(RUN_BEGIN, DOWN, drop),

    WORK(HOOK, QS_EV_CHILD, hook_over),
    WORK(HOOK, QS_EV_TIME, limit),
    WORK(HOOK, QS_MSG_CANCEL, stop_child),
    LOST(HOOK, ENDING, hook_lost),

    WORK(TRACE, QS_EV_TRACER, trace_failed),
    WORK(TRACE, QS_EV_TIME, trace_stands),
    WORK(TRACE, QS_MSG_CANCEL, trace_stands),
    WORK(TRACE, QS_EV_CHILD, trace_gone),

    WORK(TRACE_STOP, QS_EV_TRACER, trace_over),
    WORK(TRACE_STOP, QS_EV_TIME, trace_limit),
    LET_PASS(QS_MSG_TRACE_STOP, CANCEL), /* it is being ended */
    WORK(TRACE_STOP, QS_EV_CHILD, trace_gone),

    WORK(READ, QS_EV_TIME, readings),
    WORK(BIND, QS_EV_TIME, bound),

    WORK(TUNE, QS_EV_CONTROL, tuned),
    WORK(TUNE, QS_EV_TIME, tune_settled),
    LET_PASS(QS_MSG_TUNE, CANCEL), /* it comes to its end soon */
    WORK(RESTORE, QS_EV_CONTROL, restored),
    LET_PASS(QS_MSG_RESTORE, CANCEL),

    WORK(RUN_END, QS_EV_CHILD, quit_over),
    WORK(RUN_END, QS_EV_TIME, limit),
    WORK(RUN_END, QS_MSG_CANCEL, stop_child),
};

#define ROWS (sizeof rows / sizeof rows[0])
_Static_assert(ROWS <= QS_STATES_ROWS_MAX, "row_hits is too small");

static bool is_in_phase(const struct qs_agent *agent, const struct qs_request *request)
{
    uint8_t phase = agent->state == QS_STATE_READY      ? QS_REQUEST_IDLE
                    : agent->state == QS_STATE_RUN_OPEN ? QS_REQUEST_RUN
                                                        : 0;
    bool agreed = phase != QS_REQUEST_RUN || (agent->features & request->amid) == request->amid;
    return agreed && (request->phases & phase) != 0;
}

static bool fits(const struct qs_agent *agent, const struct qs_states_row *row)
{
    if (row->state != QS_STATE_COUNT) { /* while a request is worked at, only outcomes move the state */
        return row->state == agent->state && (!agent->asked || row->event >= QS_EV_FIRST);
    }
    if (row->request != 0) {
        return agent->asked && (row->request == agent->asked->type || row->request == QS_STATES_ANY_REQUEST);
    }
    return !agent->asked && is_in_phase(agent, qs_request_of(row->event));
}

/* The last row that fits: those of the request that is worked at stand behind those of the state. */
static const struct qs_states_row *find(const struct qs_agent *agent, unsigned event)
{
    const struct qs_states_row *found = NULL;
    for (size_t i = 0; i < ROWS; i++) {
        if (rows[i].event == event && fits(agent, &rows[i])) {
            found = &rows[i];
        }
    }
    return found;
}

bool qs_states_expect(const struct qs_agent *agent, unsigned event)
{
    return find(agent, event) != NULL;
}

bool qs_states_dispatch(struct qs_agent *agent, unsigned event)
{
    bool taken = false;
    while (event != QS_EV_NONE) {
        const struct qs_states_row *row = find(agent, event);
        if (!row) {
            return taken;
        }
        uint8_t *hits = &agent->row_hits[row - rows];
        *hits = (uint8_t)(*hits < UINT8_MAX ? *hits + 1 : UINT8_MAX);
        if (row->next != QS_STATE_COUNT) {
            agent->state = (enum qs_agent_state)row->next;
            assert(agent->state < QS_STATE_COUNT);
        }
        if (event == QS_EV_LINK_DOWN) {
            agent->asked = NULL; /* nobody waits for its answer */
            qs_load_end(agent);
        }
        event = row->action ? row->action(agent) : QS_EV_NONE;
        taken = true;
    }
    return taken;
}

enum qs_agent_event qs_act_begin_work(struct qs_agent *agent)
{
    assert(!agent->asked); /* one at a time */
    agent->asked = qs_request_of(agent->frame.type);
    return QS_EV_NONE;
}

enum qs_agent_event qs_act_end_work(struct qs_agent *agent)
{
    agent->asked = NULL;
    return QS_EV_NONE;
}

const struct qs_states_row *qs_states_rows(size_t *count)
{
    *count = ROWS;
    return rows;
}

const char *qs_states_name(enum qs_agent_state state)
{
    static const char *const names[QS_STATE_COUNT] = {"down",      "hello",    "auth",  "ready",
                                                      "run_open",  "waiting",  "armed", "draining",
                                                      "measuring", "evidence", "alone", "ending"};
    return state < QS_STATE_COUNT ? names[state] : "unknown";
}

const char *qs_states_event_name(unsigned event)
{
    static const char *const names[QS_EV_COUNT - QS_EV_FIRST] = {
        "LINK_UP",  "LINK_DOWN", "TIME",     "CHILD", "WAKE",     "TRACER",    "CONTROL",   "challenged",
        "accepted", "working",   "answered", "begun", "unopened", "gate_open", "gate_lost", "gate_over",
        "put_off",  "silenced",  "drained",  "last",  "sealed",   "gone",      "lingers",   "ended"};
    if (event >= QS_EV_FIRST && event < QS_EV_COUNT) {
        return names[event - QS_EV_FIRST];
    }
    return event == QS_EV_NONE ? "none" : qs_msg_name((uint8_t)(event < QS_EV_FIRST ? event : 0));
}

/* Where a row of requests applies: "ready, run_open", "(HOOK)", "(any)". */
static void where(const struct qs_states_row *row, char *text, size_t cap)
{
    if (row->request == QS_STATES_ANY_REQUEST) {
        qs_print(text, cap, "(any)");
    } else if (row->request != 0) {
        qs_print(text, cap, "(%s)", qs_msg_name(row->request));
    } else if (row->state != QS_STATE_COUNT) {
        qs_print(text, cap, "%s", qs_states_name((enum qs_agent_state)row->state));
    } else {
        uint8_t phases = qs_request_of(row->event)->phases;
        qs_print(text, cap, "%s%s%s", phases & QS_REQUEST_IDLE ? qs_states_name(QS_STATE_READY) : "",
                 phases == (QS_REQUEST_IDLE | QS_REQUEST_RUN) ? ", " : "",
                 phases & QS_REQUEST_RUN ? qs_states_name(QS_STATE_RUN_OPEN) : "");
    }
}

bool qs_states_line(size_t i, char *text, size_t cap)
{
    char from[32];
    if (i >= ROWS) {
        return false;
    }
    const struct qs_states_row *r = &rows[i];
    where(r, from, sizeof from);
    qs_print(text, cap, "%-9s --%s--> %s%s%s", from, qs_states_event_name(r->event),
             r->next == QS_STATE_COUNT ? "(same)" : qs_states_name((enum qs_agent_state)r->next),
             r->action ? "  : " : "", r->action_name);
    return true;
}
