/* A tracer as a process: what its words become, how it ends, and what is said of it, to the word. */
#include "linux/trace.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { TARGET = 4242, WORD_BYTES = 8191 };

static struct qs_tracer tracer;
static struct qs_commands words;
static struct qs_port_fault fault;
static char dir[QS_TRACE_DIR_BYTES]; /* of the last one */

static bool start(const char *script, const char *cwd, const char *input)
{
    static uint8_t memory[3 * WORD_BYTES], environment[64];
    struct qs_build argv, env;
    qs_build_init(&argv, memory, sizeof memory);
    qs_build_text(&argv, qs_text_of("/bin/sh"));
    qs_build_text(&argv, qs_text_of("-c"));
    assert_true(qs_build_text(&argv, qs_text_of(script)));
    qs_build_init(&env, environment, sizeof environment);
    qs_build_text(&env, qs_text_of("PATH=/usr/bin:/bin"));
    const struct qs_msg_trace m = {.argv = qs_build_list(&argv),
                                   .env = qs_build_list(&env),
                                   .cwd = qs_text_of(cwd),
                                   .input = qs_text_of(input),
                                   .max_bytes = 1000};
    fault = (struct qs_port_fault){.code = 0};
    bool ok = qs_tracer_start(&tracer, &m, &words, TARGET, &fault);
    assert_int_equal(tracer.runs, ok);
    memcpy(dir, tracer.file.dir, sizeof dir);
    return ok;
}

static bool is_there(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0;
}

static struct qs_port_traced result(bool ends)
{
    struct qs_port_traced traced = {.there = false};
    const struct timespec pause = {.tv_nsec = 1000000};
    while (ends && !qs_tracer_reap(&tracer)) {
        nanosleep(&pause, NULL);
    }
    assert_int_equal(qs_tracer_end(&tracer, false), !ends);
    qs_tracer_result(&tracer, 0, &traced);
    assert_false(tracer.runs);
    assert_true(traced.ended_ns > 0);
    return traced;
}

static void says_how_it_ended(void **state)
{
    static const struct {
        const char *script;
        bool there;
        const char *why;
    } cases[] = {
        {"echo x >{output}", true, "the tracer: it ended with code 0"},
        {"echo hi; echo x >{output}; exit 3", true, "the tracer: it ended with code 3, and said: hi"},
        {"printf 'a\\tb\\n\\n' >&2; exit 1", false,
         "the tracer has written no file; it ended with code 1, and said: a?b"},
        {"kill -9 $$", false, "the tracer has written no file; it was ended by signal 9 (Killed)"},
        {"printf '%0200d' 0; printf 1", false,
         "the tracer has written no file; it ended with code 0, and said: "
         "0000000000000000000000000000000000000000000000000000000000000000000000000000000"
         "0000000000000000000000000000000000000000000000000000000000000000000000000000000"
         "01"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_true(start(cases[i].script, "", ""));
        struct qs_port_traced traced = result(true);
        assert_string_equal(traced.why, cases[i].why);
        assert_int_equal(traced.there, cases[i].there);
        assert_int_equal(traced.flags, 0);
    }
}

static void fills_in_its_places(void **state)
{
    const struct qs_msg_pull m = {.source = QS_PULL_TRACE, .max_bytes = 1000};
    struct qs_port_piece piece;
    char wanted[256];
    (void)state;
    assert_true(start("{ echo '{pid} {pi} {}{agent}' {output}; cat; } >{output}", "/", "given"));
    snprintf(wanted, sizeof wanted, "%d {pi} {}/proc/%d/exe %s/trace\ngiven", TARGET, (int)getpid(), dir);
    struct qs_port_traced traced = result(true);
    assert_int_equal(traced.total_bytes, strlen(wanted));
    qs_trace_file_piece(&tracer.file, &m, &piece);
    assert_int_equal(piece.n, strlen(wanted));
    assert_memory_equal(piece.bytes, wanted, piece.n);
}

static void says_why_it_does_not_start(void **state)
{
    static char word[WORD_BYTES + 2];
    (void)state;
    memset(word, ' ', sizeof word - 1);
    assert_false(start(word, "", ""));
    assert_int_equal(fault.code, E2BIG);
    assert_string_equal(fault.text, "the tracer's command: Argument list too long");
    assert_false(is_there(dir));
    word[WORD_BYTES] = '\0';
    word[0] = ':';
    assert_true(start(word, "", "")); /* as long as a word may be */
    result(true);
    assert_false(start(":", "/nowhere", ""));
    assert_int_equal(fault.code, ENOENT);
    assert_non_null(strstr(fault.text, "cannot work in the directory '/nowhere'"));
    assert_false(is_there(dir));
}

static void ends_what_it_left(void **state)
{
    (void)state;
    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
    assert_true(start("sleep 1000 & echo x >{output}", "", ""));
    struct qs_port_traced traced = result(true);
    assert_int_equal(traced.flags, QS_TRACE_LEFT_CHILDREN);
    assert_true(traced.there);
    assert_true(start("trap '' INT; echo x >{output}; while :; do sleep 1000; done", "", ""));
    char path[QS_TRACE_DIR_BYTES + 8];
    snprintf(path, sizeof path, "%s/trace", dir);
    const struct timespec pause = {.tv_nsec = 1000000};
    struct stat st = {.st_size = 0};
    while (stat(path, &st) != 0 || st.st_size == 0) { /* made by the shell, then filled */
        nanosleep(&pause, NULL);
    }
    traced = result(false); /* asked to end, it has not: it is ended */
    assert_string_equal(traced.why, "the tracer: it was ended by signal 9 (Killed)");
    for (int runs = 0; runs < 2; runs++) { /* its folder goes with the run */
        assert_true(start("sleep 1000", "", ""));
        if (!runs) {
            result(false);
        }
        assert_true(is_there(dir));
        qs_tracer_close(&tracer, 0);
        assert_false(tracer.runs);
        assert_false(is_there(dir));
        assert_int_equal(kill(-tracer.process.pid, 0), -1);
        assert_int_equal(errno, ESRCH);
    }
}

static int group_setup(void **state)
{
    (void)state;
    qs_tracer_init(&tracer, CLOCK_MONOTONIC);
    return 0;
}

static int group_teardown(void **state)
{
    (void)state;
    qs_tracer_close(&tracer, 0);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(says_how_it_ended),
        cmocka_unit_test(fills_in_its_places),
        cmocka_unit_test(says_why_it_does_not_start),
        cmocka_unit_test(ends_what_it_left),
    };
    return cmocka_run_group_tests_name("agent.tracer", tests, group_setup, group_teardown);
}
