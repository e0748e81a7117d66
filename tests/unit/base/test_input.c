/* A watched input ends once, and what others share of it stays as it is. */
#include "base/process.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/loop.h"

struct ends {
    struct qs_loop *loop;
    int seen, wanted;
    int fd; /* written to, or closed, a moment later */
    int wakes;
};

static void on_end(void *user)
{
    struct ends *e = user;
    if (++e->seen == e->wanted)
        qs_loop_stop(e->loop);
}

static void close_it(void *user)
{
    struct ends *e = user;
    e->wakes = e->seen; /* how many had ended before the end */
    assert_int_equal(close(e->fd), 0);
}

/* One byte wakes both, and one of them finds it gone. */
static void bytes_and_lost_races_are_no_end(void **state)
{
    (void)state;
    struct qs_err err = QS_ERR_INIT;
    int ends[2];
    struct ends e = {.loop = qs_loop_new_real(&err), .wanted = 2};
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    e.fd = ends[1];
    struct qs_input *one = qs_input_watch(e.loop, ends[0], on_end, &e, &err);
    struct qs_input *two = qs_input_watch(e.loop, ends[0], on_end, &e, &err);
    assert_true(one && two);
    assert_int_equal(fcntl(ends[0], F_GETFL) & O_NONBLOCK, 0);
    assert_int_equal(write(ends[1], "x", 1), 1);
    assert_non_null(qs_timer_start(e.loop, 50000000, close_it, &e));
    qs_loop_run(e.loop);
    assert_int_equal(e.wakes, 0);
    assert_int_equal(e.seen, 2);
    qs_input_stop(one);
    qs_input_stop(two);
    assert_int_equal(fcntl(ends[0], F_GETFL) & O_NONBLOCK, 0);
    assert_int_equal(close(ends[0]), 0);
    assert_int_equal(qs_loop_free(e.loop), 0);
}

static void a_socket_is_given_back_as_it_was(void **state)
{
    (void)state;
    struct qs_err err = QS_ERR_INIT;
    int ends[2];
    struct ends e = {.loop = qs_loop_new_real(&err), .wanted = 1};
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    e.fd = ends[1];
    struct qs_input *input = qs_input_watch(e.loop, ends[0], on_end, &e, &err);
    assert_non_null(input);
    assert_non_null(qs_timer_start(e.loop, 0, close_it, &e));
    qs_loop_run(e.loop);
    assert_int_equal(e.seen, 1);
    qs_input_stop(input);
    assert_int_equal(fcntl(ends[0], F_GETFL) & O_NONBLOCK, 0);
    assert_int_equal(close(ends[0]), 0);
    assert_int_equal(qs_loop_free(e.loop), 0);
}

/* As in a program that was started without standard input: the next descriptor is 0. */
static void descriptor_0_is_one_like_others(void **state)
{
    (void)state;
    struct qs_err err = QS_ERR_INIT;
    int ends[2], kept = dup(STDIN_FILENO);
    struct ends e = {.loop = qs_loop_new_real(&err), .wanted = 1};
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    e.fd = ends[1];
    close(STDIN_FILENO);
    struct qs_input *input = qs_input_watch(e.loop, ends[0], on_end, &e, &err);
    assert_non_null(input);
    assert_int_not_equal(fcntl(STDIN_FILENO, F_GETFL), -1); /* its own way to the pipe */
    assert_non_null(qs_timer_start(e.loop, 0, close_it, &e));
    qs_loop_run(e.loop);
    assert_int_equal(e.seen, 1);
    qs_input_stop(input);
    assert_int_equal(fcntl(STDIN_FILENO, F_GETFL), -1); /* and closed again */
    if (kept >= 0) {
        assert_int_equal(dup2(kept, STDIN_FILENO), STDIN_FILENO);
        close(kept);
    }
    assert_int_equal(close(ends[0]), 0);
    assert_int_equal(qs_loop_free(e.loop), 0);
}

static void what_cannot_be_watched_is_said(void **state)
{
    (void)state;
    struct qs_err err = QS_ERR_INIT;
    struct qs_loop *loop = qs_loop_new_real(&err);
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    assert_null(qs_input_watch(loop, fd, on_end, NULL, &err));
    assert_int_equal(err.code, QS_E_USAGE);
    char want[128];
    snprintf(want, sizeof want,
             "descriptor %d is not a pipe, socket or terminal: its end cannot be waited for", fd);
    assert_string_equal(err.text, want);
    assert_null(qs_input_watch(loop, fd, on_end, NULL, NULL));
    assert_int_equal(close(fd), 0);
    qs_input_stop(NULL);
    assert_int_equal(qs_loop_free(loop), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_and_lost_races_are_no_end),
        cmocka_unit_test(a_socket_is_given_back_as_it_was),
        cmocka_unit_test(descriptor_0_is_one_like_others),
        cmocka_unit_test(what_cannot_be_watched_is_said),
    };
    return cmocka_run_group_tests_name("input", tests, NULL, NULL);
}
