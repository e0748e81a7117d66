/* Inside the session only: its states and events, and what its files share. */
#ifndef QS_DEVICE_SESSION_IMPL_H
#define QS_DEVICE_SESSION_IMPL_H

#include "base/loop.h"
#include "device/session/session.h"
#include "device/session/parts.h"
#include "device/session/table.h"
#include "link/link.h"
#include "proto/frame.h"
#include "proto/msg.h"

/* The longest wait; a window's is its lease, a request's is in its row (proto/request.h). */
#define QS_SESSION_HANDSHAKE_NS  INT64_C(15000000000)
#define QS_SESSION_REPLY_NS      INT64_C(60000000000)
#define QS_SESSION_BACKOFF_NS    INT64_C(100000000)
#define QS_SESSION_BACKOFF_MAX   INT64_C(5000000000)
#define QS_SESSION_CLOCK_EACH_NS INT64_C(10000000000)

enum { QS_SESSION_BURST_FIRST = 8, QS_SESSION_BURST = 4, QS_SESSION_ACKS = 8, QS_SESSION_COMPLAINTS = 100 };

struct qs_session {
    struct qs_loop *loop;                /* borrowed */
    struct qs_link *link;                /* owned */
    char *name;                          /* owned: the device's */
    const struct qs_link_traits *traits; /* of the link's kind */
    struct qs_session_events events;
    struct qs_uid farm, nonce;
    int64_t heartbeat_ns, heard_ns;
    enum qs_session_state state;
    uint32_t generation;  /* counts connections: who sees it change inside a callback stops */
    unsigned quiet_beats; /* of the heart since something was heard */
    unsigned depth;       /* callbacks of loop and link in progress */
    bool dead;            /* freed inside one */
    bool noise_told;
    unsigned failures;                       /* in a row: the exponent of the backoff */
    struct qs_err why;                       /* of the failure that is about to be told */
    struct qs_err dropped;                   /* why the owner gave the link up, until that is told */
    struct qs_timer *deadline, *beat, *mark; /* owned */
    uint32_t tx_seq;
    struct qs_framer framer;
    struct qs_agreed agreed;
    uint8_t agent_nonce[QS_NONCE_BYTES];
    struct qs_sha256 hellos; /* of both payloads */
    struct qs_seal tx_seal,
        rx_seal; /* with a key: from our proof on; taken over by the framer after the agent's */
    char software[QS_NOTE_MAX_BYTES + 1], boot_id[QS_NAME_MAX_BYTES + 1], clock_name[QS_NAME_MAX_BYTES + 1];
    uint32_t max_iterations;
    char *facts_json;     /* owned; between FACTS and on_ready */
    char *operating_json; /* owned; from FACTS on */
    struct qs_session_clock clock;
    struct qs_session_call call;
    struct qs_session_run run;
    unsigned complaints; /* ERRORs about runs that are not open, on this connection */
    struct qs_session_metrics metrics;
    struct qs_session_silence silence;
    struct qs_session_files files;
    bool cache_known; /* since the agent was ready last */
    struct qs_session_cache cache;
    struct qs_held held[QS_HELD_MAX]; /* runs with iterations that may be asked for again, oldest first */
    size_t held_count;
    struct qs_held resend; /* first_seq: the next one due */
    struct qs_session_again again;
    struct qs_session_document document;
    struct qs_msg_run_seq acks[QS_SESSION_ACKS]; /* kept back while the window is silent */
    size_t ack_count;
    uint8_t row_seen[QS_SESSION_TABLE_MAX];
    struct qs_writer w;
    uint8_t rx[QS_FRAME_BUF_BYTES], tx[QS_FRAME_BUF_BYTES];
};

/* session.c: on entering a state (deadline, heartbeat), and the reason of a failure (returns false).
 */
void qs_session_arm_deadline(struct qs_session *s);
bool qs_session_is_over(struct qs_session *s); /* the time of the state that was entered */
bool qs_session_broken(struct qs_session *s, enum qs_errc code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void qs_session_arm_beat(struct qs_session *s); /* from now; what was heard before counts no more */
void qs_session_agent_text(struct qs_text t, struct qs_buf *out); /* escaped, for messages */

/* frames.c: encode, frame, send (the frame is then in s->tx, s->w.len long). m: the type's structure,
 * or NULL where it has no fields. False: *err says why, nothing was sent. */
bool qs_session_send(struct qs_session *s, enum qs_msg_type type, const void *m, struct qs_err *err);
void qs_session_send_error(struct qs_session *s, const struct qs_err *why);

/* run.c: connected, and the table has a row for it now. */
bool qs_session_may(struct qs_session *s, enum qs_session_event event, struct qs_err *err);

/* call.c: is this request outstanding? Does the message answer it, or does it come too late,
 * for one that was given up? */
bool qs_session_is_asking(const struct qs_session *s, uint8_t request);
/* Does the agent owe an answer? Not while a file's next piece waits here, for the hub perhaps. */
bool qs_session_is_owed(const struct qs_session *s);
bool qs_session_is_answer(const struct qs_session *s, uint8_t type, const union qs_msg *m);
bool qs_session_is_late(const struct qs_session *s, uint8_t type, const union qs_msg *m);
bool qs_session_is_open_run(const struct qs_session *s, const struct qs_uid *run, struct qs_err *err);
/* What an ERROR of the agent says. */
void qs_session_said(const struct qs_session *s, const struct qs_msg_error *m, struct qs_err *ret);

/* clock.c */
bool qs_session_ping(struct qs_session *s);
void qs_session_burst(struct qs_session *s, unsigned round_trips);
void qs_session_burst_if_due(struct qs_session *s); /* between windows: 4 round trips, 10 s after the last */

/* window.c */
void qs_session_remember(struct qs_session *s, const struct qs_uid *run, uint64_t first, uint64_t next);
struct qs_held *qs_session_recall(struct qs_session *s, const struct qs_uid *run);

/* frames.c: decodes the frame, finds the event that it is, and fires it. */
void qs_session_take_frame(struct qs_session *s, const struct qs_frame *frame);
/* Appends the first line of what came before the first frame, escaped. */
void qs_session_noise(const struct qs_session *s, struct qs_buf *out);
/* Appends what came instead of a first frame, if anything did. */
void qs_session_quote_noise(const struct qs_session *s, struct qs_buf *out);
/* The framer gave up with this enum qs_wire_err: the connection is lost. */
void qs_session_take_garbage(struct qs_session *s, int wire_err);

#endif
