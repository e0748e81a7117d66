#include "cm.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

static void hex_goes_both_ways(void **state)
{
    (void)state;
    const uint8_t bytes[] = {0x00, 0x7f, 0x80, 0xab, 0xff};
    char text[11];
    qs_hex(bytes, sizeof bytes, text);
    assert_string_equal(text, "007f80abff");
    uint8_t back[5];
    assert_true(qs_unhex(text, back, 5));
    assert_memory_equal(back, bytes, 5);
    assert_true(qs_unhex("007F80ABFF", back, 5));
    assert_memory_equal(back, bytes, 5);
    qs_hex(bytes, 0, text);
    assert_string_equal(text, "");
    assert_true(qs_unhex("", back, 0));
}

static void unhex_takes_exactly_what_it_asked_for(void **state)
{
    (void)state;
    uint8_t out[4];
    assert_false(qs_unhex("", out, 1));
    assert_false(qs_unhex("a", out, 1));
    assert_false(qs_unhex("abc", out, 1));
    assert_false(qs_unhex("abcd", out, 1));
    assert_false(qs_unhex("ag", out, 1));
    assert_false(qs_unhex("0x", out, 1));
    assert_false(qs_unhex(" a", out, 1));
    assert_false(qs_unhex("a", out, 0));
}

static void near_misses_are_found(void **state)
{
    (void)state;
    static const char *const words[] = {"iterations", "benchmark", "device", "devices", "on_timeout", "id"};
    static const struct {
        const char *word;
        const char *want;
    } rows[] = {
        {"iteration", "iterations"},
        {"iteratoins", "iterations"}, /* a swap costs one */
        {"devcie", "device"},
        {"device", "device"},
        {"devicess", "devices"},
        {"on-timeout", "on_timeout"},
        {"on_tmeot", "on_timeout"},
        {"bnchmrkk", "benchmark"},
        {"bechmrkkk", NULL}, /* 4 of 9 */
        {"dI", NULL},
        {"ic", "id"},
        {"x", NULL}, /* nothing of the word would be left */
        {"", NULL},
        {"temperature", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *got = qs_nearest(rows[i].word, words, 6);
        if (rows[i].want)
            assert_string_equal(got ? got : "(null)", rows[i].want);
        else
            assert_null(got);
    }
    assert_null(qs_nearest("device", words, 0));
}

static void the_first_of_equally_near_words_wins(void **state)
{
    (void)state;
    static const char *const words[] = {"cat", "bat", "rat"};
    assert_string_equal(qs_nearest("hat", words, 3), "cat");
}

static void words_of_any_length_are_safe(void **state)
{
    (void)state;
    char most[65], more[66], huge[1000];
    memset(most, 'a', sizeof most);
    memset(more, 'a', sizeof more);
    memset(huge, 'a', sizeof huge);
    most[64] = more[65] = huge[999] = '\0';
    const char *const words[] = {huge, more, most};
    assert_ptr_equal(qs_nearest(most, words, 3), most);
    assert_null(qs_nearest(more, words, 3));
    assert_null(qs_nearest(huge, words, 3));
}

static void assert_first_line(const char *s, size_t n, const char *want)
{
    QS_BUF(b);
    qs_buf_str(&b, "<");
    qs_text_first_line(&b, s, n);
    assert_string_equal(b.data + 1, want);
}

static void the_first_line_that_says_something(void **state)
{
    (void)state;
    assert_first_line("one", 3, "one");
    assert_first_line("one\ntwo", 7, "one");
    assert_first_line("\r\n \t\none two\r\nthree", 19, "one two");
    assert_first_line("\n\n", 2, "");
    assert_first_line("", 0, "");
    assert_first_line("one", 2, "on");
    assert_first_line("\x1b[1mred\x07\n", 9, "[1mred\\x07");
    assert_first_line("a\x1b[1m\n", 6, "a\\x1b[1m");
}

static void assert_escaped(const char *s, size_t n, const char *want)
{
    struct qs_buf b;
    qs_buf_init(&b);
    qs_text_escape(&b, s, n);
    assert_string_equal(b.data, want);
    qs_buf_done(&b);
}

static void terminals_only_show_text(void **state)
{
    (void)state;
    assert_escaped("plain ~", 7, "plain ~");
    assert_escaped("", 0, "");
    assert_escaped("a\nb\tc\x1b[31m\x7f", 11, "a\\x0ab\\x09c\\x1b[31m\\x7f");
    assert_escaped("\0", 1, "\\x00");
    assert_escaped("caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x90\x88", 14,
                   "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x90\x88");
    assert_escaped("\xc2\x9b", 2, "\\xc2\\x9b");          /* CSI as one character of C1 */
    assert_escaped("\xc2\xa0", 2, "\xc2\xa0");            /* the first after C1 */
    assert_escaped("\xe2\x80\xae", 3, "\\xe2\\x80\\xae"); /* right-to-left override */
    assert_escaped("\xe2\x81\xa6", 3, "\\xe2\\x81\\xa6"); /* isolate */
    assert_escaped("\xe2\x80\xa8", 3, "\\xe2\\x80\\xa8"); /* line separator */
    assert_escaped("\xd8\x9c", 2, "\\xd8\\x9c");          /* Arabic letter mark */
    assert_escaped("\xe2\x80\x94", 3, "\xe2\x80\x94");    /* a dash */
}

/* The first and the last character of every range, and those beside it. */
static void what_acts_on_a_terminal_is_told_from_its_neighbours(void **state)
{
    (void)state;
    static const char *const shown[] = {" ",
                                        "~",
                                        "\xc2\xa0",
                                        "\xdf\xbf",
                                        "\xe0\xa0\x80",
                                        "\xd8\x9b",
                                        "\xd8\x9d",
                                        "\xe2\x80\x8d",
                                        "\xe2\x80\x90",
                                        "\xe2\x80\xa7",
                                        "\xe2\x80\xaf",
                                        "\xe2\x81\xa5",
                                        "\xe2\x81\xaa",
                                        "\xe2\x82\xa6",
                                        "\xe1\x80\x8e",
                                        "\xed\x9f\xbf",
                                        "\xee\x80\x80",
                                        "\xef\xbf\xbf",
                                        "\xf0\x90\x80\x80",
                                        "\xf4\x8f\xbf\xbf"};
    static const char *const not_shown[] = {"\x1f",
                                            "\x7f",
                                            "\xc2\x80",
                                            "\xc2\x9f",
                                            "\xd8\x9c",
                                            "\xe2\x80\x8e",
                                            "\xe2\x80\x8f",
                                            "\xe2\x80\xa8",
                                            "\xe2\x80\xae",
                                            "\xe2\x81\xa6",
                                            "\xe2\x81\xa9",
                                            "\xc1\xbf",
                                            "\xe0\x9f\xbf",
                                            "\xed\xa0\x80",
                                            "\xf0\x8f\xbf\xbf",
                                            "\xf4\x90\x80\x80",
                                            "\xf5\x80\x80\x80"};
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
        assert_true(qs_text_is_shown(shown[i]));
        assert_escaped(shown[i], strlen(shown[i]), shown[i]);
    }
    for (size_t i = 0; i < sizeof not_shown / sizeof *not_shown; i++) {
        char after[8];
        assert_false(qs_text_is_shown(not_shown[i]));
        snprintf(after, sizeof after, "ab%s", not_shown[i]);
        assert_false(qs_text_is_shown(after));
    }
    assert_true(qs_text_is_shown(""));
}

static void bytes_that_are_not_utf8_are_shown_as_bytes(void **state)
{
    (void)state;
    assert_escaped("a\x80z", 3, "a\\x80z");
    assert_escaped("\xc0\xaf", 2, "\\xc0\\xaf");
    assert_escaped("\xed\xa0\x80", 3, "\\xed\\xa0\\x80");
    assert_escaped("\xf5\xff", 2, "\\xf5\\xff");
    assert_escaped("\xe2\x82", 2, "\\xe2\\x82");
    assert_escaped("\xe2\x82\n", 3, "\\xe2\\x82\\x0a");
}

static void durations_read_well(void **state)
{
    (void)state;
    static const struct {
        double ns;
        const char *text;
    } rows[] = {
        {0, "0 ns"},           {0.25, "0.25 ns"},
        {850, "850 ns"},       {999.4, "999 ns"},
        {999.6, "1.00 µs"},    {12300, "12.3 µs"},
        {1.2e6, "1.20 ms"},    {9.994e6, "9.99 ms"},
        {9.996e6, "10.0 ms"},  {99.96e6, "100 ms"},
        {999.6e6, "1.00 s"},   {3.45e9, "3.45 s"},
        {59.94e9, "59.9 s"},   {59.96e9, "1 min 0 s"},
        {125e9, "2 min 5 s"},  {3599.6e9, "1 h 0 min"},
        {3720e9, "1 h 2 min"}, {(3 * 24 + 4) * 3600e9, "3 d 4 h"},
        {-1.2e6, "-1.20 ms"},  {NAN, "?"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct qs_buf b;
        qs_buf_init(&b);
        qs_text_duration(&b, rows[i].ns);
        assert_string_equal(b.data, rows[i].text);
        qs_buf_done(&b);
    }
    struct qs_buf b;
    qs_buf_init(&b);
    qs_text_duration(&b, INFINITY);
    assert_non_null(strstr(b.data, " d "));
    qs_buf_done(&b);
}

static void times_are_rfc_3339(void **state)
{
    (void)state;
    static const struct {
        int64_t ns;
        const char *text;
    } rows[] = {
        {0, "1970-01-01T00:00:00.000Z"},
        {1769860800123999999, "2026-01-31T12:00:00.123Z"},
        {951782400000000000, "2000-02-29T00:00:00.000Z"},
        {-1, "1969-12-31T23:59:59.999Z"},
        {-1000000000, "1969-12-31T23:59:59.000Z"},
        {INT64_MAX, "2262-04-11T23:47:16.854Z"},
        {INT64_MIN, "1677-09-21T00:12:43.145Z"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[32];
        qs_text_time(rows[i].ns, text);
        assert_string_equal(text, rows[i].text);
        qs_text_second(rows[i].ns, text);
        assert_int_equal(strlen(text), 20);
        assert_memory_equal(text, rows[i].text, 19);
        assert_int_equal(text[19], 'Z');
    }
}

static void test_words(void **state)
{
    (void)state;
    assert_true(qs_text_is_word("MB/s", "%/-"));
    assert_true(qs_text_is_word("a9Z", ""));
    assert_true(qs_text_is_word("azAZ09", ""));
    static const char *const beside[] = {"`", "{", "@", "[", "/", ":"};
    for (size_t i = 0; i < sizeof beside / sizeof *beside; i++)
        assert_false(qs_text_is_word(beside[i], "%-"));
    assert_false(qs_text_is_word("", "%/-"));
    assert_false(qs_text_is_word("MB s", "%/-"));
    assert_false(qs_text_is_word("\xc2\xb5s", "%/-"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hex_goes_both_ways),
        cmocka_unit_test(test_words),
        cmocka_unit_test(unhex_takes_exactly_what_it_asked_for),
        cmocka_unit_test(near_misses_are_found),
        cmocka_unit_test(the_first_of_equally_near_words_wins),
        cmocka_unit_test(words_of_any_length_are_safe),
        cmocka_unit_test(terminals_only_show_text),
        cmocka_unit_test(the_first_line_that_says_something),
        cmocka_unit_test(what_acts_on_a_terminal_is_told_from_its_neighbours),
        cmocka_unit_test(bytes_that_are_not_utf8_are_shown_as_bytes),
        cmocka_unit_test(durations_read_well),
        cmocka_unit_test(times_are_rfc_3339),
    };
    return cmocka_run_group_tests_name("text", tests, NULL, NULL);
}
