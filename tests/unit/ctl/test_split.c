#include "cm.h"

#include <string.h>

#include "base/buf.h"
#include "ctl/options/split.h"

static void check(const char *line, const char *joined)
{
    struct qs_words words;
    struct qs_split_why why;
    struct qs_buf out;
    qs_buf_init(&out);
    assert_true(qs_split(line, &words, &why));
    for (size_t i = 0; i < words.count; i++)
        qs_buf_fmt(&out, "[%s]", words.at[i]);
    assert_null(words.at[words.count]);
    assert_string_equal(out.data, joined);
    qs_words_done(&words);
    qs_buf_done(&out);
}

static void words_as_a_shell_reads_them(void **state)
{
    (void)state;
    check("gzip -1  f", "[gzip][-1][f]");
    check("  a\tb  ", "[a][b]");
    check("a 'b c' \"d e\"", "[a][b c][d e]");
    check("a''b c\"\"", "[ab][c]");
    check("a '' \"\"", "[a][][]");
    check("a\\ b \\| \\\\", "[a b][|][\\]");
    check("a '\\n $x `y` |' ", "[a][\\n $x `y` |]");
    check("a \"\\\"q\\\" \\$ \\` \\\\ \\n\"", "[a][\"q\" $ ` \\ \\n]");
    check("a \"|;&<>*?[](){}~#\"", "[a][|;&<>*?[](){}~#]");
    check("a x#y x~y --opt=1 b=2 {n} {}", "[a][x#y][x~y][--opt=1][b=2][{n}][{}]");
    check("a b\\\nc \"d\\\ne\"", "[a][bc][de]");
    check("./x=y", "[./x=y]");
    check("1a=b", "[1a=b]");
}

static void refuse(const char *line, size_t offset, bool shell, bool assigns)
{
    struct qs_words words;
    struct qs_split_why why;
    assert_false(qs_split(line, &words, &why));
    assert_int_equal(why.offset, offset);
    assert_int_equal(why.shell, shell);
    assert_int_equal(why.assigns, assigns);
    assert_true(strlen(why.what) > 0);
    assert_int_equal(words.count, 0);
    assert_null(words.at);
}

static void what_needs_a_shell_is_an_error_at_its_place(void **state)
{
    (void)state;
    refuse("ls | wc", 3, true, false);
    refuse("a&", 1, true, false);
    refuse("a;b", 1, true, false);
    refuse("a <f", 2, true, false);
    refuse("a 2>&1", 3, true, false);
    refuse("a $HOME", 2, true, false);
    refuse("a \"x $HOME\"", 5, true, false);
    refuse("a `b`", 2, true, false);
    refuse("a \"`b`\"", 3, true, false);
    refuse("a *.c", 2, true, false);
    refuse("a x?", 3, true, false);
    refuse("a [ab]", 2, true, false);
    refuse("(a)", 0, true, false);
    refuse("a )", 2, true, false);
    refuse("a ~/x", 2, true, false);
    refuse("a #b", 2, true, false);
    refuse("a\nb", 1, true, false);
    refuse("A=1 b", 0, true, true);
    refuse("_x9=1", 0, true, true);
}

static void broken_lines_are_errors(void **state)
{
    (void)state;
    refuse("a 'b", 2, false, false);
    refuse("a \"b\\\"", 2, false, false);
    refuse("a \\", 2, false, false);
    refuse("", 0, false, false);
    refuse("  ", 0, false, false);
    refuse("'' a", 0, false, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(words_as_a_shell_reads_them),
                                       cmocka_unit_test(what_needs_a_shell_is_an_error_at_its_place),
                                       cmocka_unit_test(broken_lines_are_errors)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
