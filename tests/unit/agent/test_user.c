/* What a program sees that runs as a user of the device. */
#include "device.h"

#include <pwd.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const char *const usual_env[] = {"PATH=/usr/bin:/bin", "LC_ALL=C", NULL};
static struct closed closed;

static int setup(void **state)
{
    struct device *d = malloc(sizeof *d);
    device_start(d);
    *state = d;
    return 0;
}

static int teardown(void **state)
{
    device_stop(*state);
    free(*state);
    return 0;
}

/* Whom it runs as has a home, a name and a shell of his own; what the job sets itself stands. */
static void has_that_users_environment(void **state)
{
    static const char *const argv[] = {"/usr/bin/env", NULL};
    static const char *const with_home[] = {"HOMER=1", "HOME=/given", "USER=", NULL};
    const struct passwd *own = getpwuid(geteuid());
    char number[16], expected[512];
    struct run_spec spec = {
        .argv = argv, .env = usual_env, .user = number, .capture = true, .output_max_bytes = 500};
    assert_non_null(own);
    snprintf(number, sizeof number, "%u", (unsigned)geteuid());
    snprintf(expected, sizeof expected,
             "PATH=/usr/bin:/bin\nLC_ALL=C\nHOME=%s\nUSER=%s\nLOGNAME=%s\nSHELL=%s\n", own->pw_dir,
             own->pw_name, own->pw_name, own->pw_shell);
    device_measure(*state, &spec, 1, &closed);
    assert_int_equal(closed.m.output.n, strlen(expected));
    assert_memory_equal(closed.m.output.p, expected, closed.m.output.n);
    spec.env = with_home;
    snprintf(expected, sizeof expected, "HOMER=1\nHOME=/given\nUSER=\nLOGNAME=%s\nSHELL=%s\n", own->pw_name,
             own->pw_shell);
    device_measure(*state, &spec, 1, &closed);
    assert_int_equal(closed.m.output.n, strlen(expected));
    assert_memory_equal(closed.m.output.p, expected, closed.m.output.n);
    if (geteuid() == 0) {
        spec.env = usual_env;
        snprintf(number, sizeof number, "54321");
        device_measure(*state, &spec, 1, &closed);
        assert_true(qs_text_is(closed.m.output, "PATH=/usr/bin:/bin\nLC_ALL=C\nHOME=/\nUSER=54321\n"
                                                "LOGNAME=54321\nSHELL=/bin/sh\n"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(has_that_users_environment, setup, teardown)};
    return cmocka_run_group_tests_name("agent.user", tests, NULL, NULL);
}
