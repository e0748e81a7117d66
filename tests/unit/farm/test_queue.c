/* Who measures next. */
#include "table.h"

#include <string.h>

static void test_first_come_first_served(void **state)
{
    (void)state;
    struct table t;
    table_init(&t);
    assert_string_equal(table_plan(&t), "");
    table_add(&t, "C", QS_TAKE_ANY, 0, false);
    table_add(&t, "C", QS_TAKE_ANY, 0, false);
    table_add(&t, "CD", QS_TAKE_ANY, 0, false);
    assert_int_equal(table_why(&t, 0), QS_WAIT_NONE); /* it may begin */
    assert_string_equal(table_plan(&t), "0:C 2:D");
    assert_int_equal(table_why(&t, 0), QS_WAIT_NONE);
    assert_int_equal(table_why(&t, 1), QS_WAIT_DEVICE_TAKEN);
    assert_int_equal(table_why(&t, 2), QS_WAIT_NONE);
    table_set(&t, 'D', true, false);
    assert_string_equal(table_plan(&t), "");
    table_set(&t, 'C', true, false);
    assert_string_equal(table_plan(&t), "1:C");
    table_done(&t);
}

static void test_one_at_a_time_on_this_host(void **state)
{
    (void)state;
    struct table t;
    table_init(&t);
    table_add(&t, "A", QS_TAKE_ANY, 0, false);
    table_add(&t, "B", QS_TAKE_ANY, 0, false);
    table_add(&t, "C", QS_TAKE_ANY, 0, false);
    assert_string_equal(table_plan(&t), "0:A 2:C");
    assert_int_equal(table_why(&t, 1), QS_WAIT_HOST_TAKEN);
    table_add(&t, "A", QS_TAKE_ANY, 0, false);
    assert_int_equal(table_why(&t, 3), QS_WAIT_DEVICE_TAKEN);
    table_set(&t, 'A', true, false); /* the host goes to who came before */
    assert_string_equal(table_plan(&t), "1:B");
    assert_int_equal(table_why(&t, 3), QS_WAIT_HOST_TAKEN);
    table_set(&t, 'B', true, false);
    assert_string_equal(table_plan(&t), "3:A");
    table_done(&t);
}

static void test_take_all_and_count(void **state)
{
    (void)state;
    struct table t;
    table_init(&t);
    table_add(&t, "ABCD", QS_TAKE_ALL, 0, false);
    table_add(&t, "D", QS_TAKE_ANY, 0, false);
    assert_string_equal(table_plan(&t), "0:A 0:C 0:D"); /* B waits for the host; it stays the first job's */
    assert_int_equal(table_why(&t, 1), QS_WAIT_DEVICE_TAKEN);
    assert_int_equal(table_why(&t, 0), QS_WAIT_HOST_TAKEN);
    table_done(&t);
    table_init(&t);
    table_add(&t, "ACD", QS_TAKE_COUNT, 2, false);
    table_add(&t, "ACD", QS_TAKE_COUNT, 2, false);
    assert_string_equal(table_plan(&t), "0:A 0:C 1:D");
    table_set(&t, 'C', true, false);
    assert_string_equal(table_plan(&t), ""); /* the second has chosen A besides, and keeps to it */
    table_set(&t, 'A', true, false);
    assert_string_equal(table_plan(&t), "1:A");
    table_done(&t);
    table_init(&t);
    table_add(&t, "CD", QS_TAKE_COUNT, 9, false);
    assert_string_equal(table_plan(&t), "0:C 0:D");
    table_done(&t);
}

/* Free devices are chosen before those that come first, and one of this host at most counts as free. */
static void test_a_choice(void **state)
{
    (void)state;
    struct table t;
    table_init(&t);
    table_set(&t, 'C', false, false);
    table_add(&t, "ABCD", QS_TAKE_COUNT, 2, false);
    assert_string_equal(table_plan(&t), "0:A 0:D");
    table_done(&t);
    table_init(&t);
    table_add(&t, "CD", QS_TAKE_ANY, 0, true);
    assert_string_equal(table_plan(&t), "0:C 0:D");
    table_set(&t, 'D', true, false);
    table_add(&t, "ABCD", QS_TAKE_COUNT, 3, false);
    assert_string_equal(table_plan(&t), "1:A 1:D"); /* and B, when the host is free */
    table_set(&t, 'A', true, false);
    assert_string_equal(table_plan(&t), "1:B");
    table_done(&t);
    table_make(&t, 6); /* B and C on this host */
    table_add(&t, "ABCD", QS_TAKE_COUNT, 3, false);
    assert_string_equal(table_plan(&t), "0:A 0:B 0:D");
    assert_null(t.jobs[0].claims);
    table_done(&t);
}

static void test_a_waiting_job_keeps_what_it_needs(void **state)
{
    (void)state;
    struct table t;
    table_init(&t);
    table_set(&t, 'C', false, false);
    table_add(&t, "CD", QS_TAKE_ALL, 0, true); /* D begins, C will */
    table_add(&t, "C", QS_TAKE_ANY, 0, false);
    assert_string_equal(table_plan(&t), "0:D");
    assert_int_equal(table_why(&t, 1), QS_WAIT_DEVICE_TAKEN); /* told as what it is: another job's */
    table_set(&t, 'C', true, false);
    assert_string_equal(table_plan(&t), "0:C");
    table_done(&t);
}

/* A device of this host that is away keeps nobody else from measuring here. */
static void test_a_device_that_is_away(void **state)
{
    (void)state;
    struct table t;
    table_init(&t);
    table_set(&t, 'A', false, false);
    table_add(&t, "A", QS_TAKE_ANY, 0, false);
    table_add(&t, "B", QS_TAKE_ANY, 0, false);
    assert_string_equal(table_plan(&t), "1:B");
    assert_int_equal(table_why(&t, 0), QS_WAIT_DEVICE_DOWN);
    table_done(&t);
}

static void test_deferred_jobs_let_others_pass(void **state)
{
    (void)state;
    struct table t;
    table_init(&t);
    table_add(&t, "C", QS_TAKE_ANY, 0, true);
    table_add(&t, "C", QS_TAKE_ANY, 0, false);
    qs_queue_defer(t.queue, &t.jobs[0], true);
    assert_string_equal(table_plan(&t), "1:C");
    assert_int_equal(table_why(&t, 0), QS_WAIT_DEFERRED);
    table_add(&t, "C", QS_TAKE_ANY, 0, false);
    qs_queue_defer(t.queue, &t.jobs[0], false);
    table_set(&t, 'C', true, false);
    assert_string_equal(table_plan(&t), "0:C"); /* it has its place again */
    qs_queue_claim(t.queue, &t.jobs[0], &t.devices[2].queue);
    qs_queue_requeue(t.queue, &t.jobs[0]);
    table_set(&t, 'C', true, false);
    assert_string_equal(table_plan(&t), "2:C"); /* or the last one */
    table_set(&t, 'C', true, false);
    assert_string_equal(table_plan(&t), "0:C");
    table_done(&t);
}

static void test_no_device_fits(void **state)
{
    (void)state;
    struct table t;
    table_init(&t);
    table_add(&t, "", QS_TAKE_ALL, 0, false);
    table_add(&t, "", QS_TAKE_ANY, 0, true); /* all of its devices are at work */
    assert_string_equal(table_plan(&t), "");
    assert_int_equal(table_why(&t, 0), QS_WAIT_DEVICE_DOWN);
    assert_int_equal(table_why(&t, 1), QS_WAIT_NONE);
    for (int w = QS_WAIT_DEFERRED; w <= QS_WAIT_DEVICE_TAKEN; w++)
        assert_true(strlen(qs_queue_wait_text((enum qs_queue_wait)w)) > 10);
    table_done(&t);
}

/* A job that waits meets a device that comes; one that goes leaves nothing behind. */
static void test_devices_come_and_go(void **state)
{
    (void)state;
    struct table t;
    table_init(&t);
    table_add(&t, "D", QS_TAKE_ANY, 0, true);
    table_add(&t, "CD", QS_TAKE_ALL, 0, false);
    qs_queue_remove_device(t.queue, &t.devices[3].queue);
    qs_queue_remove_device(t.queue, &t.devices[2].queue);
    assert_null(t.jobs[0].claims);
    assert_string_equal(table_plan(&t), "");
    assert_int_equal(table_why(&t, 1), QS_WAIT_DEVICE_DOWN);
    qs_queue_add_device(t.queue, &t.devices[3].queue, false);
    assert_string_equal(table_plan(&t), "");
    table_set(&t, 'D', true, false);
    assert_string_equal(table_plan(&t), "1:D");
    qs_queue_add_device(t.queue, &t.devices[2].queue, false);
    table_set(&t, 'C', true, false);
    assert_string_equal(table_plan(&t), ""); /* it chose when it began */
    table_done(&t);
}

/* Nothing begins on a held device, whatever happens to it meanwhile; one that has begun waits for it, and
 * others say why. */
static void test_a_held_device(void **state)
{
    (void)state;
    struct table t;
    table_make(&t, 0);
    qs_queue_hold(t.queue, &t.devices[0].queue, true);
    table_add(&t, "A", QS_TAKE_ANY, 0, false);
    table_add(&t, "AC", QS_TAKE_ANY, 0, false);
    table_add(&t, "A", QS_TAKE_ANY, 0, true);
    assert_string_equal(table_plan(&t), "1:C");
    table_set(&t, 'A', false, false);
    assert_int_equal(table_why(&t, 0), QS_WAIT_DEVICE_HELD);
    assert_int_equal(table_why(&t, 2), QS_WAIT_DEVICE_TAKEN); /* the first comes first */
    table_set(&t, 'A', true, false);
    assert_string_equal(table_plan(&t), "");
    assert_true(qs_queue_may_have(&t.jobs[0], &t.devices[0].queue));
    assert_true(qs_queue_may_have(&t.jobs[2], &t.devices[0].queue));
    assert_false(qs_queue_may_have(&t.jobs[0], &t.devices[2].queue));
    qs_queue_hold(t.queue, &t.devices[0].queue, false);
    assert_string_equal(table_plan(&t), "0:A");
    qs_queue_hold(t.queue, &t.devices[0].queue, true); /* the one that it has is not disturbed */
    table_set(&t, 'A', true, false);
    assert_string_equal(table_plan(&t), "");
    qs_queue_hold(t.queue, &t.devices[0].queue, false);
    assert_string_equal(table_plan(&t), "2:A");
    table_done(&t);
}

/* A device that fits now is found by who waits; one that fits no longer is kept by who has chosen it. */
static void test_a_device_with_other_facts(void **state)
{
    (void)state;
    struct table t;
    table_make(&t, 0);
    t.devices[0].name[0] = 'Z';
    qs_queue_refit(t.queue, &t.devices[0].queue);
    table_add(&t, "A", QS_TAKE_ANY, 0, false);
    assert_string_equal(table_plan(&t), "");
    assert_int_equal(table_why(&t, 0), QS_WAIT_DEVICE_DOWN);
    table_add(&t, "B", QS_TAKE_ANY, 0, true);
    t.devices[0].name[0] = 'A';
    qs_queue_refit(t.queue, &t.devices[0].queue);
    t.devices[1].name[0] = 'Z';
    qs_queue_refit(t.queue, &t.devices[1].queue);
    assert_string_equal(table_plan(&t), "0:A 1:B");
    table_done(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_first_come_first_served),
        cmocka_unit_test(test_one_at_a_time_on_this_host),
        cmocka_unit_test(test_take_all_and_count),
        cmocka_unit_test(test_a_choice),
        cmocka_unit_test(test_a_waiting_job_keeps_what_it_needs),
        cmocka_unit_test(test_a_device_that_is_away),
        cmocka_unit_test(test_deferred_jobs_let_others_pass),
        cmocka_unit_test(test_no_device_fits),
        cmocka_unit_test(test_devices_come_and_go),
        cmocka_unit_test(test_a_held_device),
        cmocka_unit_test(test_a_device_with_other_facts),
    };
    return cmocka_run_group_tests_name("farm queue", tests, NULL, NULL);
}
