/* `quiesce run`: options into a job document that the daemon's own reader accepts and understands. */
#include "cm.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "config/job/job.h"
#include "config/job/harness.h"
#include "ctl/commands/command.h"
#include "ctl/run/run.h"

static char *environment[] = {(char[]){"PATH=/usr/bin:/bin"},
                              (char[]){"ODD={x}{{y"},
                              (char[]){"EMPTY="},
                              (char[]){"BAD=\xff\xfe"},
                              (char[]){"_=/usr/bin/quiesce"},
                              (char[]){"NOEQ"},
                              NULL};

/* The spec that `quiesce run ...` makes; NULL with the text of the usage error, or of the problems. */
static struct qs_job_spec *spec_of(const char *const *argv, struct qs_buf *problem)
{
    struct qs_args args = {.argv = argv, .command = "run"};
    struct qs_run_line line = {0};
    struct qs_job_spec *spec = NULL;
    json_t *job = NULL;
    bool help = false;
    while (argv[args.argc] != NULL)
        args.argc++;
    qs_buf_clear(problem);
    if (qs_args_read(&args, 2, qs_run_options, qs_common_options, &help, problem) &&
        qs_run_read(&args, &line, problem))
        job = qs_run_document(&args, &line, "/tmp", environment, problem);
    if (job != NULL) {
        char *text = json_dumps(job, JSON_INDENT(1));
        struct qs_problems problems;
        struct qs_doc *doc = NULL;
        qs_problems_init(&problems);
        if (qs_doc_read("run", text, strlen(text), true, &doc, &problems))
            qs_job_from_doc(doc, &spec, &problems);
        qs_problems_text(&problems, "run", problem);
        qs_problems_done(&problems);
        qs_doc_free(doc);
        free(text);
        json_decref(job);
    }
    qs_run_done(&line);
    qs_args_done(&args);
    return spec;
}

#define RUN(...) ((const char *const[]){"quiesce", "run", __VA_ARGS__, NULL})

static struct qs_job_spec *good(const char *const *argv)
{
    struct qs_buf problem;
    qs_buf_init(&problem);
    struct qs_job_spec *spec = spec_of(argv, &problem);
    assert_string_equal(problem.data, "");
    assert_non_null(spec);
    qs_buf_done(&problem);
    return spec;
}

static void bad(const char *const *argv, const char *part)
{
    struct qs_buf problem;
    qs_buf_init(&problem);
    struct qs_job_spec *spec = spec_of(argv, &problem);
    assert_null(spec);
    if (strstr(problem.data, part) == NULL)
        fail_msg("`%s` is not in: %s", part, problem.data);
    qs_buf_done(&problem);
}

static void check_argv(const struct qs_job_spec *spec, size_t arm, size_t point, const char *joined)
{
    struct qs_strings argv;
    struct qs_buf out;
    qs_buf_init(&out);
    qs_job_argv(spec, arm, point, &argv);
    for (size_t i = 0; i < argv.count; i++)
        qs_buf_fmt(&out, "[%s]", argv.at[i]);
    assert_string_equal(out.data, joined);
    qs_strings_done(&argv);
    qs_buf_done(&out);
}

static void the_defaults_are_those_that_are_promised(void **state)
{
    (void)state;
    struct qs_job_spec *s = good(RUN("--", "ls", "-l", "a b", "{x}", "$HOME"));
    const struct qs_job_plan *p = &s->plan;
    assert_int_equal(s->arm_count, 1);
    assert_string_equal(s->arms[0].name, "ls");
    check_argv(s, 0, 0, "[ls][-l][a b][{x}][$HOME]");
    assert_int_equal(p->blocks_min, 6);
    assert_int_equal(p->blocks_max, 200);
    assert_int_equal(p->look_count, 13);
    assert_int_equal(p->looks[0], 10);
    assert_int_equal(p->looks[4], 30);
    assert_int_equal(p->looks[p->look_count - 1], 200);
    assert_true(p->interval_ratio > 0.00999 && p->interval_ratio < 0.01001);
    assert_int_equal(p->time_ns, INT64_C(20000000000));
    assert_int_equal(p->window_iterations, 0);
    assert_int_equal(p->window_target_ns, 10000000);
    assert_int_equal(p->window_auto_max, 50);
    assert_int_equal(p->warmup_iterations, 2);
    assert_int_equal(s->conditions[0].repeat_tainted, 0);
    assert_int_equal(p->order, QS_ORDER_RANDOM);
    assert_false(p->has_seed);
    assert_int_equal(s->conditions[0].gate_count, 1);
    assert_int_equal(s->conditions[0].gate[0].hi, 100000);
    assert_int_equal(s->conditions[0].gate[0].timeout_ns, INT64_C(300000000));
    assert_int_equal(s->conditions[0].gate[0].on_timeout, QS_ON_TIMEOUT_TAINT);
    assert_string_equal(s->benchmarks[0].dir, "/tmp");
    assert_int_equal(s->benchmarks[0].output, QS_OUTPUT_DISCARD);
    assert_int_equal(s->benchmarks[0].exit_rule, QS_EXIT_ZERO);
    assert_string_equal(s->where, "local");
    qs_job_free(s);
}

static void a_harness_program_is_run_with_its_own_defaults(void **state)
{
    (void)state;
    struct qs_job_spec *s = good(RUN("--harness", "-L", "size", "64,128", "--", "./blur"));
    assert_int_equal(s->benchmarks[0].mode, QS_MODE_HARNESS);
    assert_int_equal(s->arm_count, 2);
    assert_int_equal(s->plan.window_auto_max, 1000);
    struct qs_strings params;
    qs_job_program_params(s, 1, 0, &params);
    assert_int_equal(params.count, 1);
    assert_string_equal(params.at[0], "size=128");
    qs_strings_done(&params);
    qs_job_free(s);
    s = good(RUN("--harness=thin", "--evals", "200", "./old", "./new"));
    assert_int_equal(s->benchmarks[0].evals, 200);
    assert_string_equal(s->benchmarks[0].program_benchmark, "thin");
    qs_job_free(s);
    bad(RUN("--harness", "--prepare", "true", "--", "./blur"), "--prepare is for commands");
    bad(RUN("--harness", "--shell", "sh", "./blur"), "--shell is for commands");
    bad(RUN("--evals", "9", "./blur"), "--evals is for programs that include quiesce/bench.h");
    bad(RUN("-L", "size", "64,128", "--", "./blur"), "no command uses {size}");
}

static void values_that_a_suite_writes_are_read(void **state)
{
    (void)state;
    struct qs_job_spec *s = good(RUN("--stream", "numbers", "--stream-unit", "ms", "./old", "./new"));
    const struct qs_job_benchmark *b = &s->benchmarks[0];
    assert_int_equal(b->mode, QS_MODE_STREAM);
    assert_int_equal(b->stream.format, QS_FORM_NUMBERS);
    assert_string_equal(b->stream.unit, "ms");
    assert_int_equal(b->output, QS_OUTPUT_STDOUT);
    assert_int_equal(b->iteration_limit_ns, INT64_C(600000000000));
    assert_int_equal(s->arm_count, 2);
    qs_job_free(s);
    s = good(RUN("--stream=pattern", "--stream-unit", "MB/s", "--stream-better", "higher", "--stream-pattern",
                 "([0-9]{1,3}) MB/s", "--stream-file", "out.txt", "--", "dd"));
    b = &s->benchmarks[0];
    assert_string_equal(b->stream.pattern, "([0-9]{1,3}) MB/s");
    assert_int_equal(b->stream.better, QS_JOB_BETTER_HIGHER);
    assert_int_equal(b->output, QS_OUTPUT_FILE);
    assert_string_equal(b->output_file, "out.txt");
    qs_job_free(s);
    s = good(
        RUN("--stream", "google-benchmark", "--stream-benchmark", "BM_{n}", "-L", "n", "1,2", "./b {n}"));
    assert_string_equal(s->benchmarks[0].program_benchmark, "BM_{n}");
    qs_job_free(s);
}

static void what_does_not_go_with_a_suite_is_refused(void **state)
{
    (void)state;
    bad(RUN("--stream", "xml", "./b"), "xml");
    bad(RUN("--stream", "numbers", "./b"), "the unit of the values is missing");
    bad(RUN("--stream", "pattern", "--stream-unit", "ms", "./b"), "the pattern is missing");
    bad(RUN("--stream", "numbers", "--stream-unit", "MB/s", "./b"), "the better direction is missing");
    bad(RUN("--stream", "google-benchmark", "--stream-unit", "ms", "./b"), "names its units itself");
    bad(RUN("--stream", "numbers", "--stream-unit", "ms", "--harness", "./b"),
        "--harness cannot be used with --stream");
    bad(RUN("--stream", "numbers", "--stream-unit", "ms", "--iterations", "3", "./b"),
        "--iterations cannot be used with --stream");
    bad(RUN("--stream", "numbers", "--stream-unit", "ms", "--show-output", "./b"),
        "--show-output cannot be used with --stream");
    bad(RUN("--stream-unit", "ms", "./b"), "--stream-unit says how values are read");
}

static void the_environment_travels_whole(void **state)
{
    (void)state;
    struct qs_job_spec *s = good(RUN("--env", "NEW={n}", "--env", "EMPTY=1", "-L", "n", "5", "echo {n}"));
    struct qs_buf out;
    qs_buf_init(&out);
    assert_false(s->benchmarks[0].env_inherit);
    const struct qs_strings *parts[] = {&s->benchmarks[0].env,
                                        &s->arms[0].env}; /* ours, and what was given */
    for (size_t k = 0; k < 2; k++) {
        struct qs_strings env;
        qs_job_fill(s, 0, 0, parts[k], &env);
        for (size_t i = 0; i < env.count; i++)
            qs_buf_fmt(&out, "%s[%s]", i == 0 && k > 0 ? " " : "", env.at[i]);
        qs_strings_done(&env);
    }
    assert_string_equal(out.data, "[PATH=/usr/bin:/bin][ODD={x}{{y][EMPTY=] [NEW=5][EMPTY=1]");
    qs_buf_done(&out);
    qs_job_free(s);
}

static void arms_in_every_form(void **state)
{
    (void)state;
    struct qs_job_spec *s = good(RUN("ls 'x y'", "--b", "ls -a", "ls -l"));
    assert_int_equal(s->arm_count, 3);
    check_argv(s, 0, 0, "[ls][x y]");
    assert_string_equal(s->arms[0].name, "a");
    assert_string_equal(s->arms[1].name, "b");
    assert_string_equal(s->arms[2].name, "c");
    qs_job_free(s);
    s = good(RUN("-n", "old", "--name=new", "ls 1", "ls 2", "--baseline", "new"));
    assert_string_equal(s->arms[1].name, "new");
    assert_int_equal(s->baseline, 1);
    qs_job_free(s);
    s = good(RUN("--shell", "default", "ls | wc '{}'"));
    check_argv(s, 0, 0, "[/bin/sh][-c][ls | wc '{}']");
    qs_job_free(s);
    s = good(RUN("--shell=bash -e", "--", "ls", "|", "wc"));
    check_argv(s, 0, 0, "[bash][-e][-c][ls | wc]");
    qs_job_free(s);
    s = good(RUN("-L", "v", "1,2", "-n", "level {v}", "echo {v}"));
    assert_string_equal(s->arms[1].name, "level 2");
    qs_job_free(s);
    s = good(RUN("-L", "v", "1,2", "-n", "gzip", "echo {v}"));
    assert_string_equal(s->arms[0].name, "gzip v=1");
    qs_job_free(s);
    s = good(RUN("-L", "v", "1,2", "-n", "low", "-n", "high", "echo {v}"));
    assert_string_equal(s->arms[0].name, "low");
    assert_string_equal(s->arms[1].name, "high");
    qs_job_free(s);
}

static void parameters_are_arms_or_points(void **state)
{
    (void)state;
    struct qs_job_spec *s =
        good(RUN("-P", "n", "-0.5", "1", "-D", "0.75", "-L", "w", "x,y\\,z", "echo {n} {w} {v}"));
    assert_int_equal(s->arm_count, 6);
    assert_int_equal(s->point_count, 1);
    assert_string_equal(s->arms[0].name, "n=-0.50 w=x");
    check_argv(s, 0, 0, "[echo][-0.50][x][{v}]");
    check_argv(s, 5, 0, "[echo][1.00][y,z][{v}]");
    qs_job_free(s);
    s = good(RUN("-L", "n", "1,2,3", "echo {n}", "printf {n}", "--prepare", "sync {n}"));
    assert_int_equal(s->arm_count, 2);
    assert_int_equal(s->point_count, 3);
    check_argv(s, 1, 2, "[printf][3]");
    qs_job_free(s);
}

static void hooks_for_all_or_for_each(void **state)
{
    (void)state;
    struct qs_job_spec *s = good(RUN("ls 1", "ls 2", "--setup", "make x", "-p", "sync; true", "-p", "", "-C",
                                     "true", "--cleanup", "rm -f 'a b'"));
    assert_string_equal(s->benchmarks[0].setup.at[1], "x");
    assert_string_equal(s->benchmarks[0].cleanup.at[2], "a b");
    assert_int_equal(s->benchmarks[0].prepare.count, 0);
    assert_string_equal(s->arms[0].prepare.at[2], "sync; true");
    assert_int_equal(s->arms[1].prepare.count, 0);
    assert_int_equal(s->benchmarks[0].conclude.count, 1);
    qs_job_free(s);
    bad(RUN("ls 1", "ls 2", "ls 3", "-p", "a", "-p", "b"), "--prepare is given 2 times for 3 commands");
    bad(RUN("ls", "-p", "echo 'x"), "--prepare: this quote is not closed");
}

static void how_much(void **state)
{
    (void)state;
    struct qs_job_spec *s =
        good(RUN("--runs", "12", "--iterations", "3", "--warmup", "0", "--seed", "7", "--", "ls"));
    assert_int_equal(s->plan.blocks_min, 12);
    assert_int_equal(s->plan.blocks_max, 12);
    assert_true(s->plan.interval_ratio == 0);
    assert_int_equal(s->plan.time_ns, 0);
    assert_int_equal(s->plan.window_iterations, 3);
    assert_int_equal(s->plan.seed, 7);
    qs_job_free(s);
    s = good(RUN("-m", "400", "--goal", "0.5%", "--max-time", "1.5min", "--timeout", "2h", "--", "ls"));
    assert_int_equal(s->plan.blocks_max, 400);
    assert_true(s->plan.interval_ratio > 0.00499 && s->plan.interval_ratio < 0.00501);
    assert_int_equal(s->plan.time_ns, INT64_C(90000000000));
    assert_int_equal(s->benchmarks[0].iteration_limit_ns, INT64_C(7200000000000));
    qs_job_free(s);
    s = good(RUN("-M", "3", "--", "ls"));
    assert_int_equal(s->plan.blocks_min, 3);
    assert_int_equal(s->plan.looks[0], 3);
    qs_job_free(s);
    bad(RUN("-m", "9", "-M", "3", "--", "ls"), "--min-runs 9 is above --max-runs 3");
    bad(RUN("-r", "9", "-M", "3", "--", "ls"), "--runs already fixes the number");
    bad(RUN("--warmup", "0", "--", "ls"), "add --iterations N");
}

static void the_rest_of_the_options(void **state)
{
    (void)state;
    struct qs_job_spec *s =
        good(RUN("--exit-code", "3", "--exit-code", "4", "--show-output", "--affinity", "0-1", "--dir", "/",
                 "--input", "/etc/passwd", "--margin", "5%", "--fail-on", "regression", "--", "ls"));
    assert_int_equal(s->benchmarks[0].exit_rule, QS_EXIT_LIST);
    assert_int_equal(s->benchmarks[0].exit_codes[1], 4);
    assert_int_equal(s->benchmarks[0].output, QS_OUTPUT_CAPTURE);
    assert_string_equal(s->benchmarks[0].dir, "/");
    assert_string_equal(s->benchmarks[0].stdin_path, "/etc/passwd");
    assert_string_equal(s->conditions[0].controls.cpus, "0-1");
    assert_true(s->benchmarks[0].margin_ratio > 0.0499 && s->benchmarks[0].margin_ratio < 0.0501);
    assert_true(s->fail_on_regression);
    qs_job_free(s);
    s = good(RUN("-i", "--", "ls"));
    assert_int_equal(s->benchmarks[0].exit_rule, QS_EXIT_ANY);
    qs_job_free(s);
}

static void mistakes_are_named(void **state)
{
    (void)state;
    bad(RUN("--json"), "there is no command to measure");
    bad(RUN("ls", "--", "ls"), "there are commands before `--` and one after it");
    bad(RUN("ls | wc"), "add --shell");
    bad(RUN("A=1 ls"), "write --env NAME=VALUE");
    bad(RUN("no-such-program-here x"), "there is no program `no-such-program-here` in PATH");
    bad(RUN("cd /tmp"), "a shell builtin");
    bad(RUN("--a", "ls", "--a", "ls -l"), "--a is given twice");
    bad(RUN("-n", "x", "-n", "y", "ls"), "there are more names than commands");
    bad(RUN("-L", "v", "1,2,3", "-n", "x", "-n", "y", "echo {v}"), "there are 2 names for 3 values");
    bad(RUN("-L", "v", "1,2", "-L", "w", "1,2", "-n", "x {v}", "echo {v}{w}"), "two arms have the same name");
    bad(RUN("--reference", "ls", "--baseline", "a", "ls"), "already what the others are compared with");
    bad(RUN("--reference", "ls", "--", "ls"), "quote each command");
    bad(RUN("-n", "b", "--a", "ls", "--b", "ls -l"), "two arms have the name `b`");
    bad(RUN("-P", "n", "1", "x", "echo {n}"), "`x` is not a number");
    bad(RUN("-P", "n", "3", "1", "echo {n}"), "there is nothing from 3 to 1");
    bad(RUN("-P", "n", "1", "9", "-D", "0", "echo {n}"), "`0` is not a number above 0");
    bad(RUN("-P", "n", "1", "999", "echo {n}"), "more than 100 arms");
    bad(RUN("-P", "n", "0", "1e9", "echo {n}"), "`1e9` is not a number");
    bad(RUN("-P", "n", "0", "100000", "echo {n}"), "more than 1000 values");
    bad(RUN("-L", "n", "1,1", "echo {n}"), "`1` is in it twice");
    bad(RUN("-L", "n", "1", "echo {m}"), "no command uses {n}");
    bad(RUN("-L", "1n", "1", "echo {1n}"), "cannot be a parameter's name");
    bad(RUN("-D", "2", "ls"), "--step is for --parameter-scan");
    bad(RUN("-P", "n", "5000000000000", "5000000000003", "-D", "1.0000001", "echo {n}"), "too many digits");
    bad(RUN("-P", "n", "-9000000000", "9000000000", "-D", "1.000000001", "echo {n}"),
        "more than 1000 values");
    bad(RUN("--dir", "/no/such/folder", "--", "ls"), "--dir: /no/such/folder: No such file");
    bad(RUN("--input", "/tmp", "--", "ls"), "--input: /tmp is a folder");
    bad(RUN("--env", "X", "--", "ls"), "has no name and `=`");
    bad(RUN("-i", "--exit-code", "3", "--", "ls"), "already says which exit codes are accepted");
    bad(RUN("--", "ls", "\xff"), "not UTF-8");
    bad(RUN("--affinity", "3-1", "--", "ls"), "conditions.affinity");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_defaults_are_those_that_are_promised),
                                       cmocka_unit_test(a_harness_program_is_run_with_its_own_defaults),
                                       cmocka_unit_test(values_that_a_suite_writes_are_read),
                                       cmocka_unit_test(what_does_not_go_with_a_suite_is_refused),
                                       cmocka_unit_test(the_environment_travels_whole),
                                       cmocka_unit_test(arms_in_every_form),
                                       cmocka_unit_test(parameters_are_arms_or_points),
                                       cmocka_unit_test(hooks_for_all_or_for_each),
                                       cmocka_unit_test(how_much),
                                       cmocka_unit_test(the_rest_of_the_options),
                                       cmocka_unit_test(mistakes_are_named)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
