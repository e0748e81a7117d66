/* The agent as a pure machine: bytes, ends of children and the passing of time go in; frames and requests to
 * the port come out. Reentrant: everything is in struct qs_agent, which lies in the caller's memory. */
#ifndef QS_AGENT_CORE_AGENT_H
#define QS_AGENT_CORE_AGENT_H

#include "core/agent_trace.h"
#include "core/agent_parts.h"
#include "core/gate.h"
#include "core/port.h"
#include "core/ring.h"
#include "core/states.h"
#include "proto/frame.h"
#include "proto/msg.h"
#include "proto/request.h"

enum { QS_AGENT_WORK_BYTES = 192 * 1024 };

/* All pointers are borrowed and must outlive the agent. */
struct qs_agent_options {
    const char *software; /* "quiesce-agent 0.1.0" */
    const char *boot_id;
    const char *clock; /* "monotonic-raw" */
    int64_t clock_resolution_ns;
    uint32_t clock_cost_ps;
    const uint8_t *key; /* NULL: links need no proof */
    size_t key_bytes;
    uint8_t *ring; /* QS_RING_FLOOR_BYTES or more */
    size_t ring_bytes;
    uint64_t cache_most_bytes; /* of pushed files; 0: QS_CACHE_MOST_BYTES */
};

enum qs_measure_step { QS_STEP_PREPARE, QS_STEP_ITERATION, QS_STEP_CONCLUDE };

struct qs_agent_bytes {
    const uint8_t *p;
    size_t n;
};

struct qs_agent_window {
    uint32_t number;
    uint32_t armings; /* ARMs sent */
    enum qs_phase phase;
    uint64_t first_seq;
    uint32_t planned, done;
    int64_t max_ns, quiet_lead_ns, quiet_ns, opened_ns, closed_ns;
    enum qs_closed_how how;
    bool cancelled;
    enum qs_measure_step step;
    struct qs_row row;          /* of the iteration that runs */
    uint32_t evals;             /* harness: of each iteration */
    struct qs_port_clock clock; /* QS_PHASE_TUNE: as it was before */
    uint32_t wakes;             /* harness: by the program; one is due */
    int64_t start_delay_ns;     /* harness: from the deciding reading to the first iteration; -1: none */
    uint32_t frames;            /* since QUIET */
    struct qs_agent_gate gate;
    int64_t said_ns; /* last WAITING; 0: none */
    char busiest[QS_PORT_KIND_BYTES * 2];
    char failure[QS_PORT_FAULT_BYTES];
    struct {
        char kind[QS_NAME_MAX_BYTES + 1];
        int64_t bound;
    } bounds[QS_BOUNDS_MAX];
    size_t bound_count;
    struct qs_port_evidence evidence[QS_EVIDENCE_MAX];
    size_t evidence_count;
    struct qs_agent_bytes closed; /* its CLOSED, until the next OPEN */
    struct qs_ring_window *held;  /* it in the ring; NULL: it had no iterations */
};

struct qs_agent {
    struct qs_port port;
    struct qs_agent_options options;
    enum qs_agent_state state;
    uint8_t row_hits[QS_STATES_ROWS_MAX]; /* times each row of the table was taken, up to 255 */

    bool link_up;
    struct qs_framer framer;
    uint32_t tx_seq, max_frame_bytes;
    uint32_t features; /* agreed: what has no common bit is not used. Those of ours that the port can */
    int64_t heartbeat_ns, heard_ns;
    struct qs_uid farm, session;
    uint8_t nonce[QS_NONCE_BYTES], hellos[QS_SHA256_BYTES]; /* the sum of both HELLOs */
    bool is_guest;                                          /* it has had our HELLO, with this nonce */
    struct qs_seal tx_seal;                                 /* of a session with a key, once it is proven */

    struct qs_frame frame;             /* the message being handled, */
    const union qs_msg *msg;           /* and decoded */
    const struct qs_request *asked;    /* what is being worked at, in ready or run_open; NULL: nothing */
    const struct qs_port_child *child; /* the end of a child being handled */

    struct qs_agent_run run;
    struct qs_agent_window window;
    struct qs_agent_trace trace;
    struct qs_agent_control control;
    struct qs_agent_bound bound;
    const struct qs_port_controlled *controlled; /* a file of it that is done, being handled */
    uint32_t asked_id;                           /* of a request that is worked at, where it has one */
    int64_t hook_began_ns, load_until_ns;        /* load: of a LOAD; 0: there is none */
    enum qs_agent_stage stage;
    bool timed_out;      /* the running child reached its limit */
    int64_t deadline_ns; /* of what the state waits for (poll, limit of a child); 0: none */
    struct qs_ring ring;
    struct qs_agent_files files;

    struct qs_writer w;
    uint8_t rx[QS_FRAME_BUF_BYTES], tx[QS_FRAME_BUF_BYTES], work[QS_AGENT_WORK_BYTES];
};

/* port is copied, its ctx borrowed. Only the fields that need it are set: the buffers stay untouched. */
void qs_agent_init(struct qs_agent *agent, const struct qs_port *port,
                   const struct qs_agent_options *options);

/* May a link be brought up now? Not while one is up, nor while a child of a lost one still runs. */
bool qs_agent_takes_link(const struct qs_agent *agent);
void qs_agent_on_link_up(struct qs_agent *agent);
/* A link whose peer has spoken before it was brought up. With a key it was greeted with `nonce`
 * (qs_agent_greeting) and has said n bytes, its HELLO and its proof; without one it has said its HELLO. True:
 * they are right, the session stands. */
bool qs_agent_on_guest(struct qs_agent *agent, const uint8_t nonce[QS_NONCE_BYTES], const uint8_t *bytes,
                       size_t n);
/* HELLO_AGENT as the answer to n bytes of HELLO_HOST's payload, with a fresh nonce, without any change of the
 * agent. Returns its frame's length; 0: it is no greeting that can be answered. */
size_t qs_agent_greeting(const struct qs_agent *agent, const uint8_t *hello, size_t n,
                         uint8_t ret_nonce[QS_NONCE_BYTES], uint8_t *out, size_t cap);
/* The link is gone. A window that runs goes on to its end, its iterations are kept. */
void qs_agent_on_link_down(struct qs_agent *agent);
void qs_agent_on_bytes(struct qs_agent *agent, const uint8_t *bytes, size_t n);
/* The child that the port was asked to start has ended. *child is borrowed for the call. */
void qs_agent_on_child(struct qs_agent *agent, const struct qs_port_child *child);
/* The program of a harness run says that something has changed; the tracer of a run has ended. */
void qs_agent_on_wake(struct qs_agent *agent);
void qs_agent_on_tracer(struct qs_agent *agent);
/* What the port was asked about one file. *file is borrowed for the call. */
void qs_agent_on_control(struct qs_agent *agent, const struct qs_port_controlled *file);
/* The lease of this number has ended, everything is put back. */
void qs_agent_on_lease_end(struct qs_agent *agent, uint32_t id);
/* To be called when qs_agent_next_deadline_ns() has been reached; early or late calls do no harm. */
void qs_agent_on_time(struct qs_agent *agent);
/* Clock of the port; INT64_MAX: nothing to wait for. */
int64_t qs_agent_next_deadline_ns(const struct qs_agent *agent);
/* Does a window run (between QUIET and CLOSED)? The port then does nothing that it need not do. */
bool qs_agent_is_silent(const struct qs_agent *agent);
/* The agent is to end: says goodbye where the link is up, and forces a running child to end. */
void qs_agent_stop(struct qs_agent *agent, const char *why);

#endif
