#include "peer.h"

#include <stdlib.h>
#include <string.h>

#include "proto/names.h"

/* ---- sending ---- */

size_t peer_begin(struct peer *p)
{
    qs_writer_init(&p->w, p->tx, sizeof p->tx);
    return qs_frame_begin(&p->w);
}

void peer_end(struct peer *p, size_t at, enum qs_msg_type type)
{
    if (!qs_frame_end_sealed(&p->w, at, (uint8_t)type, p->tx_seq, &p->tx_seal))
        abort();
    p->tx_seq++;
    peer_raw(p, p->tx, p->w.len);
}

void peer_hello(struct peer *p)
{
    struct qs_msg_hello_agent m = {
        .proto_min = p->proto_min,
        .proto_max = p->proto_max,
        .features = p->features,
        .session = p->session,
        .auth = p->asks_proof ? p->auth : QS_AUTH_NONE,
        .software = qs_text_of("scripted 1"),
        .boot_id = qs_text_of("boot-1"),
        .clock = qs_text_of("monotonic"),
        .max_frame_bytes = QS_FRAME_MAX_BYTES,
        .max_iterations = 1000,
        .clock_resolution_ns = 1,
    };
    if (p->wrong_session)
        m.session.b[0] ^= 1;
    memcpy(m.nonce, p->nonce, sizeof m.nonce);
    size_t at = peer_begin(p);
    qs_msg_encode_hello_agent(&p->w, &m);
    qs_sha256_add(&p->hellos, p->tx + at + QS_FRAME_HEADER_BYTES, p->w.len - at - QS_FRAME_HEADER_BYTES);
    peer_end(p, at, QS_MSG_HELLO_AGENT);
}

void peer_held(struct peer *p)
{
    uint8_t mem[1024];
    struct qs_build b;
    qs_build_init(&b, mem, sizeof mem);
    for (unsigned i = 0; i < p->held_runs; i++) {
        struct qs_held h = {.run.b = {(uint8_t)(0xA0 + i)}, .first_seq = 5, .next_seq = 9};
        qs_build_held(&b, &h);
    }
    struct qs_msg_held m = {.held = qs_build_list(&b)};
    size_t at = peer_begin(p);
    qs_msg_encode_held(&p->w, &m);
    peer_end(p, at, QS_MSG_HELD);
}

void peer_facts(struct peer *p)
{
    uint8_t mem[1024];
    struct qs_build b;
    qs_build_init(&b, mem, sizeof mem);
    qs_build_fact(&b, &(struct qs_fact){qs_text_of("machine"), qs_text_of("x86_64")});
    qs_build_fact(&b, &(struct qs_fact){qs_text_of("kernel"), qs_text_of("6.1 \"lts\"")});
    struct qs_msg_facts m = {.facts = qs_build_list(&b)};
    size_t at = peer_begin(p);
    qs_msg_encode_facts(&p->w, &m);
    peer_end(p, at, QS_MSG_FACTS);
}

void peer_pong(struct peer *p, const struct qs_msg_ping *ping)
{
    int64_t now = qs_loop_now_ns(p->loop) + 1000000000000; /* another clock */
    struct qs_msg_pong m = {
        .id = ping->id, .t_send_ns = ping->t_send_ns, .t_recv_ns = now, .t_reply_ns = now};
    size_t at = peer_begin(p);
    qs_msg_encode_pong(&p->w, &m);
    peer_end(p, at, QS_MSG_PONG);
}

void peer_ping(struct peer *p)
{
    size_t at = peer_begin(p);
    qs_msg_encode_ping(&p->w, &(struct qs_msg_ping){.id = 77, .t_send_ns = 5});
    peer_end(p, at, QS_MSG_PING);
}

void peer_waiting(struct peer *p)
{
    struct qs_msg_waiting m = {.run = p->run, .window = p->open.window, .value = 7, .eta_ns = -1};
    size_t at = peer_begin(p);
    qs_msg_encode_waiting(&p->w, &m);
    peer_end(p, at, QS_MSG_WAITING);
}

void peer_window(struct peer *p, enum qs_msg_type type)
{
    size_t at = peer_begin(p);
    uint32_t arming = type == QS_MSG_ARM ? p->armings++ : 0;
    qs_msg_encode_window(&p->w,
                         &(struct qs_msg_window){.run = p->run, .window = p->open.window, .arming = arming});
    peer_end(p, at, type);
}

void peer_disarm(struct peer *p)
{
    size_t at = peer_begin(p);
    qs_msg_encode_window_why(&p->w, &(struct qs_msg_window_why){.run = p->run,
                                                                .window = p->open.window,
                                                                .arming = p->armings - 1,
                                                                .why = qs_text_of("busy again")});
    peer_end(p, at, QS_MSG_DISARM);
}

void peer_closed(struct peer *p, enum qs_closed_how how, uint32_t iterations)
{
    struct qs_msg_closed m = {.run = p->run,
                              .window = p->open.window,
                              .phase = p->open.phase,
                              .how = how,
                              .iterations = iterations};
    size_t at = peer_begin(p);
    qs_msg_encode_closed(&p->w, &m);
    peer_end(p, at, QS_MSG_CLOSED);
}

void peer_rows(struct peer *p, const struct qs_uid *run, uint64_t first_seq, uint32_t first_index, uint32_t n)
{
    static uint8_t mem[64 * 1024];
    uint8_t ids[8];
    struct qs_build metrics;
    struct qs_build rows;
    qs_build_init(&metrics, ids, sizeof ids);
    qs_build_u16(&metrics, p->metric);
    qs_build_init(&rows, mem, sizeof mem);
    for (uint32_t i = 0; i < n; i++) {
        struct qs_row row = {.start_off_ns = i, .duration_ns = 123456789, .values = {42}};
        qs_build_row(&rows, 1, &row);
    }
    struct qs_msg_iterations m = {.run = *run,
                                  .window = p->open.window,
                                  .first_seq = first_seq,
                                  .first_index = first_index,
                                  .metrics = qs_build_list(&metrics),
                                  .rows = qs_build_list(&rows)};
    size_t at = peer_begin(p);
    qs_msg_encode_iterations(&p->w, &m);
    peer_end(p, at, QS_MSG_ITERATIONS);
}

void peer_window_result(struct peer *p)
{
    peer_closed(p, QS_CLOSED_DONE, p->rows);
    for (uint32_t i = 0; i < p->rows; i += p->rows_a_message) {
        uint32_t n = p->rows - i < p->rows_a_message ? p->rows - i : p->rows_a_message;
        peer_rows(p, &p->run, p->open.first_seq + i, i, n);
    }
    p->next_seq = p->open.first_seq + p->rows;
}

void peer_run_ended(struct peer *p, uint64_t next_seq)
{
    size_t at = peer_begin(p);
    qs_msg_encode_run_seq(&p->w, &(struct qs_msg_run_seq){.run = p->run, .seq = next_seq});
    peer_end(p, at, QS_MSG_RUN_ENDED);
}

void peer_error(struct peer *p, const struct qs_uid *run, uint16_t code, const char *text)
{
    struct qs_msg_error m = {
        .run = *run, .code = code, .blame = QS_WIRE_BLAME_OPERATOR, .text = qs_text_of(text)};
    size_t at = peer_begin(p);
    qs_msg_encode_error(&p->w, &m);
    peer_end(p, at, QS_MSG_ERROR);
}

void peer_bye(struct peer *p)
{
    size_t at = peer_begin(p);
    qs_msg_encode_bye(&p->w, &(struct qs_msg_bye){.why = qs_text_of("rebooting")});
    peer_end(p, at, QS_MSG_BYE);
}

/* ---- answering ---- */

static void answer_hello(struct peer *p, const struct qs_frame *f)
{
    struct qs_msg_hello_host m;
    if (qs_msg_decode_hello_host(f->payload, f->len, &m) != 0)
        abort();
    p->session = m.session;
    p->farm = m.farm;
    qs_sha256_init(&p->hellos);
    qs_sha256_add(&p->hellos, f->payload, f->len);
    peer_hello(p);
    if (!p->asks_proof)
        peer_held(p);
}

static void answer_proof(struct peer *p, const struct qs_frame *f)
{
    struct qs_msg_auth m;
    uint8_t want[QS_SHA256_BYTES];
    qs_auth_mac_host(p->key, sizeof p->key, &p->session, p->nonce, &p->farm, want);
    if (qs_msg_decode_auth(f->payload, f->len, &m) != 0 || !qs_auth_equal(want, m.mac, sizeof want)) {
        peer_error(p, &(struct qs_uid){{0}}, QS_CODE_AUTH, "the host's proof is wrong");
        peer_hang_up(p);
        return;
    }
    qs_auth_mac_agent(p->key, sizeof p->key, &p->session, p->nonce, &p->farm, m.mac);
    m.mac[0] ^= p->wrong_proof;
    size_t at = peer_begin(p);
    qs_msg_encode_auth(&p->w, &m);
    peer_end(p, at, QS_MSG_AUTH);
    uint8_t sum[QS_SHA256_BYTES];
    qs_sha256_final(&p->hellos, sum);
    qs_seal_make(p->key, sizeof p->key, &p->session, p->nonce, &p->farm, sum, &p->framer.seal, &p->tx_seal);
    peer_held(p);
}

static void answer_run(struct peer *p, const struct qs_frame *f)
{
    struct qs_msg_run_begin m;
    if (qs_msg_decode_run_begin(f->payload, f->len, &m) != 0)
        abort();
    p->run = m.run;
    p->next_seq = 0;
    struct qs_msg_run_ready ready = {.run = m.run, .executable = qs_text_of("/bin/true")};
    size_t at = peer_begin(p);
    qs_msg_encode_run_ready(&p->w, &ready);
    peer_end(p, at, QS_MSG_RUN_READY);
}

static void answer_hook(struct peer *p, const struct qs_frame *f)
{
    struct qs_msg_hook m;
    if (qs_msg_decode_hook(f->payload, f->len, &m) != 0)
        abort();
    struct qs_msg_hook_done done = {.id = m.id, .duration_ns = 5, .output = qs_text_of("made")};
    size_t at = peer_begin(p);
    qs_msg_encode_hook_done(&p->w, &done);
    peer_end(p, at, QS_MSG_HOOK_DONE);
}

static void answer_pull(struct peer *p, const struct qs_frame *f)
{
    struct qs_msg_pull m;
    if (qs_msg_decode_pull(f->payload, f->len, &m) != 0)
        abort();
    struct qs_msg_pulled done = {
        .id = m.id, .total_bytes = 4, .offset = m.offset, .bytes = qs_text_of("left")};
    size_t at = peer_begin(p);
    qs_msg_encode_pulled(&p->w, &done);
    peer_end(p, at, QS_MSG_PULLED);
}

static void answer_trace(struct peer *p, const struct qs_frame *f)
{
    struct qs_msg_trace m;
    struct qs_msg_trace_stop stop;
    bool begins = f->type == QS_MSG_TRACE;
    if ((begins ? qs_msg_decode_trace(f->payload, f->len, &m)
                : qs_msg_decode_trace_stop(f->payload, f->len, &stop)) != 0)
        abort();
    struct qs_msg_traced done = {.id = begins ? m.id : stop.id,
                                 .status = begins ? QS_TRACE_RUNS : QS_TRACE_STOPPED};
    size_t at = peer_begin(p);
    qs_msg_encode_traced(&p->w, &done);
    peer_end(p, at, QS_MSG_TRACED);
}

static void answer_ping(struct peer *p, const struct qs_frame *f)
{
    struct qs_msg_ping ping;
    if (qs_msg_decode_ping(f->payload, f->len, &ping) != 0)
        abort();
    p->pings++;
    peer_pong(p, &ping);
}

static void answer_open(struct peer *p, const struct qs_frame *f)
{
    if (qs_msg_decode_open(f->payload, f->len, &p->open) != 0)
        abort();
    p->armings = 0;
    peer_waiting(p);
    peer_window(p, QS_MSG_ARM);
}

static void note_ack(struct peer *p, const struct qs_frame *f)
{
    struct qs_msg_run_seq m;
    if (qs_msg_decode_run_seq(f->payload, f->len, &m) != 0)
        abort();
    p->acks++;
    p->last_ack = m.seq;
}

/* The window of the first two iterations comes as a whole, though asked for from 5 on. */
static void answer_resend(struct peer *p, const struct qs_frame *f)
{
    struct qs_msg_run_seq m;
    if (qs_msg_decode_run_seq(f->payload, f->len, &m) != 0)
        abort();
    struct qs_uid run = p->run;
    p->run = m.run;
    p->open.window = 0;
    peer_closed(p, QS_CLOSED_DONE, 3);
    peer_rows(p, &m.run, 4, 0, 3);
    peer_closed(p, QS_CLOSED_DONE, 2);
    peer_rows(p, &m.run, 7, 0, 2);
    p->run = run;
}

static void note_error(struct peer *p, const struct qs_frame *f)
{
    struct qs_msg_error m;
    if (qs_msg_decode_error(f->payload, f->len, &m) != 0)
        abort();
    p->errors++;
    p->last_error = m.code;
}

void peer_answer(struct peer *p, const struct qs_frame *f)
{
    union qs_msg m;
    if (qs_msg_accept(f->type, QS_SIDE_HOST) <= 0 || qs_msg_decode(f->type, f->payload, f->len, &m) != 0)
        abort(); /* the session under test wrote what no agent may take */
    if (f->type == QS_MSG_QUIET || f->type == QS_MSG_HOLD) /* which ARM does it answer? */
        p->answered = f->type == QS_MSG_QUIET ? m.window.arming : m.window_why.arming;
    if (p->script && p->script(p, f))
        return;
    static void (*const answers[QS_MSG_LAST + 1])(struct peer *, const struct qs_frame *) = {
        [QS_MSG_HELLO_HOST] = answer_hello, [QS_MSG_AUTH] = answer_proof,  [QS_MSG_PING] = answer_ping,
        [QS_MSG_RUN_BEGIN] = answer_run,    [QS_MSG_HOOK] = answer_hook,   [QS_MSG_PULL] = answer_pull,
        [QS_MSG_OPEN] = answer_open,        [QS_MSG_ACK] = note_ack,       [QS_MSG_ERROR] = note_error,
        [QS_MSG_RESEND] = answer_resend,    [QS_MSG_TRACE] = answer_trace, [QS_MSG_TRACE_STOP] = answer_trace,
    };
    if (answers[f->type])
        answers[f->type](p, f);
    if (f->type == QS_MSG_FACTS_GET)
        peer_facts(p);
    if (f->type == QS_MSG_QUIET)
        peer_window_result(p);
    if (f->type == QS_MSG_HOLD)
        peer_window(p, QS_MSG_ARM);
    if (f->type == QS_MSG_CANCEL)
        peer_closed(p, QS_CLOSED_CANCELLED, 0);
    if (f->type == QS_MSG_RUN_END)
        peer_run_ended(p, p->next_seq);
    if (f->type == QS_MSG_BYE)
        p->byes++;
}
