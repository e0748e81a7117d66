/* Message decoders against damaged golden payloads. The payload under test lies in heap memory of exactly its
 * size, so that the sanitizers see a read of one byte too many. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "samples.h"

static const char *golden_dir;

static int check_exact(uint8_t type, const uint8_t *payload, size_t n)
{
    uint8_t *copy = malloc(n > 0 ? n : 1);
    assert_non_null(copy);
    memcpy(copy, payload, n);
    int err = qs_msg_decode(type, copy, n, &(union qs_msg){0});
    free(copy);
    return err;
}

struct payload {
    uint8_t bytes[4096];
    size_t n;
};

static void read_payload(const struct sample *s, struct payload *out)
{
    struct golden g;
    golden_read(golden_dir, s->name, &g);
    out->n = g.n - QS_FRAME_HEADER_BYTES;
    memcpy(out->bytes, g.bytes + QS_FRAME_HEADER_BYTES, out->n);
}

static void test_every_truncation_is_short(void **state)
{
    (void)state;
    for (size_t i = 0; i < QS_MSG_LAST; i++) {
        struct payload p;
        read_payload(&samples[i], &p);
        for (size_t n = 0; n < p.n; n++) {
            int err = check_exact(samples[i].type, p.bytes, n);
            if (err != QS_WIRE_E_SHORT)
                fail_msg("%s cut to %zu of %zu bytes: %s", samples[i].name, n, p.n, qs_wire_err_text(err));
        }
        assert_int_equal(check_exact(samples[i].type, p.bytes, p.n), QS_WIRE_OK);
    }
}

/* What is decoded from damaged bytes may be walked and encoded again, and then decodes again. */
static void recode_damaged(const struct sample *s, const uint8_t *payload, size_t n)
{
    uint8_t out[8192];
    struct qs_writer w;
    qs_writer_init(&w, out, sizeof out);
    int err = s->recode(payload, n, &w);
    assert_int_equal(err, qs_msg_decode(s->type, payload, n, &(union qs_msg){0}));
    if (err != QS_WIRE_OK)
        return;
    assert_true(w.ok);
    assert_true(w.len <= n);
    assert_memory_equal(out, payload, w.len);
}

static void test_every_flipped_bit_is_survived(void **state)
{
    (void)state;
    for (size_t i = 0; i < SAMPLES_ALL; i++) {
        struct payload p;
        read_payload(sample_at(i), &p);
        for (size_t bit = 0; bit < p.n * 8; bit++) {
            p.bytes[bit / 8] ^= (uint8_t)(1U << bit % 8);
            check_exact(sample_at(i)->type, p.bytes, p.n);
            recode_damaged(sample_at(i), p.bytes, p.n);
            p.bytes[bit / 8] ^= (uint8_t)(1U << bit % 8);
        }
    }
}

/* 0xffff over every pair of bytes: each count and each length becomes as large as it can be. */
static void test_every_count_oversized(void **state)
{
    (void)state;
    for (size_t i = 0; i < SAMPLES_ALL; i++) {
        struct payload p;
        read_payload(sample_at(i), &p);
        for (size_t at = 0; at + 2 <= p.n; at++) {
            uint8_t kept[2] = {p.bytes[at], p.bytes[at + 1]};
            p.bytes[at] = p.bytes[at + 1] = 0xff;
            check_exact(sample_at(i)->type, p.bytes, p.n);
            recode_damaged(sample_at(i), p.bytes, p.n);
            memcpy(p.bytes + at, kept, 2);
        }
    }
}

/* A message without its harness part ends where that begins: only behind it is everything ignored. */
static const struct sample *longest_of(const struct sample *s)
{
    const struct sample *longest = s;
    for (size_t i = 0; i < HARNESS_SAMPLES; i++) {
        if (harness_samples[i].type == s->type)
            longest = &harness_samples[i]; /* later ones have later fields */
    }
    return longest;
}

static void test_trailing_bytes_are_ignored(void **state)
{
    (void)state;
    for (size_t i = 0; i < QS_MSG_LAST; i++) {
        const struct sample *longest = longest_of(&samples[i]);
        struct payload p;
        uint8_t out[4096];
        struct qs_writer w;
        read_payload(longest, &p);
        memset(p.bytes + p.n, 0xee, 9);
        for (size_t more = 1; more <= 9; more++) {
            assert_int_equal(check_exact(samples[i].type, p.bytes, p.n + more), QS_WIRE_OK);
            qs_writer_init(&w, out, sizeof out);
            assert_int_equal(longest->recode(p.bytes, p.n + more, &w), QS_WIRE_OK);
            assert_int_equal(w.len, p.n);
        }
    }
}

/* Every message fails, and says so, in a buffer that is too small by any number of bytes. */
static void test_encoders_stay_in_their_buffer(void **state)
{
    (void)state;
    for (size_t i = 0; i < QS_MSG_LAST; i++) {
        struct payload p;
        read_payload(&samples[i], &p);
        for (size_t cap = 0; cap < p.n; cap++) {
            uint8_t *buf = malloc(cap > 0 ? cap : 1);
            struct qs_writer w;
            assert_non_null(buf);
            qs_writer_init(&w, buf, cap);
            assert_false(samples[i].encode(&w));
            assert_true(w.len <= cap);
            free(buf);
        }
    }
}

static void test_unknown_types(void **state)
{
    (void)state;
    for (unsigned type = 0; type < 256; type++) {
        if (type >= 1 && type <= QS_MSG_LAST)
            continue;
        assert_int_equal(qs_msg_decode((uint8_t)type, (const uint8_t *)"", 0, &(union qs_msg){0}),
                         QS_WIRE_E_TYPE);
        int want = type >= QS_MSG_OPTIONAL ? 0 : QS_WIRE_E_TYPE;
        assert_int_equal(qs_msg_accept((uint8_t)type, QS_SIDE_HOST), want);
        assert_int_equal(qs_msg_accept((uint8_t)type, QS_SIDE_AGENT), want);
        assert_string_equal(qs_msg_name((uint8_t)type), "unknown");
    }
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: %s GOLDEN-DIRECTORY\n", argv[0]);
        return 2;
    }
    golden_dir = argv[1];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_truncation_is_short),
        cmocka_unit_test(test_every_flipped_bit_is_survived),
        cmocka_unit_test(test_every_count_oversized),
        cmocka_unit_test(test_trailing_bytes_are_ignored),
        cmocka_unit_test(test_encoders_stay_in_their_buffer),
        cmocka_unit_test(test_unknown_types),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
