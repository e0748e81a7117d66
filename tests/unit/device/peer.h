/* A scripted agent on the same loop as the session under test: it answers like an agent unless a test takes
 * the message over. It shares nothing with the real agent but the codec. */
#ifndef QS_TESTS_UNIT_DEVICE_PEER_H
#define QS_TESTS_UNIT_DEVICE_PEER_H

#include <stdbool.h>
#include <stdint.h>

#include "../link/tls_peer.h"
#include "base/loop.h"
#include "proto/frame.h"
#include "proto/msg.h"

struct peer;
/* true: taken over, the peer does nothing with it. */
typedef bool peer_fn(struct peer *p, const struct qs_frame *frame);

enum peer_kind { PEER_UNIX, PEER_KEYED /* the same with a key to prove */, PEER_TLS /* over TCP */ };

struct peer {
    struct qs_loop *loop;
    char dir[64], address[96], key_file[96];
    int listener, fd;
    struct qs_io *listen_io, *io;
    int connections;
    struct tls_peer *tls; /* NULL: it speaks in the clear */

    peer_fn *script;
    void *user;
    /* what the HELLO says */
    uint8_t proto_min, proto_max, key[32];
    bool asks_proof, wrong_proof, wrong_session;
    uint32_t features;
    /* what a window gives */
    uint32_t rows, rows_a_message;
    uint16_t metric;    /* what a row's value is */
    unsigned held_runs; /* in HELD: runs 0xA0.. with iterations 5 to 8 */

    struct qs_uid session, farm, run;
    uint8_t nonce[QS_NONCE_BYTES];
    struct qs_msg_open open;
    uint64_t next_seq;
    uint64_t last_ack;
    uint32_t armings;  /* ARMs sent since OPEN */
    uint32_t answered; /* the ARM that the last QUIET or HOLD named */
    unsigned pings, acks, byes, errors;
    uint16_t last_error;
    uint32_t tx_seq;
    struct qs_sha256 hellos;
    struct qs_seal tx_seal;
    enum qs_auth_kind auth; /* what it says where it asks for a proof */
    struct qs_framer framer;
    struct qs_writer w;
    uint8_t rx[QS_FRAME_BUF_BYTES], tx[QS_FRAME_BUF_BYTES];
};

struct peer *peer_new(struct qs_loop *loop, enum peer_kind kind);
void peer_free(struct peer *p);
void peer_hang_up(struct peer *p);
/* A frame of the host's, as the script or an agent answers it. */
void peer_answer(struct peer *p, const struct qs_frame *frame);

/* begin; qs_msg_encode_x(&p->w, ..); end */
size_t peer_begin(struct peer *p);
void peer_end(struct peer *p, size_t at, enum qs_msg_type type);
void peer_raw(struct peer *p, const void *bytes, size_t n);

void peer_hello(struct peer *p);
void peer_held(struct peer *p);
void peer_facts(struct peer *p);
void peer_pong(struct peer *p, const struct qs_msg_ping *ping);
void peer_ping(struct peer *p);
void peer_waiting(struct peer *p);
void peer_window(struct peer *p, enum qs_msg_type type);
void peer_disarm(struct peer *p);
void peer_closed(struct peer *p, enum qs_closed_how how, uint32_t iterations);
void peer_rows(struct peer *p, const struct qs_uid *run, uint64_t first_seq, uint32_t first_index,
               uint32_t n);
void peer_window_result(struct peer *p);
void peer_run_ended(struct peer *p, uint64_t next_seq);
void peer_error(struct peer *p, const struct qs_uid *run, uint16_t code, const char *text);
void peer_bye(struct peer *p);

#endif
