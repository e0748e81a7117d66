/* What holds in real time only: descriptors, signals, work on the pool. */
#include "cm.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/loop.h"

struct side {
    struct qs_loop *loop;
    struct qs_io *io;
    int fd;
    int peer;
    unsigned seen;
    int calls;
    int most;
    struct qs_buf got;
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

static void side_init(struct side *s, void **state)
{
    int fds[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds), 0);
    *s = (struct side){.loop = *state, .fd = fds[0], .peer = fds[1], .most = 1};
    qs_buf_init(&s->got);
}

static void side_done(struct side *s)
{
    if (s->fd >= 0)
        close(s->fd);
    if (s->peer >= 0)
        close(s->peer);
    qs_buf_done(&s->got);
}

/* Reads one byte a call and stops at the end of the stream: what is left must be reported again. */
static void on_byte(unsigned events, void *user)
{
    struct side *s = user;
    char c;
    s->seen |= events;
    ssize_t n = read(s->fd, &c, 1);
    if (n == 1) {
        qs_buf_char(&s->got, c);
    } else if (n == 0) {
        qs_io_stop(s->io);
        close(s->fd); /* at once: the loop has let go of it */
        s->fd = -1;
    }
}

static void readiness_is_level_triggered_and_hang_up_reads(void **state)
{
    struct side s;
    side_init(&s, state);
    s.io = qs_io_start(s.loop, s.fd, QS_IO_READ, on_byte, &s, NULL);
    assert_non_null(s.io);
    assert_int_equal(write(s.peer, "hello", 5), 5);
    close(s.peer);
    s.peer = -1;
    qs_loop_run(s.loop);
    assert_string_equal(s.got.data, "hello");
    assert_int_equal(s.seen, QS_IO_READ);
    side_done(&s);
}

static void on_count(unsigned events, void *user)
{
    struct side *s = user;
    s->seen |= events;
    if (++s->calls >= s->most)
        qs_io_stop(s->io);
}

static void a_writable_descriptor_says_so(void **state)
{
    struct side s;
    side_init(&s, state);
    s.most = 3;
    s.io = qs_io_start(s.loop, s.fd, QS_IO_READ | QS_IO_WRITE, on_count, &s, NULL);
    qs_loop_run(s.loop);
    assert_int_equal(s.calls, 3);
    assert_int_equal(s.seen, QS_IO_WRITE);
    side_done(&s);
}

static void on_switch(unsigned events, void *user)
{
    struct side *s = user;
    s->calls++;
    if (s->calls == 1) {
        assert_int_equal(events, QS_IO_WRITE);
        assert_true(qs_io_update(s->io, QS_IO_READ, NULL));
        assert_int_equal(write(s->peer, "x", 1), 1);
        return;
    }
    assert_int_equal(events, QS_IO_READ);
    qs_io_stop(s->io);
}

static void what_is_watched_can_change(void **state)
{
    struct side s;
    side_init(&s, state);
    s.io = qs_io_start(s.loop, s.fd, QS_IO_WRITE, on_switch, &s, NULL);
    qs_loop_run(s.loop);
    assert_int_equal(s.calls, 2);
    side_done(&s);
}

static void on_resume(void *user)
{
    struct side *s = user;
    assert_int_equal(s->calls, 0);
    assert_true(qs_io_update(s->io, QS_IO_WRITE, NULL));
}

static void a_paused_descriptor_is_silent(void **state)
{
    struct side s;
    side_init(&s, state);
    s.io = qs_io_start(s.loop, s.fd, 0, on_count, &s, NULL);
    assert_non_null(s.io);
    qs_timer_start(s.loop, 2000000, on_resume, &s);
    qs_loop_run(s.loop);
    assert_int_equal(s.calls, 1);
    side_done(&s);
}

/* The writing end of a pipe without readers is in error: it fires as READ, again and again. */
static void an_error_fires_as_read_until_it_is_dealt_with(void **state)
{
    int fds[2];
    assert_int_equal(pipe2(fds, O_NONBLOCK | O_CLOEXEC), 0);
    struct side s = {.loop = *state, .fd = fds[1], .peer = -1, .most = 3};
    qs_buf_init(&s.got);
    char full[4096];
    memset(full, 0, sizeof full);
    while (write(s.fd, full, sizeof full) > 0) {
    }
    s.io = qs_io_start(s.loop, s.fd, QS_IO_WRITE, on_count, &s, NULL);
    close(fds[0]);
    qs_loop_run(s.loop);
    assert_int_equal(s.calls, 3);
    assert_int_equal(s.seen, QS_IO_READ);
    side_done(&s);
}

static void a_descriptor_may_be_watched_again_after_stop(void **state)
{
    struct side s;
    side_init(&s, state);
    s.io = qs_io_start(s.loop, s.fd, QS_IO_READ, on_count, &s, NULL);
    qs_io_stop(s.io);
    s.io = qs_io_start(s.loop, s.fd, QS_IO_WRITE, on_count, &s, NULL);
    assert_non_null(s.io);
    qs_loop_run(s.loop);
    assert_int_equal(s.seen, QS_IO_WRITE);
    side_done(&s);
}

static void what_cannot_be_watched_is_an_error(void **state)
{
    char name[] = "/tmp/qs_base_XXXXXX";
    int fd = mkostemp(name, O_CLOEXEC);
    assert_true(fd >= 0);
    unlink(name);
    struct side s = {.loop = *state};
    struct qs_err err = QS_ERR_INIT;
    assert_null(qs_io_start(*state, fd, QS_IO_READ, on_count, &s, &err));
    assert_int_equal(err.code, QS_E_IO);
    close(fd);
    err = QS_ERR_INIT;
    assert_null(qs_io_start(*state, fd, QS_IO_READ, on_count, &s, &err));
    assert_int_equal(err.code, QS_E_IO);
    qs_loop_run(*state);
    assert_int_equal(s.calls, 0);
}

static void on_post(void *user)
{
    ((struct side *)user)->most++;
}

static void on_io_post(unsigned events, void *user)
{
    struct side *s = user;
    s->seen |= events;
    s->calls++;
    assert_int_equal(s->most, s->calls); /* the post of the call before has run */
    qs_loop_post(s->loop, on_post, s);
    if (s->calls == 4)
        qs_io_stop(s->io);
}

static void posts_run_between_descriptor_events(void **state)
{
    struct side s;
    side_init(&s, state);
    s.io = qs_io_start(s.loop, s.fd, QS_IO_WRITE, on_io_post, &s, NULL);
    qs_loop_run(s.loop);
    assert_int_equal(s.most, 5);
    side_done(&s);
}

struct bell {
    struct qs_loop *loop;
    struct qs_signal *sig;
    int rung;
    int signum;
};

static void on_bell(int signum, void *user)
{
    struct bell *b = user;
    b->signum = signum;
    if (++b->rung == 2)
        qs_signal_stop(b->sig);
    else
        kill(getpid(), SIGUSR1);
}

static void signals_arrive_until_stopped(void **state)
{
    struct bell b = {.loop = *state};
    b.sig = qs_signal_start(b.loop, SIGUSR1, on_bell, &b, NULL);
    assert_non_null(b.sig);
    kill(getpid(), SIGUSR1);
    qs_loop_run(b.loop);
    assert_int_equal(b.rung, 2);
    assert_int_equal(b.signum, SIGUSR1);
}

static void a_signal_that_cannot_be_caught_is_an_error(void **state)
{
    struct bell b = {.loop = *state};
    struct qs_err err = QS_ERR_INIT;
    assert_null(qs_signal_start(b.loop, SIGKILL, on_bell, &b, &err));
    assert_int_equal(err.code, QS_E_IO);
    assert_null(qs_signal_start(b.loop, 0, on_bell, &b, &err));
}

struct worker {
    pthread_t worked_on;
    pthread_t after_on;
};

static void on_work(void *user)
{
    ((struct worker *)user)->worked_on = pthread_self();
}

static void on_after(void *user)
{
    ((struct worker *)user)->after_on = pthread_self();
}

static void work_leaves_the_thread_of_the_loop(void **state)
{
    struct worker w;
    assert_false(qs_loop_is_working(*state));
    qs_loop_work(*state, QS_LANE_QUICK, on_work, on_after, &w);
    assert_true(qs_loop_is_working(*state));
    qs_loop_run(*state);
    assert_false(qs_loop_is_working(*state));
    assert_false(pthread_equal(w.worked_on, pthread_self()));
    assert_true(pthread_equal(w.after_on, pthread_self()));
}

static void on_wait_for_byte(void *user)
{
    struct side *s = user;
    char c;
    if (read(s->fd, &c, 1) == 1)
        s->calls++;
}

static void free_waits_for_work_and_counts_it(void **state)
{
    (void)state;
    int fds[2];
    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    struct side s = {.loop = qs_loop_new_real(NULL), .fd = fds[0]};
    qs_loop_work(s.loop, QS_LANE_QUICK, on_wait_for_byte, on_post, &s);
    assert_int_equal(write(fds[1], "x", 1), 1);
    assert_int_equal(qs_loop_free(s.loop), 1);
    assert_int_equal(s.calls, 1);
    assert_int_equal(s.most, 0); /* after() was not called */
    close(fds[0]);
    close(fds[1]);
}

static void handles_that_were_left_are_counted(void **state)
{
    struct side s;
    side_init(&s, state);
    struct qs_loop *loop = qs_loop_new_real(NULL);
    struct bell b = {.loop = loop};
    qs_io_start(loop, s.fd, QS_IO_READ, on_count, &s, NULL);
    qs_io_stop(qs_io_start(loop, s.peer, QS_IO_READ, on_count, &s, NULL));
    qs_signal_start(loop, SIGUSR2, on_bell, &b, NULL);
    assert_int_equal(qs_loop_free(loop), 2);
    side_done(&s);
}

static void it_is_not_virtual(void **state)
{
    assert_false(qs_loop_is_virtual(*state));
}

#define REAL(test) cmocka_unit_test_setup_teardown(test, open_loop, close_loop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        REAL(readiness_is_level_triggered_and_hang_up_reads),
        REAL(a_writable_descriptor_says_so),
        REAL(what_is_watched_can_change),
        REAL(a_paused_descriptor_is_silent),
        REAL(an_error_fires_as_read_until_it_is_dealt_with),
        REAL(a_descriptor_may_be_watched_again_after_stop),
        REAL(what_cannot_be_watched_is_an_error),
        REAL(posts_run_between_descriptor_events),
        REAL(signals_arrive_until_stopped),
        REAL(a_signal_that_cannot_be_caught_is_an_error),
        REAL(work_leaves_the_thread_of_the_loop),
        REAL(free_waits_for_work_and_counts_it),
        REAL(handles_that_were_left_are_counted),
        REAL(it_is_not_virtual),
    };
    return cmocka_run_group_tests_name("loop_real", tests, NULL, NULL);
}
