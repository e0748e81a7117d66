/* Which files of a command line go along, and what becomes of the words that name them. */
#include "cm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "ctl/commands/command.h"
#include "ctl/options/split.h"
#include "ctl/run/run.h"

static char *environment[] = {(char[]){"PATH=/usr/bin:/bin"}, NULL};

static void put(const char *path, const char *text, mode_t mode)
{
    FILE *f = fopen(path, "we");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(chmod(path, mode), 0);
}

/* A folder of its own, where the commands are typed: ./here below it. */
static int begin(void **state)
{
    char *root = qs_strdup("/tmp/qs-push-XXXXXX");
    char path[200];
    assert_non_null(mkdtemp(root));
    assert_int_equal(chdir(root), 0);
    assert_int_equal(mkdir("here", 0700) + mkdir("here/bin", 0700) + mkdir("other", 0700), 0);
    assert_int_equal(chdir("here"), 0);
    put("old", "old", 0700);
    put("new", "new", 0700);
    put("bin/x", "x", 0600);
    put("notes.txt", "text", 0600);
    put("../other/old", "other old", 0700);
    put("../other/notes.txt", "other text", 0600);
    snprintf(path, sizeof path, "%s/absolute", root);
    put(path, "absolute", 0700);
    *state = root;
    return 0;
}

static int end(void **state)
{
    char *root = *state, command[200];
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    assert_int_equal(chdir("/") + system(command), 0);
    free(root);
    return 0;
}

/* The job of a command line, or NULL with what is wrong. */
static json_t *job_of(const char *text, struct qs_buf *problem)
{
    const char *argv[40] = {"quiesce", "run"};
    struct qs_args args = {.argv = argv, .argc = 2, .command = "run"};
    struct qs_words words = {0};
    struct qs_split_why why;
    struct qs_run_line line = {0};
    bool help = false;
    json_t *job = NULL;
    assert_true(qs_split(text, &words, &why));
    for (size_t i = 0; i < words.count; i++)
        argv[args.argc++] = words.at[i];
    assert_true(qs_args_read(&args, 2, qs_run_options, qs_common_options, &help, problem));
    if (qs_run_read(&args, &line, problem))
        job = qs_run_document(&args, &line, "/tmp", environment, problem);
    qs_run_done(&line);
    qs_args_done(&args);
    qs_words_done(&words);
    return job;
}

/* "a: ./old | old=./old; b: ..." of the arms, then the inputs. Labels are looked at apart. */
static void shape(const json_t *job, struct qs_buf *out)
{
    const json_t *b = json_array_get(json_object_get(job, "benchmarks"), 0),
                 *arms = json_object_get(job, "arms");
    const char *name, *file;
    const json_t *word, *path;
    json_t *arm;
    size_t i;
    json_object_foreach((json_t *)(uintptr_t)arms, name, arm)
    {
        const json_t *argv = json_object_get(arm, "argv");
        qs_buf_fmt(out, "%s:", name);
        json_array_foreach(argv != NULL ? argv : json_object_get(b, "argv"), i, word)
            qs_buf_fmt(out, " %s", json_string_value(word));
        json_object_foreach(json_object_get(json_object_get(arm, "build"), "files"), file, path)
            qs_buf_fmt(out, " | %s=%s", file, json_string_value(path));
        qs_buf_str(out, "\n");
    }
    json_object_foreach(json_object_get(b, "inputs"), file, path)
        qs_buf_fmt(out, "%s=%s\n", file, json_string_value(path));
}

static void makes(const char *line, const char *wanted)
{
    QS_BUF(problem);
    QS_BUF(got);
    json_auto_t *job = job_of(line, &problem);
    assert_string_equal(problem.data, "");
    shape(job, &got);
    assert_string_equal(got.data, wanted);
}

static void refuses(const char *line, const char *part)
{
    QS_BUF(problem);
    json_auto_t *job = job_of(line, &problem);
    assert_null(job);
    if (strstr(problem.data, part) == NULL)
        fail_msg("'%s' does not say '%s'", problem.data, part);
}

static void programs_go_along_with_their_arms(void **state)
{
    QS_BUF(line);
    QS_BUF(wanted);
    makes("--on x --a ./old --b ./new", "a: ./old | old=./old\nb: ./new | new=./new\n");
    makes("--on x -- bin/x -v", "x: bin/x -v | bin/x=bin/x\n");
    makes("--on x --a ././old --b ./old", "a: ././old | old=././old\nb: ./old | old=./old\n");
    makes("--on x --a ./old --b ../other/old", "a: ./old | old=./old\nb: ./old | old=../other/old\n");
    qs_buf_fmt(&line, "--on x -- %s/absolute", (const char *)*state);
    qs_buf_fmt(&wanted, "absolute: ./absolute | absolute=%s/absolute\n", (const char *)*state);
    makes(line.data, wanted.data);
    makes("--on x -P n 1 2 -- ./old {n}", "n=1: ./old {n} | old=./old\nn=2: ./old {n} | old=./old\n");
}

static void other_files_that_are_named_are_inputs(void **state)
{
    (void)state;
    makes("--on x 'gzip -1 -c notes.txt' 'gzip -6 -c notes.txt'",
          "a: gzip -1 -c notes.txt\nb: gzip -6 -c notes.txt\nnotes.txt=notes.txt\n");
    makes("--on x 'cat ./notes.txt' 'cat ../other/notes.txt'",
          "a: cat ./notes.txt\nb: cat 2/notes.txt\nnotes.txt=./notes.txt\n2/notes.txt=../other/notes.txt\n");
    makes("--on x -- sh ./old notes.txt", "sh: sh ./old notes.txt | old=./old\nnotes.txt=notes.txt\n");
    makes("--on x --push notes.txt --push ../other/old -- ./new",
          "new: ./new | old=../other/old | new=./new\nnotes.txt=notes.txt\n");
}

static void what_is_the_devices_own_stays(void **state)
{
    (void)state;
    makes("--on x -- old", "old: old\n"); /* a name without a slash is looked for there */
    makes("--on x -- /no/such notes bin --notes.txt", "such: /no/such notes bin --notes.txt\n");
    makes("--on x --no-push -- ./old notes.txt", "old: ./old notes.txt\n");
    makes("--on x --shell sh -- './old notes.txt'", "command: sh -c ./old notes.txt\n");
    makes("-- ./old notes.txt", "old: ./old notes.txt\n");
}

/* The label says what the files of the arm are, and changes with them. */
static void a_label_stands_for_one_content(void **state)
{
    QS_BUF(problem);
    char first[80];
    (void)state;
    for (int i = 0; i < 3; i++) {
        json_auto_t *job = job_of("--on x --a ./old --b ./new", &problem);
        const char *label = json_string_value(json_object_get(
            json_object_get(json_object_get(json_object_get(job, "arms"), "a"), "build"), "label"));
        assert_int_equal(strlen(label), 4 + 12);
        assert_int_equal(strncmp(label, "old-", 4), 0);
        if (i > 0)
            assert_int_equal(strcmp(label, first) == 0, i == 1);
        snprintf(first, sizeof first, "%s", label);
        if (i == 1)
            put("old", "older", 0700);
    }
    put("old", "old", 0700);
}

static void places_are_the_devices(void **state)
{
    QS_BUF(problem);
    (void)state;
    json_auto_t *job = job_of("--on x --input notes.txt -- cat", &problem);
    const json_t *b = json_array_get(json_object_get(job, "benchmarks"), 0);
    assert_string_equal(json_string_value(json_object_get(b, "stdin")), "notes.txt");
    assert_string_equal(json_string_value(json_object_get(json_object_get(b, "inputs"), "notes.txt")),
                        "notes.txt");
    assert_null(json_object_get(b, "dir"));
    assert_null(json_object_get(b, "env"));
    assert_true(json_is_true(json_object_get(b, "env_inherit")));
    json_auto_t *far = job_of("--on x --dir /data/x --input /data/in --output ./out -- cat", &problem);
    b = json_array_get(json_object_get(far, "benchmarks"), 0);
    assert_string_equal(json_string_value(json_object_get(b, "dir")), "/data/x");
    assert_string_equal(json_string_value(json_object_get(b, "stdin")), "/data/in");
    assert_string_equal(json_string_value(json_object_get(json_object_get(b, "output"), "file")), "./out");
    assert_null(json_object_get(b, "inputs"));
}

static void what_contradicts_itself_is_refused(void **state)
{
    (void)state;
    refuses("--push notes.txt -- ./old", "--push is for another device than this machine");
    refuses("--no-push -- ./old", "--no-push is for another device than this machine");
    refuses("--on x --push notes.txt --no-push -- ./old", "--no-push sends none");
    refuses("--on x --push nothing -- ./old", "--push: nothing: No such file or directory");
    refuses("--on x --push bin -- ./old", "--push: bin: it is no regular file");
    refuses("--on x --dir /data -- ./old", "run in a directory of their own, where old is");
    refuses("--on ./old ./new", "--on takes a device, and `./old` is none");
    refuses("--on= -- ./old", "--on takes a device, and `` is none");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(programs_go_along_with_their_arms, begin, end),
        cmocka_unit_test_setup_teardown(other_files_that_are_named_are_inputs, begin, end),
        cmocka_unit_test_setup_teardown(what_is_the_devices_own_stays, begin, end),
        cmocka_unit_test_setup_teardown(a_label_stands_for_one_content, begin, end),
        cmocka_unit_test_setup_teardown(places_are_the_devices, begin, end),
        cmocka_unit_test_setup_teardown(what_contradicts_itself_is_refused, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
