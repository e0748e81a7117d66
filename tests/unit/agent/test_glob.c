/* core/glob.h: what each piece of a pattern takes, and the same answers as the library's on made-up ones. */
#include <fnmatch.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/glob.h"

struct sample {
    const char *pattern, *yes, *no; /* names, with a blank between */
};

static const struct sample names[] = {
    {"", "", "a"},
    {"temp", "temp", "temp1 tem xtemp Temp"},
    {"temp*_input", "temp_input temp12_input", "temp_inputs temp1_crit"},
    {"*", "a cpu0", ".hidden"},
    {"*a*b*", "ab aab xaxbx ba1b", "ba a b"},
    {"?x", "ax", "x .x axx"},
    {".*", ". .a", "a"},
    {"\\.a", ".a", "a xa"},
    {"policy[0-9]", "policy0 policy9", "policy policy10 policya"},
    {"[!0-9]x", "ax -x", "0x 9x x .x"},
    {"[^a]", "b", "a"},
    {"[]a]", "] a", "b [ ]a"},
    {"[!]a]", "b", "] a"},
    {"[^]a]", "b", "] a"},
    {"[a-]", "a -", "b"},
    {"[a-c-e]", "a c - e", "d"},
    {"[[:digit:]_]", "0 _", "a : d"},
    {"[[:alpha:][:digit:]]x", "ax Zx 5x", "_x :x"},
    {"[![:space:]]", "a", ""},
    {"[[:nothing:]]", "", "n : a"},
    {"[[:al:]]", "", "a l"},
    {"[[.-.]x]", "- x", ". ["},
    {"[[=a=]]", "a", "= b"},
    {"[[.].]]", "]", ". ["},
    {"[[.].]x]", "] x", ". ["},
    {"[[=]=]a]", "] a", "= ["},
    {"[a", "[a", "a"},
    {"[", "[", "a"},
    {"[[:digit:", "[[:digit:", "5"},
    {"\\*", "*", "a \\*"},
    {"\\[a]", "[a]", "a"},
    {"a\\", "a\\", "a"},
    {"**a", "a xa", "b"},
};

static void ask(const struct sample *sample, const char *list, enum qs_glob how, bool expected)
{
    char name[64];
    do {
        size_t n = strcspn(list, " ");
        memcpy(name, list, n);
        name[n] = '\0';
        if (qs_glob_match(sample->pattern, name, how) != expected) {
            print_error("`%s` and `%s`: expected %d\n", sample->pattern, name, expected);
        }
        assert_int_equal(qs_glob_match(sample->pattern, name, how), expected);
        list += n + (list[n] == ' ');
    } while (*list != '\0');
}

static void each_piece_takes_what_it_says(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (*names[i].yes != '\0' || *names[i].pattern == '\0') {
            ask(&names[i], names[i].yes, QS_GLOB_NAME, true);
        }
        if (*names[i].no != '\0') {
            ask(&names[i], names[i].no, QS_GLOB_NAME, false);
        }
    }
}

static void either_case_is_the_same_where_it_is_asked_for(void **state)
{
    const struct sample folded = {"*Temp[A-C][^x]", "xtEMPby TEMPC1", "tempax tempd1 temp"};
    (void)state;
    ask(&folded, folded.yes, QS_GLOB_ANY_CASE, true);
    ask(&folded, folded.no, QS_GLOB_ANY_CASE, false);
    assert_true(qs_glob_match("*", ".line", QS_GLOB_ANY_CASE));
    assert_false(qs_glob_match("temp", "TEMP", QS_GLOB_NAME));
}

static void bytes_above_ascii_are_characters(void **state)
{
    (void)state;
    assert_true(qs_glob_match("?\xb0", "\xc2\xb0", QS_GLOB_NAME));
    assert_true(qs_glob_match("[!a]\xb0", "\xc2\xb0", QS_GLOB_ANY_CASE));
    assert_true(qs_glob_match("[\x80-\xff]x", "\xc2x", QS_GLOB_NAME));
    assert_false(qs_glob_match("[[:alpha:]]", "\xe4", QS_GLOB_NAME));
}

static void many_stars_are_quick(void **state)
{
    char text[4096];
    (void)state;
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    assert_false(qs_glob_match("*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b", text, QS_GLOB_NAME));
}

static uint32_t next(uint32_t *seed)
{
    return (*seed = *seed * 1664525 + 1013904223) >> 16;
}

static void random_patterns_are_judged_as_by_the_library(void **state)
{
    static const char pieces[] = "*?[]!-.aAbc", letters[] = ".aAbc]-";
    uint32_t seed = 7, matched = 0;
    (void)state;
    for (int i = 0; i < 200000; i++) {
        char pattern[10] = "", text[7] = "";
        for (uint32_t n = next(&seed) % 9, k = 0; k < n; k++) {
            pattern[k] = pieces[next(&seed) % (sizeof pieces - 1)];
        }
        for (uint32_t n = next(&seed) % 6, k = 0; k < n; k++) {
            text[k] = letters[next(&seed) % (sizeof letters - 1)];
        }
        if (strchr(pattern, '[') && strchr(strchr(pattern, '[') + 1, '[')) {
            continue; /* "[[." and the like: libraries differ in what is no class */
        }
        bool name = fnmatch(pattern, text, FNM_PERIOD) == 0, line = fnmatch(pattern, text, FNM_CASEFOLD) == 0;
        bool ranges =
            strchr(pattern, '-') != NULL; /* of "[A-a]" in either case libraries think differently, too */
        if (qs_glob_match(pattern, text, QS_GLOB_NAME) != name ||
            (!ranges && qs_glob_match(pattern, text, QS_GLOB_ANY_CASE) != line)) {
            fail_msg("`%s` and `%s`: expected %d, %d", pattern, text, name, line);
        }
        matched += name;
    }
    assert_true(matched > 2000);
}

/* Whatever stands in a bracket, nothing outside of the pattern is read: each has memory of its own. */
static void brackets_in_brackets_end_inside(void **state)
{
    static const char pieces[] = "[[[]]].:=a-!", *const known[] = {"[[.][:.]]", "[[=][:=]]", "[[:.]:]]",
                                                                   "[[.", "[[.]"};
    enum { KNOWN = sizeof known / sizeof known[0] };
    uint32_t seed = 11;
    (void)state;
    for (size_t i = 0; i < 200000; i++) {
        char text[14] = "";
        for (uint32_t n = next(&seed) % 13, k = 0; k < n; k++) {
            text[k] = pieces[next(&seed) % (sizeof pieces - 1)];
        }
        char *pattern = strdup(i < KNOWN ? known[i] : text);
        assert_non_null(pattern);
        qs_glob_match(pattern, "]", QS_GLOB_NAME);
        qs_glob_match(pattern, "a:.", QS_GLOB_ANY_CASE);
        free(pattern);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_piece_takes_what_it_says),
        cmocka_unit_test(either_case_is_the_same_where_it_is_asked_for),
        cmocka_unit_test(bytes_above_ascii_are_characters),
        cmocka_unit_test(many_stars_are_quick),
        cmocka_unit_test(brackets_in_brackets_end_inside),
        cmocka_unit_test(random_patterns_are_judged_as_by_the_library),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
