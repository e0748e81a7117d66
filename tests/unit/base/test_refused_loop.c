/* What the system refuses the loop: it is said as what it is, and what can go on goes on. */
#include "cm.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include <uv.h>

#include "base/loop.h"

#include "refusals.h"

static int open_loop(void **state)
{
    *state = qs_loop_new_real(NULL);
    return *state ? 0 : -1;
}

static int close_loop(void **state)
{
    refuse(NULL, 0, 0);
    return qs_loop_free(*state) == 0 ? 0 : -1;
}

static void on_io(unsigned events, void *user)
{
    (void)events;
    qs_loop_stop(user);
}

static void on_signal(int signum, void *user)
{
    (void)signum;
    (void)user;
}

static void what_cannot_be_watched_now(void **state)
{
    static const struct {
        int error;
        enum qs_errc code;
    } cases[] = {{EMFILE, QS_E_RESOURCE},
                 {ENFILE, QS_E_RESOURCE},
                 {ENOMEM, QS_E_RESOURCE},
                 {EAGAIN, QS_E_RESOURCE},
                 {EPERM, QS_E_IO}};
    static const char *const names[] = {"uv_poll_init", "uv_poll_start", "uv_signal_init", "uv_signal_start"};
    static const char *const things[] = {"descriptor ", "a descriptor", "signal ", "signal "};
    int fds[2];
    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    for (size_t i = 0; i < 4 * sizeof cases / sizeof *cases; i++) {
        struct qs_err err = QS_ERR_INIT;
        char text[QS_ERR_TEXT_BYTES], number[16];
        bool io = i % 4 < 2;
        refuse(names[i % 4], 1, cases[i / 4].error);
        assert_null(io ? (void *)qs_io_start(*state, fds[0], QS_IO_READ, on_io, *state, &err)
                       : (void *)qs_signal_start(*state, SIGUSR1, on_signal, NULL, &err));
        assert_refused();
        assert_int_equal(err.code, cases[i / 4].code);
        snprintf(number, sizeof number, "%d", io ? fds[0] : SIGUSR1);
        snprintf(text, sizeof text, "cannot watch %s%s: %s", things[i % 4], i % 4 == 1 ? "" : number,
                 uv_strerror(-cases[i / 4].error));
        assert_string_equal(err.text, text);
    }
    struct qs_io *io = qs_io_start(*state, fds[1], 0, on_io, *state, NULL);
    refuse("uv_poll_start", 1, ENOMEM);
    assert_false(qs_io_update(io, QS_IO_WRITE, NULL));
    assert_true(qs_io_update(io, QS_IO_WRITE, NULL));
    qs_loop_run(*state);
    qs_io_stop(io);
    close(fds[0]);
    close(fds[1]);
}

static void a_loop_that_cannot_be_made(void **state)
{
    static const char *const names[] = {"uv_loop_init", "uv_async_init"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct qs_err err = QS_ERR_INIT;
        int before = open_descriptors();
        refuse(names[i], 1, EMFILE);
        assert_null(qs_loop_new_real(&err));
        assert_refused();
        assert_int_equal(err.code, QS_E_RESOURCE);
        assert_string_equal(err.text, "cannot make an event loop: too many open files");
        assert_int_equal(open_descriptors(), before);
    }
}

static void chance_and_limits_that_are_asked_for_again(void **state)
{
    static const unsigned char none[64];
    unsigned char bytes[64] = {0};
    struct rlimit now;
    refuse("getrandom", 1, EINTR);
    qs_loop_random(*state, bytes, sizeof bytes);
    assert_refused();
    assert_memory_not_equal(bytes, none, sizeof none);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &now), 0);
    refuse("getrlimit64", 1, EPERM);
    assert_int_equal(qs_loop_allow_files(*state, 8), 0);
    assert_int_equal(qs_loop_allow_files(*state, 8), 8); /* there are more already */
    assert_int_equal(qs_loop_allow_files(*state, (size_t)now.rlim_max + 1), now.rlim_max);
    struct rlimit raised;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &raised), 0);
    assert_int_equal(raised.rlim_cur, now.rlim_max);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &now), 0);
}

struct works {
    pthread_t on[2];
    int begun, told;
};

static void work(void *user)
{
    struct works *w = user;
    w->on[w->begun++] = pthread_self();
}

static void after(void *user)
{
    ((struct works *)user)->told++;
}

/* Without a first thread the loop's own does the work; without a second, the first does both. */
static void works_without_threads(void **state)
{
    for (int has_one = 0; has_one < 2; has_one++) {
        struct works w = {.begun = 0};
        refuse("pthread_create", has_one + 1, EAGAIN);
        qs_loop_hold_works(*state);
        qs_loop_work(*state, QS_LANE_LONG, work, after, &w);
        qs_loop_work(*state, QS_LANE_LONG, work, after, &w);
        qs_loop_release_works(*state);
        qs_loop_run(*state);
        assert_refused();
        assert_int_equal(w.begun, 2);
        assert_int_equal(w.told, 2);
        assert_int_equal(pthread_equal(w.on[0], pthread_self()) != 0, !has_one);
        assert_false(pthread_equal(w.on[1], pthread_self()));
        refuse(NULL, 0, 0);
        qs_loop_free(*state);
        *state = qs_loop_new_real(NULL);
    }
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, open_loop, close_loop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(what_cannot_be_watched_now),
        cmocka_unit_test(a_loop_that_cannot_be_made),
        CASE(chance_and_limits_that_are_asked_for_again),
        CASE(works_without_threads),
    };
    return cmocka_run_group_tests_name("refused_loop", tests, NULL, NULL);
}
