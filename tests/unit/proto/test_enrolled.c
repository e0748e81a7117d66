/* The file of an enrolled device's key. */
#include "proto/enrolled.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define SECRET "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1dfeff"

static bool parses(const char *text, struct qs_enrolled *key)
{
    return qs_enrolled_parse((const uint8_t *)text, strlen(text), key);
}

static void a_file_is_one_line(void **state)
{
    static const char file[] = "quiesce-key board-7 " SECRET "\n";
    struct qs_enrolled key;
    char text[QS_ENROLLED_FILE_MAX_BYTES];
    (void)state;
    assert_true(parses(file, &key));
    assert_string_equal(key.name, "board-7");
    for (uint8_t i = 0; i < 30; i++)
        assert_int_equal(key.secret[i], i);
    assert_int_equal(key.secret[30], 0xfe);
    assert_int_equal(key.secret[31], 0xff);
    assert_int_equal(qs_enrolled_write(&key, text), sizeof file - 1);
    assert_memory_equal(text, file, sizeof file - 1);
    assert_true(parses("quiesce-key b " SECRET, &key)); /* an editor may have cut the line's end */
    assert_string_equal(key.name, "b");
}

static void nothing_else_is_one(void **state)
{
    static const char *const none[] = {
        "",
        "\n",
        "quiesce-key ",
        "quiesce-key  " SECRET,
        "quiesce-key b" SECRET,
        "quiesce-key b  " SECRET,
        "quiesce-key b c " SECRET,
        "quiesce-keys b " SECRET,
        "quiesce-key b\t " SECRET,
        "quiesce-key b\x7f " SECRET,
        "quiesce-key b\xc3\xa9 " SECRET,
        "quiesce-key b " SECRET "0",
        "quiesce-key b " SECRET "\n\n",
        "quiesce-key b g00102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1dfeff",
        "quiesce-key b 000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1dfefF",
        "quiesce-key b 00010203040506070809"};
    struct qs_enrolled key;
    (void)state;
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        if (parses(none[i], &key))
            fail_msg("`%s` is taken", none[i]);
    }
}

static void a_name_has_its_bounds(void **state)
{
    char file[200], name[QS_ENROLLED_NAME_MAX_BYTES + 2];
    struct qs_enrolled key;
    (void)state;
    for (size_t n = 1; n <= QS_ENROLLED_NAME_MAX_BYTES + 1; n++) {
        memset(name, '~', n);
        name[n] = '\0';
        assert_int_equal(qs_enrolled_is_name(name, n), n <= QS_ENROLLED_NAME_MAX_BYTES);
        strcpy(file, "quiesce-key ");
        strcat(strcat(strcat(file, name), " "), SECRET "\n");
        assert_int_equal(parses(file, &key), n <= QS_ENROLLED_NAME_MAX_BYTES);
    }
    assert_false(qs_enrolled_is_name("", 0));
    assert_false(qs_enrolled_is_name("a b", 3));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_one_line),
        cmocka_unit_test(nothing_else_is_one),
        cmocka_unit_test(a_name_has_its_bounds),
    };
    return cmocka_run_group_tests_name("proto.enrolled", tests, NULL, NULL);
}
