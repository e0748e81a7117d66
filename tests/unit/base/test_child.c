/* Children are real: this test runs /bin/sh. */
#include "cm.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/loop.h"

struct exit_seen {
    int count;
    int code;
    int term_signal;
    struct qs_child *child;
    struct qs_loop *loop;
};

static int open_loop(void **state)
{
    *state = qs_loop_new_real(NULL);
    return *state ? 0 : -1;
}

static int close_loop(void **state)
{
    return qs_loop_free(*state) == 0 ? 0 : -1;
}

static void on_exit_seen(int code, int term_signal, void *user)
{
    struct exit_seen *e = user;
    e->count++;
    e->code = code;
    e->term_signal = term_signal;
    qs_child_kill(e->child, SIGKILL); /* both do nothing in here */
    qs_child_stop(e->child);
}

static struct exit_seen run_spec(struct qs_loop *loop, const struct qs_spawn *spec)
{
    struct exit_seen e = {.loop = loop};
    struct qs_err err = QS_ERR_INIT;
    e.child = qs_child_start(loop, spec, on_exit_seen, &e, &err);
    assert_non_null(e.child);
    assert_true(qs_child_pid(e.child) > 0);
    qs_loop_run(loop);
    assert_int_equal(e.count, 1);
    return e;
}

/* What a shell script writes to its standard output. */
static char *output_of(struct qs_loop *loop, struct qs_spawn spec, const char *script)
{
    int fds[2];
    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    const char *const argv[] = {"/bin/sh", "-c", script, NULL};
    spec.argv = argv;
    spec.fd[1] = fds[1];
    struct exit_seen e = run_spec(loop, &spec);
    assert_int_equal(e.term_signal, 0);
    close(fds[1]);
    struct qs_buf b;
    qs_buf_init(&b);
    char part[256];
    for (ssize_t n; (n = read(fds[0], part, sizeof part)) > 0;)
        qs_buf_add(&b, part, (size_t)n);
    close(fds[0]);
    return qs_buf_take(&b);
}

#define NULL_FDS                                                                                             \
    {                                                                                                        \
        -1, -1, -1                                                                                           \
    }

static void exit_codes_are_reported(void **state)
{
    static const int codes[] = {0, 1, 77, 255};
    for (size_t i = 0; i < 4; i++) {
        char script[16];
        snprintf(script, sizeof script, "exit %d", codes[i]);
        const char *const argv[] = {"sh", "-c", script, NULL};
        struct qs_spawn spec = {.argv = argv, .fd = NULL_FDS};
        struct exit_seen e = run_spec(*state, &spec);
        assert_int_equal(e.code, codes[i]);
        assert_int_equal(e.term_signal, 0);
    }
}

static void signals_are_reported(void **state)
{
    const char *const argv[] = {"sh", "-c", "kill -TERM $$", NULL};
    struct qs_spawn spec = {.argv = argv, .fd = NULL_FDS};
    assert_int_equal(run_spec(*state, &spec).term_signal, SIGTERM);
}

static void a_child_can_be_killed(void **state)
{
    const char *const argv[] = {"sleep", "1000", NULL};
    struct qs_spawn spec = {.argv = argv, .fd = NULL_FDS};
    struct exit_seen e = {.loop = *state};
    e.child = qs_child_start(*state, &spec, on_exit_seen, &e, NULL);
    qs_child_kill(e.child, SIGKILL);
    qs_loop_run(*state);
    assert_int_equal(e.count, 1);
    assert_int_equal(e.term_signal, SIGKILL);
}

static void a_missing_program_is_an_error(void **state)
{
    const char *const argv[] = {"/nonexistent/program", NULL};
    struct qs_spawn spec = {.argv = argv, .fd = NULL_FDS};
    struct exit_seen e = {0};
    struct qs_err err = QS_ERR_INIT;
    assert_null(qs_child_start(*state, &spec, on_exit_seen, &e, &err));
    assert_int_equal(err.code, QS_E_COMMAND);
    assert_string_equal(err.text, "cannot start /nonexistent/program: no such file or directory");
    qs_loop_run(*state);
    assert_int_equal(e.count, 0);
    errno = 0;
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* and nothing is left to reap */
    assert_int_equal(errno, ECHILD);
}

static void a_missing_directory_is_named(void **state)
{
    const char *const argv[] = {"true", NULL};
    struct qs_spawn spec = {.argv = argv, .cwd = "/nonexistent/dir", .fd = NULL_FDS};
    struct exit_seen e = {0};
    struct qs_err err = QS_ERR_INIT;
    assert_null(qs_child_start(*state, &spec, on_exit_seen, &e, &err));
    assert_int_equal(err.code, QS_E_COMMAND);
    assert_non_null(strstr(err.text, "cannot enter the directory /nonexistent/dir: "));
    qs_loop_run(*state);
}

static void the_directory_is_entered(void **state)
{
    struct qs_spawn spec = {.cwd = "/", .fd = NULL_FDS};
    char *out = output_of(*state, spec, "pwd");
    assert_string_equal(out, "/\n");
    free(out);
}

static void the_environment_is_given_or_inherited(void **state)
{
    setenv("QS_TEST_INHERITED", "yes", 1);
    const char *const env[] = {"QS_TEST_GIVEN=a b", NULL};
    static const char script[] = "echo \"$QS_TEST_INHERITED,$QS_TEST_GIVEN\"";
    struct qs_spawn given = {.env = env, .fd = NULL_FDS};
    char *out = output_of(*state, given, script);
    assert_string_equal(out, ",a b\n");
    free(out);
    struct qs_spawn inherited = {.fd = NULL_FDS};
    out = output_of(*state, inherited, script);
    assert_string_equal(out, "yes,\n");
    free(out);
}

static void descriptors_are_given(void **state)
{
    int in[2], err[2];
    assert_int_equal(pipe2(in, O_CLOEXEC), 0);
    assert_int_equal(pipe2(err, O_CLOEXEC), 0);
    assert_int_equal(write(in[1], "line\n", 5), 5);
    close(in[1]);
    struct qs_spawn spec = {.fd = {in[0], -1, err[1]}};
    char *out = output_of(*state, spec, "read x; echo \"got $x\"; echo \"bad $x\" >&2");
    close(in[0]);
    close(err[1]);
    assert_string_equal(out, "got line\n");
    free(out);
    char text[32] = "";
    assert_int_equal(read(err[0], text, sizeof text - 1), 9);
    assert_string_equal(text, "bad line\n");
    close(err[0]);
}

static void what_is_not_given_is_dev_null(void **state)
{
    struct qs_spawn spec = {.fd = NULL_FDS};
    char *out = output_of(
        *state, spec, "readlink /proc/self/fd/0 >&1; readlink /proc/$$/fd/2; cat; echo lost >&2 && echo end");
    assert_string_equal(out, "/dev/null\n/dev/null\nend\n");
    free(out);
}

static void a_new_session_has_no_other_leader(void **state)
{
    static const char script[] =
        "set -- $(cut -d' ' -f1,6 /proc/$$/stat); [ $1 = $2 ] && echo own || echo shared";
    struct qs_spawn own = {.fd = NULL_FDS, .new_session = true};
    char *out = output_of(*state, own, script);
    assert_string_equal(out, "own\n");
    free(out);
    struct qs_spawn shared = {.fd = NULL_FDS};
    out = output_of(*state, shared, script);
    assert_string_equal(out, "shared\n");
    free(out);
}

static void on_poll_for_reaped(void *user)
{
    struct exit_seen *e = user;
    if (kill((pid_t)e->code, 0) == 0) /* it is there, running or a zombie */
        qs_timer_start(e->loop, 1000000, on_poll_for_reaped, e);
}

static void a_forgotten_child_is_silent_and_reaped(void **state)
{
    const char *const argv[] = {"sleep", "1000", NULL};
    struct qs_spawn spec = {.argv = argv, .fd = NULL_FDS};
    struct exit_seen e = {.loop = *state};
    struct qs_child *child = qs_child_start(*state, &spec, on_exit_seen, &e, NULL);
    e.code = (int)qs_child_pid(child);
    qs_child_kill(child, SIGKILL);
    qs_child_stop(child);
    qs_timer_start(*state, 0, on_poll_for_reaped, &e);
    qs_loop_run(*state); /* ends when the pid is gone */
    assert_int_equal(e.count, 0);
    errno = 0;
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

static void a_forgotten_child_does_not_hold_the_loop(void **state)
{
    const char *const argv[] = {"sleep", "1000", NULL};
    struct qs_spawn spec = {.argv = argv, .fd = NULL_FDS};
    struct exit_seen e = {.loop = *state};
    struct qs_child *child = qs_child_start(*state, &spec, on_exit_seen, &e, NULL);
    pid_t pid = qs_child_pid(child);
    qs_child_stop(child);
    qs_loop_run(*state);
    assert_int_equal(e.count, 0);
    assert_int_equal(kill(pid, SIGKILL), 0); /* it still lives */
    assert_int_equal(qs_loop_free(*state), 0);
    waitpid(pid, NULL, 0); /* ours, or reaped by the loop on its way out */
    *state = qs_loop_new_real(NULL);
    assert_non_null(*state);
}

static void a_child_that_was_left_is_counted(void **state)
{
    (void)state;
    const char *const argv[] = {"sleep", "1000", NULL};
    struct qs_spawn spec = {.argv = argv, .fd = NULL_FDS};
    struct exit_seen e = {.loop = qs_loop_new_real(NULL)};
    pid_t pid = qs_child_pid(qs_child_start(e.loop, &spec, on_exit_seen, &e, NULL));
    assert_int_equal(qs_loop_free(e.loop), 1);
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_int_equal(e.count, 0);
}

#define REAL(test) cmocka_unit_test_setup_teardown(test, open_loop, close_loop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        REAL(exit_codes_are_reported),
        REAL(signals_are_reported),
        REAL(a_child_can_be_killed),
        REAL(a_missing_program_is_an_error),
        REAL(a_missing_directory_is_named),
        REAL(the_directory_is_entered),
        REAL(the_environment_is_given_or_inherited),
        REAL(descriptors_are_given),
        REAL(what_is_not_given_is_dev_null),
        REAL(a_new_session_has_no_other_leader),
        REAL(a_forgotten_child_is_silent_and_reaped),
        REAL(a_forgotten_child_does_not_hold_the_loop),
        REAL(a_child_that_was_left_is_counted),
    };
    return cmocka_run_group_tests_name("child", tests, NULL, NULL);
}
