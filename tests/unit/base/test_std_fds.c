/* A process that was started with closed descriptors. Each case looks from within a child: this one's output
 * is needed. */
#include "base/process.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* Closes those of 0, 1, 2 whose bit is set, fills them; exits with the bits of what is open then, plus 8
 * where the next file still gets a low number. */
static int open_after(unsigned closed)
{
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        int bits = 0;
        for (int fd = 0; fd <= 2; fd++)
            if (closed >> fd & 1)
                (void)close(fd);
        bool ok = qs_std_fds_fill();
        for (int fd = 0; fd <= 2; fd++)
            bits |= fcntl(fd, F_GETFD) == 0 ? 1 << fd : 0;
        bits |= open("/dev/null", O_RDONLY | O_CLOEXEC) <= 2 ? 8 : 0;
        _exit(ok ? bits : 16);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void fills_each_combination(void **state)
{
    (void)state;
    for (unsigned closed = 0; closed < 8; closed++)
        assert_int_equal(open_after(closed), 7);
}

static void keeps_what_is_open(void **state)
{
    (void)state;
    int fds[2];
    char byte = 0;
    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        dup2(fds[1], STDOUT_FILENO);
        (void)close(STDIN_FILENO);
        bool ok = qs_std_fds_fill() && write(STDOUT_FILENO, "x", 1) == 1 && read(STDIN_FILENO, &byte, 1) == 0;
        _exit(ok ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_int_equal(read(fds[0], &byte, 1), 1);
    assert_int_equal(byte, 'x');
    (void)close(fds[0]);
    (void)close(fds[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fills_each_combination),
        cmocka_unit_test(keeps_what_is_open),
    };
    return cmocka_run_group_tests_name("base.std_fds", tests, NULL, NULL);
}
