/* core/print.h: values as they are written, and the same as the library's over every form. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/print.h"

static __attribute__((format(printf, 3, 4))) int library(char *to, size_t cap, const char *form, ...)
{
    va_list args;
    va_start(args, form);
    int n = vsnprintf(to, cap, form, args);
    va_end(args);
    return n;
}

/* Both, into places of every size: the same bytes, the same count, nothing beyond. */
#define SAME(...)                                                                                            \
    do {                                                                                                     \
        char ours[64], theirs[64];                                                                           \
        for (size_t cap = 0; cap <= sizeof ours; cap++) {                                                    \
            memset(ours, '#', sizeof ours);                                                                  \
            memset(theirs, '#', sizeof theirs);                                                              \
            assert_int_equal(qs_print(ours, cap, __VA_ARGS__), library(theirs, cap, __VA_ARGS__));           \
            assert_memory_equal(ours, theirs, sizeof ours);                                                  \
        }                                                                                                    \
    } while (0)

static void words_are_written(void **state)
{
    char text[80];
    (void)state;
    assert_int_equal(qs_print(text, sizeof text, "%s: %d of %u, 0x%04x, %c, 100 %%", "a", -5, 7U, 0x2fU, 'z'),
                     28);
    assert_string_equal(text, "a: -5 of 7, 0x002f, z, 100 %");
}

static void cut_text_is_ended_and_counted(void **state)
{
    char text[5] = "####";
    (void)state;
    assert_int_equal(qs_print(text, sizeof text, "%s", "123456"), 6);
    assert_string_equal(text, "1234");
    assert_int_equal(qs_print(NULL, 0, "%s", "123456"), 6);
}

static void text_without_an_end_is_not_read_beyond_its_precision(void **state)
{
    const char endless[3] = {'a', 'b', 'c'};
    char text[8];
    (void)state;
    assert_int_equal(qs_print(text, sizeof text, "%.*s|%.2s", 3, endless, endless), 6);
    assert_string_equal(text, "abc|ab");
}

static void texts_are_the_library_s(void **state)
{
    const char *text = "left";
    (void)state;
    SAME("%s|%-9s|%9s|%2s|%-2s", text, text, text, text, text);
    SAME("%.2s|%.0s|%-6.2s|%6.2s|%.*s", text, text, text, text, 3, text);
    SAME("%c%c|%-3c|%3c|%%", 'a', 'b', 'c', 'd');
    SAME("%s%s", "", "");
    SAME("%s", "a text that is longer than the place that is made for it here, by far");
}

static void numbers_are_the_library_s(void **state)
{
    const long long numbers[] = {0,       1,       -1,       9,        10,       -10,       4095,
                                 INT_MAX, INT_MIN, UINT_MAX, LONG_MAX, LONG_MIN, LLONG_MAX, LLONG_MIN};
    (void)state;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        long long n = numbers[i];
        SAME("%d|%5d|%-5d|%05d", (int)n, (int)n, (int)n, (int)n);
        SAME("%u|%3u|%-12u|%012u", (unsigned)n, (unsigned)n, (unsigned)n, (unsigned)n);
        SAME("%x|%02x|%08x|%-4x", (unsigned)n, (unsigned)n, (unsigned)n, (unsigned)n);
        SAME("%ld|%lu|%lx", (long)n, (unsigned long)n, (unsigned long)n);
        SAME("%lld|%06lld", n, n);
        SAME("%llu|%llx", (unsigned long long)n, (unsigned long long)n);
        SAME("%zu|%zx", (size_t)n, (size_t)n);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_written),
        cmocka_unit_test(cut_text_is_ended_and_counted),
        cmocka_unit_test(text_without_an_end_is_not_read_beyond_its_precision),
        cmocka_unit_test(texts_are_the_library_s),
        cmocka_unit_test(numbers_are_the_library_s),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
