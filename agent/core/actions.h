/* The actions of the session's table, and what they share. Private to core/. */
#ifndef QS_AGENT_CORE_ACTIONS_H
#define QS_AGENT_CORE_ACTIONS_H

#include "core/agent.h"

/* states.c: a request that takes time */
qs_agent_action qs_act_begin_work; /* the one in hand is worked at from now on */
qs_agent_action qs_act_end_work;   /* it is answered */

/* talk.c: hello, proof, heartbeats, facts */
qs_agent_action qs_act_greet;  /* the link is up */
qs_agent_action qs_act_hello;  /* HELLO_HOST */
qs_agent_action qs_act_verify; /* AUTH */
qs_agent_action qs_act_offer;  /* the session stands: HELD */
qs_agent_action qs_act_pong;   /* PING */
qs_agent_action qs_act_facts;  /* FACTS_GET */
qs_agent_action qs_act_bye;    /* BYE or ERROR of the host */

/* run.c: runs, hooks, acknowledgement */
qs_agent_action qs_act_begin;      /* RUN_BEGIN */
qs_agent_action qs_act_end;        /* RUN_END */
qs_agent_action qs_act_drop;       /* the link is gone: forget the run */
qs_agent_action qs_act_ack;        /* ACK */
qs_agent_action qs_act_resend;     /* RESEND */
qs_agent_action qs_act_pull;       /* PULL */
qs_agent_action qs_act_hook;       /* HOOK */
qs_agent_action qs_act_hook_over;  /* its child has ended */
qs_agent_action qs_act_hook_lost;  /* the link is gone: end it */
qs_agent_action qs_act_stop_child; /* CANCEL */
qs_agent_action qs_act_limit;      /* time: the child's limit, then its graces */

/* window.c: the way to a window, and its record */
qs_agent_action qs_act_open; /* OPEN */
qs_agent_action qs_act_poll; /* time: read the gate while waiting */
qs_agent_action qs_act_arm;
qs_agent_action qs_act_watch;  /* time: read the gate while armed */
qs_agent_action qs_act_hold;   /* HOLD: of this ARM? */
qs_agent_action qs_act_rest;   /* the host is not ready: wait until the next poll */
qs_agent_action qs_act_disarm; /* the gate was lost */
qs_agent_action qs_act_quiet;  /* QUIET: of this ARM? */
qs_agent_action qs_act_drain;  /* silence begins */
qs_agent_action qs_act_decide; /* time: silence is over, or not yet */
qs_agent_action qs_act_cancel_wait;
qs_agent_action qs_act_gate_over;

/* seal.c: the record of a window. The core's own kinds of evidence come behind the port's. */
enum { QS_AGENT_EVIDENCE = 3 };
qs_agent_action qs_act_seal;    /* evidence, CLOSED into the ring */
qs_agent_action qs_act_deliver; /* CLOSED and ITERATIONS to the host */
qs_agent_action qs_act_keep;    /* the same without a host */

/* measure.c: iterations */
qs_agent_action qs_act_measure;   /* the window opens */
qs_agent_action qs_act_step;      /* a child of the window ended */
qs_agent_action qs_act_interrupt; /* CANCEL */

/* harness.c: the program of a run */
qs_agent_action qs_act_launch;     /* it is set up: RUN_READY */
qs_agent_action qs_act_stillborn;  /* it ended before that */
qs_agent_action qs_act_gone;       /* it ended between its windows */
qs_agent_action qs_act_close_gone; /* the window that waited for it fails */
qs_agent_action qs_act_quit_over;  /* it ended as it was told to */
qs_agent_action qs_act_woken;      /* it has something to say in its window */
/* trace.c: a tracer beside the run */
qs_agent_action qs_act_trace;        /* TRACE */
qs_agent_action qs_act_trace_stands; /* it has settled */
qs_agent_action qs_act_trace_failed; /* it ended before that */
qs_agent_action qs_act_untrace;      /* TRACE_STOP */
qs_agent_action qs_act_trace_over;   /* it ended as it was told to */
qs_agent_action qs_act_trace_limit;  /* time: it does not */
qs_agent_action qs_act_trace_gone;   /* the program of the run ended meanwhile */
/* The parts of begin, end, drop and keep, measure and step. `m` was taken by run_begin. */
enum qs_agent_event qs_harness_begin(struct qs_agent *agent, const struct qs_msg_run_begin *m,
                                     struct qs_port_fault *fault);
enum qs_agent_event qs_harness_end(struct qs_agent *agent);
enum qs_agent_event qs_harness_drop(struct qs_agent *agent);
enum qs_agent_event qs_harness_measure(struct qs_agent *agent);
enum qs_agent_event qs_harness_died(struct qs_agent *agent);
/* The metrics that the program declared, built in memory. */
struct qs_list qs_harness_declared(const struct qs_agent *agent, uint8_t *memory, size_t cap);

/* talk.c: the sensors, on request */
qs_agent_action qs_act_read;     /* READ: some need two looks */
qs_agent_action qs_act_readings; /* time for the second */
/* control.c: what the device has; between runs */
qs_agent_action qs_act_survey; /* SURVEY */
qs_agent_action qs_act_bind;   /* BIND */
qs_agent_action qs_act_bound;  /* TIME after it: are there first readings of all? */
/* Readings of all sensors of the host's making; false: one is on its way, they are looked at again soon. */
bool qs_control_add_bound(struct qs_agent *agent, struct qs_build *list);
/* load.c: processors kept busy, by a gate too; false: not over, each second it is ended again */
qs_agent_action qs_act_load; /* LOAD */
bool qs_load_end(struct qs_agent *agent);
/* tune.c: files that are changed for a while */
qs_agent_action qs_act_tune;         /* TUNE */
qs_agent_action qs_act_tuned;        /* one of its files is written, or read back */
qs_agent_action qs_act_tune_settled; /* time to read them back */
qs_agent_action qs_act_restore;      /* RESTORE */
qs_agent_action qs_act_restored;     /* one more stands again */
/* A frame of the host, agent->frame; the end of a window: the lease begins anew. */
void qs_control_heard(struct qs_agent *agent);
void qs_control_window_over(struct qs_agent *agent);
/* files.c: between runs */
qs_agent_action qs_act_have;     /* HAVE */
qs_agent_action qs_act_put;      /* PUT */
qs_agent_action qs_act_put_data; /* PUT_DATA */
qs_agent_action qs_act_stage;    /* STAGE */
qs_agent_action qs_act_clean;    /* CLEAN */
qs_agent_action qs_act_leave;    /* the link is gone: nothing is held or laid out for it any more */
/* What an earlier life has kept; the end of a session. */
void qs_files_begin(struct qs_agent *agent);
void qs_files_release(struct qs_agent *agent);

/* A reading of the port becomes one more of a message's list. sensor: borrowed until the list was sent. */
void qs_talk_add_reading(struct qs_build *list, const char *sensor, const struct qs_port_reading *r);
/* Sends a message: m is the type's structure. False: nobody is there, or it does not fit a frame, which is a
 * mistake of ours. */
bool qs_talk_send(struct qs_agent *agent, uint8_t type, const void *m);
/* The same for a payload that is encoded already: begin, qs_put_bytes(&agent->w, ...), end. */
size_t qs_talk_begin(struct qs_agent *agent);
bool qs_talk_end(struct qs_agent *agent, size_t at, uint8_t type);
/* ERROR about a run (NULL: the session). */
void qs_talk_error(struct qs_agent *agent, const struct qs_uid *run, enum qs_wire_code code,
                   enum qs_wire_blame blame, const char *text);
/* The same, and the link is let go: what follows is LINK_DOWN. */
enum qs_agent_event qs_talk_fatal(struct qs_agent *agent, enum qs_wire_code code, const char *text);
/* The present frame did not decode. */
enum qs_agent_event qs_talk_malformed(struct qs_agent *agent, int err);

/* run.c: RUN_READY of the run in hand. */
void qs_act_send_ready(struct qs_agent *agent);
/* measure.c: window.row is one more row of the window. */
void qs_act_record(struct qs_agent *agent);
/* measure.c: the evidence before a window, and where its output goes; window.failure says what went wrong. */
void qs_act_prepare_window(struct qs_agent *agent);
/* seal.c: a window that never opened. */
enum qs_agent_event qs_act_close_empty(struct qs_agent *agent);
/* stream.c: what the window's process wrote goes into the ring, behind a CLOSED of so many bytes; and to the
 * host, in pieces, where a held window has it. */
void qs_act_keep_document(struct qs_agent *agent, size_t closed_bytes);
void qs_act_send_document(struct qs_agent *agent, const struct qs_ring_window *held);
/* A child was started with this limit; 0: none. */
void qs_act_watch_child(struct qs_agent *agent, int64_t limit_ns);
/* Sends a held window: CLOSED, then ITERATIONS. */
void qs_act_send_window(struct qs_agent *agent, struct qs_ring_window *held);

int64_t qs_agent_now_ns(const struct qs_agent *agent);

#endif
