/* A host for the tests: speaks the real codec, keeps what the agent says. */
#ifndef QS_TESTS_AGENT_PEER_H
#define QS_TESTS_AGENT_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/frame.h"
#include "proto/msg.h"

enum { PEER_INBOX = 256 };

/* One frame from the agent; payload is owned by the peer, for as long as it takes until
 * PEER_INBOX more have come. */
struct letter {
    uint8_t type;
    uint8_t *payload;
    size_t n;
};

struct peer {
    void (*deliver)(void *ctx, const uint8_t *bytes, size_t n); /* towards the agent */
    void *ctx;
    struct qs_framer framer;
    uint8_t *rx, *tx;
    uint32_t seq;
    struct qs_writer w;
    struct letter inbox[PEER_INBOX];
    size_t head, count;
    struct qs_uid farm, session, run;
    struct qs_sha256 hellos;
    struct qs_seal tx_seal, rx_seal; /* once we have proven the key; of what comes after the agent's proof */
    uint32_t features;               /* of its hello: all */
    uint32_t max_frame_bytes;        /* of its hello: QS_FRAME_MAX_BYTES */
    uint32_t arming;                 /* of the last ARM: QUIET and HOLD answer it */
    struct qs_msg_hello_agent agent; /* of the last hello; texts are not kept */
};

/* What RUN_BEGIN says; zeros mean: nothing, no limit worth naming, exit code zero. */
struct run_spec {
    const char *const *argv, *const *env, *const *prepare, *const *conclude; /* NULL-terminated */
    const char *cwd, *stdin_path, *output_path, *cpus, *user;
    bool capture, apart;
    uint32_t output_max_bytes;
    int64_t limit_ns, hook_limit_ns;
    enum qs_exit_rule exit_rule;
    int32_t exit_code;           /* for the rule LIST */
    uint32_t document_max_bytes; /* not 0: stream mode */
    const char *benchmark;       /* not NULL: harness mode */
    const char *const *params;
    uint32_t capacity; /* 0: 512 */
    uint32_t environment_bytes, stack_bytes, heap_bytes;
    struct qs_start start;
};

struct open_spec {
    uint32_t window;
    enum qs_phase phase;
    uint64_t first_seq;
    uint32_t iterations;
    int64_t max_ns, lead_ns;
    const struct qs_expectation *gate;
    size_t gate_count;
    const struct qs_bound *bounds;
    size_t bound_count;
    uint32_t evals;
};

void peer_init(struct peer *p, void (*deliver)(void *ctx, const uint8_t *bytes, size_t n), void *ctx);
void peer_done(struct peer *p);
/* A new connection: sequence numbers begin again, the inbox is emptied. */
void peer_reconnect(struct peer *p);
/* Bytes from the agent. Fails the test where they are no frames. */
void peer_receive(struct peer *p, const uint8_t *bytes, size_t n);
/* The oldest frame not yet looked at; NULL: none. */
const struct letter *peer_pop(struct peer *p);

size_t peer_begin(struct peer *p);
void peer_end(struct peer *p, size_t at, uint8_t type);
void peer_empty(struct peer *p, uint8_t type);
void peer_bytes(struct peer *p, uint8_t type, const void *payload, size_t n);
void peer_hello(struct peer *p, uint32_t heartbeat_ms);
void peer_auth(struct peer *p, const uint8_t *key, size_t n);
/* PONG, BYE and ERROR with some content, another type without any: for where its type alone is what counts.
 */
void peer_plain(struct peer *p, uint8_t type);
void peer_ping(struct peer *p, uint64_t id);
void peer_run_begin(struct peer *p, const struct run_spec *spec);
void peer_hook(struct peer *p, uint32_t id, const char *const *argv, int64_t limit_ns);
void peer_open(struct peer *p, const struct open_spec *spec);
void peer_window(struct peer *p, uint8_t type, uint32_t window);
void peer_hold(struct peer *p, uint32_t window);
void peer_seq(struct peer *p, uint8_t type, uint64_t seq);
void peer_run_end(struct peer *p);
void peer_cancel(struct peer *p);

/* Does the list hold this taint? *value of the first. */
bool peer_has_taint(const struct qs_msg_closed *m, const char *code, int32_t iteration, int64_t *value);
bool peer_has_evidence(const struct qs_msg_closed *m, const char *kind, struct qs_evidence *out);

#endif
