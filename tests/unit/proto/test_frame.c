/* The framer against bytes cut anywhere, noise, and every way a frame can be wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "proto/frame.h"
#include "proto/msg.h"

enum { ROOM = QS_FRAME_HEADER_BYTES + QS_FRAME_FLOOR_BYTES };

struct stream {
    uint8_t bytes[8192];
    size_t n;
};

static void add_frame(struct stream *s, uint8_t type, uint32_t seq, const uint8_t *payload, uint32_t n)
{
    assert_true(s->n + QS_FRAME_HEADER_BYTES + n <= sizeof s->bytes);
    qs_frame_header(s->bytes + s->n, type, seq, payload, n);
    if (n > 0)
        memcpy(s->bytes + s->n + QS_FRAME_HEADER_BYTES, payload, n);
    s->n += QS_FRAME_HEADER_BYTES + n;
}

/* A HELLO and two more frames. */
static void start_stream(struct stream *s)
{
    s->n = 0;
    add_frame(s, QS_MSG_HELLO_HOST, 0, (const uint8_t *)"hello", 5);
    add_frame(s, QS_MSG_PING, 1, (const uint8_t *)"0123456789abcdef", 16);
    add_frame(s, QS_MSG_FACTS_GET, 2, NULL, 0);
}

/* Feeds in pieces of `piece` bytes; the number of frames, or the error. */
static int feed_all(struct qs_framer *f, const uint8_t *p, size_t n, size_t piece)
{
    int frames = 0;
    while (n > 0) {
        struct qs_frame frame;
        size_t used;
        int got = qs_framer_feed(f, p, n < piece ? n : piece, &used, &frame);
        if (got < 0)
            return got;
        if (got > 0)
            assert_int_equal(frame.seq, frames);
        frames += got;
        p += used;
        n -= used;
    }
    return frames;
}

static int feed_new(const struct stream *s, size_t piece)
{
    uint8_t room[ROOM];
    struct qs_framer f;
    qs_framer_init(&f, room, sizeof room);
    return feed_all(&f, s->bytes, s->n, piece);
}

static void test_cut_anywhere(void **state)
{
    (void)state;
    struct stream s;
    start_stream(&s);
    for (size_t piece = 1; piece <= s.n; piece++)
        assert_int_equal(feed_new(&s, piece), 3);
}

static void test_frame_contents(void **state)
{
    (void)state;
    uint8_t room[ROOM];
    struct qs_framer f;
    struct qs_frame frame;
    struct stream s;
    size_t used;
    start_stream(&s);
    qs_framer_init(&f, room, sizeof room);
    assert_int_equal(qs_framer_feed(&f, s.bytes, s.n, &used, &frame), 1);
    assert_int_equal(used, QS_FRAME_HEADER_BYTES + 5);
    assert_int_equal(frame.type, QS_MSG_HELLO_HOST);
    assert_int_equal(frame.len, 5);
    assert_memory_equal(frame.payload, "hello", 5);
    assert_int_equal(qs_framer_feed(&f, s.bytes, 0, &used, &frame), 0);
}

static void test_incomplete_is_no_frame(void **state)
{
    (void)state;
    struct stream s;
    start_stream(&s);
    s.n -= 1;
    assert_int_equal(feed_new(&s, 7), 2);
}

static void test_noise_before_the_first_frame(void **state)
{
    (void)state;
    const char *banners[] = {"\r\n",
                             "Welcome to QS!\r\n",
                             "QQQSQ",
                             "QS",
                             "QS\1",
                             "QSQS\1\3 almost",
                             "\1\2\3QS\1\1\xff\xff\xff\xff...."};
    for (size_t i = 0; i < sizeof banners / sizeof banners[0]; i++) {
        for (size_t piece = 1; piece < 30; piece++) {
            struct stream s, tail;
            uint8_t room[ROOM];
            struct qs_framer f;
            size_t n = strlen(banners[i]);
            start_stream(&tail);
            memcpy(s.bytes, banners[i], n);
            memcpy(s.bytes + n, tail.bytes, tail.n);
            qs_framer_init(&f, room, sizeof room);
            assert_int_equal(feed_all(&f, s.bytes, n + tail.n, piece), 3);
            assert_int_equal(f.noise_bytes, n);
            assert_memory_equal(f.noise_head, banners[i], n);
        }
    }
}

static void test_noise_is_bounded(void **state)
{
    (void)state;
    struct stream s;
    memset(s.bytes, 'x', sizeof s.bytes);
    for (size_t piece = 1; piece < 6000; piece = piece * 3 + 1) {
        uint8_t room[ROOM];
        struct qs_framer f;
        qs_framer_init(&f, room, sizeof room);
        assert_int_equal(feed_all(&f, s.bytes, QS_NOISE_MAX_BYTES, piece), 0);
        assert_int_equal(feed_all(&f, s.bytes, 1, 1), QS_WIRE_E_NOISE);
    }
}

static void test_noise_between_frames(void **state)
{
    (void)state;
    struct stream s;
    start_stream(&s);
    s.bytes[s.n++] = '\n';
    memset(s.bytes + s.n, 0, QS_FRAME_HEADER_BYTES);
    s.n += QS_FRAME_HEADER_BYTES;
    assert_int_equal(feed_new(&s, 5), QS_WIRE_E_MAGIC);
}

/* A stream may not begin with anything but a HELLO. */
static void test_first_frame_is_hello(void **state)
{
    (void)state;
    struct stream s = {.n = 0};
    add_frame(&s, QS_MSG_PING, 0, (const uint8_t *)"0123456789abcdef", 16);
    assert_int_equal(feed_new(&s, 64), 0);
}

static void test_every_flipped_bit_is_found(void **state)
{
    (void)state;
    struct stream s;
    start_stream(&s);
    for (size_t bit = 0; bit < s.n * 8; bit++) {
        s.bytes[bit / 8] ^= (uint8_t)(1U << bit % 8);
        /* All three frames never: an error, or (in the first header: noise; in a length: a frame that does
         * not end) fewer. */
        assert_true(feed_new(&s, s.n) < 3);
        s.bytes[bit / 8] ^= (uint8_t)(1U << bit % 8);
    }
    assert_int_equal(feed_new(&s, s.n), 3);
}

static void test_wrong_crc(void **state)
{
    (void)state;
    struct stream s;
    start_stream(&s);
    s.bytes[s.n - 1] ^= 1; /* the CRC of the last frame */
    assert_int_equal(feed_new(&s, 9), QS_WIRE_E_CRC);
    start_stream(&s);
    s.bytes[QS_FRAME_HEADER_BYTES] ^= 1; /* the payload of the first */
    assert_int_equal(feed_new(&s, 9), QS_WIRE_E_CRC);
}

/* Either byte of it, once a first frame was there. */
static void test_wrong_magic(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct stream s;
        start_stream(&s);
        size_t second = QS_FRAME_HEADER_BYTES + (size_t)s.bytes[4];
        s.bytes[second + i] ^= 1;
        assert_int_equal(feed_new(&s, 9), QS_WIRE_E_MAGIC);
    }
}

static void test_wrong_version(void **state)
{
    (void)state;
    struct stream s;
    start_stream(&s);
    s.bytes[2] = 2;
    assert_int_equal(feed_new(&s, 9), QS_WIRE_E_VERSION);
}

static void test_sequence(void **state)
{
    (void)state;
    static const uint32_t wrong[] = {0, 2, 3, UINT32_MAX};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct stream s = {.n = 0};
        add_frame(&s, QS_MSG_HELLO_HOST, 0, NULL, 0);
        add_frame(&s, QS_MSG_PING, wrong[i], NULL, 0);
        assert_int_equal(feed_new(&s, 64), QS_WIRE_E_SEQ);
    }
}

static void test_length_is_bounded(void **state)
{
    (void)state;
    static const uint32_t lengths[] = {QS_FRAME_FLOOR_BYTES + 1, QS_FRAME_MAX_BYTES + 1, 0x7fffffffU,
                                       UINT32_MAX};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        struct stream s = {.n = 0};
        add_frame(&s, QS_MSG_HELLO_HOST, 0, NULL, 0);
        add_frame(&s, QS_MSG_PING, 1, NULL, 0);
        for (int b = 0; b < 4; b++)
            s.bytes[QS_FRAME_HEADER_BYTES + 4 + b] = (uint8_t)(lengths[i] >> (8 * b));
        assert_int_equal(feed_new(&s, 64), QS_WIRE_E_LENGTH);
    }
}

static void test_broken_stays_broken(void **state)
{
    (void)state;
    uint8_t room[ROOM];
    struct qs_framer f;
    struct stream s;
    start_stream(&s);
    s.bytes[2] = 2;
    qs_framer_init(&f, room, sizeof room);
    assert_int_equal(feed_all(&f, s.bytes, s.n, 64), QS_WIRE_E_VERSION);
    start_stream(&s);
    assert_int_equal(feed_all(&f, s.bytes, s.n, 64), QS_WIRE_E_VERSION);
}

static void test_writing_a_frame(void **state)
{
    (void)state;
    uint8_t buf[64];
    struct qs_writer w;
    qs_writer_init(&w, buf, sizeof buf);
    size_t at = qs_frame_begin(&w);
    qs_put_u32(&w, 0xdeadbeefU);
    assert_true(qs_frame_end(&w, at, QS_MSG_HELLO_HOST, 0));
    size_t second = qs_frame_begin(&w);
    assert_int_equal(second, QS_FRAME_HEADER_BYTES + 4);
    qs_put_bytes(&w, buf, 40); /* does not fit */
    assert_false(qs_frame_end(&w, second, QS_MSG_PING, 1));
    assert_int_equal(w.len, second);
    struct stream s = {.n = w.len};
    memcpy(s.bytes, buf, w.len);
    assert_int_equal(feed_new(&s, 64), 1);
}

/* The second of one writer is as good as the first; a HELLO may be as long as a HELLO may be. */
static void test_frames_behind_each_other(void **state)
{
    (void)state;
    static uint8_t longest[QS_HELLO_MAX_BYTES + 1];
    for (uint32_t more = 0; more < 2; more++) {
        struct stream s = {.n = 0};
        struct qs_writer w;
        qs_writer_init(&w, s.bytes, sizeof s.bytes);
        size_t at = qs_frame_begin(&w);
        qs_put_bytes(&w, longest, QS_HELLO_MAX_BYTES + more);
        assert_true(qs_frame_end(&w, at, QS_MSG_HELLO_HOST, 0));
        at = qs_frame_begin(&w);
        qs_put_u32(&w, 0xdeadbeefU);
        assert_true(qs_frame_end(&w, at, QS_MSG_PING, 1));
        s.n = w.len;
        assert_int_equal(feed_new(&s, s.n), more ? QS_WIRE_E_NOISE : 2);
    }
}

static void test_largest_payload(void **state)
{
    (void)state;
    static uint8_t buf[QS_FRAME_BUF_BYTES + 1], room[QS_FRAME_BUF_BYTES], payload[QS_FRAME_MAX_BYTES + 1];
    struct qs_writer w;
    struct qs_framer f;
    qs_writer_init(&w, buf, sizeof buf);
    size_t at = qs_frame_begin(&w);
    qs_put_bytes(&w, payload, QS_FRAME_MAX_BYTES + 1);
    assert_false(qs_frame_end(&w, at, QS_MSG_PING, 0));
    qs_framer_init(&f, room, sizeof room);
    assert_int_equal(f.max_payload, QS_FRAME_MAX_BYTES);
    qs_frame_header(buf, QS_MSG_HELLO_HOST, 0, NULL, 0);
    assert_int_equal(feed_all(&f, buf, QS_FRAME_HEADER_BYTES, 16), 1);
    qs_frame_header(buf, QS_MSG_FACTS, 1, payload, QS_FRAME_MAX_BYTES);
    struct qs_frame frame;
    size_t used;
    assert_int_equal(qs_framer_feed(&f, buf, QS_FRAME_HEADER_BYTES, &used, &frame), 0);
    assert_int_equal(qs_framer_feed(&f, payload, sizeof payload, &used, &frame), 1);
    assert_int_equal(used, QS_FRAME_MAX_BYTES);
    assert_int_equal(frame.len, QS_FRAME_MAX_BYTES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cut_anywhere),
        cmocka_unit_test(test_frame_contents),
        cmocka_unit_test(test_incomplete_is_no_frame),
        cmocka_unit_test(test_noise_before_the_first_frame),
        cmocka_unit_test(test_noise_is_bounded),
        cmocka_unit_test(test_noise_between_frames),
        cmocka_unit_test(test_first_frame_is_hello),
        cmocka_unit_test(test_every_flipped_bit_is_found),
        cmocka_unit_test(test_wrong_crc),
        cmocka_unit_test(test_wrong_magic),
        cmocka_unit_test(test_wrong_version),
        cmocka_unit_test(test_sequence),
        cmocka_unit_test(test_length_is_bounded),
        cmocka_unit_test(test_broken_stays_broken),
        cmocka_unit_test(test_writing_a_frame),
        cmocka_unit_test(test_frames_behind_each_other),
        cmocka_unit_test(test_largest_payload),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
