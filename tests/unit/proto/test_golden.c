/* Every message against bytes that another program wrote from PROTOCOL.md (tests/golden/wire/write.py).
 * Encoding the sample gives the golden bytes, and encoding what was decoded from them gives them again: since
 * an encoder maps different values to different bytes, the decoder found exactly the sample's values. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "samples.h"

static const char *golden_dir;

static void test_encode_equals_golden(void **state)
{
    (void)state;
    for (size_t i = 0; i < SAMPLES_ALL; i++) {
        const struct sample *s = sample_at(i);
        struct golden g;
        golden_read(golden_dir, s->name, &g);
        uint8_t buf[4096];
        struct qs_writer w;
        qs_writer_init(&w, buf, sizeof buf);
        size_t at = qs_frame_begin(&w);
        if (!s->encode(&w) || !qs_frame_end(&w, at, s->type, (uint32_t)s->type - 1))
            fail_msg("%s: refused", s->name);
        if (w.len != g.n || memcmp(buf, g.bytes, g.n) != 0)
            fail_msg("%s: %zu bytes differ from the %zu of the golden file", s->name, w.len, g.n);
    }
}

static void test_decode_golden_and_encode_again(void **state)
{
    (void)state;
    for (size_t i = 0; i < SAMPLES_ALL; i++) {
        const struct sample *s = sample_at(i);
        struct golden g;
        golden_read(golden_dir, s->name, &g);
        uint8_t buf[4096];
        struct qs_writer w;
        qs_writer_init(&w, buf, sizeof buf);
        const uint8_t *payload = g.bytes + QS_FRAME_HEADER_BYTES;
        size_t n = g.n - QS_FRAME_HEADER_BYTES;
        int err = s->recode(payload, n, &w);
        if (err != QS_WIRE_OK)
            fail_msg("%s: %s", s->name, qs_wire_err_text(err));
        if (!w.ok || w.len != n || memcmp(buf, payload, n) != 0)
            fail_msg("%s: encodes to other bytes than it was decoded from", s->name);
    }
}

static void test_one_stream_of_all_messages(void **state)
{
    (void)state;
    static uint8_t room[QS_FRAME_BUF_BYTES];
    struct qs_framer f;
    qs_framer_init(&f, room, sizeof room);
    for (size_t i = 0; i < QS_MSG_LAST; i++) {
        struct golden g;
        struct qs_frame frame;
        size_t used;
        golden_read(golden_dir, samples[i].name, &g);
        assert_int_equal(qs_framer_feed(&f, g.bytes, g.n, &used, &frame), 1);
        assert_int_equal(used, g.n);
        assert_int_equal(frame.type, samples[i].type);
        assert_int_equal(frame.seq, i);
        assert_int_equal(qs_msg_decode(frame.type, frame.payload, frame.len, &(union qs_msg){0}), QS_WIRE_OK);
    }
    assert_int_equal(f.noise_bytes, 0);
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: %s GOLDEN-DIRECTORY\n", argv[0]);
        return 2;
    }
    golden_dir = argv[1];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_encode_equals_golden),
        cmocka_unit_test(test_decode_golden_and_encode_again),
        cmocka_unit_test(test_one_stream_of_all_messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
