/* What a window had of a meter: the way it is taken, counters that begin again, batteries that are charged,
 * powers of windows that are too short; by value, or without one and with a reason. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "device/window/metered.h"

static uint8_t memory[4096];
static struct qs_build list;
static struct qs_msg_closed closed;
static struct qs_job_meter job;
static struct qs_meter meter;
static struct qs_iteration_row rows[4];
static char why[400];

static int begin(void **state)
{
    (void)state;
    qs_build_init(&list, memory, sizeof memory);
    closed = (struct qs_msg_closed){.opened_ns = 1000, .closed_ns = 2000001000};
    job = (struct qs_job_meter){.name = (char *)(uintptr_t) "m",
                                .kind = QS_METER_FILE,
                                .take = QS_METER_RISE,
                                .per = QS_METER_PER_WINDOW};
    meter = (struct qs_meter){.job = &job, .count = 1};
    meter.at[0] = (struct qs_meter_source){.name = "a", .about = "the file"};
    memset(rows, 0, sizeof rows);
    strcpy(why, "");
    return 0;
}

static void read_as(const char *kind, enum qs_reading_status status, int64_t before, int64_t after)
{
    const struct qs_evidence e = {qs_text_of(kind), status, before, after};
    assert_true(qs_build_evidence(&list, &e));
    closed.evidence = qs_build_list(&list);
}

static void has(size_t n, int64_t want)
{
    int64_t value = -1;
    if (!qs_meter_value(&meter, &closed, rows, n, &value, why, sizeof why))
        fail_msg("no value: %s", why);
    assert_int_equal(value, want);
}

static void has_none(size_t n, const char *reason)
{
    int64_t value = -1;
    assert_false(qs_meter_value(&meter, &closed, rows, n, &value, why, sizeof why));
    assert_string_equal(why, reason);
}

static void take_as(enum qs_meter_take take, enum qs_meter_per per)
{
    job.take = take;
    job.per = per;
}

static void is_taken_as_the_job_says(void **state)
{
    (void)state;
    read_as("other", QS_READING_OK, 1, 2);
    read_as("a", QS_READING_OK, 10, 25);
    take_as(QS_METER_END, QS_METER_PER_WINDOW);
    has(4, 25);
    take_as(QS_METER_MEAN, QS_METER_PER_WINDOW);
    has(4, 18); /* 17.5, away from 0 */
    take_as(QS_METER_RISE, QS_METER_PER_WINDOW);
    has(4, 15);
    take_as(QS_METER_RISE, QS_METER_PER_ITERATION);
    has(4, 4); /* 3.75 */
    has(2, 8); /* 7.5 */
    take_as(QS_METER_FALL, QS_METER_PER_WINDOW);
    has(4, -15); /* of a gauge that rose */
    has_none(0, "the window has no iteration");
    meter.count = 0;
    has_none(1, "the device has no such thing");
}

static void begins_again(void **state)
{
    (void)state;
    read_as("a", QS_READING_OK, 90, 25);
    has(1, -65); /* nobody said that it is a counter */
    meter.at[0].wraps_at = 100;
    has(1, 35);
    meter.at[0].wraps_at = 89;
    has_none(1, "the file counts beyond the 89 at which it should begin again");
    meter.at[0].wraps_at = 90;
    has(1, 25);
    meter.at[0].wraps_at = 0;
    meter.at[0].how = QS_METER_HOW_RISE;
    has_none(1, "the file has fallen, from 90 to 25: it was set back, or begins again");
}

static void what_cannot_be_read_is_none(void **state)
{
    (void)state;
    has_none(1, "the file was not read: the device's agent reads no more than 64 sensors");
    read_as("a", QS_READING_UNREADABLE, 0, 0);
    has_none(1, "the file could not be read: it is unreadable, no number, or out of its range");
    begin(NULL);
    read_as("a", QS_READING_OK, INT64_MIN, INT64_MAX);
    has_none(1, "the file rose by more than a number holds");
    take_as(QS_METER_END, QS_METER_PER_WINDOW);
    has_none(1, "its value is beyond what is kept");
    begin(NULL);
    read_as("a", QS_READING_OK, 0, INT64_C(9000000000000000));
    has(1, INT64_C(9000000000000000));
    begin(NULL);
    read_as("a", QS_READING_OK, 0, INT64_C(9000000000000002));
    has_none(1, "its value is beyond what is kept");
}

static void several_are_added_up(void **state)
{
    (void)state;
    meter.count = 2;
    meter.at[1] = (struct qs_meter_source){.name = "b", .about = "the other"};
    read_as("a", QS_READING_OK, 1, 4);
    read_as("b", QS_READING_OK, 10, 20);
    has(1, 13);
    begin(NULL);
    meter.count = 2;
    meter.at[1] = (struct qs_meter_source){.name = "b", .about = "the other"};
    read_as("a", QS_READING_OK, 1, 4);
    read_as("b", QS_READING_MISSING, 0, 0);
    has_none(1, "the other could not be read: it is missing, no number, or out of its range");
}

/* word: Discharging is 1, Not charging 2, anything else 0. */
static void battery(enum qs_meter_how how, int64_t before, int64_t after, int64_t word, int64_t word_after)
{
    begin(NULL);
    job.kind = QS_METER_ENERGY;
    meter.at[0] = (struct qs_meter_source){
        .name = "a", .volts = "v", .status = "s", .about = "the battery", .how = how};
    read_as("a", QS_READING_OK, before, after);
    read_as("s", QS_READING_OK, word, word_after);
    read_as("v", QS_READING_OK, 4000000, 3800000);
}

static void a_battery_counts_while_it_discharges(void **state)
{
    (void)state;
    battery(QS_METER_HOW_ENERGY, 5000, 4900, 1, 1);
    has(1, 360000); /* 100 uWh */
    job.per = QS_METER_PER_ITERATION;
    has(4, 90000);
    battery(QS_METER_HOW_CHARGE, 5000, 4900, 1, 1);
    has(1, 1404000); /* 100 uAh at 3.9 V */
    battery(QS_METER_HOW_ENERGY, 5000, 4900, 0, 1);
    has_none(1,
             "the battery does not count before the window: its device is charging, or it is switched off");
    battery(QS_METER_HOW_ENERGY, 5000, 4900, 1, 0);
    has_none(1, "the battery does not count after the window: its device is charging, or it is switched off");
    battery(QS_METER_HOW_ENERGY, 4900, 5000, 1, 1);
    has_none(1, "the battery has risen, from 4900 to 5000: the battery is being charged");
    battery(QS_METER_HOW_ENERGY, 5000, 5000, 1, 1);
    has(1, 0); /* less than its gauge shows */
    battery(QS_METER_HOW_ENERGY, 5000, 4999, 2, 2);
    has(1, 3600);
    battery(QS_METER_HOW_ENERGY, 5000, 5000, 1, 2);
    has_none(1,
             "the battery did not fall, and the battery does not say that it is discharging: something else "
             "feeds the device");
}

static void a_power_counts_in_windows_as_long_as_its_mean(void **state)
{
    (void)state;
    job.kind = QS_METER_ENERGY;
    meter.at[0].how = QS_METER_HOW_POWER;
    meter.at[0].average_ns = 2000000000;
    read_as("a", QS_READING_OK, 100, 1500000); /* uW, for 2 s */
    has(1, 3000000);
    job.per = QS_METER_PER_ITERATION;
    has(4, 750000);
    closed.closed_ns--;
    has_none(1, "the file is a mean over 2000 ms, and the window was open for 1999 ms: make it longer "
                "(`plan.window`)");
}

static void successes_are_a_share(void **state)
{
    (void)state;
    job.kind = QS_METER_SUCCESS;
    meter.count = 0;
    has(4, 1000000);
    rows[0].taint = QS_TAINT_EXIT;
    rows[1].taint = QS_TAINT_CHILDREN;
    has(3, 666667);
    rows[2].taint = QS_TAINT_TIMEOUT;
    has(4, 500000);
    has(1, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(is_taken_as_the_job_says, begin),
        cmocka_unit_test_setup(begins_again, begin),
        cmocka_unit_test_setup(what_cannot_be_read_is_none, begin),
        cmocka_unit_test_setup(several_are_added_up, begin),
        cmocka_unit_test_setup(a_battery_counts_while_it_discharges, begin),
        cmocka_unit_test_setup(a_power_counts_in_windows_as_long_as_its_mean, begin),
        cmocka_unit_test_setup(successes_are_a_share, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
