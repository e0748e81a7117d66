#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "proto/auth.h"

static void assert_sum(const uint8_t *sum, const char *hex)
{
    char got[2 * QS_SHA256_BYTES + 1];
    for (size_t i = 0; i < QS_SHA256_BYTES; i++)
        snprintf(got + 2 * i, 3, "%02x", sum[i]);
    assert_string_equal(got, hex);
}

/* The examples published with FIPS 180-4. */
static void test_sha256_known_answers(void **state)
{
    (void)state;
    static const struct {
        const char *text, *hex;
    } rows[] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
        {"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmno"
         "pqrst"
         "nopqrstu",
         "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint8_t sum[QS_SHA256_BYTES];
        qs_sha256(rows[i].text, strlen(rows[i].text), sum);
        assert_sum(sum, rows[i].hex);
    }
}

static void test_sha256_million_a(void **state)
{
    (void)state;
    uint8_t piece[1000];
    uint8_t sum[QS_SHA256_BYTES];
    struct qs_sha256 s;
    memset(piece, 'a', sizeof piece);
    qs_sha256_init(&s);
    for (int i = 0; i < 1000; i++)
        qs_sha256_add(&s, piece, sizeof piece);
    qs_sha256_final(&s, sum);
    assert_sum(sum, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

/* Every length around the padding's edges, in every pair of pieces. */
static void test_sha256_pieces(void **state)
{
    (void)state;
    uint8_t data[150];
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)(i * 7);
    for (size_t n = 0; n <= sizeof data; n++) {
        uint8_t whole[QS_SHA256_BYTES];
        qs_sha256(data, n, whole);
        for (size_t cut = 0; cut <= n; cut++) {
            uint8_t pieces[QS_SHA256_BYTES];
            struct qs_sha256 s;
            qs_sha256_init(&s);
            qs_sha256_add(&s, data, cut);
            qs_sha256_add(&s, data + cut, n - cut);
            qs_sha256_final(&s, pieces);
            assert_memory_equal(pieces, whole, sizeof whole);
        }
    }
}

static void hmac(const void *key, size_t key_bytes, const void *data, size_t n, uint8_t *out)
{
    struct qs_hmac h;
    qs_hmac_init(&h, key, key_bytes);
    qs_hmac_add(&h, data, n / 2);
    qs_hmac_add(&h, (const uint8_t *)data + n / 2, n - n / 2);
    static const struct qs_hmac wiped;
    qs_hmac_final(&h, out);
    assert_memory_equal(&h, &wiped, sizeof h); /* nothing of a key stays in memory */
}

/* A key of a block's length is used as it is, one byte more is hashed (values: Python's hmac). */
static void test_hmac_at_the_block(void **state)
{
    uint8_t key[QS_SHA256_BLOCK_BYTES + 1], sum[QS_SHA256_BYTES];
    (void)state;
    memset(key, 0x6b, sizeof key);
    hmac("k", 1, "data", 4, sum);
    assert_sum(sum, "98755ce7a0d431b5d7b8ec8e343ada3bcaa4f6c44ca468cffcbaa9c273634dd7");
    hmac(key, QS_SHA256_BLOCK_BYTES, "data", 4, sum);
    assert_sum(sum, "93244b031118b8060c6619e5900fcf916faefb2d8d020fecb22ae0f62275db08");
    hmac(key, QS_SHA256_BLOCK_BYTES + 1, "data", 4, sum);
    assert_sum(sum, "a79b53d0bf1cb4bb00c301979e6e60ef792a435cafabd76ab9e8989bbdef2dff");
}

/* RFC 4231, test cases 1, 2, 3, 4, 6 and 7 (5 is about truncation, which is not used). */
static void test_hmac_known_answers(void **state)
{
    (void)state;
    static const char long_key_text[] = "Test Using Larger Than Block-Size Key - Hash Key First";
    static const char long_both_text[] = "This is a test using a larger than block-size key and a larger "
                                         "than block-size data. The key needs to be "
                                         "hashed before being used by the HMAC algorithm.";
    uint8_t key[131], data[50], sum[QS_SHA256_BYTES];
    memset(key, 0x0b, 20);
    hmac(key, 20, "Hi There", 8, sum);
    assert_sum(sum, "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
    hmac("Jefe", 4, "what do ya want for nothing?", 28, sum);
    assert_sum(sum, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    memset(key, 0xaa, sizeof key);
    memset(data, 0xdd, sizeof data);
    hmac(key, 20, data, sizeof data, sum);
    assert_sum(sum, "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe");
    hmac(key, sizeof key, long_key_text, strlen(long_key_text), sum);
    assert_sum(sum, "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
    hmac(key, sizeof key, long_both_text, strlen(long_both_text), sum);
    assert_sum(sum, "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2");
    for (size_t i = 0; i < 25; i++)
        key[i] = (uint8_t)(i + 1);
    memset(data, 0xcd, sizeof data);
    hmac(key, 25, data, sizeof data, sum);
    assert_sum(sum, "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b");
}

static void test_equal_looks_at_every_byte(void **state)
{
    (void)state;
    uint8_t a[QS_SHA256_BYTES] = {0}, b[QS_SHA256_BYTES] = {0};
    assert_true(qs_auth_equal(a, b, sizeof a));
    for (size_t i = 0; i < sizeof a; i++) {
        b[i] = 0x80;
        assert_false(qs_auth_equal(a, b, sizeof a));
        b[i] = 0;
    }
}

/* The proofs are the HMAC over what PROTOCOL.md says, and differ by side, key, session, nonce and farm. */
static void test_proofs(void **state)
{
    (void)state;
    const uint8_t key[16] = "0123456789abcdef";
    struct qs_uid session, farm;
    uint8_t nonce[QS_NONCE_BYTES], want[QS_SHA256_BYTES], host[QS_SHA256_BYTES], other[QS_SHA256_BYTES];
    memset(&session, 0x11, sizeof session);
    memset(nonce, 0x22, sizeof nonce);
    memset(&farm, 0x33, sizeof farm);
    uint8_t message[60] = "quiesce host";
    memset(message + 12, 0x11, 16);
    memset(message + 28, 0x22, 16);
    memset(message + 44, 0x33, 16);
    hmac(key, sizeof key, message, sizeof message, want);
    qs_auth_mac_host(key, sizeof key, &session, nonce, &farm, host);
    assert_memory_equal(host, want, sizeof want);
    uint8_t message_of_agent[61] = "quiesce agent";
    memcpy(message_of_agent + 13, message + 12, 48);
    hmac(key, sizeof key, message_of_agent, sizeof message_of_agent, want);
    qs_auth_mac_agent(key, sizeof key, &session, nonce, &farm, other);
    assert_memory_equal(other, want, sizeof want);
    assert_memory_not_equal(host, other, sizeof host);
    qs_auth_mac_host(key, 15, &session, nonce, &farm, other);
    assert_memory_not_equal(host, other, sizeof host);
    qs_auth_mac_host(key, sizeof key, &farm, nonce, &session, other);
    assert_memory_not_equal(host, other, sizeof host);
    nonce[15] ^= 1;
    qs_auth_mac_host(key, sizeof key, &session, nonce, &farm, other);
    assert_memory_not_equal(host, other, sizeof host);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sha256_known_answers),
        cmocka_unit_test(test_sha256_million_a),
        cmocka_unit_test(test_sha256_pieces),
        cmocka_unit_test(test_hmac_known_answers),
        cmocka_unit_test(test_hmac_at_the_block),
        cmocka_unit_test(test_equal_looks_at_every_byte),
        cmocka_unit_test(test_proofs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
