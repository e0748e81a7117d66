/* What a window waits for before it may open: the disk, who was asked before, the host's own work, the hub.
 * Virtual time. */
#include <string.h>

#include "stage.h"

/* Nothing is measured before there is room, and the silence is given back for that. */
static void test_a_full_log_holds_the_window(void **state)
{
    (void)state;
    struct stage s;
    stage_init(&s, NULL);
    s.busy_store = true;
    s.full_log = 3;
    stage_go(&s);
    assert_int_equal(s.disarms, 4);
    assert_int_equal(s.full_log, 0);
    assert_int_equal(s.result.end, QS_END_DONE);
    stage_done(&s);
}

/* A host that is always asked something is silent from the first refusal on, so that the second is granted.
 */
static void test_a_window_gets_its_turn(void **state)
{
    (void)state;
    struct stage s;
    stage_init(&s, NULL);
    s.asked_always = true;
    stage_go(&s);
    assert_int_equal(s.disarms, s.silences);
    assert_int_equal(s.result.end, QS_END_DONE);
    stage_done(&s);
    stage_init(&s, NULL);
    s.asked_always = true;
    s.window_refusals = 3; /* who has the hub may need the store: the silence ends each time */
    stage_go(&s);
    assert_int_equal(s.disarms, s.silences + 3);
    assert_int_equal(s.result.end, QS_END_DONE);
    stage_done(&s);
}

/* Who asked before the window is answered, by commits and reads: those are held back only then. */
static void test_a_window_waits_for_answers(void **state)
{
    (void)state;
    struct stage s;
    stage_init(&s, NULL);
    s.served = 3;
    stage_go(&s);
    assert_int_equal(s.served, 0);
    assert_int_equal(s.disarms, 3);
    assert_int_equal(s.result.end, QS_END_DONE);
    stage_done(&s);
    stage_init(&s, NULL);
    s.parts.local = false; /* on another machine nobody is in the way */
    s.served = 3;
    stage_go(&s);
    assert_int_equal(s.served, 3);
    assert_int_equal(s.disarms, 0);
    stage_done(&s);
}

/* Others have the hub: HOLD, again and again; after a second it is news, once. */
static void test_a_window_waits_for_the_hub(void **state)
{
    (void)state;
    struct stage s;
    stage_init(&s, NULL);
    s.window_refusals = 5;
    stage_go(&s);
    assert_int_equal(s.disarms, 5);
    assert_false(stage_told(&s, "window.held"));
    stage_done(&s);
    stage_init(&s, NULL);
    s.window_refusals = 3000; /* a millisecond each */
    stage_go(&s);
    const char *first = strstr(s.news.data, "window.held {\"why\":\"the hub is in use\"");
    assert_non_null(first);
    assert_null(strstr(first + 1, "window.held"));
    stage_done(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_full_log_holds_the_window),
        cmocka_unit_test(test_a_window_gets_its_turn),
        cmocka_unit_test(test_a_window_waits_for_answers),
        cmocka_unit_test(test_a_window_waits_for_the_hub),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
