/* A writer process is killed at random moments (of a fixed seed); what it had acknowledged is there
 * afterwards, once, and what it sends again is taken or refused as it should be. */
#include "fixture.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 12, PER_WINDOW = 20, MAX_WINDOWS = 400 };

struct ack {
    int fd;
    uint64_t next_seq;
};

static void on_stored(const struct qs_err *err, int64_t id, void *user)
{
    (void)id;
    struct ack *ack = user;
    if (err || write(ack->fd, &ack->next_seq, sizeof ack->next_seq) != sizeof ack->next_seq)
        _exit(3);
}

/* The child: continues the run from `first_seq`, several windows in one group now and then. */
static void write_windows(const char *path, int64_t job, uint64_t first_seq, int fd)
{
    static struct ack acks[MAX_WINDOWS];
    struct fixture f = {.loop = qs_loop_new_virtual(1, 1), .job = job};
    struct qs_err err = QS_ERR_INIT;
    if (!qs_store_open(f.loop, path, NULL, &f.store, &err))
        _exit(2);
    struct qs_iteration_row rows[PER_WINDOW];
    uint64_t seq = first_seq;
    for (uint32_t w = 0; w < MAX_WINDOWS; w++, seq += PER_WINDOW) {
        struct qs_window_row window = make_window(1, w, seq, PER_WINDOW, rows);
        acks[w] = (struct ack){.fd = fd, .next_seq = seq + PER_WINDOW};
        qs_store_window(f.store, &window, on_stored, &acks[w]);
        if (w % 4 != 1)
            qs_loop_run(f.loop);
    }
    _exit(0);
}

static uint64_t run_child(struct fixture *f, uint64_t first_seq, uint64_t until, long delay_us)
{
    int fds[2];
    assert_int_equal(pipe(fds), 0);
    pid_t pid = fork();
    if (pid == 0) {
        close(fds[0]);
        write_windows(f->path, f->job, first_seq, fds[1]);
    }
    close(fds[1]);
    uint64_t acked = first_seq, got = 0;
    while (acked < until && read(fds[0], &got, sizeof got) == sizeof got)
        acked = got;
    struct timespec delay = {.tv_nsec = delay_us * 1000};
    nanosleep(&delay, NULL);
    kill(pid, SIGKILL);
    while (read(fds[0], &got, sizeof got) == sizeof got)
        acked = got;
    close(fds[0]);
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (WIFEXITED(status))
        assert_int_equal(WEXITSTATUS(status), 0);
    return acked;
}

static bool read_all(struct qs_store_reader *r, void *user, struct qs_err *err)
{
    uint64_t *count = user;
    uint8_t uid[16] = {1};
    struct qs_iterations it = {0};
    do {
        qs_iterations_free(&it);
        if (!qs_read_iterations(r, uid, *count, 1000, &it, err))
            return false;
        for (size_t i = 0; i < it.count; i++, ++*count) {
            assert_int_equal(it.at[i].seq, *count); /* each once, without a gap */
            assert_int_equal(it.at[i].duration_ns, 1001000 + (int64_t)*count);
        }
    } while (it.count > 0);
    qs_iterations_free(&it);
    return true;
}

static void nothing_acknowledged_is_lost(void **state)
{
    struct fixture *f = *state;
    struct qs_err err = QS_ERR_INIT;
    uint64_t stored = 0;
    run_begin(f, 1, 0, 1, 0);
    srandom(20260131);
    for (int round = 0; round < ROUNDS; round++) {
        fixture_close(f);
        uint64_t until = stored + (uint64_t)(random() % 30) * PER_WINDOW;
        uint64_t acked = run_child(f, stored, until, random() % 3000);
        fixture_open(f);
        uint64_t count = 0;
        assert_true(qs_store_read_now(f->store, read_all, &count, &err));
        assert_true(count >= acked);
        assert_int_equal(count % PER_WINDOW, 0);
        assert_true(count >= until);
        stored = count;
    }
    assert_true(stored > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nothing_acknowledged_is_lost, fixture_setup, fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
