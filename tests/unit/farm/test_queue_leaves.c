/* What leaves the queue while others wait to be looked at. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "farm/queue.h"

enum { COUNT = 3 };

static const char *fact(const char *name, void *user)
{
    (void)name;
    (void)user;
    return NULL;
}

/* Each job has a claim on the device of its number. The last device is ready before the second. */
static void the_first_in_the_queue_stays_it_when_a_device_goes(void **state)
{
    (void)state;
    static const size_t ready[COUNT] = {0, 2, 1};
    struct qs_queue *queue = qs_queue_new(fact);
    struct qs_queue_device devices[COUNT] = {{.owner = NULL}};
    struct qs_queue_job jobs[COUNT] = {{.owner = NULL}};
    struct qs_queue_start start;
    for (size_t i = 0; i < COUNT; i++) {
        qs_queue_add_device(queue, &devices[i], false);
        qs_queue_add_begun(queue, &jobs[i]);
        qs_queue_claim(queue, &jobs[i], &devices[i]);
    }
    for (size_t i = 0; i < COUNT; i++)
        qs_queue_set(queue, &devices[ready[i]], true, false);
    qs_queue_remove_device(queue, &devices[0]);
    for (size_t i = 1; i < COUNT; i++) {
        assert_true(qs_queue_next(queue, &start));
        assert_ptr_equal(start.job, &jobs[i]);
        assert_ptr_equal(start.device, &devices[i]);
    }
    assert_false(qs_queue_next(queue, &start));
    qs_queue_free(queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_first_in_the_queue_stays_it_when_a_device_goes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
