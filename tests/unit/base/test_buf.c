#include "cm.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

static void an_empty_buffer_is_an_empty_string(void **state)
{
    (void)state;
    struct qs_buf b;
    qs_buf_init(&b);
    assert_string_equal(b.data, "");
    assert_int_equal(b.len, 0);
    qs_buf_clear(&b);
    qs_buf_add(&b, NULL, 0);
    qs_buf_str(&b, "");
    qs_buf_drop_front(&b, 0);
    assert_string_equal(b.data, "");
    qs_buf_done(&b);
    assert_string_equal(b.data, "");
}

static void it_grows_and_stays_terminated(void **state)
{
    (void)state;
    struct qs_buf b;
    qs_buf_init(&b);
    for (size_t i = 0; i < 5000; i++) {
        qs_buf_char(&b, (char)('a' + i % 26));
        assert_int_equal(b.len, i + 1);
        assert_int_equal(b.data[b.len], 0);
    }
    for (size_t i = 0; i < 5000; i++)
        assert_int_equal(b.data[i], 'a' + i % 26);
    qs_buf_done(&b);
}

static void bytes_may_be_zero(void **state)
{
    (void)state;
    struct qs_buf b;
    qs_buf_init(&b);
    qs_buf_add(&b, "a\0b", 3);
    qs_buf_str(&b, "c");
    assert_int_equal(b.len, 4);
    assert_memory_equal(b.data, "a\0bc", 5);
    qs_buf_done(&b);
}

/* Results that end just before, at and just after every capacity. */
static void formats_of_every_length(void **state)
{
    (void)state;
    for (int width = 0; width < 300; width++) {
        struct qs_buf b;
        qs_buf_init(&b);
        qs_buf_str(&b, "<");
        qs_buf_fmt(&b, "%*s", width, "");
        qs_buf_fmt(&b, "%s%d", ">", 7);
        assert_int_equal(b.len, (size_t)width + 3);
        assert_int_equal(strlen(b.data), b.len);
        assert_string_equal(b.data + b.len - 2, ">7");
        qs_buf_done(&b);
    }
}

static void clear_keeps_the_memory(void **state)
{
    (void)state;
    struct qs_buf b;
    qs_buf_init(&b);
    qs_buf_str(&b, "something");
    size_t cap = b.cap;
    qs_buf_clear(&b);
    assert_string_equal(b.data, "");
    assert_int_equal(b.cap, cap);
    qs_buf_str(&b, "else");
    assert_string_equal(b.data, "else");
    qs_buf_done(&b);
}

static void the_front_can_be_dropped(void **state)
{
    (void)state;
    struct qs_buf b;
    qs_buf_init(&b);
    qs_buf_str(&b, "frame1frame2");
    qs_buf_drop_front(&b, 6);
    assert_string_equal(b.data, "frame2");
    qs_buf_drop_front(&b, 6);
    assert_string_equal(b.data, "");
    assert_int_equal(b.len, 0);
    qs_buf_done(&b);
}

static void taken_bytes_belong_to_the_taker(void **state)
{
    (void)state;
    struct qs_buf b;
    qs_buf_init(&b);
    char *nothing = qs_buf_take(&b);
    assert_string_equal(nothing, "");
    free(nothing);
    qs_buf_str(&b, "mine");
    char *bytes = qs_buf_take(&b);
    qs_buf_str(&b, "new");
    assert_string_equal(bytes, "mine");
    assert_string_equal(b.data, "new");
    free(bytes);
    qs_buf_done(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_buffer_is_an_empty_string),
        cmocka_unit_test(it_grows_and_stays_terminated),
        cmocka_unit_test(bytes_may_be_zero),
        cmocka_unit_test(formats_of_every_length),
        cmocka_unit_test(clear_keeps_the_memory),
        cmocka_unit_test(the_front_can_be_dropped),
        cmocka_unit_test(taken_bytes_belong_to_the_taker),
    };
    return cmocka_run_group_tests_name("buf", tests, NULL, NULL);
}
