/* Regular expressions with one group: what they find, and what they may cost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/pattern.h"

static void expect(const char *text, const char *line, const char *want)
{
    struct qs_pattern *p = NULL;
    struct qs_err err = QS_ERR_INIT;
    size_t at = 0, n = 0;
    if (!qs_pattern_new(text, &p, &err))
        fail_msg("%s: %s", text, err.text);
    bool found = qs_pattern_find(p, line, strlen(line), &at, &n);
    assert_int_equal(found, want != NULL);
    if (want) {
        assert_int_equal(n, strlen(want));
        assert_memory_equal(line + at, want, n);
    }
    qs_pattern_free(p);
}

static void refuses(const char *text, const char *why)
{
    struct qs_pattern *p = NULL;
    struct qs_err err = QS_ERR_INIT;
    assert_false(qs_pattern_new(text, &p, &err));
    assert_null(p);
    assert_int_equal(err.code, QS_E_JOB);
    if (!strstr(err.text, why))
        fail_msg("%s: \"%s\" lacks \"%s\"", text, err.text, why);
}

static void test_finds_its_group(void **state)
{
    (void)state;
    expect("time=([0-9.]+) ms", "run 3: time=12.5 ms, time=9 ms", "12.5");
    expect("time=([0-9.]+) ms", "time= ms", NULL);
    expect("^([0-9]+)$", "17", "17");
    expect("^([0-9]+)$", "17 ", NULL);
    expect("a|(b)", "xay", NULL); /* the group took no part */
    expect("[(]([0-9]+)[)]", "f(7)", "7");
    expect("\\(([0-9]{2,3})\\)", "f(1234) g(56)", "56");
    expect("(.*)", "", "");
    expect("[]()+*]([^](]*)", "()+x(", ")+x"); /* in brackets nothing is a group or a repeat */
    expect("[[:space:](]+([[:alpha:]]+)", "1 (ms)", "ms");
    expect("[[.(.]]([0-9]+)[[=)=]]", "(12)", "12");
    expect("[[a]([0-9]+)", "a12", "12"); /* not each [ in brackets begins a class, nor each : */
    expect("[a:]([0-9]+)", ":12", "12");
    expect("\\++([0-9]*)", "++12", "12");
}

static void test_refuses_what_is_wrong_or_costs_too_much(void **state)
{
    (void)state;
    char longest[QS_PATTERN_BYTES + 4];
    refuses("[0-9]+", "it has 0 groups");
    refuses("(a)(b)", "it has 2 groups");
    refuses("(a", "not a regular expression");
    refuses("(a)[[", "not a regular expression");
    refuses("(a)[[:", "not a regular expression");
    refuses("(a)\\1", "a reference back");
    refuses("(a)\\9", "a reference back");
    refuses("(a)\\", "not a regular expression");
    expect("(a)\\/\\:", "a/:", "a"); /* on both sides of the digits */
    refuses("(a{256})", "more than 255");
    refuses("(a{,256})", "more than 255");
    refuses("((a{16}){16})", "more than 255");
    refuses("(a{99999999999999999999})", "more than 255");
    expect("(a{15})b{17}", "x", NULL); /* 255 */
    char nested[80], *at = nested;     /* each depth doubles what is compiled: 46 s and 7 GB */
    for (int i = 0; i < 20; i++)
        *at++ = '(';
    *at++ = 'a';
    for (int i = 0; i < 20; i++, at += 2)
        memcpy(at, "+)", 2);
    *at = '\0';
    refuses(nested, "it has 20 groups");
    refuses("(a++++++++++++++++++++++++++++++)", "a repeat of a repeat");
    refuses("(a)*+", "a repeat of a repeat");
    refuses("(a{2}{2})", "a repeat of a repeat");
    memset(longest, 'a', sizeof longest);
    memcpy(longest, "(a)", 3);
    longest[QS_PATTERN_BYTES] = '\0';
    expect(longest, "a", NULL);
    longest[QS_PATTERN_BYTES] = 'a';
    longest[QS_PATTERN_BYTES + 1] = '\0';
    refuses(longest, "longer than 256 bytes");
}

static void test_does_not_try_long_lines(void **state)
{
    (void)state;
    char line[QS_PATTERN_LINE_BYTES + 1];
    struct qs_pattern *p = NULL;
    size_t at, n;
    memset(line, '7', sizeof line);
    assert_true(qs_pattern_new("(7)", &p, NULL));
    assert_true(qs_pattern_find(p, line, QS_PATTERN_LINE_BYTES, &at, &n));
    assert_false(qs_pattern_find(p, line, QS_PATTERN_LINE_BYTES + 1, &at, &n));
    qs_pattern_free(p);
    qs_pattern_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_finds_its_group),
        cmocka_unit_test(test_refuses_what_is_wrong_or_costs_too_much),
        cmocka_unit_test(test_does_not_try_long_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
