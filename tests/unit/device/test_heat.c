/* What readings at rest, under load and after it say of a sensor, and the curves that they follow. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "device/board/heat.h"

enum { GOOD, STILL, JUMPS, DUMB, SENSORS, EACH = 100 };

static void near(double got, double want, double within)
{
    if (!(fabs(got - want) <= within))
        fail_msg("%g instead of %g", got, want);
}

/* At rest at 30, up towards 80 and down again with 20 s; the second stays, the third has one wrong reading,
 * the fourth can be read at every second time. */
static void fill(struct qs_heat_log logs[QS_HEAT_PHASES])
{
    memset(logs, 0, QS_HEAT_PHASES * sizeof *logs);
    for (size_t p = 0; p < QS_HEAT_PHASES; p++) {
        qs_heat_log_begin(&logs[p], SENSORS);
        for (size_t i = 0; i < EACH; i++) {
            double share = exp(-(double)i / 20), at = p == QS_HEAT_REST    ? 30
                                                      : p == QS_HEAT_WARMS ? 80 - 50 * share
                                                                           : 30 + 50 * share;
            const double values[SENSORS] = {at, 45, p == QS_HEAT_COOLS && i == 50 ? 85 : at,
                                            i % 2 ? NAN : at};
            qs_heat_log_add(&logs[p], (double)i, values);
        }
    }
}

static void says(struct qs_heat_log *logs, size_t at, const char *expected, const char *why)
{
    struct qs_heat_row row;
    qs_heat_sensor(logs, at, "s", 50, &row);
    assert_string_equal(row.row.says, expected);
    assert_string_equal(row.row.why ? row.row.why : "", why);
    qs_heat_row_done(&row);
}

static void sensors_are_judged(void **state)
{
    struct qs_heat_log logs[QS_HEAT_PHASES];
    (void)state;
    fill(logs);
    says(logs, GOOD, "ok", "");
    says(logs, STILL, "still", "it stayed at 45.0 °C while others moved by 50.0 degrees");
    says(logs, JUMPS, "jumps", "single readings are 50.7 degrees off their neighbours");
    says(logs, DUMB, "unreadable", "150 of 300 readings failed");
    near(qs_heat_moved_c(logs, GOOD), 50, 1e-9);
    assert_true(isnan(qs_heat_moved_c(logs, STILL)) == 0);
    for (size_t p = 0; p < QS_HEAT_PHASES; p++)
        qs_heat_log_done(&logs[p]);
}

static void curves_are_found(void **state)
{
    struct qs_heat_log logs[QS_HEAT_PHASES];
    struct qs_heat_row row;
    (void)state;
    fill(logs);
    qs_heat_curve(&logs[QS_HEAT_COOLS], QS_HEAT_COOLS, GOOD, "big", "s", &row);
    assert_string_equal(row.row.kind, "cools");
    assert_string_equal(row.row.domain, "big");
    assert_string_equal(row.row.says, "fits");
    assert_null(row.row.why);
    near(row.row.tau_s, 20, 1e-4);
    near(row.row.end_mc, 30000, 0.1);
    near(row.row.high_mc, 80000, 1e-6);
    assert_int_equal(row.row.readings, EACH);
    near(row.row.span_s, 99, 1e-9);
    assert_int_equal(strncmp(row.row.trace, "[[0,80000],[1000,77561],", 24), 0);
    qs_heat_row_done(&row);
    qs_heat_curve(&logs[QS_HEAT_WARMS], QS_HEAT_WARMS, DUMB, "big", "s", &row);
    assert_string_equal(row.row.says, "fits");
    near(row.row.end_mc, 80000, 0.1);
    assert_int_equal(row.row.readings, EACH / 2);
    qs_heat_row_done(&row);
    qs_heat_curve(&logs[QS_HEAT_COOLS], QS_HEAT_COOLS, STILL, "big", "s", &row);
    assert_string_equal(row.row.says, "flat");
    assert_string_equal(row.row.why, "it hardly moved in 50 s");
    assert_true(isnan(row.row.tau_s));
    qs_heat_row_done(&row);
    for (size_t p = 0; p < QS_HEAT_PHASES; p++)
        qs_heat_log_done(&logs[p]);
    qs_heat_curve(&logs[QS_HEAT_COOLS], QS_HEAT_COOLS, GOOD, "big", "s", &row);
    assert_string_equal(row.row.says, "few");
    assert_null(row.row.trace);
    qs_heat_row_done(&row);
}

/* Heat is still on its way when the load has ended: the curve begins at the top. */
static void a_curve_begins_where_it_turns(void **state)
{
    struct qs_heat_log log = {0};
    struct qs_heat_row row;
    (void)state;
    qs_heat_log_begin(&log, 1);
    for (int i = 0; i < EACH; i++) {
        double at = i < 6 ? 75 + i : 30 + 50 * exp(-(i - 5) / 20.0);
        qs_heat_log_add(&log, i, &at);
    }
    qs_heat_curve(&log, QS_HEAT_COOLS, 0, "all", "s", &row);
    assert_string_equal(row.row.says, "fits");
    near(row.row.tau_s, 20, 1e-4);
    qs_heat_row_done(&row);
    qs_heat_log_done(&log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sensors_are_judged),
        cmocka_unit_test(curves_are_found),
        cmocka_unit_test(a_curve_begins_where_it_turns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
