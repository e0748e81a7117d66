#include "device/session/table.h"

#include "device/session/impl.h"

#define S(name)  (1U << QS_SESSION_##name)
#define E(name)  QS_SESSION_EV_##name
#define DO(name) qs_session_do_##name, #name
#define NOTHING  NULL, ""
#define TO(name) QS_SESSION_##name
#define STAY     QS_SESSION_STATES

/* Sets of states. LIVE: a standing session that may speak; only quiet is missing. */
#define SYNC      (S(SYNC_HELD) | S(SYNC_FACTS) | S(SYNC_CLOCK))
#define GREETING  (S(HELLO) | S(AUTH) | SYNC)
#define AT_REST   (S(READY) | S(RUN_OPEN))
#define AT_GATE   (S(WAITING) | S(ARMED))
#define LIVE      (AT_REST | AT_GATE | S(COLLECTING))
#define CONNECTED (GREETING | LIVE | S(QUIET))
#define STARTED   (S(BACKOFF) | S(CONNECTING) | CONNECTED)

static const struct row {
    uint32_t from; /* a set of states */
    enum qs_session_event event;
    enum qs_session_state next; /* STAY: the same */
    qs_session_act *act;
    const char *act_name;
} rows[] = {
    /* the connection: session.c */
    {S(STOPPED), E(START), TO(CONNECTING), DO(connect)},
    {S(BACKOFF), E(RETRY), TO(CONNECTING), DO(connect)},
    {STARTED, E(STOP), TO(STOPPED), DO(leave)},
    {S(CONNECTING) | CONNECTED, E(LOST), TO(BACKOFF), DO(retreat)},
    {S(CONNECTING) | CONNECTED, E(DEADLINE), STAY, DO(give_up)},
    {LIVE, E(HEARTBEAT), STAY, DO(beat)},
    {CONNECTED, E(BYE), STAY, DO(bye)},

    /* the greeting: hello.c */
    {S(CONNECTING), E(LINK_UP), TO(HELLO), DO(greet)},
    {S(HELLO), E(HELLO_AGENT), STAY, DO(judge)},
    {S(HELLO), E(KEYED), TO(AUTH), DO(prove)},
    {S(HELLO), E(KEYLESS), TO(SYNC_HELD), NOTHING},
    {S(AUTH), E(AUTH), TO(SYNC_HELD), DO(verify)},
    {S(SYNC_HELD), E(HELD), TO(SYNC_FACTS), DO(take_held)},
    {S(SYNC_FACTS), E(FACTS), TO(SYNC_CLOCK), DO(take_facts)},
    {S(SYNC_CLOCK), E(PONG), STAY, DO(clock)},
    {S(SYNC_CLOCK), E(CLOCKED), TO(READY), DO(announce)},
    {GREETING, E(ERROR), STAY, DO(refuse)},

    /* heartbeat and clock: clock.c */
    {SYNC | LIVE, E(PING), STAY, DO(pong)},
    {LIVE & ~S(ARMED), E(PONG), STAY, DO(clock)},
    {S(ARMED), E(PONG), STAY, DO(clock_then_ask)},

    /* the answer to a request, which the table in proto/request.c allows: call.c */
    {AT_REST, E(ANSWER), STAY, DO(answer)},
    {S(READY), E(OPENED), TO(RUN_OPEN), DO(answer)},
    {S(RUN_OPEN), E(ENDED), TO(READY), DO(answer)},
    {AT_REST, E(REFUSED), STAY, DO(refused)},
    {AT_REST, E(LATE), STAY, NOTHING},
    {S(READY), E(PUT_DATA), STAY, NOTHING},

    /* what RESEND asked for: window.c */
    {AT_REST, E(CLOSED_AGAIN), STAY, DO(closed_again)},
    {AT_REST, E(DOCUMENT_AGAIN), STAY, DO(document)},
    {AT_REST, E(ROWS_AGAIN), STAY, DO(rows)},
    {AT_REST, E(ROWS_AGAIN_LAST), STAY, DO(rows_last)},

    {LIVE, E(ACK), STAY, NOTHING},
    {LIVE, E(CANCEL), STAY, NOTHING},
    {LIVE, E(ERROR), STAY, DO(error)},

    /* a window: window.c */
    {S(RUN_OPEN), E(OPEN), TO(WAITING), NOTHING},
    {S(WAITING), E(WAITING), STAY, DO(waiting)},
    {S(WAITING), E(ARM), TO(ARMED), DO(ask)},
    {S(ARMED), E(GRANTED), TO(QUIET), DO(quiet)},
    {S(ARMED), E(DENIED), TO(WAITING), DO(hold)},
    {AT_GATE | S(QUIET), E(DISARM), TO(WAITING), DO(disarm)},
    {AT_GATE, E(REFUSED), TO(RUN_OPEN), DO(error)},
    {AT_GATE | S(QUIET), E(CLOSED_EMPTY), TO(RUN_OPEN), DO(closed)},
    {S(QUIET), E(CLOSED), TO(COLLECTING), DO(closed)},
    {S(COLLECTING), E(DOCUMENT), STAY, DO(document)},
    {S(COLLECTING), E(ROWS), STAY, DO(rows)},
    {S(COLLECTING), E(ROWS_LAST), TO(RUN_OPEN), DO(rows)},
    {S(QUIET), E(PING), STAY, DO(noise)},
    {S(QUIET), E(PONG), STAY, DO(noise)},
    {S(QUIET), E(WAITING), STAY, DO(noise)},
    {S(QUIET), E(ERROR), STAY, DO(noisy_error)},
    {S(QUIET), E(ACK), STAY, NOTHING},
    {S(QUIET), E(CANCEL), STAY, DO(noise)},
};

enum { ROWS = sizeof rows / sizeof rows[0] };
_Static_assert((size_t)ROWS <= (size_t)QS_SESSION_TABLE_MAX, "row_seen is too small");

static const char *const state_names[QS_SESSION_STATES] = {
    "stopped",    "backoff", "connecting", "hello",   "auth",  "sync_held", "sync_facts",
    "sync_clock", "ready",   "run_open",   "waiting", "armed", "quiet",     "collecting"};

static const char *const event_names[QS_SESSION_EVENTS] = {"none",
                                                           "start",
                                                           "stop",
                                                           "open",
                                                           "ack",
                                                           "cancel",
                                                           "put_data",
                                                           "link_up",
                                                           "lost",
                                                           "retry",
                                                           "deadline",
                                                           "heartbeat",

                                                           "HELLO_AGENT",
                                                           "AUTH",
                                                           "HELD",
                                                           "FACTS",
                                                           "PING",
                                                           "PONG",
                                                           "WAITING",
                                                           "ARM",
                                                           "DISARM",
                                                           "CLOSED",
                                                           "CLOSED (empty)",
                                                           "DOCUMENT",
                                                           "ITERATIONS",
                                                           "ITERATIONS (last)",
                                                           "CLOSED (again)",
                                                           "DOCUMENT (again)",
                                                           "ITERATIONS (again)",
                                                           "ITERATIONS (again, last)",
                                                           "answer",
                                                           "answer (a run opens)",
                                                           "answer (the run is over)",
                                                           "answer (late)",
                                                           "ERROR (this run)",
                                                           "ERROR",
                                                           "BYE",

                                                           "keyed",
                                                           "keyless",
                                                           "clocked",
                                                           "granted",
                                                           "denied"};

const char *qs_session_name_of_state(enum qs_session_state state)
{
    return (unsigned)state < QS_SESSION_STATES ? state_names[state] : "unknown";
}

const char *qs_session_name_of_event(enum qs_session_event event)
{
    return (unsigned)event < QS_SESSION_EVENTS ? event_names[event] : "unknown";
}

static const struct row *find(enum qs_session_state state, enum qs_session_event event)
{
    for (size_t i = 0; i < ROWS; i++) {
        if ((rows[i].from & 1U << state) && rows[i].event == event)
            return &rows[i];
    }
    return NULL;
}

bool qs_session_allows(const struct qs_session *s, enum qs_session_event event)
{
    return find(s->state, event) != NULL;
}

static bool make_move(struct qs_session *s, const struct row *row, const union qs_msg *m)
{
    s->row_seen[row - rows] = 1;
    if (row->next != STAY && row->next != s->state) {
        s->state = row->next;
        qs_session_arm_deadline(s);
    }
    return !row->act || row->act(s, m);
}

void qs_session_fire(struct qs_session *s, enum qs_session_event event, const union qs_msg *m)
{
    const struct row *row = find(s->state, event);
    bool ok = row ? make_move(s, row, m)
                  : qs_session_broken(s, QS_E_PROTOCOL, "%s: %s is not allowed in state %s", s->name,
                                      qs_session_name_of_event(event), qs_session_name_of_state(s->state));
    if (ok)
        return;
    row = find(s->state, QS_SESSION_EV_LOST);
    if (row)
        make_move(s, row, NULL);
}

size_t qs_session_row_count(void)
{
    return ROWS;
}

bool qs_session_row_seen(const struct qs_session *s, size_t i)
{
    return i < ROWS && s->row_seen[i];
}

/* The names of a set of states; the two long ones have their own. */
static void add_states(struct qs_buf *out, uint32_t set)
{
    const char *comma = "";
    if ((set & LIVE) == LIVE) {
        qs_buf_str(out, "(live)");
        set &= ~(uint32_t)LIVE;
        comma = ", ";
    }
    if ((set & GREETING) == GREETING) {
        qs_buf_fmt(out, "%s(greeting)", comma);
        set &= ~(uint32_t)GREETING;
        comma = ", ";
    }
    for (unsigned i = 0; i < QS_SESSION_STATES; i++) {
        if (set & 1U << i) {
            qs_buf_fmt(out, "%s%s", comma, state_names[i]);
            comma = ", ";
        }
    }
}

void qs_session_row_text(size_t i, struct qs_buf *out)
{
    const struct row *row = &rows[i];
    add_states(out, row->from);
    qs_buf_fmt(out, " --%s--> %s", event_names[row->event],
               row->next == STAY ? "(same)" : state_names[row->next]);
    if (row->act)
        qs_buf_fmt(out, " : %s", row->act_name);
}

/* "RUN_BEGIN in ready: RUN_READY within 60 s, then run_open; deaf meanwhile" */
static void add_request(struct qs_buf *out, const struct qs_request *r)
{
    qs_buf_fmt(out, "%s in ", qs_msg_name(r->type));
    add_states(out,
               (r->phases & QS_REQUEST_IDLE ? S(READY) : 0) | (r->phases & QS_REQUEST_RUN ? S(RUN_OPEN) : 0));
    qs_buf_fmt(out, ": %s within %lld s", qs_msg_name(r->reply), (long long)(r->reply_ns / 1000000000));
    if (r->next)
        qs_buf_fmt(out, ", then %s",
                   state_names[r->next == QS_REQUEST_RUN ? QS_SESSION_RUN_OPEN : QS_SESSION_READY]);
    qs_buf_fmt(out, "%s%s%s\n", r->deaf ? "; deaf meanwhile" : "", r->within ? "; ends a " : "",
               r->within ? qs_msg_name(r->within) : "");
}

void qs_session_dump(struct qs_buf *out)
{
    qs_buf_str(out, "(greeting) = ");
    for (unsigned i = QS_SESSION_HELLO; i <= QS_SESSION_SYNC_CLOCK; i++)
        qs_buf_fmt(out, "%s%s", i == QS_SESSION_HELLO ? "" : ", ", state_names[i]);
    qs_buf_str(out, "\n(live) = every state from ready on but quiet\n\n");
    for (size_t i = 0; i < ROWS; i++) {
        qs_session_row_text(i, out);
        qs_buf_char(out, '\n');
    }
    qs_buf_char(out, '\n');
    for (uint8_t type = 0; type <= QS_MSG_LAST; type++) {
        const struct qs_request *r = qs_request_of(type);
        if (r)
            add_request(out, r);
    }
}
