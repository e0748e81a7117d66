/* Sealed frames: their bytes, as another program (tests/golden/wire/write.py) writes them from PROTOCOL.md,
 * and every way of meddling with them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "samples.h"

static const char *golden_dir;
static struct qs_seal host, agent;
static uint8_t room[QS_FRAME_BUF_BYTES];

static int setup(void **state)
{
    uint8_t key[40], hellos[QS_SHA256_BYTES], nonce[QS_NONCE_BYTES];
    struct qs_uid session, farm;
    (void)state;
    for (uint8_t i = 0; i < 40; i++) {
        key[i] = i;
        hellos[i % QS_SHA256_BYTES] = i % QS_SHA256_BYTES;
        nonce[i % 16] = (uint8_t)(0xd0 + i % 16);
        session.b[i % 16] = (uint8_t)(0xb0 + i % 16);
        farm.b[i % 16] = (uint8_t)(0xa0 + i % 16);
    }
    qs_seal_make(key, sizeof key, &session, nonce, &farm, hellos, &host, &agent);
    return 0;
}

/* PING number 3 of that direction. */
static size_t ping(uint8_t *out, size_t cap, uint32_t seq, const struct qs_seal *seal)
{
    struct qs_writer w;
    const struct qs_msg_ping m = {.id = 7, .t_send_ns = -2};
    qs_writer_init(&w, out, cap);
    size_t at = qs_frame_begin(&w);
    qs_msg_encode_ping(&w, &m);
    return qs_frame_end_sealed(&w, at, QS_MSG_PING, seq, seal) ? w.len : 0;
}

static int feed(const uint8_t *bytes, size_t n, uint32_t next_seq, const struct qs_seal *seal,
                struct qs_frame *frame)
{
    struct qs_framer f;
    size_t used;
    qs_framer_init(&f, room, sizeof room);
    f.synced = true;
    f.next_seq = next_seq;
    f.seal = *seal;
    return qs_framer_feed(&f, bytes, n, &used, frame);
}

static void check_golden(const char *name, const struct qs_seal *seal)
{
    uint8_t out[64];
    struct qs_frame frame;
    struct golden g;
    golden_read(golden_dir, name, &g);
    assert_int_equal(g.n, 48);
    assert_int_equal(ping(out, sizeof out, 3, seal), 48);
    assert_memory_equal(out, g.bytes, 48);
    assert_int_equal(feed(g.bytes, 48, 3, seal, &frame), 1);
    assert_int_equal(frame.len, 16);
    assert_int_equal(frame.type, QS_MSG_PING);
}

static void bytes_are_the_protocols(void **state)
{
    uint8_t out[64];
    (void)state;
    check_golden("ping_sealed_host", &host);
    check_golden("ping_sealed_agent", &agent);
    assert_int_equal(ping(out, 47, 3, &host), 0); /* no room for the seal: nothing is sent */
}

/* Each bit of a frame, with a checksum that was made right again. */
static void no_bit_can_be_changed(void **state)
{
    uint8_t good[48], bad[48];
    struct qs_frame frame;
    (void)state;
    ping(good, sizeof good, 3, &host);
    for (size_t bit = 0; bit < 8 * sizeof good; bit++) {
        memcpy(bad, good, sizeof bad);
        bad[bit / 8] ^= (uint8_t)(1U << bit % 8);
        uint8_t type = bad[3];
        uint32_t seq =
            (uint32_t)bad[8] | (uint32_t)bad[9] << 8 | (uint32_t)bad[10] << 16 | (uint32_t)bad[11] << 24;
        if (bit / 8 == 3 || bit / 8 >= QS_FRAME_HEADER_BYTES)
            qs_frame_header(bad, type, seq, bad + QS_FRAME_HEADER_BYTES, 32);
        int got = feed(bad, sizeof bad, 3, &host, &frame);
        assert_true(got <= 0);
        if (bit / 8 == 3 || bit / 8 >= QS_FRAME_HEADER_BYTES)
            assert_int_equal(got, QS_WIRE_E_SEAL);
    }
}

/* Repeated, put off, turned round, of another session, without a seal, cut. */
static void no_frame_stands_for_another(void **state)
{
    uint8_t out[64];
    struct qs_frame frame;
    struct qs_seal other = host;
    static const struct qs_seal none;
    (void)state;
    ping(out, sizeof out, 3, &host);
    assert_int_equal(feed(out, 48, 4, &host, &frame), QS_WIRE_E_SEQ);
    qs_frame_header(out, QS_MSG_PING, 4, out + QS_FRAME_HEADER_BYTES,
                    32); /* numbered anew by who cannot seal it */
    assert_int_equal(feed(out, 48, 4, &host, &frame), QS_WIRE_E_SEAL);
    ping(out, sizeof out, 3, &host);
    assert_int_equal(feed(out, 48, 3, &agent, &frame), QS_WIRE_E_SEAL);
    other.key[31] ^= 1;
    assert_int_equal(feed(out, 48, 3, &other, &frame), QS_WIRE_E_SEAL);
    assert_int_equal(ping(out, sizeof out, 3, &none), 32);
    assert_int_equal(feed(out, 32, 3, &host, &frame), QS_WIRE_E_SEAL);
    qs_frame_header(out, QS_MSG_BYE, 3, out, 0);
    assert_int_equal(feed(out, QS_FRAME_HEADER_BYTES, 3, &host, &frame), QS_WIRE_E_SEAL);
}

/* One key has each number once. */
static void the_last_number_ends_it(void **state)
{
    uint8_t out[64];
    struct qs_frame frame;
    static const struct qs_seal none;
    (void)state;
    assert_int_equal(ping(out, sizeof out, UINT32_MAX, &host), 0);
    assert_int_equal(ping(out, sizeof out, UINT32_MAX - 1, &host), 48);
    assert_int_equal(feed(out, 48, UINT32_MAX - 1, &host, &frame), 1);
    assert_int_equal(ping(out, sizeof out, UINT32_MAX, &none), 32);
    assert_int_equal(feed(out, 32, UINT32_MAX, &host, &frame), QS_WIRE_E_SEAL);
}

/* The longest payload with its seal is not too long; one byte more is. */
static void the_longest_has_room(void **state)
{
    static uint8_t out[QS_FRAME_BUF_BYTES], bytes[QS_FRAME_MAX_BYTES + 1];
    struct qs_frame frame;
    struct qs_writer w;
    (void)state;
    for (size_t more = 0; more < 2; more++) {
        qs_writer_init(&w, out, sizeof out);
        size_t at = qs_frame_begin(&w);
        qs_put_bytes(&w, bytes, QS_FRAME_MAX_BYTES + more);
        assert_int_equal(qs_frame_end_sealed(&w, at, QS_MSG_PUT_DATA, 0, &host), more == 0);
    }
    qs_writer_init(&w, out, sizeof out);
    size_t at = qs_frame_begin(&w);
    qs_put_bytes(&w, bytes, QS_FRAME_MAX_BYTES);
    assert_true(qs_frame_end_sealed(&w, at, QS_MSG_PUT_DATA, 0, &host));
    assert_int_equal(feed(out, w.len, 0, &host, &frame), 1);
    assert_int_equal(frame.len, QS_FRAME_MAX_BYTES);
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: %s GOLDEN-DIRECTORY\n", argv[0]);
        return 2;
    }
    golden_dir = argv[1];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(bytes_are_the_protocols, setup),
        cmocka_unit_test_setup(no_bit_can_be_changed, setup),
        cmocka_unit_test_setup(no_frame_stands_for_another, setup),
        cmocka_unit_test_setup(the_last_number_ends_it, setup),
        cmocka_unit_test_setup(the_longest_has_room, setup),
    };
    return cmocka_run_group_tests_name("proto.seal", tests, NULL, NULL);
}
