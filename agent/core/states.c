#include "core/states.h"

#include "core/actions.h"

#include <stdio.h>
#include <string.h>

#define ROW(state, event, next, action)                                                                      \
    {                                                                                                        \
        QS_STATE_##state, QS_EV_##event, QS_STATE_##next, qs_act_##action, #action                           \
    }
#define MOVE(state, event, next)                                                                             \
    {                                                                                                        \
        QS_STATE_##state, QS_EV_##event, QS_STATE_##next, NULL, ""                                           \
    }

/* What every state with a standing session and an open mouth answers. */
#define TALKS(state)                                                                                         \
    ROW(state, PING, state, pong), MOVE(state, PONG, state), ROW(state, ACK, state, ack),                    \
        ROW(state, ERROR, state, bye), ROW(state, BYE, state, bye)

/* Silent states: heartbeats that crossed QUIET are counted, not answered. */
#define SILENT(state)                                                                                        \
    MOVE(state, PING, state), MOVE(state, PONG, state), ROW(state, ACK, state, ack),                         \
        ROW(state, ERROR, state, bye), ROW(state, BYE, state, bye)

/* The program of a harness run ends before its window. */
#define GOES(state) ROW(state, CHILD, state, gone), ROW(state, GONE, RUN_OPEN, close_gone)

static const struct qs_states_row rows[] = {
    ROW(DOWN, LINK_UP, HELLO, greet),
    MOVE(DOWN, LINGERS, ENDING),

    ROW(HELLO, HELLO_HOST, HELLO, hello),
    MOVE(HELLO, CHALLENGED, AUTH),
    ROW(HELLO, ACCEPTED, READY, offer),
    MOVE(HELLO, LINK_DOWN, DOWN),

    ROW(AUTH, AUTH, AUTH, verify),
    ROW(AUTH, ACCEPTED, READY, offer),
    ROW(AUTH, ERROR, AUTH, bye),
    ROW(AUTH, BYE, AUTH, bye),
    MOVE(AUTH, LINK_DOWN, DOWN),

    TALKS(READY),
    ROW(READY, FACTS_GET, READY, facts),
    ROW(READY, RESEND, READY, resend),
    ROW(READY, RUN_BEGIN, READY, begin),
    MOVE(READY, BEGUN, RUN_OPEN),
    MOVE(READY, STARTED, STARTING),
    ROW(READY, HOOK, READY, hook),
    MOVE(READY, HOOKED, HOOK),
    MOVE(READY, CANCEL, READY), /* crossed the end of what it wanted to end */
    ROW(READY, HAVE, READY, have),
    ROW(READY, PUT, READY, put),
    ROW(READY, PUT_DATA, READY, put_data),
    ROW(READY, STAGE, READY, stage),
    ROW(READY, CLEAN, READY, clean),
    ROW(READY, LINK_DOWN, DOWN, leave),

    TALKS(STARTING),
    ROW(STARTING, WAKE, STARTING, launch),
    ROW(STARTING, CHILD, STARTING, stillborn),
    ROW(STARTING, TIME, STARTING, limit),
    ROW(STARTING, CANCEL, STARTING, stop_child),
    MOVE(STARTING, BEGUN, RUN_OPEN),
    MOVE(STARTING, ENDED, READY),
    ROW(STARTING, LINK_DOWN, DOWN, drop),

    TALKS(HOOK),
    ROW(HOOK, CHILD, HOOK, hook_over),
    MOVE(HOOK, UNHOOKED, READY),
    ROW(HOOK, TIME, HOOK, limit),
    ROW(HOOK, CANCEL, HOOK, stop_child),
    ROW(HOOK, LINK_DOWN, ENDING, hook_lost),

    TALKS(RUN_OPEN),
    ROW(RUN_OPEN, FACTS_GET, RUN_OPEN, facts),
    ROW(RUN_OPEN, RESEND, RUN_OPEN, resend),
    ROW(RUN_OPEN, HOOK, RUN_OPEN, hook),
    MOVE(RUN_OPEN, HOOKED, RUN_HOOK),
    ROW(RUN_OPEN, OPEN, WAITING, open),
    MOVE(RUN_OPEN, QUIET, RUN_OPEN), /* crossed the CLOSED of a gate that timed out; so the next two */
    MOVE(RUN_OPEN, HOLD, RUN_OPEN),
    MOVE(RUN_OPEN, CANCEL, RUN_OPEN),
    ROW(RUN_OPEN, PULL, RUN_OPEN, pull),
    ROW(RUN_OPEN, TRACE, RUN_OPEN, trace),
    MOVE(RUN_OPEN, TRACING, TRACING),
    ROW(RUN_OPEN, TRACE_STOP, RUN_OPEN, untrace),
    MOVE(RUN_OPEN, UNTRACING, UNTRACING),
    ROW(RUN_OPEN, RUN_END, RUN_OPEN, end),
    MOVE(RUN_OPEN, ENDED, READY),
    MOVE(RUN_OPEN, QUITTING, QUITTING),
    ROW(RUN_OPEN, CHILD, RUN_OPEN, gone),
    ROW(RUN_OPEN, LINK_DOWN, DOWN, drop),

    TALKS(QUITTING),
    ROW(QUITTING, CHILD, QUITTING, quit_over),
    ROW(QUITTING, TIME, QUITTING, limit),
    ROW(QUITTING, CANCEL, QUITTING, stop_child),
    MOVE(QUITTING, ENDED, READY),
    ROW(QUITTING, LINK_DOWN, DOWN, drop),

    TALKS(RUN_HOOK),
    ROW(RUN_HOOK, CHILD, RUN_HOOK, hook_over),
    MOVE(RUN_HOOK, UNHOOKED, RUN_OPEN),
    ROW(RUN_HOOK, TIME, RUN_HOOK, limit),
    ROW(RUN_HOOK, CANCEL, RUN_HOOK, stop_child),
    ROW(RUN_HOOK, LINK_DOWN, ENDING, hook_lost),

    TALKS(TRACING),
    ROW(TRACING, TRACER, TRACING, trace_failed),
    ROW(TRACING, TIME, TRACING, trace_stands),
    ROW(TRACING, CANCEL, TRACING, trace_stands),
    MOVE(TRACING, TRACED, RUN_OPEN),
    ROW(TRACING, CHILD, TRACING, trace_gone),
    ROW(TRACING, LINK_DOWN, DOWN, drop),

    TALKS(UNTRACING),
    ROW(UNTRACING, TRACER, UNTRACING, trace_over),
    ROW(UNTRACING, TIME, UNTRACING, trace_limit),
    MOVE(UNTRACING, CANCEL, UNTRACING), /* it is being ended */
    MOVE(UNTRACING, TRACED, RUN_OPEN),
    ROW(UNTRACING, CHILD, UNTRACING, trace_gone),
    ROW(UNTRACING, LINK_DOWN, DOWN, drop),

    TALKS(WAITING),
    MOVE(WAITING, UNOPENED, RUN_OPEN),
    ROW(WAITING, TIME, WAITING, poll),
    ROW(WAITING, GATE_OPEN, ARMED, arm),
    ROW(WAITING, GATE_OVER, RUN_OPEN, gate_over),
    MOVE(WAITING, QUIET, WAITING), /* crossed our DISARM; so the next */
    MOVE(WAITING, HOLD, WAITING),
    ROW(WAITING, CANCEL, RUN_OPEN, cancel_wait),
    GOES(WAITING),
    ROW(WAITING, LINK_DOWN, DOWN, drop),

    TALKS(ARMED),
    ROW(ARMED, TIME, ARMED, watch),
    ROW(ARMED, GATE_LOST, WAITING, disarm),
    ROW(ARMED, GATE_OVER, RUN_OPEN, gate_over),
    ROW(ARMED, QUIET, ARMED, quiet),
    ROW(ARMED, SILENCED, DRAINING, drain),
    ROW(ARMED, HOLD, ARMED, hold),
    ROW(ARMED, PUT_OFF, WAITING, rest),
    ROW(ARMED, CANCEL, RUN_OPEN, cancel_wait),
    GOES(ARMED),
    ROW(ARMED, LINK_DOWN, DOWN, drop),

    SILENT(DRAINING),
    ROW(DRAINING, TIME, DRAINING, decide),
    ROW(DRAINING, DRAINED, MEASURING, measure),
    ROW(DRAINING, GATE_LOST, WAITING, disarm),
    ROW(DRAINING, GATE_OVER, RUN_OPEN, gate_over),
    ROW(DRAINING, CANCEL, RUN_OPEN, cancel_wait),
    GOES(DRAINING),
    ROW(DRAINING, LINK_DOWN, DOWN, drop),

    SILENT(MEASURING),
    ROW(MEASURING, CHILD, MEASURING, step),
    ROW(MEASURING, WAKE, MEASURING, woken),
    ROW(MEASURING, TIME, MEASURING, limit),
    ROW(MEASURING, CANCEL, MEASURING, interrupt),
    ROW(MEASURING, LAST, EVIDENCE, seal),
    MOVE(MEASURING, LINK_DOWN, ALONE),

    ROW(EVIDENCE, SEALED, RUN_OPEN, deliver),

    ROW(ALONE, CHILD, ALONE, step),
    ROW(ALONE, WAKE, ALONE, woken),
    ROW(ALONE, TIME, ALONE, limit),
    ROW(ALONE, LAST, DOWN, keep),

    MOVE(ENDING, CHILD, DOWN),
    ROW(ENDING, TIME, ENDING, limit),
};

#define ROWS (sizeof rows / sizeof rows[0])
_Static_assert(ROWS <= QS_STATES_ROWS_MAX, "row_hits is too small");

static const struct qs_states_row *find(enum qs_agent_state state, enum qs_agent_event event)
{
    for (size_t i = 0; i < ROWS; i++) {
        if (rows[i].state == state && rows[i].event == event) {
            return &rows[i];
        }
    }
    return NULL;
}

bool qs_states_expect(const struct qs_agent *agent, enum qs_agent_event event)
{
    return find(agent->state, event) != NULL;
}

bool qs_states_dispatch(struct qs_agent *agent, enum qs_agent_event event)
{
    bool taken = false;
    while (event != QS_EV_NONE) {
        const struct qs_states_row *row = find(agent->state, event);
        if (!row) {
            return taken;
        }
        uint8_t *hits = &agent->row_hits[row - rows];
        *hits = (uint8_t)(*hits < UINT8_MAX ? *hits + 1 : UINT8_MAX);
        agent->state = row->next;
        event = row->action ? row->action(agent) : QS_EV_NONE;
        taken = true;
    }
    return taken;
}

const struct qs_states_row *qs_states_rows(size_t *count)
{
    *count = ROWS;
    return rows;
}

const char *qs_states_name(enum qs_agent_state state)
{
    static const char *const names[QS_STATE_COUNT] = {
        "down",     "hello",     "auth",     "ready",     "starting", "hook",
        "run_open", "run_hook",  "tracing",  "untracing", "waiting",  "armed",
        "draining", "measuring", "evidence", "quitting",  "alone",    "ending"};
    return state < QS_STATE_COUNT ? names[state] : "unknown";
}

const char *qs_states_event_name(enum qs_agent_event event)
{
    static const char *const names[QS_EV_COUNT] = {
        "none",       "LINK_UP",   "LINK_DOWN", "TIME",       "CHILD",      "WAKE",     "TRACER",
        "HELLO_HOST", "AUTH",      "PING",      "PONG",       "FACTS_GET",  "RESEND",   "RUN_BEGIN",
        "HOOK",       "OPEN",      "QUIET",     "HOLD",       "ACK",        "RUN_END",  "CANCEL",
        "ERROR",      "BYE",       "PULL",      "TRACE",      "TRACE_STOP", "HAVE",     "PUT",
        "PUT_DATA",   "STAGE",     "CLEAN",     "challenged", "accepted",   "started",  "begun",
        "hooked",     "unhooked",  "tracing",   "untracing",  "traced",     "unopened", "gate_open",
        "gate_lost",  "gate_over", "put_off",   "silenced",   "drained",    "last",     "sealed",
        "gone",       "quitting",  "lingers",   "ended"};
    return event < QS_EV_COUNT ? names[event] : "unknown";
}

enum qs_agent_event qs_states_event_of(uint8_t type)
{
    static const uint8_t events[QS_MSG_LAST + 1] = {
        [QS_MSG_HELLO_HOST] = QS_EV_HELLO_HOST,
        [QS_MSG_AUTH] = QS_EV_AUTH,
        [QS_MSG_PING] = QS_EV_PING,
        [QS_MSG_PONG] = QS_EV_PONG,
        [QS_MSG_FACTS_GET] = QS_EV_FACTS_GET,
        [QS_MSG_RESEND] = QS_EV_RESEND,
        [QS_MSG_RUN_BEGIN] = QS_EV_RUN_BEGIN,
        [QS_MSG_HOOK] = QS_EV_HOOK,
        [QS_MSG_OPEN] = QS_EV_OPEN,
        [QS_MSG_QUIET] = QS_EV_QUIET,
        [QS_MSG_HOLD] = QS_EV_HOLD,
        [QS_MSG_ACK] = QS_EV_ACK,
        [QS_MSG_RUN_END] = QS_EV_RUN_END,
        [QS_MSG_CANCEL] = QS_EV_CANCEL,
        [QS_MSG_ERROR] = QS_EV_ERROR,
        [QS_MSG_BYE] = QS_EV_BYE,
        [QS_MSG_PULL] = QS_EV_PULL,
        [QS_MSG_TRACE] = QS_EV_TRACE,
        [QS_MSG_TRACE_STOP] = QS_EV_TRACE_STOP,
        [QS_MSG_HAVE] = QS_EV_HAVE,
        [QS_MSG_PUT] = QS_EV_PUT,
        [QS_MSG_PUT_DATA] = QS_EV_PUT_DATA,
        [QS_MSG_STAGE] = QS_EV_STAGE,
        [QS_MSG_CLEAN] = QS_EV_CLEAN,
    };
    return type <= QS_MSG_LAST ? (enum qs_agent_event)events[type] : QS_EV_NONE;
}

bool qs_states_line(size_t i, char *text, size_t cap)
{
    if (i >= ROWS) {
        return false;
    }
    const struct qs_states_row *r = &rows[i];
    snprintf(text, cap, "%-9s --%s--> %s%s%s", qs_states_name(r->state), qs_states_event_name(r->event),
             qs_states_name(r->next), r->action ? "  : " : "", r->action_name);
    return true;
}
