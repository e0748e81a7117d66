/* Stop rules on series that lie exactly on their bounds: on which side the bound itself is. */
#include "stats/stopping.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static bool holds(enum qs_rule_kind kind, const double arg[4], const double *x, size_t n)
{
    struct qs_rule rule = qs_rule_default(kind);
    const struct qs_stopping_caps caps = qs_stopping_default_caps(); /* a resolution of 1 ns */
    const struct qs_stopping_now now = {0};
    for (size_t i = 0; i < 4; i++)
        rule.arg[i] = arg[i];
    struct qs_stopping *c = qs_stopping_new(&rule, &caps);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(qs_stopping_push(c, x[i], false), QS_OK);
    enum qs_stopping_verdict verdict = qs_stopping_judge(c, &now);
    qs_stopping_free(c);
    return verdict == QS_STOPPING_STOP;
}

static void settled_on_its_bounds(void **state)
{
    (void)state;
    static const struct {
        double margin, parts, x[12];
        size_t n;
        bool holds;
    } cases[] = {
        {0.5, 2, {9, 9, 9, 9, 3, 3, 5, 5}, 8, true}, /* medians 3 and 5 about 4: as far as they may be */
        {0.4999, 2, {9, 9, 9, 9, 3, 3, 5, 5}, 8, false},
        {1, 3, {9, 9, 9, 9, 9, 9, 0, 0, 0, 0, 1, 1}, 12, true}, /* a middle of nothing: of the resolution */
        {0.9999, 3, {9, 9, 9, 9, 9, 9, 0, 0, 0, 0, 1, 1}, 12, false},
        {0.9,
         3,
         {9, 9, 9, 9, 9, 9, .5, .5, .5, .5, 1, 1},
         12,
         false}, /* of the middle, however small it is */
        {1, 3, {9, 9, 9, 9, 9, 9, .5, .5, .5, .5, 1, 1}, 12, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const double arg[4] = {8, cases[i].margin, cases[i].parts, 0};
        if (holds(QS_RULE_SETTLED, arg, cases[i].x, cases[i].n) != cases[i].holds)
            fail_msg("case %zu", i);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(settled_on_its_bounds),
    };
    return cmocka_run_group_tests_name("rule_bounds", tests, NULL, NULL);
}
