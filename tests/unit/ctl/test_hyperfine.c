/* Every option of hyperfine 1.15 to 1.20 means the same to `quiesce run`, or is refused with what to write
 * instead. What takes a value there takes one here: else it would be measured as a command. */
#include "cm.h"

#include <jansson.h>
#include <string.h>

#include "ctl/commands/command.h"
#include "ctl/run/run.h"

enum { WORDS_MAX = 8 };

struct row {
    const char *words[WORDS_MAX]; /* as they are typed, before two commands; the first is the option */
    const char *in;               /* a part of the job document; "": the document without it; NULL: refused */
    const char *told;             /* NULL, or what a refusal says */
};

#define SAME(part, ...)                                                                                      \
    {                                                                                                        \
        .words = {__VA_ARGS__}, .in = (part)                                                                 \
    }
#define REFUSED(part, ...)                                                                                   \
    {                                                                                                        \
        .words = {__VA_ARGS__}, .told = (part)                                                               \
    }

static const struct row rows[] = {
    SAME("\"warmup\":{\"iterations\":3,", "--warmup", "3"),
    SAME("\"warmup\":{\"iterations\":3,", "-w", "3"),
    SAME("\"blocks\":{\"min\":7,\"max\":200}", "--min-runs", "7"),
    SAME("\"blocks\":{\"min\":7,\"max\":200}", "-m", "7"),
    SAME("\"blocks\":{\"min\":6,\"max\":9}", "--max-runs", "9"),
    SAME("\"blocks\":{\"min\":6,\"max\":9}", "-M", "9"),
    SAME("\"blocks\":{\"min\":12,\"max\":12}", "--runs", "12"),
    SAME("\"blocks\":{\"min\":12,\"max\":12}", "-r", "12"),
    SAME("\"setup\":[\"echo\",\"s\"]", "--setup", "echo s"),
    SAME("\"setup\":[\"echo\",\"s\"]", "-s", "echo s"),
    SAME("\"prepare\":[\"echo\",\"p\"]", "--prepare", "echo p"),
    SAME("\"prepare\":[\"echo\",\"p\"]", "-p", "echo p"),
    SAME("\"conclude\":[\"echo\",\"C\"]", "--conclude", "echo C"),
    SAME("\"conclude\":[\"echo\",\"C\"]", "-C", "echo C"),
    SAME("\"cleanup\":[\"echo\",\"c\"]", "--cleanup", "echo c"),
    SAME("\"cleanup\":[\"echo\",\"c\"]", "-c", "echo c"),
    SAME("\"params\":{\"v\":[\"1\",\"2\"]}", "--parameter-scan", "v", "1", "2", "-p", "echo {v}"),
    SAME("\"params\":{\"v\":[\"-1\",\"0\"]}", "-P", "v", "-1", "0", "-p", "echo {v}"),
    SAME("\"params\":{\"v\":[\"1\",\"3\"]}", "--parameter-step-size", "2", "-P", "v", "1", "3", "-p",
         "echo {v}"),
    SAME("\"params\":{\"v\":[\"1.0\",\"1.5\"]}", "-D", "0.5", "-P", "v", "1", "1.5", "-p", "echo {v}"),
    REFUSED("add --parameter-scan VAR MIN MAX", "-D", "2"),
    SAME("\"params\":{\"v\":[\"a\",\"b\"]}", "--parameter-list", "v", "a,b", "-p", "echo {v}"),
    SAME("\"params\":{\"v\":[\"a\",\"b\"]}", "-L", "v", "a,b", "-p", "echo {v}"),
    SAME("", "--style", "none"),
    SAME("", "--style", "basic"),
    SAME("", "--style", "nocolor"),
    SAME("\"a\":{\"argv\":[\"true\"]}", "--shell", "none"),
    SAME("\"a\":{\"argv\":[\"/bin/sh\",\"-c\",\"true\"]}", "--shell", "default"),
    SAME("\"a\":{\"argv\":[\"bash\",\"-c\",\"true\"]}", "--shell", "bash"),
    SAME("\"a\":{\"argv\":[\"./own\",\"-x\",\"-c\",\"true\"]}", "--shell=./own -x"),
    REFUSED("--shell default takes /bin/sh", "--shell", "ls -l"),
    SAME("\"a\":{\"argv\":[\"bash\",\"-c\",\"true\"]}", "-S", "bash"),
    SAME("\"a\":{\"argv\":[\"/bin/bash\",\"--norc\",\"-c\",\"true\"]}", "-S", "/bin/bash --norc"),
    SAME("\"a\":{\"argv\":[\"bash\",\"-c\",\"true\"]}", "-Sbash"),
    SAME("\"a\":{\"argv\":[\"true\"]}", "-N"),
    REFUSED("keep one of them", "-N", "-S", "bash"),
    SAME("\"exit\":\"any\"", "--ignore-failure"),
    SAME("\"exit\":\"any\"", "--ignore-failure=all-non-zero"),
    SAME("\"exit\":[0,1,7]", "--ignore-failure=1,7"),
    REFUSED("write exit codes with commas, =1,2", "--ignore-failure=1,x"),
    SAME("\"exit\":\"any\"", "-i"),
    SAME("", "--time-unit", "microsecond"),
    SAME("", "--time-unit", "millisecond"),
    SAME("", "-u", "second"),
    SAME("", "--export-asciidoc", "/tmp/f"),
    SAME("", "--export-csv", "/tmp/f"),
    SAME("", "--export-json", "/tmp/f"),
    SAME("", "--export-markdown", "/tmp/f"),
    SAME("", "--export-orgmode", "-"),
    SAME("\"output\":\"capture\"", "--show-output"),
    SAME("\"output\":\"discard\"", "--output", "null"),
    SAME("\"output\":\"capture\"", "--output", "pipe"),
    SAME("\"output\":\"capture\"", "--output", "inherit"),
    SAME("\"output\":\"capture\"", "--output", "pipe", "--output=pipe"),
    REFUSED("give one for all commands", "--output", "pipe", "--output=null"),
    SAME("\"output\":{\"file\":\"/tmp/qs-no-such-log\"}", "--output", "/tmp/qs-no-such-log"),
    SAME("\"output\":{\"file\":\"/dev/null\"}", "--output", "/usr/../dev/null", "--output=/usr/../dev/null"),
    REFUSED("--shell default 'COMMAND > FILE'", "--output", "/tmp/a", "--output=/tmp/b"),
    REFUSED("or ./NAME for a file", "--output", "log"),
    REFUSED("cannot write /nowhere/log: No such file or directory", "--output", "/nowhere/log"),
    REFUSED("cannot write /tmp/: Is a directory", "--output", "/tmp/"),
    REFUSED("cannot write /usr/bin: Is a directory", "--output", "/usr/bin"),
    REFUSED("cannot be shown", "--output", "/tmp/a", "--show-output"),
    SAME("", "--input", "null"),
    SAME("\"stdin\":\"/etc/passwd\"", "--input", "/etc/passwd"),
    REFUSED("No such file", "--input", "/nowhere/at/all"),
    SAME("\"arms\":{\"one\":{\"argv\":[\"true\"]},\"b\":", "--command-name", "one"),
    SAME("\"arms\":{\"one\":{\"argv\":[\"true\"]},\"two\":", "-n", "one", "-n", "two"),
    SAME("", "--sort", "auto"),
    SAME("", "--sort", "command"),
    SAME("", "--sort", "mean-time"),
    SAME("\"arms\":{\"reference\":{\"argv\":[\"ls\"]},\"a\":{\"argv\":[\"true\"]},\"b\":", "--reference",
         "ls"),
    SAME("\"arms\":{\"old\":{\"argv\":[\"ls\"]},\"a\":", "--reference-name", "old", "--reference", "ls"),
    REFUSED("add --reference CMD", "--reference-name", "old"),
    REFUSED("write --min-runs N", "--min-benchmarking-time", "3"),
    REFUSED("--print-job shows what would be measured", "--debug-mode"),
    REFUSED("quiesce --version", "--version"),
    REFUSED("quiesce --version", "-V"),
};

/* All of them, each with the letter that it has. */
static const char *const options[] = {"--warmup",
                                      "-w",
                                      "--min-runs",
                                      "-m",
                                      "--max-runs",
                                      "-M",
                                      "--runs",
                                      "-r",
                                      "--setup",
                                      "-s",
                                      "--prepare",
                                      "-p",
                                      "--conclude",
                                      "-C",
                                      "--cleanup",
                                      "-c",
                                      "--parameter-scan",
                                      "-P",
                                      "--parameter-step-size",
                                      "-D",
                                      "--parameter-list",
                                      "-L",
                                      "--style",
                                      "--shell",
                                      "-S",
                                      "-N",
                                      "--ignore-failure",
                                      "-i",
                                      "--time-unit",
                                      "-u",
                                      "--export-asciidoc",
                                      "--export-csv",
                                      "--export-json",
                                      "--export-markdown",
                                      "--export-orgmode",
                                      "--show-output",
                                      "--output",
                                      "--input",
                                      "--command-name",
                                      "-n",
                                      "--sort",
                                      "--reference",
                                      "--reference-name",
                                      "--min-benchmarking-time",
                                      "--debug-mode",
                                      "--version",
                                      "-V"};

/* The document of the row's options and two commands; NULL with the reason in `problem`. */
static char *document_of(const struct row *row, struct qs_buf *problem)
{
    const char *argv[WORDS_MAX + 5] = {"quiesce", "run"};
    char path[] = "PATH=/usr/bin:/bin", *environment[] = {path, NULL};
    struct qs_args args = {.argv = argv, .argc = 2, .command = "run"};
    struct qs_run_line line = {0};
    bool help = false;
    char *text = NULL;
    for (size_t i = 0; i < WORDS_MAX && row->words[i] != NULL; i++)
        argv[args.argc++] = row->words[i];
    argv[args.argc++] = "true";
    argv[args.argc++] = "false";
    if (qs_args_read(&args, 2, qs_run_options, qs_common_options, &help, problem) &&
        qs_run_read(&args, &line, problem)) {
        json_t *job = qs_run_document(&args, &line, "/tmp", environment, problem);
        text = job != NULL ? json_dumps(job, JSON_COMPACT) : NULL;
        json_decref(job);
    }
    qs_run_done(&line);
    qs_args_done(&args);
    return text;
}

/* What an option swallows is no arm: the last two are the two commands. */
static void check_arms(const char *text, size_t wanted)
{
    static const char *const commands[] = {"true", "false"};
    size_t count = 0;
    const char *name;
    json_t *arm, *job = json_loads(text, 0, NULL), *arms = json_object_get(job, "arms");
    assert_int_equal(json_object_size(arms), wanted);
    json_object_foreach(arms, name, arm)
    {
        const json_t *argv = json_object_get(arm, "argv");
        const char *last = json_string_value(json_array_get(argv, json_array_size(argv) - 1));
        if (count++ >= wanted - 2)
            assert_string_equal(last, commands[count + 1 - wanted]);
    }
    json_decref(job);
}

static void each_means_the_same_or_says_what_to_write(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct qs_buf problem;
        qs_buf_init(&problem);
        char *text = document_of(&rows[i], &problem);
        if (rows[i].in == NULL) {
            if (text != NULL || strstr(problem.data, rows[i].told) == NULL)
                fail_msg("%s: `%s` is not in: %s", rows[i].words[0], rows[i].told, problem.data);
        } else {
            if (text == NULL || strstr(text, rows[i].in) == NULL)
                fail_msg("%s: `%s` is not in: %s%s", rows[i].words[0], rows[i].in, problem.data,
                         text != NULL ? text : "");
            check_arms(text, strncmp(rows[i].words[0], "--reference", 11) == 0 ? 3 : 2);
        }
        free(text);
        qs_buf_done(&problem);
    }
}

static void none_is_forgotten(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        bool found = false;
        for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++)
            found = found || strcmp(rows[k].words[0], options[i]) == 0;
        if (!found)
            fail_msg("no row tries %s", options[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_means_the_same_or_says_what_to_write),
                                       cmocka_unit_test(none_is_forgotten)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
