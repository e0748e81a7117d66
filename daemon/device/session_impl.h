/* Inside the session only: its states and events, and what its files share. */
#ifndef QS_DEVICE_SESSION_IMPL_H
#define QS_DEVICE_SESSION_IMPL_H

#include "base/loop.h"
#include "device/session.h"
#include "device/session_table.h"
#include "link/link.h"
#include "proto/frame.h"
#include "proto/msg.h"

/* What the events of a frame or of a request carry. */
union qs_session_msg {
    struct qs_msg_hello_agent hello;
    struct qs_msg_auth auth;
    struct qs_msg_ping ping;
    struct qs_msg_pong pong;
    struct qs_msg_facts facts;
    struct qs_msg_held held;
    struct qs_msg_run_ready run_ready;
    struct qs_msg_hook_done hook_done;
    struct qs_msg_waiting waiting;
    struct qs_msg_window window;
    struct qs_msg_window_why disarm;
    struct qs_msg_closed closed;
    struct qs_msg_iterations rows;
    struct qs_msg_run_ended run_ended;
    struct qs_msg_error error;
    struct qs_msg_bye bye;
    struct qs_msg_pulled pulled;
    struct qs_msg_traced traced;
};

/* The longest wait for an answer; a window's is its lease, a hook's is added to its limit. */
#define QS_SESSION_HANDSHAKE_NS  INT64_C(15000000000)
#define QS_SESSION_REPLY_NS      INT64_C(60000000000)
#define QS_SESSION_BACKOFF_NS    INT64_C(100000000)
#define QS_SESSION_BACKOFF_MAX   INT64_C(5000000000)
#define QS_SESSION_CLOCK_EACH_NS INT64_C(10000000000)

enum { QS_SESSION_BURST_FIRST = 8, QS_SESSION_BURST = 4, QS_SESSION_ACKS = 8 };

struct qs_session_clock { /* one PING is out at a time */
    bool asked;
    uint64_t id;
    int64_t sent_ns;
    unsigned left; /* round trips of the burst still to be asked for */
    bool bursting; /* samples are collected */
    bool has_best;
    int64_t host_ns, device_ns, rtt_ns; /* of the least round trip so far */
    int64_t burst_ns;                   /* when the last burst began */
};

struct qs_session_run { /* the open run and its window */
    struct qs_uid uid;
    uint64_t next_seq; /* of the next iteration */
    uint32_t window, asked, rows_due, rows_come;
    uint32_t arming; /* of the last ARM */
    enum qs_phase phase;
    int64_t lead_ns, lease_ns, hook_limit_ns;
    int64_t step_limit_ns; /* harness: of the program's setup and teardown */
    uint32_t hook_id, pull_id, trace_id;
    int64_t trace_limit_ns; /* of the answer that is awaited: settling, or ending */
    int64_t trace_stop_ns;
    bool cancelled; /* CANCEL was sent since OPEN */
};

struct qs_session_metrics { /* what the values of the window in hand are, by its first frame of rows */
    uint16_t ids[QS_METRICS_MAX];
    size_t count;
};

struct qs_session_silence { /* from QUIET to the first byte of CLOSED */
    bool on;
    uint32_t noise; /* frames that came or went */
    bool heard;     /* the first byte came */
    bool mark_ok;   /* the segments were read before the agent's lead was over */
    int64_t quiet_ns;
    struct qs_link_counters begin, mark, end;
};

struct qs_session {
    struct qs_loop *loop; /* borrowed */
    struct qs_link *link; /* owned */
    char *name;           /* owned: the device's */
    struct qs_session_events events;
    struct qs_uid farm, nonce;
    int64_t heartbeat_ns, heard_ns;
    enum qs_session_state state;
    uint32_t generation;  /* counts connections: who sees it change inside a callback stops */
    unsigned quiet_beats; /* of the heart since something was heard */
    unsigned depth;       /* callbacks of loop and link in progress */
    bool dead;            /* freed inside one */
    unsigned failures;    /* in a row: the exponent of the backoff */
    struct qs_err why;    /* of the failure that is about to be told */
    struct qs_timer *deadline, *beat, *mark; /* owned */
    uint32_t tx_seq;
    struct qs_framer framer;
    struct qs_agreed agreed;
    uint8_t agent_nonce[QS_NONCE_BYTES];
    char software[QS_NOTE_MAX_BYTES + 1], boot_id[QS_NAME_MAX_BYTES + 1], clock_name[QS_NAME_MAX_BYTES + 1];
    uint32_t max_iterations;
    char *facts_json; /* owned; between FACTS and on_ready */
    struct qs_session_clock clock;
    struct qs_session_run run;
    struct qs_session_metrics metrics;
    struct qs_session_silence silence;
    struct qs_held held[QS_HELD_MAX]; /* runs with iterations that may be asked for again, oldest first */
    size_t held_count;
    struct qs_held resend;                       /* first_seq: the next one due */
    struct qs_msg_run_seq acks[QS_SESSION_ACKS]; /* kept back while the window is silent */
    size_t ack_count;
    uint8_t row_seen[QS_SESSION_TABLE_MAX];
    struct qs_writer w;
    uint8_t rx[QS_FRAME_BUF_BYTES], tx[QS_FRAME_BUF_BYTES];
};

/* session.c: on entering a state (deadline, heartbeat), and the reason of a failure (returns false). */
void qs_session_arm_deadline(struct qs_session *s);
bool qs_session_broken(struct qs_session *s, enum qs_errc code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void qs_session_arm_beat(struct qs_session *s); /* from now; what was heard before counts no more */
void qs_session_agent_text(struct qs_text t, struct qs_buf *out); /* escaped, for messages */

/* session_send.c: encode, frame, send. False: *err says why, nothing was sent. */
size_t qs_session_frame(struct qs_session *s);
bool qs_session_put(struct qs_session *s, size_t at, enum qs_msg_type type, struct qs_err *err);
bool qs_session_send_empty(struct qs_session *s, enum qs_msg_type type, struct qs_err *err);
void qs_session_send_error(struct qs_session *s, const struct qs_err *why);
bool qs_session_send_run_seq(struct qs_session *s, enum qs_msg_type type, const struct qs_msg_run_seq *m,
                             struct qs_err *err);

/* session_clock.c */
bool qs_session_ping(struct qs_session *s);
void qs_session_burst(struct qs_session *s, unsigned round_trips);
void qs_session_burst_if_due(struct qs_session *s); /* between windows: 4 round trips, 10 s after the last */

/* session_window.c */
void qs_session_remember(struct qs_session *s, const struct qs_uid *run, uint64_t first, uint64_t next);
struct qs_held *qs_session_recall(struct qs_session *s, const struct qs_uid *run);

#endif
