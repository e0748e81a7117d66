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

/* Room for each item in turn, what stands in the list is kept, also where it shrank in between; what it has
 * room for is what the address sanitizer sees. */
static void lists_grow_one_by_one(void **state)
{
    (void)state;
    uint32_t *list = NULL;
    size_t moves = 0;
    for (uint32_t i = 0; i < 1000; i++) {
        uint32_t *grown = qs_grow(list, i, sizeof *list);
        moves += (i & (i - 1)) == 0;
        if ((i & (i - 1)) != 0)
            assert_ptr_equal(grown, list);
        list = grown;
        list[i] = i;
    }
    assert_int_equal(moves, 11); /* 0, 1, 2, 4, ... 512 */
    for (uint32_t i = 0; i < 1000; i++)
        assert_int_equal(list[i], i);
    for (uint32_t i = 3; i < 40; i++) { /* of the thousand three are left */
        list = qs_grow(list, i, sizeof *list);
        list[i] = 2 * i;
    }
    assert_int_equal(list[2], 2);
    assert_int_equal(list[39], 78);
    free(list);
}

static void ends_with_one_line(void (*run)(void))
{
    int fds[2];
    assert_int_equal(pipe(fds), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        dup2(fds[1], STDERR_FILENO);
        signal(SIGABRT, SIG_DFL);
        run();
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

static void too_many_zeroed(void)
{
    volatile size_t many = SIZE_MAX / 4;
    free(qs_calloc(many, 8));
}

static void too_many_in_a_list(void)
{
    volatile size_t many = (SIZE_MAX >> 4) + 1; /* twice as many of 8 bytes are none */
    free(qs_grow(NULL, many, 8));
}

static void an_overflow_ends_the_program_with_one_line(void **state)
{
    (void)state;
    ends_with_one_line(too_many_zeroed);
    ends_with_one_line(too_many_in_a_list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zero_bytes_are_a_pointer),
        cmocka_unit_test(calloc_is_zeroed),
        cmocka_unit_test(strings_are_copied),
        cmocka_unit_test(lists_grow_one_by_one),
        cmocka_unit_test(an_overflow_ends_the_program_with_one_line),
    };
    return cmocka_run_group_tests_name("mem", tests, NULL, NULL);
}
