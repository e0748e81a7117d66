/* The session as a table: which event moves which state where, and what is done on the way. A message that
 * has no row for the present state, or for the request that is worked at, is a protocol error. */
#ifndef QS_AGENT_CORE_STATES_H
#define QS_AGENT_CORE_STATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/msg.h"

struct qs_agent;

enum { QS_STATES_ROWS_MAX = 192 };

enum qs_agent_state {
    QS_STATE_DOWN,      /* no link, nothing runs */
    QS_STATE_HELLO,     /* link up, the host has not spoken */
    QS_STATE_AUTH,      /* the host's proof is awaited */
    QS_STATE_READY,     /* no run */
    QS_STATE_RUN_OPEN,  /* a run, between its windows */
    QS_STATE_WAITING,   /* a window was asked for, its gate is shut */
    QS_STATE_ARMED,     /* the gate is open, the host's QUIET is awaited */
    QS_STATE_DRAINING,  /* silence before the deciding reading */
    QS_STATE_MEASURING, /* iterations */
    QS_STATE_EVIDENCE,  /* the last iteration has ended */
    QS_STATE_ALONE,     /* the link was lost in a window, which goes on */
    QS_STATE_ENDING,    /* the link was lost, and what runs is being ended */
    QS_STATE_COUNT
};

/* What happens: 1 .. QS_MSG_LAST is a message of the host by its type, and these. */
enum qs_agent_event {
    QS_EV_NONE,
    QS_EV_FIRST = QS_MSG_LAST + 1,
    /* from outside */
    QS_EV_LINK_UP = QS_EV_FIRST,
    QS_EV_LINK_DOWN,
    QS_EV_TIME,
    QS_EV_CHILD,
    QS_EV_WAKE,    /* the harness program says that something has changed */
    QS_EV_TRACER,  /* the tracer has ended */
    QS_EV_CONTROL, /* a file of a TUNE or RESTORE is done */
    /* outcomes of actions */
    QS_EV_CHALLENGED, /* the host must prove itself */
    QS_EV_ACCEPTED,   /* the session stands */
    QS_EV_WORKING,    /* the request in hand takes time: a child was started, or told to end */
    QS_EV_ANSWERED,   /* the request that was worked at is answered, nothing else has changed */
    QS_EV_BEGUN,      /* the run stands */
    QS_EV_UNOPENED,   /* the window was refused */
    QS_EV_GATE_OPEN,
    QS_EV_GATE_LOST,
    QS_EV_GATE_OVER, /* timed out */
    QS_EV_PUT_OFF,   /* the host is not ready for the window */
    QS_EV_SILENCED,  /* the host has fallen silent */
    QS_EV_DRAINED,
    QS_EV_LAST,    /* nothing runs any more in the window */
    QS_EV_SEALED,  /* the window's record is complete */
    QS_EV_GONE,    /* the run's program has ended, nobody knows why */
    QS_EV_LINGERS, /* the run's program must still end */
    QS_EV_ENDED,   /* the run is over */
    QS_EV_COUNT
};

/* An action does its work and returns the event that follows from it, or QS_EV_NONE. */
typedef enum qs_agent_event qs_agent_action(struct qs_agent *agent);

/* For a state; or (request) for the time in which the agent works at a request, in ready or run_open; or
 * (state QS_STATE_COUNT, request 0) for a request, which is taken in the phases of its row in
 * proto/request.c. */
enum { QS_STATES_ANY_REQUEST = 255 };
struct qs_states_row {
    uint8_t state;   /* enum qs_agent_state; QS_STATE_COUNT: any */
    uint8_t request; /* enum qs_msg_type; QS_STATES_ANY_REQUEST: whichever it is */
    uint8_t event;
    uint8_t next;            /* QS_STATE_COUNT: the same */
    qs_agent_action *action; /* NULL: nothing to do */
    const char *action_name;
};

/* Does the table have a row for it now? */
bool qs_states_expect(const struct qs_agent *agent, unsigned event);
/* Takes the event and those that follow from it. False: the table has no row for it, nothing was done. */
bool qs_states_dispatch(struct qs_agent *agent, unsigned event);

/* The table, and its words: "run_open", "GATE_LOST". Events in capitals are messages or come from outside. */
const struct qs_states_row *qs_states_rows(size_t *count);
const char *qs_states_name(enum qs_agent_state state);
const char *qs_states_event_name(unsigned event);
/* Line i of the printed table (without its end), or false after the last one. */
bool qs_states_line(size_t i, char *text, size_t cap);

#endif
