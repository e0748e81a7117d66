/* The messages: their types, who may send them, and what both sides agree on in HELLO. The structures and
 * their codecs are in four headers by theme. Shared rules of all codecs: bool qs_msg_encode_x(w, &m)  appends
 * the payload; false (and w->ok false) where it does not fit or a value is refused. int
 * qs_msg_decode_x(payload, n, &m)  0, or a negative enum qs_wire_err, and then *m must not be used. Texts and
 * lists of *m point into the payload. Bytes after the last known field are ignored. What one refuses the
 * other refuses: the same check runs on both sides. Messages of the same shape share a structure. */
#ifndef QS_PROTO_MSG_H
#define QS_PROTO_MSG_H

#include "proto/limits.h"
#include "proto/msg_files.h"
#include "proto/msg_pull.h"
#include "proto/msg_result.h"
#include "proto/msg_run.h"
#include "proto/msg_session.h"
#include "proto/msg_stream.h"
#include "proto/msg_trace.h"
#include "proto/msg_window.h"
#include "proto/wire.h"

enum qs_msg_type {
    QS_MSG_HELLO_HOST = 1,
    QS_MSG_HELLO_AGENT,
    QS_MSG_AUTH,
    QS_MSG_PING,
    QS_MSG_PONG,
    QS_MSG_FACTS_GET, /* no payload */
    QS_MSG_FACTS,
    QS_MSG_HELD,
    QS_MSG_RESEND,    /* struct qs_msg_run_seq: seq = the first one wanted */
    QS_MSG_RUN_BEGIN, /* 10 */
    QS_MSG_RUN_READY,
    QS_MSG_HOOK,
    QS_MSG_HOOK_DONE,
    QS_MSG_OPEN,
    QS_MSG_WAITING,
    QS_MSG_ARM,    /* struct qs_msg_window */
    QS_MSG_QUIET,  /* struct qs_msg_window */
    QS_MSG_HOLD,   /* struct qs_msg_window_why */
    QS_MSG_DISARM, /* struct qs_msg_window_why */
    QS_MSG_CLOSED, /* 20 */
    QS_MSG_ITERATIONS,
    QS_MSG_ACK,     /* struct qs_msg_run_seq: seq = the first one not yet on disk */
    QS_MSG_RUN_END, /* struct qs_msg_run */
    QS_MSG_RUN_ENDED,
    QS_MSG_CANCEL, /* struct qs_msg_run_why */
    QS_MSG_ERROR,
    QS_MSG_BYE, /* struct qs_msg_bye */
    QS_MSG_PULL,
    QS_MSG_PULLED,
    QS_MSG_TRACE, /* 30 */
    QS_MSG_TRACE_STOP,
    QS_MSG_TRACED,
    QS_MSG_HAVE,
    QS_MSG_HAVING,
    QS_MSG_PUT,
    QS_MSG_PUT_DATA,
    QS_MSG_PUT_AT,
    QS_MSG_STAGE,
    QS_MSG_STAGED,
    QS_MSG_CLEAN,
    QS_MSG_CLEANED,
    QS_MSG_DOCUMENT,
    QS_MSG_LAST = QS_MSG_DOCUMENT,
    QS_MSG_OPTIONAL = 0x80 /* unknown types with this bit are ignored, others are an error */
};

enum qs_side { QS_SIDE_HOST = 1, QS_SIDE_AGENT = 2 };

/* "HELLO_HOST", ...; "unknown" for what is no message. */
const char *qs_msg_name(uint8_t type);
/* May `from` send this type? 1: yes, decode it. 0: unknown and optional, ignore it. QS_WIRE_E_TYPE: a
 * protocol error. */
int qs_msg_accept(uint8_t type, enum qs_side from);

/* A decoded message of any type, by the name of its structure. */
union qs_msg {
    struct qs_msg_hello_host hello_host;
    struct qs_msg_hello_agent hello_agent;
    struct qs_msg_auth auth;
    struct qs_msg_ping ping;
    struct qs_msg_pong pong;
    struct qs_msg_facts facts;
    struct qs_msg_held held;
    struct qs_msg_run_begin run_begin;
    struct qs_msg_run_ready run_ready;
    struct qs_msg_hook hook;
    struct qs_msg_hook_done hook_done;
    struct qs_msg_open open;
    struct qs_msg_waiting waiting;
    struct qs_msg_window window;
    struct qs_msg_window_why window_why;
    struct qs_msg_closed closed;
    struct qs_msg_iterations iterations;
    struct qs_msg_run run;
    struct qs_msg_run_seq run_seq;
    struct qs_msg_run_ended run_ended;
    struct qs_msg_run_why run_why;
    struct qs_msg_error error;
    struct qs_msg_bye bye;
    struct qs_msg_pull pull;
    struct qs_msg_pulled pulled;
    struct qs_msg_trace trace;
    struct qs_msg_trace_stop trace_stop;
    struct qs_msg_traced traced;
    struct qs_msg_have have;
    struct qs_msg_having having;
    struct qs_msg_put put;
    struct qs_msg_put_data put_data;
    struct qs_msg_put_at put_at;
    struct qs_msg_stage stage;
    struct qs_msg_staged staged;
    struct qs_msg_clean clean;
    struct qs_msg_cleaned cleaned;
    struct qs_msg_document document;
};
/* The codec of a type: 0 or the decoder's error; QS_WIRE_E_TYPE for unknown types. m of encode: the type's
 * structure, or NULL where it has no fields. */
int qs_msg_decode(uint8_t type, const uint8_t *payload, size_t n, union qs_msg *m);
bool qs_msg_encode(uint8_t type, struct qs_writer *w, const void *m);

/* What both HELLOs together allow. */
struct qs_agreed {
    uint8_t proto;            /* the newest version both speak */
    uint32_t features;        /* enum qs_feature bits both have */
    uint32_t max_frame_bytes; /* the smaller of both: no payload in either direction is longer */
    enum qs_auth_kind auth;   /* what the agent demands */
};
/* QS_WIRE_E_SESSION where the agent echoes another session, QS_WIRE_E_VERSION where no version is common. */
int qs_msg_agree(const struct qs_msg_hello_host *host, const struct qs_msg_hello_agent *agent,
                 struct qs_agreed *out);

#endif
