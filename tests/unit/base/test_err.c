#include "cm.h"

#include <string.h>

#include "base/err.h"
#include "base/text.h"

static void fail_sets_code_and_text(void **state)
{
    (void)state;
    struct qs_err err = QS_ERR_INIT;
    assert_int_equal(err.code, QS_E_NONE);
    assert_false(qs_fail(&err, QS_E_LINK, "no answer from %s after %d s", "p1", 5));
    assert_int_equal(err.code, QS_E_LINK);
    assert_string_equal(err.text, "no answer from p1 after 5 s");
}

static void nobody_needs_to_ask_for_the_reason(void **state)
{
    (void)state;
    assert_false(qs_fail(NULL, QS_E_IO, "%d", 1));
    assert_false(qs_fail_prefix(NULL, "%d", 1));
}

static void the_text_may_quote_itself(void **state)
{
    (void)state;
    struct qs_err err = QS_ERR_INIT;
    qs_fail(&err, QS_E_IO, "disk full");
    qs_fail(&err, QS_E_STORE, "cannot commit: %s", err.text);
    assert_string_equal(err.text, "cannot commit: disk full");
    assert_int_equal(err.code, QS_E_STORE);
}

static void a_prefix_keeps_the_code(void **state)
{
    (void)state;
    struct qs_err err = QS_ERR_INIT;
    qs_fail(&err, QS_E_AUTH, "wrong key");
    assert_false(qs_fail_prefix(&err, "device %s", "p1"));
    assert_false(qs_fail_prefix(&err, "farm"));
    assert_string_equal(err.text, "farm: device p1: wrong key");
    assert_int_equal(err.code, QS_E_AUTH);
}

static void assert_utf8(const char *text)
{
    for (size_t n = strlen(text), i = 0; i < n;) {
        bool valid;
        i += qs_utf8_next(text + i, n - i, &valid);
        assert_true(valid);
    }
}

/* Characters of 1 to 4 bytes at every offset from the end. */
static void a_long_text_is_cut_between_characters(void **state)
{
    (void)state;
    static const char *const characters[] = {"x", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x90\x88"};
    char text[2 * QS_ERR_TEXT_BYTES];
    for (size_t c = 0; c < 4; c++) {
        size_t step = strlen(characters[c]);
        for (size_t shift = 0; shift < 2 * step;
             shift++) { /* with no character that does not fit, and with some */
            size_t n = 0;
            for (; n < shift; n++)
                text[n] = '.';
            for (; n < QS_ERR_TEXT_BYTES + (shift < step ? 8 : 0); n += step)
                memcpy(text + n, characters[c], step);
            text[n] = '\0';
            struct qs_err err = QS_ERR_INIT;
            qs_fail(&err, QS_E_IO, "%s", text);
            size_t most = QS_ERR_TEXT_BYTES - 1;
            assert_int_equal(strlen(err.text), shift + (most - shift) / step * step);
            assert_utf8(err.text);
            qs_fail_prefix(&err, "a");
            assert_utf8(err.text);
            assert_memory_equal(err.text, "a: ", 3);
        }
    }
}

static void a_text_that_just_fits_is_whole(void **state)
{
    (void)state;
    char text[QS_ERR_TEXT_BYTES];
    memset(text, 'x', sizeof text);
    memcpy(text + sizeof text - 3, "\xc3\xa9", 3);
    struct qs_err err = QS_ERR_INIT;
    qs_fail(&err, QS_E_IO, "%s", text);
    assert_string_equal(err.text, text);
}

static void every_code_has_its_row(void **state)
{
    (void)state;
    for (unsigned i = 1; i < QS_E_COUNT; i++) {
        enum qs_errc code = (enum qs_errc)i;
        assert_int_equal(qs_errc_from_slug(qs_errc_slug(code)), code);
        assert_true(strlen(qs_errc_advice(code)) > 0);
        assert_int_not_equal(qs_errc_blame(code), QS_BLAME_NONE);
    }
    assert_string_equal(qs_errc_slug(QS_E_STORE_NEWER), "store-newer");
    assert_int_equal(qs_errc_blame(QS_E_PRECONDITION), QS_BLAME_DEVICE);
    assert_int_equal(qs_errc_blame(QS_E_INTERNAL), QS_BLAME_QUIESCE);
}

static void no_error_is_ok_and_an_unknown_one_is_ours(void **state)
{
    (void)state;
    assert_string_equal(qs_errc_slug(QS_E_NONE), "ok");
    assert_int_equal(qs_errc_blame(QS_E_NONE), QS_BLAME_NONE);
    assert_string_equal(qs_errc_advice(QS_E_NONE), "");
    assert_int_equal(qs_errc_from_slug("ok"), QS_E_NONE);
    assert_string_equal(qs_errc_slug(QS_E_COUNT), "internal");
    assert_int_equal(qs_errc_blame(QS_E_COUNT), QS_BLAME_QUIESCE);
    assert_int_equal(qs_errc_from_slug("nonsense"), QS_E_INTERNAL);
    assert_int_equal(qs_errc_from_slug(NULL), QS_E_INTERNAL);
}

static void blames_have_names(void **state)
{
    (void)state;
    assert_string_equal(qs_blame_name(QS_BLAME_NONE), "none");
    assert_string_equal(qs_blame_name(QS_BLAME_OPERATOR), "operator");
    assert_string_equal(qs_blame_name(QS_BLAME_DEVICE), "device");
    assert_string_equal(qs_blame_name(QS_BLAME_HOST), "host");
    assert_string_equal(qs_blame_name(QS_BLAME_QUIESCE), "quiesce");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fail_sets_code_and_text),
        cmocka_unit_test(nobody_needs_to_ask_for_the_reason),
        cmocka_unit_test(the_text_may_quote_itself),
        cmocka_unit_test(a_prefix_keeps_the_code),
        cmocka_unit_test(a_long_text_is_cut_between_characters),
        cmocka_unit_test(a_text_that_just_fits_is_whole),
        cmocka_unit_test(every_code_has_its_row),
        cmocka_unit_test(no_error_is_ok_and_an_unknown_one_is_ours),
        cmocka_unit_test(blames_have_names),
    };
    return cmocka_run_group_tests_name("err", tests, NULL, NULL);
}
