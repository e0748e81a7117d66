/* What is a program, and which one lies beside this one. */
#include "cm.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/process.h"
#include "base/mem.h"

static void a_program_is_a_file_that_may_be_executed(void **state)
{
    char path[] = "/tmp/qs-program-XXXXXX";
    int fd = mkstemp(path);
    (void)state;
    assert_true(fd >= 0 && close(fd) == 0);
    assert_int_equal(chmod(path, 0600), 0);
    assert_false(qs_program_is(path));
    assert_int_equal(chmod(path, 0700), 0);
    assert_true(qs_program_is(path));
    assert_int_equal(unlink(path), 0);
    assert_false(qs_program_is(path));
    assert_false(qs_program_is("/tmp"));
}

static void the_first_place_that_has_one_counts(void **state)
{
    char self[4096] = "";
    (void)state;
    assert_in_range(readlink("/proc/self/exe", self, sizeof self - 1), 2, sizeof self - 1);
    char *slash = strrchr(self, '/'), *again = qs_asprintf("./%s", slash + 1);
    char *want = qs_asprintf("%.*s/%s", (int)(slash - self), self, again);
    const char *const later[] = {"no-such-program", ".", again, slash + 1, NULL};
    const char *const none[] = {"no-such-program", ".", NULL};
    char *found = qs_program_beside(later, "from PATH"), *otherwise = qs_program_beside(none, "from PATH");
    assert_string_equal(found, want);
    assert_string_equal(otherwise, "from PATH");
    assert_null(qs_program_beside(none, NULL));
    free(found);
    free(otherwise);
    free(want);
    free(again);
}

/* What is read lies between two readings by another way. */
static void a_clock_counts_nanoseconds(void **state)
{
    struct timespec before, after;
    (void)state;
    clock_gettime(CLOCK_REALTIME, &before);
    int64_t now_ns = qs_clock_ns(CLOCK_REALTIME);
    clock_gettime(CLOCK_REALTIME, &after);
    assert_true(now_ns >= before.tv_sec * INT64_C(1000000000) + before.tv_nsec);
    assert_true(now_ns <= after.tv_sec * INT64_C(1000000000) + after.tv_nsec);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_is_a_file_that_may_be_executed),
        cmocka_unit_test(the_first_place_that_has_one_counts),
        cmocka_unit_test(a_clock_counts_nanoseconds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
