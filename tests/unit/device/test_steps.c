/* The way through a tree of steps: order, branches, lists inside of lists, places. */
#include "device/job/steps.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SLEEP(n)                                                                                             \
    {                                                                                                        \
        .kind = QS_ACTION_SLEEP, .limit_ns = (n)                                                             \
    }

static struct qs_action one[] = {SLEEP(4), SLEEP(5)};
static struct qs_action two[] = {SLEEP(6)};
static char name[] = "calm down";
static struct qs_action inner[] = {
    SLEEP(2), {.kind = QS_ACTION_IF, .then = {one, 2}, .other = {two, 1}}, SLEEP(7)};
static struct qs_action all[] = {
    SLEEP(1), {.kind = QS_ACTION_DO, .text = name, .then = {inner, 3}}, SLEEP(8)};
static const struct qs_actions list = {all, 3};

/* The way as text: each step's number, and where it stands. */
static void walk(bool then, struct qs_buf *out)
{
    struct qs_steps steps;
    const struct qs_action *a = NULL;
    qs_steps_begin(&steps, QS_STAGE_BEFORE_RUN, &list);
    while ((a = qs_steps_now(&steps)) != NULL) {
        assert_ptr_equal(qs_steps_now(&steps), a); /* it stays until it is over */
        qs_buf_fmt(out, "%d ", (int)a->limit_ns);
        qs_steps_place(&steps, out);
        qs_buf_char(out, '\n');
        if (a->kind == QS_ACTION_IF)
            qs_steps_branch(&steps, then);
        else
            qs_steps_next(&steps);
    }
    qs_steps_next(&steps); /* over is over */
    assert_null(qs_steps_now(&steps));
}

static void test_the_way(void **state)
{
    (void)state;
    QS_BUF(text);
    walk(true, &text);
    assert_string_equal(text.data, "1 before_run[0]\n"
                                   "2 before_run[1].do[0] (calm down)\n"
                                   "0 before_run[1].do[1] (calm down)\n"
                                   "4 before_run[1].do[1].then[0] (calm down)\n"
                                   "5 before_run[1].do[1].then[1] (calm down)\n"
                                   "7 before_run[1].do[2] (calm down)\n"
                                   "8 before_run[2]\n");
    qs_buf_clear(&text);
    walk(false, &text);
    assert_string_equal(text.data, "1 before_run[0]\n"
                                   "2 before_run[1].do[0] (calm down)\n"
                                   "0 before_run[1].do[1] (calm down)\n"
                                   "6 before_run[1].do[1].else[0] (calm down)\n"
                                   "7 before_run[1].do[2] (calm down)\n"
                                   "8 before_run[2]\n");
}

/* A branch without steps goes on behind the IF, also where that is the last one of several lists. */
static void test_nothing_in_it(void **state)
{
    (void)state;
    struct qs_action last[] = {{.kind = QS_ACTION_IF}};
    struct qs_action outer[] = {{.kind = QS_ACTION_DO, .then = {last, 1}}};
    const struct qs_actions deep = {outer, 1}, none = {NULL, 0};
    struct qs_steps steps;
    qs_steps_begin(&steps, QS_STAGE_AFTER_JOB, &deep);
    assert_int_equal(qs_steps_now(&steps)->kind, QS_ACTION_IF);
    qs_steps_branch(&steps, true);
    assert_null(qs_steps_now(&steps));
    qs_steps_begin(&steps, QS_STAGE_AFTER_JOB, &none);
    assert_null(qs_steps_now(&steps));
}

/* A step that is skipped in the middle takes nothing with it but what is inside of it. */
static void test_skipped(void **state)
{
    (void)state;
    struct qs_steps steps;
    qs_steps_begin(&steps, QS_STAGE_BEFORE_RUN, &list);
    (void)qs_steps_now(&steps);
    qs_steps_next(&steps);
    (void)qs_steps_now(&steps);
    qs_steps_next(&steps);
    assert_int_equal(qs_steps_now(&steps)->kind, QS_ACTION_IF);
    qs_steps_next(&steps);
    assert_int_equal(qs_steps_now(&steps)->limit_ns, 7);
}

/* As deep as the language allows. */
static void test_deepest(void **state)
{
    (void)state;
    struct qs_action levels[QS_ACTIONS_DEEP_MAX];
    for (size_t i = 0; i < QS_ACTIONS_DEEP_MAX; i++) {
        bool leaf = i + 1 == QS_ACTIONS_DEEP_MAX;
        levels[i] = (struct qs_action){.kind = leaf ? QS_ACTION_SLEEP : QS_ACTION_DO, .limit_ns = 9};
        if (!leaf)
            levels[i].then = (struct qs_actions){&levels[i + 1], 1};
    }
    const struct qs_actions deep = {levels, 1};
    struct qs_steps steps;
    QS_BUF(place);
    qs_steps_begin(&steps, QS_STAGE_BEFORE_WINDOW, &deep);
    assert_int_equal(qs_steps_now(&steps)->limit_ns, 9);
    qs_steps_place(&steps, &place);
    assert_string_equal(place.data, "before_window[0].do[0].do[0].do[0].do[0].do[0].do[0].do[0]");
    qs_steps_next(&steps);
    assert_null(qs_steps_now(&steps));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_the_way), cmocka_unit_test(test_nothing_in_it),
                                       cmocka_unit_test(test_skipped), cmocka_unit_test(test_deepest)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
