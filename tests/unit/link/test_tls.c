/* The host's side of TLS against the library's own server, in memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "link/tls/tls.h"
#include "tls_peer.h"

static const struct qs_enrolled board = {.name = "board", .secret = {1, 2, 3}},
                                other_secret = {.name = "board", .secret = {1, 2, 4}},
                                other_name = {.name = "boar", .secret = {1, 2, 3}};

struct both {
    struct qs_tls *host;
    struct tls_peer agent;
    struct qs_buf said, wire; /* what the host hears, and has sent */
    struct qs_err err;
};

static void both_init(struct both *b, const struct qs_enrolled *of_agent, const int *suites)
{
    memset(b, 0, sizeof *b);
    b->host = qs_tls_new("board", &board, &b->err);
    assert_non_null(b->host);
    tls_peer_init(&b->agent, of_agent, suites);
    qs_buf_init(&b->said);
    qs_buf_init(&b->wire);
}

static void both_done(struct both *b)
{
    qs_tls_free(b->host);
    tls_peer_done(&b->agent);
    qs_buf_done(&b->said);
    qs_buf_done(&b->wire);
}

/* Carries bytes to and fro until nobody has more; `flip` of the agent's first bytes (counted; < 0: none) has
 * one bit changed. False: the host has refused. */
static bool converse(struct both *b, long flip)
{
    bool ok = qs_tls_take(b->host, NULL, 0, &b->said, &b->wire, &b->err);
    long carried = 0;
    while (ok && b->wire.len > 0) {
        tls_peer_take(&b->agent, b->wire.data, b->wire.len);
        qs_buf_clear(&b->wire);
        if (b->agent.out.len == 0)
            break;
        if (flip >= carried && flip < carried + (long)b->agent.out.len)
            b->agent.out.data[flip - carried] ^= 4;
        carried += (long)b->agent.out.len;
        ok = qs_tls_take(b->host, (const uint8_t *)b->agent.out.data, b->agent.out.len, &b->said, &b->wire,
                         &b->err);
        qs_buf_clear(&b->agent.out);
    }
    return ok;
}

static void stand(struct both *b)
{
    both_init(b, &board, NULL);
    if (!converse(b, -1))
        fail_msg("%s", b->err.text);
    assert_true(qs_tls_is_up(b->host));
    assert_true(b->agent.up);
    qs_buf_clear(&b->wire);
}

static bool hear(struct both *b)
{
    bool ok = qs_tls_take(b->host, (const uint8_t *)b->agent.out.data, b->agent.out.len, &b->said, &b->wire,
                          &b->err);
    qs_buf_clear(&b->agent.out);
    return ok;
}

static void carries_what_both_say(void **state)
{
    static const size_t sizes[] = {1, 2, 4095, 4096, 4097, 100000, 600000};
    struct both b;
    (void)state;
    stand(&b);
    uint8_t *bytes = malloc(600000);
    for (size_t i = 0; i < 600000; i++)
        bytes[i] = (uint8_t)(i * 7 + i / 256);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        assert_true(qs_tls_seal(b.host, bytes, sizes[i], &b.wire, &b.err));
        assert_in_range(b.wire.len, sizes[i] + 21, qs_tls_sealed_bytes(sizes[i]));
        for (size_t k = 5; k + 16 < b.wire.len && sizes[i] > 64; k += 997)
            assert_memory_not_equal(b.wire.data + k, bytes + (k - 5) % sizes[i], 8);
        assert_int_equal(tls_peer_take(&b.agent, b.wire.data, b.wire.len), 0);
        assert_int_equal(b.agent.said.len, sizes[i]);
        assert_memory_equal(b.agent.said.data, bytes, sizes[i]);
        qs_buf_clear(&b.agent.said);
        qs_buf_clear(&b.wire);
        tls_peer_say(&b.agent, bytes, sizes[i]);
        assert_true(hear(&b));
        assert_int_equal(b.said.len, sizes[i]);
        assert_memory_equal(b.said.data, bytes, sizes[i]);
        qs_buf_clear(&b.said);
        assert_int_equal(b.wire.len, 0); /* nothing of its own */
    }
    free(bytes);
    both_done(&b);
}

/* Records of ours are not longer than the agent can take. */
static void cuts_what_is_long(void **state)
{
    struct both b;
    uint8_t bytes[10000] = {0};
    (void)state;
    stand(&b);
    assert_true(qs_tls_seal(b.host, bytes, sizeof bytes, &b.wire, &b.err));
    for (size_t at = 0; at < b.wire.len;) {
        const uint8_t *record = (const uint8_t *)b.wire.data + at;
        size_t n = (size_t)record[3] << 8 | record[4];
        assert_int_equal(record[0], 23);
        assert_in_range(n, 1, 4096 + 16);
        at += 5 + n;
        assert_true(at <= b.wire.len);
    }
    both_done(&b);
}

static void refuse(const struct qs_enrolled *key, const int *suites, enum qs_errc code, const char *text)
{
    struct both b;
    both_init(&b, key, suites);
    assert_false(converse(&b, -1));
    assert_false(qs_tls_is_up(b.host));
    assert_int_equal(b.err.code, code);
    if (!strstr(b.err.text, text))
        fail_msg("\"%s\" does not say \"%s\"", b.err.text, text);
    both_done(&b);
}

static void only_the_same_key_stands(void **state)
{
    static const int no_secrecy[] = {MBEDTLS_TLS_PSK_WITH_CHACHA20_POLY1305_SHA256, 0};
    static const int older[] = {MBEDTLS_TLS_ECDHE_PSK_WITH_AES_128_CBC_SHA256, 0};
    (void)state;
    refuse(&other_secret, NULL, QS_E_AUTH, "board: the agent's key is another one than our key file's");
    refuse(&other_name, NULL, QS_E_AUTH, "board: the agent has another device's key file");
    refuse(&board, no_secrecy, QS_E_AUTH, "board: whoever listens there refuses our way of TLS (alert 40)");
    refuse(&board, older, QS_E_AUTH, "board: whoever listens there refuses our way of TLS (alert 40)");
}

/* Whatever bit of the agent's handshake is changed, no session stands. */
static void a_changed_handshake_never_stands(void **state)
{
    long stood = 0;
    (void)state;
    for (long flip = 0; stood == 0; flip += 3) {
        struct both b;
        both_init(&b, &board, NULL);
        bool ok = converse(&b, flip);
        if (ok && qs_tls_is_up(b.host)) {
            assert_true(b.agent.up);
            stood = flip;
        }
        both_done(&b);
    }
    assert_in_range(stood, 150, 1000); /* behind its last byte */
}

static void a_part_of_a_handshake_is_waited_for(void **state)
{
    struct both b;
    (void)state;
    both_init(&b, &board, NULL);
    assert_true(qs_tls_take(b.host, NULL, 0, &b.said, &b.wire, &b.err));
    tls_peer_take(&b.agent, b.wire.data, b.wire.len);
    qs_buf_clear(&b.wire);
    for (size_t i = 0; i < b.agent.out.len; i++) {
        assert_int_equal(b.wire.len, 0);
        assert_true(qs_tls_take(b.host, (const uint8_t *)b.agent.out.data + i, 1, &b.said, &b.wire, &b.err));
        assert_false(qs_tls_is_up(b.host));
    }
    assert_true(b.wire.len > 0);
    both_done(&b);
}

/* Records as TLS has them, of something else. */
static void what_is_no_agents_tls_is_said(void **state)
{
    static const uint8_t other[] = {21, 0, 0, 0, 0x12, 0x34, 0x56, 0x78};
    struct both b;
    (void)state;
    both_init(&b, &board, NULL);
    assert_true(qs_tls_take(b.host, NULL, 0, &b.said, &b.wire, &b.err));
    assert_false(qs_tls_take(b.host, other, sizeof other, &b.said, &b.wire, &b.err));
    assert_int_equal(b.err.code, QS_E_LINK);
    assert_string_equal(b.err.text, "board: what came is not the TLS of a quiesce-agent (TLS -0x7200)");
    both_done(&b);
}

static void plain_words_are_quoted(void **state)
{
    static const struct {
        const char *said, *told;
    } cases[] = {{"quiesce-agent: another session holds this agent\n",
                  "board does not speak TLS, but says "
                  "`quiesce-agent: another session holds this agent"},
                 {"ha\033[2Jha", "says `ha\\x1b[2Jha`"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct both b;
        both_init(&b, &board, NULL);
        assert_true(qs_tls_take(b.host, NULL, 0, &b.said, &b.wire, &b.err));
        assert_false(qs_tls_take(b.host, (const uint8_t *)cases[i].said, strlen(cases[i].said), &b.said,
                                 &b.wire, &b.err));
        assert_int_equal(b.err.code, QS_E_LINK);
        assert_int_equal(b.said.len, 0);
        if (!strstr(b.err.text, cases[i].told))
            fail_msg("\"%s\" does not say \"%s\"", b.err.text, cases[i].told);
        both_done(&b);
    }
}

/* A session that stands ends without a word of its own: damaged, repeated or left-out records, and a wish for
 * another handshake. */
static void what_stands_says_nothing_of_its_own(void **state)
{
    enum { FLIPPED, REPEATED, LEFT_OUT, AGAIN, CLOSED, CASES };
    (void)state;
    for (int i = 0; i < CASES; i++) {
        struct both b;
        stand(&b);
        if (i == AGAIN)
            assert_int_equal(mbedtls_ssl_renegotiate(&b.agent.ssl), 0);
        else if (i == CLOSED)
            assert_int_equal(mbedtls_ssl_close_notify(&b.agent.ssl), 0);
        else
            tls_peer_say(&b.agent, "hello", 5);
        if (i == FLIPPED)
            b.agent.out.data[7] ^= 1;
        if (i == REPEATED) {
            char copy[64];
            size_t n = b.agent.out.len;
            assert_in_range(n, 1, sizeof copy);
            memcpy(copy, b.agent.out.data, n);
            qs_buf_add(&b.agent.out, copy, n);
        }
        if (i == LEFT_OUT) {
            qs_buf_clear(&b.agent.out);
            tls_peer_say(&b.agent, "hello", 5);
        }
        assert_false(hear(&b));
        assert_int_equal(b.err.code, QS_E_LINK);
        assert_int_equal(b.wire.len, 0);
        assert_int_equal(b.said.len, i == REPEATED ? 5 : 0); /* the first of both was right */
        assert_non_null(
            strstr(b.err.text, i == CLOSED ? "board closed the connection" : "tampered with, or damaged"));
        both_done(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(carries_what_both_say),
        cmocka_unit_test(cuts_what_is_long),
        cmocka_unit_test(only_the_same_key_stands),
        cmocka_unit_test(a_changed_handshake_never_stands),
        cmocka_unit_test(a_part_of_a_handshake_is_waited_for),
        cmocka_unit_test(what_is_no_agents_tls_is_said),
        cmocka_unit_test(plain_words_are_quoted),
        cmocka_unit_test(what_stands_says_nothing_of_its_own),
    };
    return cmocka_run_group_tests_name("link.tls", tests, NULL, NULL);
}
