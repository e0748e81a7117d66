/* Who measures next. Devices are letters, jobs are lines; what starts comes out as "0:A 1:C". */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "farm/queue.h"

enum { DEVICES = 4, JOBS = 6 };

struct table {
    struct qs_queue_device devices[DEVICES]; /* A, B: on this host; C, D: elsewhere */
    struct qs_queue_job jobs[JOBS];
    bool fits[JOBS][DEVICES];
    size_t job_count;
    bool local_busy;
    enum qs_queue_wait waits[JOBS];
    char starts[64];
};

static void table_init(struct table *t)
{
    *t = (struct table){0};
    for (size_t d = 0; d < DEVICES; d++)
        t->devices[d] = (struct qs_queue_device){.ready = true, .local = d < 2};
}

/* A job for the devices named by letters; started: it has them already and they have not begun. */
static void add(struct table *t, const char *devices, enum qs_job_take take, uint32_t count, bool started)
{
    size_t j = t->job_count++;
    for (const char *c = devices; *c; c++)
        t->fits[j][*c - 'A'] = true;
    t->jobs[j] = (struct qs_queue_job){.id = (int64_t)j + 1,
                                       .take = take,
                                       .take_count = count,
                                       .started = started,
                                       .matches = t->fits[j],
                                       .pending = t->fits[j]};
}

static const char *plan(struct table *t, int64_t now_ns)
{
    struct qs_queue_start starts[DEVICES];
    size_t n =
        qs_queue_plan(t->jobs, t->job_count, t->devices, DEVICES, t->local_busy, now_ns, starts, t->waits);
    size_t at = 0;
    t->starts[0] = '\0';
    assert_in_range(n, 0, DEVICES);
    for (size_t i = 0; i < n; i++)
        at += (size_t)snprintf(t->starts + at, sizeof t->starts - at, "%s%zu:%c", i ? " " : "", starts[i].job,
                               (char)('A' + starts[i].device));
    return t->starts;
}

static void test_first_come_first_served(void **state)
{
    (void)state;
    struct table t;
    table_init(&t);
    assert_string_equal(plan(&t, 0), "");
    add(&t, "C", QS_TAKE_ANY, 0, false);
    add(&t, "C", QS_TAKE_ANY, 0, false);
    add(&t, "CD", QS_TAKE_ANY, 0, false);
    assert_string_equal(plan(&t, 0), "0:C 2:D");
    assert_int_equal(t.waits[0], QS_WAIT_NONE);
    assert_int_equal(t.waits[1], QS_WAIT_DEVICE_TAKEN);
    assert_int_equal(t.waits[2], QS_WAIT_NONE);
}

static void test_one_at_a_time_on_this_host(void **state)
{
    (void)state;
    struct table t;
    table_init(&t);
    add(&t, "A", QS_TAKE_ANY, 0, false);
    add(&t, "B", QS_TAKE_ANY, 0, false);
    add(&t, "C", QS_TAKE_ANY, 0, false);
    assert_string_equal(plan(&t, 0), "0:A 2:C");
    assert_int_equal(t.waits[1], QS_WAIT_HOST_TAKEN);
    t.local_busy = true; /* a job measures here already */
    assert_string_equal(plan(&t, 0), "2:C");
    assert_int_equal(t.waits[0], QS_WAIT_HOST_TAKEN);
}

static void test_take_all_and_count(void **state)
{
    (void)state;
    struct table t;
    table_init(&t);
    add(&t, "ABCD", QS_TAKE_ALL, 0, false);
    add(&t, "D", QS_TAKE_ANY, 0, false);
    assert_string_equal(plan(&t, 0), "0:A 0:C 0:D"); /* B waits for the host; it stays the first job's */
    assert_int_equal(t.waits[1], QS_WAIT_DEVICE_TAKEN);
    table_init(&t);
    add(&t, "ACD", QS_TAKE_COUNT, 2, false);
    add(&t, "ACD", QS_TAKE_COUNT, 2, false);
    assert_string_equal(plan(&t, 0), "0:A 0:C 1:D");
    table_init(&t);
    add(&t, "CD", QS_TAKE_COUNT, 9, false);
    assert_string_equal(plan(&t, 0), "0:C 0:D");
}

static void test_a_waiting_job_keeps_what_it_needs(void **state)
{
    (void)state;
    struct table t;
    table_init(&t);
    t.devices[2].ready = false;
    add(&t, "CD", QS_TAKE_ALL, 0, true); /* D begins, C will */
    add(&t, "C", QS_TAKE_ANY, 0, false);
    assert_string_equal(plan(&t, 0), "0:D");
    assert_int_equal(t.waits[1], QS_WAIT_DEVICE_TAKEN); /* told as what it is: another job's */
    t.devices[2].ready = true;
    assert_string_equal(plan(&t, 0), "0:C 0:D");
}

/* A device of this host that is away keeps nobody else from measuring here. */
static void test_a_device_that_is_away(void **state)
{
    (void)state;
    struct table t;
    table_init(&t);
    t.devices[0].ready = false;
    add(&t, "A", QS_TAKE_ANY, 0, false);
    add(&t, "B", QS_TAKE_ANY, 0, false);
    assert_string_equal(plan(&t, 0), "1:B");
    assert_int_equal(t.waits[0], QS_WAIT_DEVICE_DOWN);
}

static void test_deferred_jobs_let_others_pass(void **state)
{
    (void)state;
    struct table t;
    table_init(&t);
    add(&t, "C", QS_TAKE_ANY, 0, true);
    add(&t, "C", QS_TAKE_ANY, 0, false);
    t.jobs[0].not_before_ns = 100;
    assert_string_equal(plan(&t, 99), "1:C");
    assert_int_equal(t.waits[0], QS_WAIT_DEFERRED);
    assert_string_equal(plan(&t, 100), "0:C"); /* and has its place again */
}

static void test_no_device_fits(void **state)
{
    (void)state;
    struct table t;
    table_init(&t);
    add(&t, "", QS_TAKE_ALL, 0, false);
    add(&t, "", QS_TAKE_ANY, 0, true); /* all of its devices are at work */
    assert_string_equal(plan(&t, 0), "");
    assert_int_equal(t.waits[0], QS_WAIT_DEVICE_DOWN);
    assert_int_equal(t.waits[1], QS_WAIT_NONE);
    for (int w = QS_WAIT_DEFERRED; w <= QS_WAIT_HOST_TAKEN; w++)
        assert_true(strlen(qs_queue_wait_text((enum qs_queue_wait)w)) > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_first_come_first_served),
        cmocka_unit_test(test_one_at_a_time_on_this_host),
        cmocka_unit_test(test_take_all_and_count),
        cmocka_unit_test(test_a_waiting_job_keeps_what_it_needs),
        cmocka_unit_test(test_a_device_that_is_away),
        cmocka_unit_test(test_deferred_jobs_let_others_pass),
        cmocka_unit_test(test_no_device_fits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
