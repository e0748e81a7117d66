#include "peer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { LIST_BYTES = 200 * 1024 };

static struct qs_uid uid_of(uint8_t seed)
{
    struct qs_uid u;
    memset(u.b, seed, sizeof u.b);
    return u;
}

void peer_init(struct peer *p, void (*deliver)(void *ctx, const uint8_t *bytes, size_t n), void *ctx)
{
    memset(p, 0, sizeof *p);
    p->deliver = deliver;
    p->ctx = ctx;
    p->rx = malloc(QS_FRAME_BUF_BYTES);
    p->tx = malloc(QS_FRAME_BUF_BYTES);
    p->features = UINT32_MAX;
    p->max_frame_bytes = QS_FRAME_MAX_BYTES;
    p->farm = uid_of(0xfa);
    p->session = uid_of(0x5e);
    p->run = uid_of(0x11);
    qs_framer_init(&p->framer, p->rx, QS_FRAME_BUF_BYTES);
}

static void empty_inbox(struct peer *p)
{
    for (size_t i = 0; i < PEER_INBOX; i++) {
        free(p->inbox[i].payload);
        p->inbox[i].payload = NULL;
    }
    p->head = p->count = 0;
}

void peer_done(struct peer *p)
{
    empty_inbox(p);
    free(p->rx);
    free(p->tx);
}

void peer_reconnect(struct peer *p)
{
    empty_inbox(p);
    p->seq = 0;
    p->tx_seal.on = false;
    qs_framer_init(&p->framer, p->rx, QS_FRAME_BUF_BYTES);
}

void peer_receive(struct peer *p, const uint8_t *bytes, size_t n)
{
    while (n > 0) {
        struct qs_frame frame;
        size_t used = 0;
        int got = qs_framer_feed(&p->framer, bytes, n, &used, &frame);
        assert_true(got >= 0);
        if (got == 0) {
            return;
        }
        bytes += used;
        n -= used;
        assert_int_equal(qs_msg_accept(frame.type, QS_SIDE_AGENT), 1);
        assert_int_equal(qs_msg_decode(frame.type, frame.payload, frame.len, &(union qs_msg){0}), 0);
        assert_true(p->count - p->head < PEER_INBOX);
        struct letter *l = &p->inbox[p->count++ % PEER_INBOX];
        free(l->payload);
        *l = (struct letter){.type = frame.type, .payload = malloc(frame.len + 1U), .n = frame.len};
        memcpy(l->payload, frame.payload, frame.len);
        struct qs_msg_window armed;
        if (frame.type == QS_MSG_ARM && qs_msg_decode_window(l->payload, l->n, &armed) == 0) {
            p->arming = armed.arming;
        }
        if (frame.type == QS_MSG_AUTH) {
            p->framer.seal = p->rx_seal;
        }
        if (frame.type == QS_MSG_HELLO_AGENT) {
            assert_int_equal(qs_msg_decode_hello_agent(l->payload, l->n, &p->agent), 0);
            qs_sha256_add(&p->hellos, l->payload, l->n);
        }
    }
}

const struct letter *peer_pop(struct peer *p)
{
    return p->head == p->count ? NULL : &p->inbox[p->head++ % PEER_INBOX];
}

size_t peer_begin(struct peer *p)
{
    qs_writer_init(&p->w, p->tx, QS_FRAME_BUF_BYTES);
    return qs_frame_begin(&p->w);
}

void peer_end(struct peer *p, size_t at, uint8_t type)
{
    assert_true(qs_frame_end_sealed(&p->w, at, type, p->seq, &p->tx_seal));
    p->seq++;
    p->deliver(p->ctx, p->tx, p->w.len);
}

void peer_empty(struct peer *p, uint8_t type)
{
    peer_end(p, peer_begin(p), type);
}

void peer_bytes(struct peer *p, uint8_t type, const void *payload, size_t n)
{
    size_t at = peer_begin(p);
    qs_put_bytes(&p->w, payload, n);
    peer_end(p, at, type);
}

void peer_hello(struct peer *p, uint32_t heartbeat_ms)
{
    const struct qs_msg_hello_host m = {.proto_min = 1,
                                        .proto_max = 1,
                                        .features = p->features,
                                        .farm = p->farm,
                                        .session = p->session,
                                        .heartbeat_ms = heartbeat_ms,
                                        .max_frame_bytes = p->max_frame_bytes,
                                        .software = qs_text_of("a test")};
    size_t at = peer_begin(p);
    qs_msg_encode_hello_host(&p->w, &m);
    qs_sha256_init(&p->hellos);
    qs_sha256_add(&p->hellos, p->tx + at + QS_FRAME_HEADER_BYTES, p->w.len - at - QS_FRAME_HEADER_BYTES);
    peer_end(p, at, QS_MSG_HELLO_HOST);
}

void peer_auth(struct peer *p, const uint8_t *key, size_t n)
{
    struct qs_msg_auth m;
    size_t at = peer_begin(p);
    qs_auth_mac_host(key, n, &p->session, p->agent.nonce, &p->farm, m.mac);
    qs_msg_encode_auth(&p->w, &m);
    peer_end(p, at, QS_MSG_AUTH);
    uint8_t sum[QS_SHA256_BYTES];
    qs_sha256_final(&p->hellos, sum);
    qs_seal_make(key, n, &p->session, p->agent.nonce, &p->farm, sum, &p->tx_seal, &p->rx_seal);
}

void peer_ping(struct peer *p, uint64_t id)
{
    const struct qs_msg_ping m = {.id = id, .t_send_ns = 7};
    size_t at = peer_begin(p);
    qs_msg_encode_ping(&p->w, &m);
    peer_end(p, at, QS_MSG_PING);
}

void peer_plain(struct peer *p, uint8_t type)
{
    size_t at = peer_begin(p);
    if (type == QS_MSG_PONG)
        qs_msg_encode_pong(&p->w, &(struct qs_msg_pong){.id = 1});
    else if (type == QS_MSG_BYE)
        qs_msg_encode_bye(&p->w, &(struct qs_msg_bye){.why = qs_text_of("the test ends")});
    else if (type == QS_MSG_ERROR)
        qs_msg_encode_error(&p->w,
                            &(struct qs_msg_error){.code = QS_CODE_INTERNAL, .blame = QS_WIRE_BLAME_HOST});
    peer_end(p, at, type);
}

static struct qs_list list_of(const char *const *texts, uint8_t *memory)
{
    struct qs_build b;
    qs_build_init(&b, memory, LIST_BYTES);
    for (; texts && *texts; texts++) {
        assert_true(qs_build_text(&b, qs_text_of(*texts)));
    }
    return qs_build_list(&b);
}

void peer_run_begin(struct peer *p, const struct run_spec *s)
{
    static uint8_t memory[5][LIST_BYTES];
    uint8_t codes[4];
    struct qs_build b;
    qs_build_init(&b, codes, sizeof codes);
    if (s->exit_rule == QS_EXIT_RULE_LIST) {
        qs_build_i32(&b, s->exit_code);
    }
    const struct qs_msg_run_begin m = {
        .run = p->run,
        .argv = list_of(s->argv, memory[0]),
        .env = list_of(s->env, memory[1]),
        .cwd = qs_text_of(s->cwd),
        .stdin_kind = s->stdin_path ? QS_STDIN_FILE : QS_STDIN_NULL,
        .stdin_path = qs_text_of(s->stdin_path),
        .output_kind = s->output_path ? QS_OUTPUT_KIND_FILE
                       : s->apart     ? QS_OUTPUT_KIND_APART
                       : s->capture   ? QS_OUTPUT_KIND_CAPTURE
                                      : QS_OUTPUT_KIND_DISCARD,
        .output_path = qs_text_of(s->output_path),
        .output_max_bytes = s->output_max_bytes,
        .iteration_limit_ns = s->limit_ns ? s->limit_ns : INT64_C(60000000000),
        .exit_rule = s->exit_rule,
        .exit_codes = qs_build_list(&b),
        .cpus = qs_text_of(s->cpus),
        .user = qs_text_of(s->user),
        .prepare = list_of(s->prepare, memory[2]),
        .conclude = list_of(s->conclude, memory[3]),
        .hook_limit_ns = s->hook_limit_ns ? s->hook_limit_ns : INT64_C(60000000000),
        .mode = s->benchmark            ? QS_RUN_HARNESS
                : s->document_max_bytes ? QS_RUN_STREAM
                                        : QS_RUN_COMMAND,
        .stream = {.document_max_bytes = s->document_max_bytes},
        .harness = {.benchmark = qs_text_of(s->benchmark),
                    .params = list_of(s->params, memory[4]),
                    .capacity = s->capacity ? s->capacity : 512,
                    .environment_bytes = s->environment_bytes,
                    .stack_bytes = s->stack_bytes,
                    .heap_bytes = s->heap_bytes},
        .start = s->start,
    };
    size_t at = peer_begin(p);
    qs_msg_encode_run_begin(&p->w, &m);
    peer_end(p, at, QS_MSG_RUN_BEGIN);
}

void peer_hook(struct peer *p, uint32_t id, const char *const *argv, int64_t limit_ns)
{
    static uint8_t memory[2][LIST_BYTES];
    const struct qs_msg_hook m = {.id = id,
                                  .argv = list_of(argv, memory[0]),
                                  .env = list_of(NULL, memory[1]),
                                  .limit_ns = limit_ns,
                                  .output_max_bytes = 1000};
    size_t at = peer_begin(p);
    qs_msg_encode_hook(&p->w, &m);
    peer_end(p, at, QS_MSG_HOOK);
}

void peer_open(struct peer *p, const struct open_spec *s)
{
    uint8_t gate[4096];
    uint8_t bounds[4096];
    struct qs_build g;
    struct qs_build b;
    qs_build_init(&g, gate, sizeof gate);
    qs_build_init(&b, bounds, sizeof bounds);
    for (size_t i = 0; i < s->gate_count; i++) {
        assert_true(qs_build_expectation(&g, &s->gate[i]));
    }
    for (size_t i = 0; i < s->bound_count; i++) {
        assert_true(qs_build_bound(&b, &s->bounds[i]));
    }
    const struct qs_msg_open m = {.run = p->run,
                                  .window = s->window,
                                  .phase = s->phase,
                                  .first_seq = s->first_seq,
                                  .iterations = s->iterations,
                                  .max_ns = s->max_ns ? s->max_ns : INT64_C(60000000000),
                                  .quiet_lead_ns = s->lead_ns,
                                  .lease_ns = INT64_C(120000000000),
                                  .gate = qs_build_list(&g),
                                  .bounds = qs_build_list(&b),
                                  .evals = s->evals};
    size_t at = peer_begin(p);
    qs_msg_encode_open(&p->w, &m);
    peer_end(p, at, QS_MSG_OPEN);
}

void peer_window(struct peer *p, uint8_t type, uint32_t window)
{
    const struct qs_msg_window m = {.run = p->run, .window = window, .arming = p->arming};
    size_t at = peer_begin(p);
    qs_msg_encode_window(&p->w, &m);
    peer_end(p, at, type);
}

void peer_hold(struct peer *p, uint32_t window)
{
    const struct qs_msg_window_why m = {
        .run = p->run, .window = window, .arming = p->arming, .why = qs_text_of("the hub is busy")};
    size_t at = peer_begin(p);
    qs_msg_encode_window_why(&p->w, &m);
    peer_end(p, at, QS_MSG_HOLD);
}

void peer_seq(struct peer *p, uint8_t type, uint64_t seq)
{
    const struct qs_msg_run_seq m = {.run = p->run, .seq = seq};
    size_t at = peer_begin(p);
    qs_msg_encode_run_seq(&p->w, &m);
    peer_end(p, at, type);
}

void peer_run_end(struct peer *p)
{
    const struct qs_msg_run m = {.run = p->run};
    size_t at = peer_begin(p);
    qs_msg_encode_run(&p->w, &m);
    peer_end(p, at, QS_MSG_RUN_END);
}

void peer_cancel(struct peer *p)
{
    const struct qs_msg_run_why m = {.run = p->run, .why = qs_text_of("no longer wanted")};
    size_t at = peer_begin(p);
    qs_msg_encode_run_why(&p->w, &m);
    peer_end(p, at, QS_MSG_CANCEL);
}

bool peer_has_taint(const struct qs_msg_closed *m, const char *code, int32_t iteration, int64_t *value)
{
    struct qs_iter it = qs_list_iter(&m->taints);
    struct qs_taint t;
    while (qs_list_taint(&it, &t)) {
        if (qs_text_is(t.code, code) && t.iteration == iteration) {
            if (value) {
                *value = t.value;
            }
            return true;
        }
    }
    return false;
}

bool peer_has_evidence(const struct qs_msg_closed *m, const char *kind, struct qs_evidence *out)
{
    struct qs_iter it = qs_list_iter(&m->evidence);
    while (qs_list_evidence(&it, out)) {
        if (qs_text_is(out->kind, kind)) {
            return true;
        }
    }
    return false;
}
