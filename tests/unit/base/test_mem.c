#include "cm.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"

static void zero_bytes_are_a_pointer(void **state)
{
    (void)state;
    void *a = qs_malloc(0);
    void *b = qs_calloc(0, 8);
    assert_non_null(a);
    assert_non_null(b);
    assert_ptr_not_equal(a, b);
    a = qs_realloc(a, 0);
    assert_non_null(a);
    free(a);
    free(b);
}

static void calloc_is_zeroed(void **state)
{
    (void)state;
    unsigned char *a = qs_calloc(33, 3);
    for (size_t i = 0; i < 99; i++)
        assert_int_equal(a[i], 0);
    free(a);
}

static void strings_are_copied(void **state)
{
    (void)state;
    char *a = qs_strdup("abc");
    char *b = qs_strndup("abc", 2);
    char *c = qs_asprintf("%s-%d", "x", 3), *empty = qs_asprintf("%s", "");
    assert_string_equal(empty, "");
    free(empty);
    assert_string_equal(a, "abc");
    assert_string_equal(b, "ab");
    assert_string_equal(c, "x-3");
    assert_null(qs_strdup(NULL));
    assert_null(qs_strndup(NULL, 3));
    free(a);
    free(b);
    free(c);
}

static void an_overflow_ends_the_program_with_one_line(void **state)
{
    (void)state;
    int fds[2];
    assert_int_equal(pipe(fds), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        dup2(fds[1], STDERR_FILENO);
        signal(SIGABRT, SIG_DFL);
        volatile size_t many = SIZE_MAX / 4;
        free(qs_calloc(many, 8));
        _exit(0);
    }
    close(fds[1]);
    char line[200] = "";
    size_t n = 0;
    for (ssize_t got; n < sizeof line - 1 && (got = read(fds[0], line + n, sizeof line - 1 - n)) > 0;)
        n += (size_t)got;
    close(fds[0]);
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGABRT);
    assert_string_equal(line, "quiesce: out of memory\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zero_bytes_are_a_pointer),
        cmocka_unit_test(calloc_is_zeroed),
        cmocka_unit_test(strings_are_copied),
        cmocka_unit_test(an_overflow_ends_the_program_with_one_line),
    };
    return cmocka_run_group_tests_name("mem", tests, NULL, NULL);
}
