/* Works beside the loop: who waits for whom, who rests while this machine is held, and who keeps the loop. */
#include "cm.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/loop.h"

enum { MANY = 9 };

struct bench {
    struct qs_loop *loop;
    int gate[2]; /* a work that waits reads a byte of it */
    atomic_int begun, asked, ended;
    atomic_bool enough;
    int told, told_before_commit;
    bool committed;
    struct qs_buf slow;
};

static int set_up(void **state)
{
    struct bench *b = test_calloc(1, sizeof *b);
    b->loop = qs_loop_new_real(NULL);
    assert_int_equal(pipe2(b->gate, O_CLOEXEC), 0);
    qs_buf_init(&b->slow);
    *state = b;
    return 0;
}

static int tear_down(void **state)
{
    struct bench *b = *state;
    assert_int_equal(qs_loop_free(b->loop), 0);
    close(b->gate[0]);
    close(b->gate[1]);
    qs_buf_done(&b->slow);
    test_free(b);
    return 0;
}

static void wait_at_gate(void *user)
{
    struct bench *b = user;
    char byte;
    b->begun++;
    assert_int_equal(read(b->gate[0], &byte, 1), 1);
}

static void open_gate(struct bench *b, size_t n)
{
    static const char bytes[MANY * 2];
    assert_int_equal(write(b->gate[1], bytes, n), (ssize_t)n);
}

static void on_told(void *user)
{
    ((struct bench *)user)->told++;
}

static void nothing(void *user)
{
    (void)user;
}

static void on_commit(void *user)
{
    struct bench *b = user;
    b->committed = true;
    b->told_before_commit = b->told;
    open_gate(b, 2 * MANY);
}

static void a_commit_waits_for_no_reader(void **state)
{
    struct bench *b = *state;
    for (int i = 0; i < MANY; i++) {
        qs_loop_work(b->loop, QS_LANE_LONG, wait_at_gate, on_told, b);
        qs_loop_work(b->loop, QS_LANE_QUICK, wait_at_gate, on_told, b);
    }
    qs_loop_work(b->loop, QS_LANE_WRITE, nothing, on_commit, b);
    qs_loop_run(b->loop);
    assert_true(b->committed);
    assert_int_equal(b->told_before_commit, 0);
    assert_int_equal(b->told, 2 * MANY);
}

static void mark(void *user)
{
    char **at = user;
    *(*at)++ = 'x';
}

static void commits_come_in_their_order(void **state)
{
    struct bench *b = *state;
    char seen[MANY + 1] = "", *at = seen; /* one thread: no lock is needed */
    for (int i = 0; i < MANY; i++)
        qs_loop_work(b->loop, QS_LANE_WRITE, mark, nothing, &at);
    qs_loop_run(b->loop);
    assert_string_equal(seen, "xxxxxxxxx");
}

static void stop_if_all(void *user)
{
    struct bench *b = user;
    if (++b->told == 2)
        qs_loop_stop(b->loop);
}

/* At most two computations at once. */
static void computations_take_turns(void **state)
{
    struct bench *b = *state;
    for (int i = 0; i < MANY; i++)
        qs_loop_work(b->loop, QS_LANE_LONG, wait_at_gate, stop_if_all, b);
    while (b->begun < 2)
        sched_yield();
    assert_true(qs_loop_is_working(b->loop));
    open_gate(b, 1);
    while (b->begun < 3)
        sched_yield();
    assert_int_equal(b->begun, 3);
    open_gate(b, MANY - 1);
    qs_loop_run(b->loop);
    qs_loop_run(b->loop);
    assert_int_equal(b->told, MANY);
}

static void ask_until_enough(void *user)
{
    struct bench *b = user;
    b->begun++;
    while (!b->enough) {
        qs_loop_rest(b->loop);
        b->asked++;
    }
    b->ended++;
}

static void poll_rested(void *user)
{
    struct bench *b = user;
    if (qs_loop_is_working(b->loop))
        (void)qs_timer_start(b->loop, 1000000, poll_rested, b);
    else
        qs_loop_stop(b->loop);
}

static void what_is_held_rests_and_nothing_begins(void **state)
{
    struct bench *b = *state;
    qs_loop_release_works(b->loop); /* which nobody has held */
    qs_loop_work(b->loop, QS_LANE_LONG, ask_until_enough, on_told, b);
    while (b->asked == 0)
        sched_yield();
    qs_loop_hold_works(b->loop);
    poll_rested(b);
    qs_loop_run(b->loop);
    qs_loop_hold_works(b->loop); /* it is a count */
    qs_loop_work(b->loop, QS_LANE_QUICK, ask_until_enough, on_told, b);
    poll_rested(b);
    qs_loop_run(b->loop);
    int asked = b->asked;
    assert_int_equal(b->begun, 1);
    qs_loop_work(b->loop, QS_LANE_WRITE, nothing, on_commit, b); /* commits are held by the store itself */
    while (!b->committed) {
        (void)qs_timer_start(b->loop, 1000000, poll_rested, b);
        qs_loop_run(b->loop);
    }
    qs_loop_release_works(b->loop);
    assert_false(qs_loop_is_working(b->loop));
    assert_int_equal(b->asked, asked);
    b->enough = true;
    qs_loop_release_works(b->loop);
    qs_loop_run(b->loop);
    assert_int_equal(b->ended, 2);
    assert_int_equal(b->told, 2);
}

static void a_loop_that_ends_holds_nobody(void **state)
{
    struct bench *b = *state;
    qs_loop_hold_works(b->loop);
    qs_loop_work(b->loop, QS_LANE_LONG, ask_until_enough, on_told, b);
    b->enough = true;
    qs_loop_rouse(b->loop);
    qs_loop_hold_works(b->loop);
    qs_loop_run(b->loop);
    assert_int_equal(b->told, 1);
}

/* ---- the watch ---- */

static void on_slow(const struct qs_loop_slow *slow, void *user)
{
    struct bench *b = user;
    assert_true(slow->cpu_ns >= 20000000);
    assert_true(slow->wall_ns >= slow->cpu_ns - 10000000); /* clocks of different grain */
    qs_buf_fmt(&b->slow, "%s %s;", strchr(slow->where, '+') ? "located" : slow->where,
               slow->doing ? slow->doing : "-");
}

static void burn_25_ms(void)
{
    struct timespec t;
    int64_t end = 0;
    do {
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
        int64_t now = (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
        end = end ? end : now + 25000000;
        if (now >= end)
            return;
    } while (true);
}

static void keep_busy(void *user)
{
    struct bench *b = user;
    qs_loop_note(b->loop, "counting");
    burn_25_ms();
}

static void sleep_long(void *user)
{
    (void)user;
    nanosleep(&(struct timespec){.tv_nsec = 30000000}, NULL);
}

static void who_keeps_the_loop_is_told(void **state)
{
    struct bench *b = *state;
    qs_loop_watch(b->loop, 20000000, on_slow, b);
    burn_25_ms();                         /* before the loop runs: no callback's */
    qs_loop_post(b->loop, sleep_long, b); /* it waits for others: no fault of its own */
    (void)qs_timer_start(b->loop, 0, keep_busy, b);
    qs_loop_post(b->loop, nothing, b);
    qs_loop_run(b->loop);
    assert_string_equal(b->slow.data, "located counting;");
}

/* ---- descriptors ---- */

struct peer {
    struct bench *b;
    int fd;
    struct qs_io *io;
    unsigned seen;
};

static void on_gone(unsigned events, void *user)
{
    struct peer *p = user;
    p->seen |= events;
    qs_io_stop(p->io);
    p->io = NULL;
}

static void a_peer_that_left_is_noticed_behind_what_it_sent(void **state)
{
    int fds[2];
    struct peer p = {.b = *state};
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds), 0);
    p.io = qs_io_start(p.b->loop, fds[0], QS_IO_GONE, on_gone, &p, NULL);
    assert_non_null(p.io);
    assert_int_equal(write(fds[1], "G", 1), 1);
    close(fds[1]);
    qs_loop_run(p.b->loop);
    assert_true(p.seen & QS_IO_GONE);
    close(fds[0]);
}

static void on_child(int exit_code, int term_signal, void *user)
{
    assert_int_equal(term_signal, 0);
    *(int *)user = exit_code;
}

static void children_keep_the_limit_of_descriptors(void **state)
{
    struct bench *b = *state;
    struct rlimit before, now;
    int code = -1;
    char script[128];
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    if (before.rlim_cur > 512) {
        before.rlim_cur = 512;
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    }
    assert_int_equal(qs_loop_allow_files(b->loop, (size_t)before.rlim_cur + 1), before.rlim_cur + 1);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &now), 0);
    assert_int_equal(now.rlim_cur, before.rlim_cur + 1);
    snprintf(script, sizeof script, "read x; test $(ulimit -n) = %lu", (unsigned long)before.rlim_cur);
    const char *const argv[] = {"sh", "-c", script, NULL};
    const struct qs_spawn spec = {.argv = argv, .fd = {b->gate[0], -1, -1}};
    assert_non_null(qs_child_start(b->loop, &spec, on_child, &code, NULL));
    assert_int_equal(write(b->gate[1], "\n", 1), 1); /* now it looks */
    qs_loop_run(b->loop);
    assert_int_equal(code, 0);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_commit_waits_for_no_reader),
        CASE(commits_come_in_their_order),
        CASE(computations_take_turns),
        CASE(what_is_held_rests_and_nothing_begins),
        CASE(a_loop_that_ends_holds_nobody),
        CASE(who_keeps_the_loop_is_told),
        CASE(a_peer_that_left_is_noticed_behind_what_it_sent),
        CASE(children_keep_the_limit_of_descriptors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
