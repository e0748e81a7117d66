/* Jobs that do something else around their measurements: that is listed, and refuses nothing. */
#include "base/mem.h"
#include "golden.h"
#include "page.h"
#include "sides.h"

static void other_actions_are_noted(void **state)
{
    (void)state;
    struct sides s;
    sides_init(&s, NULL);
    sides_add_job(&s, 0, 1, 0, 8, 1e6);
    sides_add_job(&s, 1, 2, 0, 8, 1e6);
    struct qs_actions *before = &s.jobs[1].spec->actions.stages[QS_STAGE_BEFORE_RUN];
    before->at = qs_calloc(1, sizeof *before->at);
    before->count = 1;
    before->at[0] = (struct qs_action){.kind = QS_ACTION_SLEEP, .limit_ns = 2000000000};
    json_t *doc = sides_compared(&s);
    assert_false(json_is_true(at(doc, "refused")));
    assert_int_equal(json_array_size(at(doc, "environment")), 1);
    assert_string_equal(text_at(doc, "environment.0.key"), "actions.before_run");
    assert_true(json_is_null(at(doc, "environment.0.base")));
    assert_string_equal(text_at(doc, "environment.0.candidate"), "sleep 2.00 s");
    assert_string_equal(text_at(doc, "environment.0.class"), "noted");
    json_decref(doc);
    sides_done(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(other_actions_are_noted)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
