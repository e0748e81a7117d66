#include "cm.h"

#include <string.h>

#include "ctl/options/opt.h"

static const char *const words[] = {"red", "green", NULL};
static const struct qs_opt table[] = {
    {.name = "flag", .letter = 'f', .help = ""},
    {.name = "text", .alias = "other", .letter = 't', .values = "T", .many = true, .help = ""},
    {.name = "n", .values = "N", .kind = QS_OPT_WHOLE, .min = 1, .max = 9, .letters = false, .help = ""},
    {.name = "three", .values = "A B C", .help = ""},
    {.name = "maybe", .letter = 'm', .values = "M", .optional = true, .help = ""},
    {.name = "ink", .values = "W", .kind = QS_OPT_WORD, .words = words, .help = ""},
    {.name = "time", .values = "T", .kind = QS_OPT_TIME, .min = 0, .max = INT64_C(60000000000), .help = ""},
    {.name = "a", .values = "CMD", .letters = true, .many = true, .help = ""},
    {0}};

struct read {
    struct qs_args args;
    struct qs_buf problem;
    bool ok, help;
};

static void start(struct read *r, const char *const *argv)
{
    *r = (struct read){.args = {.argv = argv, .command = "do"}};
    while (argv[r->args.argc] != NULL)
        r->args.argc++;
    qs_buf_init(&r->problem);
    r->ok = qs_args_read(&r->args, 2, table, NULL, &r->help, &r->problem);
}

static void end(struct read *r)
{
    qs_args_done(&r->args);
    qs_buf_done(&r->problem);
}

static void options_words_and_the_rest(void **state)
{
    (void)state;
    static const char *const argv[] = {"q",   "do",      "-f", "w1",     "--text=x", "--other", "y",
                                       "-tz", "--three", "1",  "2",      "3",        "-m",      "--q",
                                       "b c", "-",       "--", "--flag", NULL};
    struct read r;
    start(&r, argv);
    assert_string_equal(r.problem.data, "");
    assert_true(r.ok);
    assert_true(qs_args_has(&r.args, "flag"));
    assert_int_equal(qs_args_count(&r.args, "text"), 3);
    assert_string_equal(qs_args_text(&r.args, "text", ""), "z");
    assert_string_equal(qs_args_last(&r.args, "three")->value[2], "3");
    assert_null(qs_args_last(&r.args, "maybe")->value[0]);
    assert_int_equal(qs_args_last(&r.args, "a")->letter, 'q');
    assert_string_equal(qs_args_last(&r.args, "a")->value[0], "b c");
    assert_int_equal(r.args.word_count, 2);
    assert_string_equal(argv[r.args.word[1]], "-");
    assert_string_equal(argv[r.args.rest], "--flag");
    end(&r);
}

static void check_problem(const char *const *argv, const char *text)
{
    struct read r;
    start(&r, argv);
    assert_false(r.ok);
    assert_string_equal(r.problem.data, text);
    end(&r);
}

#define ARGV(...) ((const char *const[]){"q", "do", __VA_ARGS__, NULL})

static void errors_show_the_place(void **state)
{
    (void)state;
    check_problem(ARGV("--flog"), "quiesce do: there is no option --flog\n"
                                  "  quiesce do --flog\n"
                                  "             ^\n"
                                  "  did you mean --flag?\n");
    check_problem(ARGV("--n", "12"), "quiesce do: --n: `12` is out of range: 1 to 9\n"
                                     "  quiesce do --n 12\n"
                                     "                 ^\n");
    check_problem(ARGV("--n=x y"), "quiesce do: --n: `x y` is not a whole number\n"
                                   "  quiesce do '--n=x y'\n"
                                   "                  ^\n");
    check_problem(ARGV("--ink", "gren"), "quiesce do: --ink: `gren` is not one of its values\n"
                                         "  quiesce do --ink gren\n"
                                         "                   ^\n"
                                         "  did you mean green?\n");
    check_problem(ARGV("--flag=1"), "quiesce do: --flag takes no value\n"
                                    "  quiesce do --flag=1\n"
                                    "                    ^\n"
                                    "  leave out the value\n");
    check_problem(ARGV("-f", "-f"), "quiesce do: --flag is given twice\n"
                                    "  quiesce do -f -f\n"
                                    "                ^\n"
                                    "  keep one of them\n");
    check_problem(ARGV("--three", "1"), "quiesce do: --three needs A B C\n"
                                        "  quiesce do --three 1\n"
                                        "             ^\n");
    check_problem(ARGV("--a"), "quiesce do: --a needs CMD\n"
                               "  quiesce do --a\n"
                               "             ^\n");
    check_problem(ARGV("--time", "20"), "quiesce do: --time: `20` has no unit: 20s, 20ms or 20min\n"
                                        "  quiesce do --time 20\n"
                                        "                    ^\n"
                                        "  write a number and its unit, such as 20s or 500ms\n");
}

static void help_is_found_behind_anything_but_a_mistake(void **state)
{
    (void)state;
    struct read r;
    start(&r, ARGV("-f", "x", "--help", "--nonsense"));
    assert_true(r.ok && r.help);
    end(&r);
    start(&r, ARGV("--", "--help"));
    assert_true(r.ok && !r.help);
    end(&r);
}

static void times(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t ns;
    } good[] = {{"20s", INT64_C(20000000000)},
                {"1.5ms", 1500000},
                {"0s", 0},
                {"3µs", 3000},
                {"1min", INT64_C(60000000000)}};
    static const char *const bad[] = {"",    "s",      "-1s", "1",    "1e3s", "0x1s",
                                      "1 s", "1.2.3s", "61s", "nans", "1sec"};
    char why[160];
    int64_t ns = -1;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        assert_true(qs_opt_read_time(good[i].text, 0, INT64_C(60000000000), &ns, why));
        assert_int_equal(ns, good[i].ns);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_false(qs_opt_read_time(bad[i], 0, INT64_C(60000000000), &ns, why));
}

static void shares(void **state)
{
    (void)state;
    char why[160];
    int64_t ppm = -1;
    assert_true(qs_opt_read_ratio("1%", 0, 1000000, &ppm, why));
    assert_int_equal(ppm, 10000);
    assert_true(qs_opt_read_ratio("0.015", 0, 1000000, &ppm, why));
    assert_int_equal(ppm, 15000);
    assert_true(qs_opt_read_ratio("0", 0, 1000000, &ppm, why));
    assert_int_equal(ppm, 0);
    assert_false(qs_opt_read_ratio("2", 0, 1000000, &ppm, why)); /* 2 % or 200 %? */
    assert_string_equal(why, "`2` has no unit: 2% or 0.02");
    assert_false(qs_opt_read_ratio("101%", 0, 1000000, &ppm, why));
    assert_false(qs_opt_read_ratio("x", 0, 1000000, &ppm, why));
    assert_false(qs_opt_read_ratio("1%%", 0, 1000000, &ppm, why));
}

static void quoting_survives_a_shell(void **state)
{
    (void)state;
    struct qs_buf out;
    qs_buf_init(&out);
    qs_opt_quote(&out, "plain-word_1=2/3");
    assert_string_equal(out.data, "plain-word_1=2/3");
    qs_buf_clear(&out);
    qs_opt_quote(&out, "it's $x");
    assert_string_equal(out.data, "'it'\\''s $x'");
    qs_buf_clear(&out);
    qs_opt_quote(&out, "");
    assert_string_equal(out.data, "''");
    qs_buf_done(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(options_words_and_the_rest),
                                       cmocka_unit_test(errors_show_the_place),
                                       cmocka_unit_test(help_is_found_behind_anything_but_a_mistake),
                                       cmocka_unit_test(times),
                                       cmocka_unit_test(shares),
                                       cmocka_unit_test(quoting_survives_a_shell)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
