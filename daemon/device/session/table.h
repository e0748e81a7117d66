/* The host's moves as data. A message or a request that has no row for the present state is refused: from the
 * agent it ends the connection (QS_E_PROTOCOL), from the host it is QS_E_CONFLICT. */
#ifndef QS_DEVICE_SESSION_TABLE_H
#define QS_DEVICE_SESSION_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct qs_session;
union qs_msg;

enum { QS_SESSION_TABLE_MAX = 96 };

enum qs_session_state {
    QS_SESSION_STOPPED,
    QS_SESSION_BACKOFF,
    QS_SESSION_CONNECTING,
    QS_SESSION_HELLO,
    QS_SESSION_AUTH,
    QS_SESSION_SYNC_HELD,
    QS_SESSION_SYNC_FACTS,
    QS_SESSION_SYNC_CLOCK,
    QS_SESSION_READY,    /* from here on it is ready */
    QS_SESSION_RUN_OPEN, /* in these two a request may be outstanding */
    QS_SESSION_WAITING,
    QS_SESSION_ARMED,
    QS_SESSION_QUIET,
    QS_SESSION_COLLECTING,
    QS_SESSION_STATES
};

/* Requests of the owner; the link and the clock; frames of the agent, told apart by content where the next
 * state depends on it; answers of an action to itself. */
enum qs_session_event {
    QS_SESSION_EV_NONE,
    QS_SESSION_EV_START,
    QS_SESSION_EV_STOP,
    QS_SESSION_EV_OPEN,
    QS_SESSION_EV_ACK,
    QS_SESSION_EV_CANCEL,
    QS_SESSION_EV_PUT_DATA,

    QS_SESSION_EV_LINK_UP,
    QS_SESSION_EV_LOST,
    QS_SESSION_EV_RETRY,
    QS_SESSION_EV_DEADLINE,
    QS_SESSION_EV_HEARTBEAT,

    QS_SESSION_EV_HELLO_AGENT,
    QS_SESSION_EV_AUTH,
    QS_SESSION_EV_HELD,
    QS_SESSION_EV_FACTS,
    QS_SESSION_EV_PING,
    QS_SESSION_EV_PONG,
    QS_SESSION_EV_WAITING,
    QS_SESSION_EV_ARM,
    QS_SESSION_EV_DISARM,
    QS_SESSION_EV_CLOSED,
    QS_SESSION_EV_CLOSED_EMPTY, /* without iterations */
    QS_SESSION_EV_DOCUMENT,
    QS_SESSION_EV_ROWS,
    QS_SESSION_EV_ROWS_LAST,    /* with the last one that is due */
    QS_SESSION_EV_CLOSED_AGAIN, /* this and the next three: what RESEND asked for */
    QS_SESSION_EV_DOCUMENT_AGAIN,
    QS_SESSION_EV_ROWS_AGAIN,
    QS_SESSION_EV_ROWS_AGAIN_LAST,
    QS_SESSION_EV_ANSWER,  /* to the request that is outstanding */
    QS_SESSION_EV_OPENED,  /* an answer behind which a run is open */
    QS_SESSION_EV_ENDED,   /* an answer behind which none is open any more */
    QS_SESSION_EV_LATE,    /* an answer to a request that was given up */
    QS_SESSION_EV_REFUSED, /* ERROR about the run that the state or the request is about */
    QS_SESSION_EV_ERROR,   /* any other ERROR */
    QS_SESSION_EV_BYE,

    QS_SESSION_EV_KEYED,
    QS_SESSION_EV_KEYLESS,
    QS_SESSION_EV_CLOCKED,
    QS_SESSION_EV_GRANTED,
    QS_SESSION_EV_DENIED,
    QS_SESSION_EVENTS
};

/* Runs after the state has moved. False: qs_session_broken() was called, the connection ends. */
typedef bool qs_session_act(struct qs_session *s, const union qs_msg *m);

/* Is there a move? */
bool qs_session_allows(const struct qs_session *s, enum qs_session_event event);
/* Makes it. Without a row, or where the action fails, the connection is lost. */
void qs_session_fire(struct qs_session *s, enum qs_session_event event, const union qs_msg *m);

const char *qs_session_name_of_state(enum qs_session_state state);
const char *qs_session_name_of_event(enum qs_session_event event);
/* How many rows there are, and whether this session took row i: for tests. */
size_t qs_session_row_count(void);
bool qs_session_row_seen(const struct qs_session *s, size_t i);
/* Line i of the printed table, without its end. */
void qs_session_row_text(size_t i, struct qs_buf *out);

/* The actions; each in the file that the table's section names. */
qs_session_act qs_session_do_connect, qs_session_do_retreat, qs_session_do_leave, qs_session_do_give_up,
    qs_session_do_beat;
qs_session_act qs_session_do_greet, qs_session_do_judge, qs_session_do_prove, qs_session_do_verify,
    qs_session_do_take_held, qs_session_do_take_facts, qs_session_do_announce, qs_session_do_refuse,
    qs_session_do_bye;
qs_session_act qs_session_do_pong, qs_session_do_clock, qs_session_do_clock_then_ask;
qs_session_act qs_session_do_waiting, qs_session_do_ask, qs_session_do_quiet, qs_session_do_hold,
    qs_session_do_disarm, qs_session_do_closed, qs_session_do_closed_again, qs_session_do_rows,
    qs_session_do_rows_last, qs_session_do_error, qs_session_do_noise, qs_session_do_noisy_error,
    qs_session_do_document;
qs_session_act qs_session_do_answer, qs_session_do_refused;

#endif
