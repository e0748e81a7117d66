/* Messages of a session: hello, auth, heartbeats, facts, what is held, errors, the end. */
#ifndef QS_PROTO_MSG_SESSION_H
#define QS_PROTO_MSG_SESSION_H

#include "proto/auth.h"
#include "proto/uid.h"
#include "proto/wire.h"

/* 1 was a proof alone, without seals: nobody takes it any more. */
enum qs_auth_kind { QS_AUTH_NONE = 0, QS_AUTH_PROOF_ONLY = 1, QS_AUTH_SEALED = 2 };

struct qs_msg_hello_host {
    uint8_t proto_min, proto_max; /* 1 <= min <= max */
    uint32_t features;
    struct qs_uid farm;               /* not zero */
    struct qs_uid session;            /* not zero; random, fresh per connection: the host's nonce */
    uint8_t reserved[QS_NONCE_BYTES]; /* zeros are sent, anything is accepted */
    uint32_t heartbeat_ms;            /* QS_HEARTBEAT_MIN_MS .. QS_HEARTBEAT_MAX_MS */
    uint32_t max_frame_bytes;         /* QS_FRAME_FLOOR_BYTES .. : longest payload this side takes */
    struct qs_text software;          /* "quiesced 0.1.0" */
};
bool qs_msg_encode_hello_host(struct qs_writer *w, const struct qs_msg_hello_host *m);
int qs_msg_decode_hello_host(const uint8_t *p, size_t n, struct qs_msg_hello_host *m);

struct qs_msg_hello_agent {
    uint8_t proto_min, proto_max;
    uint32_t features;
    struct qs_uid session;         /* the host's, echoed */
    uint8_t nonce[QS_NONCE_BYTES]; /* the agent's, random, fresh per connection */
    enum qs_auth_kind auth;        /* what this link demands of both */
    struct qs_text software;
    struct qs_text boot_id; /* changes with each boot of the device */
    struct qs_text clock;   /* "monotonic-raw": the clock of all device times */
    uint32_t max_frame_bytes;
    uint32_t max_iterations;     /* of one window; 1 .. QS_ITERATIONS_MAX */
    int64_t clock_resolution_ns; /* >= 0 */
    uint32_t clock_cost_ps;      /* of one reading */
};
bool qs_msg_encode_hello_agent(struct qs_writer *w, const struct qs_msg_hello_agent *m);
int qs_msg_decode_hello_agent(const uint8_t *p, size_t n, struct qs_msg_hello_agent *m);

struct qs_msg_auth {
    uint8_t mac[QS_SHA256_BYTES];
};
bool qs_msg_encode_auth(struct qs_writer *w, const struct qs_msg_auth *m);
int qs_msg_decode_auth(const uint8_t *p, size_t n, struct qs_msg_auth *m);

struct qs_msg_ping {
    uint64_t id;
    int64_t t_send_ns; /* sender's clock */
};
bool qs_msg_encode_ping(struct qs_writer *w, const struct qs_msg_ping *m);
int qs_msg_decode_ping(const uint8_t *p, size_t n, struct qs_msg_ping *m);

struct qs_msg_pong {
    uint64_t id;
    int64_t t_send_ns;             /* echoed: the clock of who asked */
    int64_t t_recv_ns, t_reply_ns; /* the clock of who answers */
};
bool qs_msg_encode_pong(struct qs_writer *w, const struct qs_msg_pong *m);
int qs_msg_decode_pong(const uint8_t *p, size_t n, struct qs_msg_pong *m);

/* The environment achieved, as pairs of texts; keys are unique by agreement, sorted by key. */
struct qs_fact {
    struct qs_text key;   /* 1 .. QS_NAME_MAX_BYTES */
    struct qs_text value; /* <= QS_FACT_VALUE_MAX_BYTES */
};
struct qs_msg_facts {
    struct qs_list facts; /* of struct qs_fact, <= QS_FACTS_MAX */
};
bool qs_list_fact(struct qs_iter *it, struct qs_fact *out);
bool qs_build_fact(struct qs_build *b, const struct qs_fact *f);
bool qs_msg_encode_facts(struct qs_writer *w, const struct qs_msg_facts *m);
int qs_msg_decode_facts(const uint8_t *p, size_t n, struct qs_msg_facts *m);

/* Iterations of one run that the agent keeps because they were not acknowledged. */
struct qs_held {
    struct qs_uid run;
    uint64_t first_seq, next_seq; /* first <= next <= QS_SEQ_MAX */
};
struct qs_msg_held {
    struct qs_list held; /* of struct qs_held, <= QS_HELD_MAX; only runs of this farm */
};
bool qs_list_held(struct qs_iter *it, struct qs_held *out);
bool qs_build_held(struct qs_build *b, const struct qs_held *h);
bool qs_msg_encode_held(struct qs_writer *w, const struct qs_msg_held *m);
int qs_msg_decode_held(const uint8_t *p, size_t n, struct qs_msg_held *m);

/* Whose move is next; equal to enum qs_blame of base, which the agent does not include. */
enum qs_wire_blame {
    QS_WIRE_BLAME_OPERATOR = 1,
    QS_WIRE_BLAME_DEVICE,
    QS_WIRE_BLAME_HOST,
    QS_WIRE_BLAME_QUIESCE
};
/* Codes of ERROR. Values outside are accepted and read as "unknown". */
enum qs_wire_code {
    QS_CODE_PROTOCOL = 1, /* the peer broke the protocol; the link closes */
    QS_CODE_VERSION,      /* no common version; the link closes */
    QS_CODE_AUTH,         /* proof missing or wrong; the link closes */
    QS_CODE_STATE, /* the request does not fit the state (second run, unknown window); nothing was done */
    QS_CODE_UNKNOWN_RUN, /* the run is not known here; nothing was done */
    QS_CODE_EXECUTABLE,  /* RUN_BEGIN: not found, or not executable */
    QS_CODE_UNSUPPORTED, /* a value that this agent cannot honour */
    QS_CODE_RESOURCE,    /* memory, space, processes or descriptors of the device */
    QS_CODE_INTERNAL,    /* a mistake of the sender */
    QS_CODE_LAST = QS_CODE_INTERNAL
};
struct qs_msg_error {
    struct qs_uid run; /* zero: the session */
    uint16_t code;     /* enum qs_wire_code */
    enum qs_wire_blame blame;
    struct qs_text text; /* <= QS_NOTE_MAX_BYTES */
};
bool qs_msg_encode_error(struct qs_writer *w, const struct qs_msg_error *m);
int qs_msg_decode_error(const uint8_t *p, size_t n, struct qs_msg_error *m);

struct qs_msg_bye {
    struct qs_text why; /* <= QS_NOTE_MAX_BYTES */
};
bool qs_msg_encode_bye(struct qs_writer *w, const struct qs_msg_bye *m);
int qs_msg_decode_bye(const uint8_t *p, size_t n, struct qs_msg_bye *m);

struct qs_msg_none { /* of a message without a payload */
    char unused;
};

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
