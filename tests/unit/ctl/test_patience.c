/* What is said while no answer comes. */
#include "cm.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ctl/client/patience.h"

#define S INT64_C(1000000000)

static void it_is_said_again_with_longer_pauses(void **state)
{
    (void)state;
    static const int64_t said_s[] = {3, 6, 12, 24, 48, 96, 192, 384, 768, 1368, 1968};
    struct qs_patience p;
    struct qs_buf out;
    size_t n = 0;
    qs_buf_init(&out);
    qs_patience_begin(&p, 100 * S);
    for (int64_t s = 0; s < 2000; s++) {
        qs_buf_clear(&out);
        if (!qs_patience_line(&p, (100 + s) * S, (5000 + s) * S, 0, &out))
            continue;
        assert_true(n < sizeof said_s / sizeof *said_s);
        assert_int_equal(s, said_s[n++]);
    }
    assert_int_equal(n, sizeof said_s / sizeof *said_s);
    qs_buf_done(&out);
}

static void it_says_since_when_and_why(void **state)
{
    (void)state;
    struct qs_patience p;
    struct qs_buf out;
    setenv("TZ", "UTC", 1);
    tzset();
    qs_buf_init(&out);
    qs_patience_begin(&p, 100 * S);
    assert_false(qs_patience_line(&p, 103 * S - 1, 86403 * S, 0, &out));
    assert_int_equal(out.len, 0);
    assert_true(qs_patience_line(&p, 103 * S, 86403 * S, 0, &out));
    assert_true(qs_patience_line(&p, 107 * S, 86407 * S, 4711, &out));
    assert_true(qs_patience_line(&p, 120 * S, 86420 * S, 1, &out)); /* of a container */
    assert_string_equal(
        out.data,
        "  no answer since 00:00:00 (3 s): a daemon that measures on this machine answers after the window\n"
        "  still no answer, since 00:00:00 (7 s): the daemon is stopped; `kill -CONT 4711` resumes it\n"
        "  still no answer, since 00:00:00 (20 s): the daemon is stopped; `kill -CONT 1` resumes it\n");
    qs_buf_done(&out);
}

static void a_stopped_process_is_seen(void **state)
{
    (void)state;
    int pair[2], status;
    assert_int_equal(qs_patience_stopped(-1), 0);
    pid_t pid = fork();
    if (pid == 0) { /* whoever makes the pair is its peer */
        _exit(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0 && qs_patience_stopped(pair[0]) == 0 ? 0 : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    pid = fork();
    if (pid == 0) { /* looks at its parent while that is stopped */
        pid_t parent = getppid(), seen = 0;
        kill(parent, SIGSTOP);
        for (int i = 0; i < 3000 && seen == 0; i++) {
            seen = qs_patience_stopped(pair[0]);
            usleep(10000);
        }
        kill(parent, SIGCONT);
        _exit(seen == parent ? 0 : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    close(pair[0]);
    close(pair[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_said_again_with_longer_pauses),
        cmocka_unit_test(it_says_since_when_and_why),
        cmocka_unit_test(a_stopped_process_is_seen),
    };
    return cmocka_run_group_tests_name("patience", tests, NULL, NULL);
}
