/* Whole texts from words: what a command line of `quiesce run` makes of the job (tests/golden/ctl/run.txt),
 * and what events say while it runs (events.txt). In both a line with `$` or `>` is a case, and what follows
 * it is written anew with QS_GOLDEN_WRITE=1. */
#include "cm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "ctl/commands/command.h"
#include "ctl/progress.h"
#include "ctl/run/run.h"
#include "ctl/options/split.h"
#include "pages.h"

static const char *folder; /* argv[1] */

static char *environment[] = {(char[]){"PATH=/usr/bin:/bin"},
                              (char[]){"LANG=C"},
                              (char[]){"LC_ALL=C"},
                              (char[]){"OTHER={x}"},
                              (char[]){"=odd"},
                              (char[]){"_=/usr/bin/quiesce"},
                              (char[]){"_X=1"},
                              NULL};

/* The job as lines, or the problem. */
static struct lines job_of(const char *line)
{
    enum { WORDS_MOST = 200 };
    struct qs_words words = {0};
    struct qs_split_why why;
    struct qs_run_line given = {0};
    struct qs_buf out;
    const char *argv[WORDS_MOST + 2] = {"quiesce", "run"};
    struct qs_args args = {.argv = argv, .argc = 2, .command = "run"};
    bool help = false;
    qs_buf_init(&out);
    if (line[0] != '\0' && !qs_split(line, &words, &why))
        fail_msg("%s: %s", line, why.what);
    for (size_t i = 0; i < words.count && i < WORDS_MOST; i++)
        argv[args.argc++] = words.at[i];
    if (qs_args_read(&args, 2, qs_run_options, qs_common_options, &help, &out) &&
        qs_run_read(&args, &given, &out)) {
        json_t *job = qs_run_document(&args, &given, "/tmp", environment, &out);
        char *text = job != NULL ? json_dumps(job, JSON_INDENT(1)) : NULL;
        qs_buf_str(&out, text != NULL ? text : "");
        free(text);
        json_decref(job);
    }
    qs_run_done(&given);
    qs_args_done(&args);
    qs_words_done(&words);
    return split_lines(qs_buf_take(&out));
}

/* Each job as it differs from the plainest; the first case is that one as a whole. */
static void every_command_line_makes_its_job(void **state)
{
    char path[4096];
    struct qs_buf got;
    (void)state;
    setenv("PATH", "/usr/bin:/bin", 1);
    snprintf(path, sizeof(path), "%s/run.txt", folder);
    struct lines cases = split_lines(read_file(path)), none = {0};
    struct lines plainest = job_of("-- true");
    qs_buf_init(&got);
    for (size_t i = 0; i < cases.count; i++) {
        if (cases.at[i][0] != '$')
            continue;
        struct lines job = job_of(cases.at[i] + 2);
        qs_buf_fmt(&got, "%s\n", cases.at[i]);
        add_difference(i == 0 ? &none : &plainest, &job, &got);
        lines_done(&job);
    }
    assert_true(got.len > 0);
    check_golden(folder, "run.txt", &got);
    qs_buf_done(&got);
    lines_done(&plainest);
    lines_done(&cases);
}

/* `> KIND JSON`: what it says and stays (+), the line now (~), and the end (=). */
static void tell(struct qs_progress *p, const char *line, struct qs_buf *out)
{
    size_t n = strcspn(line, " ");
    char *kind = qs_strndup(line, n);
    json_t *data = json_loads(line + n, 0, NULL);
    if (data == NULL)
        fail_msg("%s: no JSON", line);
    qs_progress_on_event(p, kind, data);
    struct lines notes = split_lines(qs_strdup(p->notes.data));
    for (size_t i = 0; i < notes.count; i++)
        qs_buf_fmt(out, "+ %s\n", notes.at[i]);
    qs_buf_clear(&p->notes);
    if (p->line.len > 0)
        qs_buf_fmt(out, "~ %s\n", p->line.data);
    if (p->ended || p->exit >= 0)
        qs_buf_fmt(out, "= %d %s %s%s\n", p->exit, p->ended ? p->state : "-", p->reason,
                   p->fail_on_regression ? " (a regression fails)" : "");
    lines_done(&notes);
    json_decref(data);
    free(kind);
}

/* `$ live`, `$ plain` and `$ quiet` begin anew. */
static void every_event_says_what_it_should(void **state)
{
    char path[4096];
    struct qs_buf got;
    struct qs_progress p;
    (void)state;
    snprintf(path, sizeof(path), "%s/events.txt", folder);
    struct lines cases = split_lines(read_file(path));
    qs_buf_init(&got);
    qs_progress_init(&p, true, false);
    for (size_t i = 0; i < cases.count; i++) {
        const char *line = cases.at[i];
        if (line[0] != '$' && line[0] != '>')
            continue;
        qs_buf_fmt(&got, "%s\n", line);
        if (line[0] == '>') {
            tell(&p, line + 2, &got);
            continue;
        }
        qs_progress_done(&p);
        qs_progress_init(&p, strcmp(line, "$ live") == 0, strcmp(line, "$ quiet") == 0);
    }
    qs_progress_done(&p);
    assert_true(got.len > 0);
    check_golden(folder, "events.txt", &got);
    qs_buf_done(&got);
    lines_done(&cases);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_command_line_makes_its_job),
                                       cmocka_unit_test(every_event_says_what_it_should)};
    if (argc != 2)
        return 2;
    folder = argv[1];
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return getenv("QS_GOLDEN_WRITE") != NULL ? 1 : failed;
}
