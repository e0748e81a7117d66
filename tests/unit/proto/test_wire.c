#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "proto/uid.h"
#include "proto/msg.h"
#include "proto/wire.h"

static void test_integers_are_little_endian(void **state)
{
    (void)state;
    uint8_t buf[27];
    struct qs_writer w;
    qs_writer_init(&w, buf, sizeof buf);
    qs_put_u8(&w, 0x01);
    qs_put_u16(&w, 0x0302);
    qs_put_u32(&w, 0x07060504U);
    qs_put_u64(&w, UINT64_C(0x0f0e0d0c0b0a0908));
    qs_put_i32(&w, -2);
    qs_put_i64(&w, INT64_MIN);
    assert_true(w.ok);
    assert_int_equal(w.len, sizeof buf);
    for (uint8_t i = 0; i < 15; i++)
        assert_int_equal(buf[i], i + 1);
    struct qs_wire_reader r;
    qs_reader_init(&r, buf, sizeof buf);
    assert_int_equal(qs_get_u8(&r), 0x01);
    assert_int_equal(qs_get_u16(&r), 0x0302);
    assert_int_equal(qs_get_u32(&r), 0x07060504U);
    assert_true(qs_get_u64(&r) == UINT64_C(0x0f0e0d0c0b0a0908));
    assert_int_equal(qs_get_i32(&r), -2);
    assert_true(qs_get_i64(&r) == INT64_MIN);
    assert_int_equal(r.err, QS_WIRE_OK);
    assert_int_equal(r.left, 0);
}

static void test_reader_is_sticky(void **state)
{
    (void)state;
    const uint8_t bytes[3] = {1, 2, 3};
    struct qs_wire_reader r;
    qs_reader_init(&r, bytes, sizeof bytes);
    assert_int_equal(qs_get_u32(&r), 0);
    assert_int_equal(r.err, QS_WIRE_E_SHORT);
    assert_int_equal(qs_get_u8(&r), 0);
    assert_null(qs_get_view(&r, 0));
    struct qs_uid u = qs_get_uid(&r);
    assert_true(qs_uid_is_zero(&u));
    assert_int_equal(r.left, 3);
}

static void test_writer_is_sticky(void **state)
{
    (void)state;
    uint8_t buf[4] = {9, 9, 9, 9};
    struct qs_writer w;
    qs_writer_init(&w, buf, 3);
    qs_put_u32(&w, 1);
    assert_false(w.ok);
    qs_put_u8(&w, 1);
    assert_int_equal(w.len, 0);
    assert_int_equal(buf[0], 9);
    assert_int_equal(buf[3], 9);
}

static void test_text(void **state)
{
    (void)state;
    const uint8_t good[] = {3, 0, 'a', 'b', 'c'};
    const uint8_t with_nul[] = {3, 0, 'a', 0, 'c'};
    char out[3];
    struct qs_wire_reader r;
    qs_reader_init(&r, good, sizeof good);
    struct qs_text t = qs_get_text(&r);
    assert_true(qs_text_is(t, "abc"));
    assert_false(qs_text_is(t, "ab"));
    assert_int_equal(qs_text_copy(t, out, sizeof out), 3);
    assert_string_equal(out, "ab");
    assert_true(qs_text_is(qs_text_of(NULL), ""));
    qs_reader_init(&r, with_nul, sizeof with_nul);
    assert_int_equal(qs_get_text(&r).n, 0);
    assert_int_equal(r.err, QS_WIRE_E_VALUE);
    qs_reader_init(&r, with_nul, sizeof with_nul);
    assert_int_equal(qs_get_blob(&r).n, 3);
    assert_int_equal(r.err, QS_WIRE_OK);
    qs_reader_init(&r, good, sizeof good - 1);
    assert_int_equal(qs_get_text(&r).n, 0);
    assert_int_equal(r.err, QS_WIRE_E_SHORT);
    uint8_t buf[8];
    struct qs_writer w;
    qs_writer_init(&w, buf, sizeof buf);
    qs_put_text(&w, (struct qs_text){"a\0c", 3});
    assert_false(w.ok);
}

static void test_long_text_is_cut(void **state)
{
    (void)state;
    static char s[70001];
    memset(s, 'x', sizeof s - 1);
    assert_int_equal(qs_text_of(s).n, 65535);
}

static void test_lists(void **state)
{
    (void)state;
    uint8_t mem[16];
    struct qs_build b;
    struct qs_text t;
    int32_t v;
    uint16_t id;
    qs_build_init(&b, mem, sizeof mem);
    assert_true(qs_build_text(&b, qs_text_of("one")));
    assert_true(qs_build_text(&b, qs_text_of("")));
    struct qs_list l = qs_build_list(&b);
    struct qs_iter it = qs_list_iter(&l);
    assert_true(qs_list_text(&it, &t) && qs_text_is(t, "one"));
    assert_true(qs_list_text(&it, &t) && qs_text_is(t, ""));
    assert_false(qs_list_text(&it, &t));
    qs_build_init(&b, mem, sizeof mem);
    qs_build_i32(&b, -7);
    qs_build_i32(&b, INT32_MAX);
    l = qs_build_list(&b);
    it = qs_list_iter(&l);
    assert_true(qs_list_i32(&it, &v) && v == -7);
    assert_true(qs_list_i32(&it, &v) && v == INT32_MAX);
    assert_false(qs_list_i32(&it, &v));
    qs_build_init(&b, mem, sizeof mem);
    qs_build_u16(&b, 65535);
    l = qs_build_list(&b);
    it = qs_list_iter(&l);
    assert_true(qs_list_u16(&it, &id) && id == 65535);
    assert_false(qs_list_u16(&it, &id));
}

/* What did not fit may not pass for a shorter list. */
static void test_overfull_list_is_no_list(void **state)
{
    (void)state;
    uint8_t mem[6];
    struct qs_build b;
    struct qs_text t;
    qs_build_init(&b, mem, sizeof mem);
    assert_true(qs_build_text(&b, qs_text_of("abc")));
    assert_false(qs_build_text(&b, qs_text_of("d")));
    struct qs_list l = qs_build_list(&b);
    struct qs_iter it = qs_list_iter(&l);
    assert_int_equal(l.count, 1);
    assert_false(qs_list_text(&it, &t));
    assert_int_equal(it.r.err, QS_WIRE_E_SHORT);
}

static void test_uid(void **state)
{
    (void)state;
    struct qs_uid u = {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 255}}, v = u;
    char hex[QS_UID_HEX_BYTES];
    qs_uid_hex(&u, hex);
    assert_string_equal(hex, "000102030405060708090a0b0c0d0eff");
    assert_true(qs_uid_equal(&u, &v));
    assert_false(qs_uid_is_zero(&u));
    memset(&u, 0, sizeof u);
    assert_true(qs_uid_is_zero(&u));
    assert_false(qs_uid_equal(&u, &v));
}

static void test_each_error_has_its_text(void **state)
{
    (void)state;
    for (int a = QS_WIRE_OK; a >= QS_WIRE_E_SESSION; a--) {
        assert_string_not_equal(qs_wire_err_text(a), qs_wire_err_text(-999));
        for (int b = a - 1; b >= QS_WIRE_E_SESSION; b--)
            assert_string_not_equal(qs_wire_err_text(a), qs_wire_err_text(b));
    }
}

/* After the last element there is none, which is no error; a list that holds less than it says is one. */
#define ENDS(shape, type, build)                                                                             \
    do {                                                                                                     \
        uint8_t mem[128];                                                                                    \
        struct qs_build b;                                                                                   \
        type got;                                                                                            \
        qs_build_init(&b, mem, sizeof mem);                                                                  \
        assert_true(build);                                                                                  \
        struct qs_list list = qs_build_list(&b);                                                             \
        struct qs_iter it = qs_list_iter(&list);                                                             \
        assert_true(qs_list_##shape(&it, &got));                                                             \
        assert_false(qs_list_##shape(&it, &got));                                                            \
        assert_int_equal(it.r.err, QS_WIRE_OK);                                                              \
        list.count = 3;                                                                                      \
        it = qs_list_iter(&list);                                                                            \
        assert_true(qs_list_##shape(&it, &got));                                                             \
        assert_false(qs_list_##shape(&it, &got));                                                            \
        assert_int_equal(it.r.err, QS_WIRE_E_SHORT);                                                         \
        assert_false(qs_list_##shape(&it, &got));                                                            \
        assert_int_equal(it.left, 1);                                                                        \
    } while (0)

static void test_lists_end(void **state)
{
    (void)state;
    const struct qs_text name = qs_text_of("n");
    ENDS(text, struct qs_text, qs_build_text(&b, name));
    ENDS(i32, int32_t, qs_build_i32(&b, 1));
    ENDS(u16, uint16_t, qs_build_u16(&b, 1));
    ENDS(fact, struct qs_fact, qs_build_fact(&b, &(struct qs_fact){name, name}));
    ENDS(held, struct qs_held, qs_build_held(&b, &(struct qs_held){(struct qs_uid){{1}}, 1, 2}));
    ENDS(content, struct qs_content, qs_build_content(&b, &(struct qs_content){.bytes = 1}));
    ENDS(place, struct qs_place, qs_build_place(&b, &(struct qs_place){.name = name}));
    ENDS(declared, struct qs_declared, qs_build_declared(&b, &(struct qs_declared){name, name, 0}));
    ENDS(reading, struct qs_reading, qs_build_reading(&b, &(struct qs_reading){name, QS_READING_OK, 0, 0}));
    ENDS(evidence, struct qs_evidence,
         qs_build_evidence(&b, &(struct qs_evidence){name, QS_READING_OK, 0, 0}));
    ENDS(taint, struct qs_taint, qs_build_taint(&b, &(struct qs_taint){-1, name, 0, 0}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lists_end),
        cmocka_unit_test(test_integers_are_little_endian),
        cmocka_unit_test(test_reader_is_sticky),
        cmocka_unit_test(test_writer_is_sticky),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_long_text_is_cut),
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_overfull_list_is_no_list),
        cmocka_unit_test(test_uid),
        cmocka_unit_test(test_each_error_has_its_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
