/* Real processes under a real agent: each ends in a defined record. */
#include "device.h"

#include "proto/names.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define SH(script)                                                                                           \
    (const char *const[])                                                                                    \
    {                                                                                                        \
        "/bin/sh", "-c", script, NULL                                                                        \
    }
#define MS INT64_C(1000000)

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

static int64_t metric(const struct qs_row *row, enum qs_metric id)
{
    return row->values[id - 1];
}

static void measures_a_command(void **state)
{
    const struct run_spec spec = {.argv = (const char *const[]){"true", NULL}, .env = usual_env};
    device_measure(*state, &spec, 20, &closed);
    assert_int_equal(closed.m.how, QS_CLOSED_DONE);
    assert_int_equal(closed.rows, 20);
    assert_int_equal(closed.m.taints.count, 0);
    int64_t end = 0;
    for (size_t i = 0; i < closed.rows; i++) {
        assert_int_equal(closed.row[i].flags, 0);
        assert_int_equal(closed.row[i].status, 0);
        assert_true(closed.row[i].duration_ns > 0);
        assert_true(closed.row[i].start_off_ns >= end);
        end = closed.row[i].start_off_ns + closed.row[i].duration_ns;
        assert_true(metric(&closed.row[i], QS_METRIC_MAX_RSS_BYTES) > 0);
        assert_true(metric(&closed.row[i], QS_METRIC_MINOR_FAULTS) > 0);
    }
    assert_true(closed.m.closed_ns - closed.m.opened_ns >= end);
}

static void records_processor_time(void **state)
{
    const struct run_spec spec = {.argv = SH("i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done"),
                                  .env = usual_env};
    device_measure(*state, &spec, 1, &closed);
    assert_true(metric(&closed.row[0], QS_METRIC_USER_TIME_US) > 0);
    assert_true(metric(&closed.row[0], QS_METRIC_USER_TIME_US) * 1000 <= closed.row[0].duration_ns * 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(measures_a_command, setup, teardown),
        cmocka_unit_test_setup_teardown(records_processor_time, setup, teardown),
    };
    return cmocka_run_group_tests_name("agent.linux", tests, NULL, NULL);
}
