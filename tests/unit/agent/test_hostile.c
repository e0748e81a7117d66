/* Programs and files that could take the agent hostage: it lets none of them. */
#include "device.h"

#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define SH(script)                                                                                           \
    (const char *const[])                                                                                    \
    {                                                                                                        \
        "/bin/sh", "-c", script, NULL                                                                        \
    }
#define MS INT64_C(1000000)

static const char *const usual_env[] = {"PATH=/usr/bin:/bin", "LC_ALL=C", NULL};
static struct closed closed;

static int setup(void **state)
{
    struct device *d = malloc(sizeof *d);
    device_start(d);
    *state = d;
    return 0;
}

static int teardown(void **state)
{
    device_stop(*state);
    free(*state);
    return 0;
}

static long number_in(const char *path)
{
    char text[32] = "";
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    size_t n = fread(text, 1, sizeof text - 1, f);
    fclose(f);
    assert_true(n > 0);
    return strtol(text, NULL, 10);
}

/* Signals for its old group do not reach it where it has gone. */
static void ends_what_changed_its_group(void **state)
{
    const struct run_spec spec = {.argv =
                                      SH("exec perl -e 'setpgrp(0, getpgrp(getppid())) or die; sleep 1000'"),
                                  .env = usual_env,
                                  .limit_ns = 500 * MS};
    device_measure(*state, &spec, 1, &closed);
    assert_int_equal(closed.m.how, QS_CLOSED_DONE);
    assert_int_equal(closed.row[0].flags, QS_ITERATION_TIMED_OUT);
    assert_int_equal(closed.row[0].status, -SIGTERM);
}

/* The agent is told to end while such a process runs: both end. */
static void leaves_nobody_behind(void **state)
{
    char path[] = "/tmp/qs-agent-test-XXXXXX";
    char script[256];
    struct device *d = *state;
    struct stat st = {.st_size = 0};
    close(mkstemp(path));
    snprintf(script, sizeof script,
             "exec perl -e 'setpgrp(0, getpgrp(getppid())) or die; open F, \">\", \"%s\"; print F $$; "
             "close F; sleep 1000'",
             path);
    device_begin(d, &(struct run_spec){.argv = SH(script), .env = usual_env});
    peer_open(&d->peer, &(struct open_spec){.window = 1, .iterations = 1});
    device_expect(d, QS_MSG_ARM);
    peer_window(&d->peer, QS_MSG_QUIET, 1);
    while (stat(path, &st) == 0 && st.st_size == 0) {
        usleep(1000);
    }
    device_terminate(d);
    assert_int_equal(kill((pid_t)number_in(path), 0), -1);
    unlink(path);
    device_start(d); /* for the teardown */
}

/* /proc/PID/stat holds a process's name as it is: this one looks like the end of it, and another parent. */
static void finds_a_stray_with_a_forged_name(void **state)
{
    char path[] = "/tmp/qs-agent-test-XXXXXX";
    char script[300];
    close(mkstemp(path));
    snprintf(
        script, sizeof script,
        "setsid perl -e '$0 = \"a) S 1 (\\n\"; open F, \">\", \"%s\"; print F $$; close F; sleep 1000' & "
        "while [ ! -s %s ]; do :; done",
        path, path);
    device_measure(*state, &(struct run_spec){.argv = SH(script), .env = usual_env}, 1, &closed);
    assert_int_equal(closed.row[0].flags, QS_ITERATION_LEFT_CHILDREN);
    assert_int_equal(kill((pid_t)number_in(path), 0), -1);
    unlink(path);
}

/* The pipe is one for all iterations: what one of them does to it must not meet the next. */
static void hands_down_a_pipe_that_blocks(void **state)
{
    const struct run_spec spec = {
        .argv =
            SH("exec perl -MFcntl -e '$f = fcntl(STDOUT, F_GETFL, 0); "
               "syswrite(STDOUT, $f & O_NONBLOCK ? \"n\" : \"b\"); fcntl(STDOUT, F_SETFL, $f | O_NONBLOCK)'"),
        .env = usual_env,
        .capture = true,
        .output_max_bytes = 100};
    device_measure(*state, &spec, 3, &closed);
    assert_true(qs_text_is(closed.m.output, "bbb"));
}

static void expect_refusal(struct device *d, const struct run_spec *spec, const char *part)
{
    struct qs_msg_error m;
    char text[QS_NOTE_MAX_BYTES + 1];
    peer_run_begin(&d->peer, spec);
    const struct letter *l = device_expect(d, QS_MSG_ERROR);
    assert_int_equal(qs_msg_decode_error(l->payload, l->n, &m), 0);
    assert_int_equal(m.blame, QS_WIRE_BLAME_OPERATOR);
    qs_text_copy(m.text, text, sizeof text);
    if (!strstr(text, part)) {
        fail_msg("'%s' does not say '%s'", text, part);
    }
}

/* Opening a named pipe would wait for a writer, and the agent with it. */
static void refuses_what_is_no_input(void **state)
{
    char path[] = "/tmp/qs-agent-test-XXXXXX";
    const char *const argv[] = {"true", NULL};
    close(mkstemp(path));
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    expect_refusal(*state, &(struct run_spec){.argv = argv, .env = usual_env, .stdin_path = path},
                   "neither a file nor a device");
    expect_refusal(*state, &(struct run_spec){.argv = argv, .env = usual_env, .stdin_path = "/usr"},
                   "neither a file nor a device");
    unlink(path);
}

/* Is this descriptor of the agent another name of what the program wakes it by, and may it be waited for in a
 * read? */
static bool may_block(pid_t agent, const char *fd, const char *wake)
{
    char path[300], link[128] = "", line[64];
    unsigned flags = O_WRONLY;
    snprintf(path, sizeof path, "/proc/%d/fd/%s", (int)agent, fd);
    if (readlink(path, link, sizeof link - 1) < 0 || strcmp(link, wake) != 0) {
        return false;
    }
    snprintf(path, sizeof path, "/proc/%d/fdinfo/%s", (int)agent, fd);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    while (fgets(line, sizeof line, f)) {
        sscanf(line, "flags: %o", &flags);
    }
    fclose(f);
    return (flags & O_ACCMODE) != O_WRONLY && (flags & O_NONBLOCK) == 0;
}

/* The program has the other end of what wakes the agent: nothing that it does there makes the agent's
 * blocking. */
static void keeps_its_own_end_from_blocking(void **state)
{
    struct device *d = *state;
    const char *const argv[] = {getenv("QS_PROGRAM"), NULL};
    const char *const params[] = {"evil=block", NULL};
    const struct run_spec spec = {.argv = argv, .benchmark = "work", .params = params};
    char path[64], wake[128] = "", text[64] = "";
    device_begin(d, &spec);
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)d->agent, (int)d->agent);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    assert_non_null(fgets(text, sizeof text, f));
    fclose(f);
    snprintf(path, sizeof path, "/proc/%ld/fd/4", strtol(text, NULL, 10));
    assert_true(readlink(path, wake, sizeof wake - 1) > 0);
    snprintf(path, sizeof path, "/proc/%d/fd", (int)d->agent);
    DIR *fds = opendir(path);
    assert_non_null(fds);
    for (const struct dirent *e = readdir(fds); e; e = readdir(fds)) {
        assert_false(may_block(d->agent, e->d_name, wake));
    }
    closedir(fds);
    for (uint32_t w = 0; w < 2; w++) {
        device_open(
            d,
            &(struct open_spec){
                .window = w, .first_seq = w * 4, .iterations = 4, .phase = QS_PHASE_MEASURE, .evals = 1},
            &closed);
        assert_int_equal(closed.m.how, QS_CLOSED_DONE);
        assert_int_equal(closed.m.taints.count, 0);
    }
    peer_run_end(&d->peer);
    device_expect(d, QS_MSG_RUN_ENDED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(ends_what_changed_its_group, setup, teardown),
        cmocka_unit_test_setup_teardown(leaves_nobody_behind, setup, teardown),
        cmocka_unit_test_setup_teardown(finds_a_stray_with_a_forged_name, setup, teardown),
        cmocka_unit_test_setup_teardown(hands_down_a_pipe_that_blocks, setup, teardown),
        cmocka_unit_test_setup_teardown(refuses_what_is_no_input, setup, teardown),
        cmocka_unit_test_setup_teardown(keeps_its_own_end_from_blocking, setup, teardown),
    };
    return cmocka_run_group_tests_name("agent.hostile", tests, NULL, NULL);
}
