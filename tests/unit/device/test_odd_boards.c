/* Surveys as no device of ours brings them: readings that are none, lists that are too long, devices that
 * nobody knows (argument 1: the trees), and stored boards that are damaged. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "device/board/pin.h"
#include "tree.h"

static const char *boards;

enum { RW = QS_BOARD_READABLE | QS_BOARD_WRITABLE };
#define COUNT(list) (sizeof(list) / sizeof *(list))
#define DEV         "class/devfreq/odd/"

static void say(struct qs_survey *s, const char *path, const char *value)
{
    qs_survey_add(s, path, RW, QS_READING_OK, 0, value, strlen(value));
}

static struct qs_board *board_of(struct qs_survey *s, bool all)
{
    QS_SCOPED(qs_profiles_done) struct qs_profiles profiles = {0};
    tree_profiles(&profiles, all);
    struct qs_board *b = qs_board_new(&profiles, s, NULL);
    qs_board_drop_commands(b);
    qs_survey_done(s);
    return b;
}

static bool has_note(const struct qs_board *b, const char *text)
{
    for (size_t i = 0; i < b->notes.count; i++)
        if (strstr(b->notes.at[i], text) != NULL)
            return true;
    return false;
}

static void test_readings(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t n; /* 0: to its end */
        enum qs_board_sensor_status status;
        enum qs_reading_unit unit;
        int64_t value;
        const char *why;
    } rows[] = {{"41000\n", 0, QS_SENSOR_OK, QS_READS_MC, 41000, NULL},
                {"41", 0, QS_SENSOR_OK, QS_READS_C, 41000, NULL},
                {" 290 \n", 0, QS_SENSOR_OK, QS_READS_DC, 29000, NULL},
                {"-5000", 0, QS_SENSOR_OK, QS_READS_MC, -5000, NULL},
                {"130", 0, QS_SENSOR_OK, QS_READS_C, 130000, NULL},
                {"131", 0, QS_SENSOR_IMPLAUSIBLE, QS_READS_C, 131000,
                 "`131` would be 131.0 C, outside of -30 C to 130 C"},
                {"150", 0, QS_SENSOR_IMPLAUSIBLE, QS_READS_C, 150000, NULL},
                {"151", 0, QS_SENSOR_OK, QS_READS_DC, 15100, NULL},
                {"1500", 0, QS_SENSOR_IMPLAUSIBLE, QS_READS_DC, 150000, NULL},
                {"1501", 0, QS_SENSOR_OK, QS_READS_MC, 1501, NULL},
                {"130000", 0, QS_SENSOR_OK, QS_READS_MC, 130000, NULL},
                {"130001", 0, QS_SENSOR_IMPLAUSIBLE, QS_READS_MC, 130001, NULL},
                {"-30000", 0, QS_SENSOR_OK, QS_READS_MC, -30000, NULL},
                {"-30001", 0, QS_SENSOR_IMPLAUSIBLE, QS_READS_MC, -30001, NULL},
                {"-99900", 0, QS_SENSOR_PLACEHOLDER, QS_READS_MC, -99900,
                 "it reads -99.9, which means that there is no reading"},
                {"-999", 0, QS_SENSOR_PLACEHOLDER, QS_READS_DC, -99900, NULL},
                {"-99.9", 0, QS_SENSOR_PLACEHOLDER, QS_READS_MC, 0, NULL},
                {"0\n", 0, QS_SENSOR_ZERO, QS_READS_C, 0, "it reads exactly 0: no sensor is connected"},
                {"", 0, QS_SENSOR_NO_NUMBER, QS_READS_MC, 0, "it is empty"},
                {"warm", 0, QS_SENSOR_NO_NUMBER, QS_READS_MC, 0, "`warm` is not a whole number"},
                {"41.5", 0, QS_SENSOR_NO_NUMBER, QS_READS_MC, 0, NULL},
                {"41 C", 0, QS_SENSOR_NO_NUMBER, QS_READS_MC, 0, NULL},
                {"41\n42", 0, QS_SENSOR_NO_NUMBER, QS_READS_MC, 0, NULL},
                {"-", 0, QS_SENSOR_NO_NUMBER, QS_READS_MC, 0, NULL},
                {"0x29", 0, QS_SENSOR_NO_NUMBER, QS_READS_MC, 0, NULL},
                {"41\0\0\0", 5, QS_SENSOR_NO_NUMBER, QS_READS_MC, 0, NULL},
                {"\xff\x1b[2J", 0, QS_SENSOR_NO_NUMBER, QS_READS_MC, 0, "`__[2J` is not a whole number"},
                {"1000000000000000", 0, QS_SENSOR_IMPLAUSIBLE, QS_READS_MC, INT64_C(1000000000000000), NULL},
                {"1000000000000001", 0, QS_SENSOR_NO_NUMBER, QS_READS_MC, 0, NULL},
                {"99999999999999999999999999999999", 0, QS_SENSOR_NO_NUMBER, QS_READS_MC, 0, NULL},
                {"-9223372036854775808", 0, QS_SENSOR_NO_NUMBER, QS_READS_MC, 0, NULL}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct qs_survey s = {0};
        say(&s, "class/thermal/thermal_zone0/type", "odd");
        qs_survey_add(&s, "class/thermal/thermal_zone0/temp", RW, QS_READING_OK, 0, rows[i].text,
                      rows[i].n > 0 ? rows[i].n : strlen(rows[i].text));
        QS_SCOPED(qs_board_free_at) struct qs_board *b = board_of(&s, false);
        assert_int_equal(b->sensors.count, 1);
        assert_int_equal(b->sensors.at[0].status, rows[i].status);
        assert_int_equal(b->sensors.at[0].unit, rows[i].unit);
        assert_int_equal(b->sensors.at[0].value, rows[i].value);
        assert_int_equal(b->sensors.at[0].why == NULL, rows[i].status == QS_SENSOR_OK);
        if (rows[i].why != NULL)
            assert_string_equal(b->sensors.at[0].why, rows[i].why);
    }
}

static void test_unreadable(void **state)
{
    (void)state;
    struct qs_survey s = {0};
    say(&s, "class/thermal/thermal_zone0/type", "modem");
    qs_survey_add(&s, "class/thermal/thermal_zone0/temp", RW, QS_READING_UNREADABLE, EAGAIN, "", 0);
    qs_survey_add(&s, "class/thermal/thermal_zone1/temp", 0, QS_READING_UNREADABLE, EACCES, "", 0);
    qs_survey_add(&s, "class/thermal/thermal_zone2/temp", 0, QS_READING_MISSING, 0, "", 0);
    QS_SCOPED(qs_board_free_at) struct qs_board *b = board_of(&s, false);
    assert_int_equal(b->sensors.count, 2);
    assert_string_equal(b->sensors.at[0].why, "it cannot be read: Resource temporarily unavailable");
    assert_string_equal(b->sensors.at[1].why, "it cannot be read: Permission denied");
    assert_string_equal(b->sensors.at[1].name, "thermal:thermal_zone1"); /* it has no type */
    assert_int_equal(b->sensors.at[1].status, QS_SENSOR_UNREADABLE);
}

/* Names are unique, go by the zones' numbers, and do nothing to a terminal. */
static void test_names(void **state)
{
    (void)state;
    static const char *const types[] = {"x", "x.2", "x", "x", "two words", "\x1b[2J\xff", "x"};
    static const char *const zones[] = {"2", "10", "3", "11", "4", "5", "100"};
    static const char *const names[] = {"thermal:x",     "thermal:x.2", "thermal:two_words", "thermal:_[2J_",
                                        "thermal:x.2.2", "thermal:x.4", "thermal:x.5"};
    struct qs_survey s = {0};
    for (size_t i = 0; i < COUNT(types); i++) {
        QS_FREED char *type = qs_asprintf("class/thermal/thermal_zone%s/type", zones[i]);
        QS_FREED char *temp = qs_asprintf("class/thermal/thermal_zone%s/temp", zones[i]);
        say(&s, temp, "40000");
        say(&s, type, types[i]);
    }
    QS_SCOPED(qs_board_free_at) struct qs_board *b = board_of(&s, false);
    assert_int_equal(b->sensors.count, COUNT(names));
    for (size_t i = 0; i < COUNT(names); i++)
        assert_string_equal(b->sensors.at[i].name, names[i]);
    QS_FREED char *longest =
        qs_strndup("yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy", 70);
    for (unsigned i = 0; i < 2; i++) {
        QS_FREED char *type = qs_asprintf("class/thermal/thermal_zone%u/type", i);
        QS_FREED char *temp = qs_asprintf("class/thermal/thermal_zone%u/temp", i);
        say(&s, temp, "40000");
        say(&s, type, longest);
    }
    QS_SCOPED(qs_board_free_at) struct qs_board *both = board_of(&s, false);
    assert_int_equal(strlen(both->sensors.at[0].name), 56);
    assert_int_equal(strlen(both->sensors.at[1].name), 58);
}

static struct qs_board *devfreq(const char *table, const char *min, const char *max)
{
    struct qs_survey s = {0};
    if (table != NULL)
        say(&s, DEV "available_frequencies", table);
    say(&s, DEV "min_freq", min);
    say(&s, DEV "max_freq", max);
    return board_of(&s, false);
}

static void test_tables(void **state)
{
    (void)state;
    static const struct {
        const char *table, *max;
        enum qs_domain_unit unit;
        size_t count, khz[4];
    } rows[] = {
        {"300000000 100000000\n", "300000000", QS_DOMAIN_HZ, 2, {100000, 300000}},
        {"3 1 2 2 3", "3", QS_DOMAIN_RAW, 3, {1, 2, 3}},
        {"20000 30000", "30000", QS_DOMAIN_KHZ, 2, {20000, 30000}},
        {"19999 100", "19999", QS_DOMAIN_RAW, 2, {100, 19999}},
        {"19999999 20000", "1", QS_DOMAIN_KHZ, 2, {20000, 19999999}},
        {"20000000", "1", QS_DOMAIN_HZ, 1, {20000}},
        {"0 -5 100000 x 200000y 300000 99999999999999999999", "1", QS_DOMAIN_KHZ, 2, {100000, 300000}},
        {"100000 7\n200000 8\n300000 9\n", "1", QS_DOMAIN_KHZ, 3, {100000, 200000, 300000}},
        {"100000\n200000\n", "1", QS_DOMAIN_KHZ, 2, {100000, 200000}},
        {"100000 200000\n", "1", QS_DOMAIN_KHZ, 2, {100000, 200000}}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        QS_SCOPED(qs_board_free_at) struct qs_board *b = devfreq(rows[i].table, "1", rows[i].max);
        const struct qs_board_domain *d = qs_board_domain(b, "odd");
        assert_non_null(d);
        assert_int_equal(d->unit, rows[i].unit);
        assert_int_equal(d->steps_khz.count, rows[i].count);
        for (size_t k = 0; k < rows[i].count; k++)
            assert_int_equal(d->steps_khz.at[k], rows[i].khz[k]);
        assert_false(d->range);
    }
}

/* A table as long as a survey's room was cut: its last number is none. */
static void test_long_tables(void **state)
{
    (void)state;
    QS_BUF(many);
    for (unsigned i = 0; many.len + 7 <= QS_BOARD_VALUE_MAX; i++)
        qs_buf_fmt(&many, "%u ", 100000 + i);
    size_t whole = many.len / 7;
    qs_buf_str(&many, "987654"); /* cut behind its first digits */
    QS_SCOPED(qs_board_free_at) struct qs_board *b = devfreq(many.data, "1", "1");
    assert_int_equal(b->domains.at[0].steps_khz.count, whole);
    assert_int_equal(b->domains.at[0].hw_max_khz, 100000 + whole - 1);
    qs_buf_clear(&many);
    for (unsigned i = 0; i < 500; i++)
        qs_buf_fmt(&many, "%u ", 1 + i % 8);
    QS_SCOPED(qs_board_free_at) struct qs_board *dull = devfreq(many.data, "1", "1");
    assert_int_equal(dull->domains.at[0].steps_khz.count, 8);
}

/* A processor's frequencies: with boost where the hardware says that it can now; of the time in each, else;
 * of the hardware's limits alone. */
static void test_policies(void **state)
{
    (void)state;
    static const struct {
        const char *table, *boost, *times, *hw_max;
        size_t count, hi_khz;
        bool range;
    } rows[] = {{"100000 200000 300000 ", "400000 ", "150000 1", "300000", 3, 300000, false},
                {"100000 200000 300000 ", "400000 ", "500000 1", "400000", 4, 400000, false},
                {"", "400000 ", "", "400000", 1, 400000, false},
                {"", "", "100000 7\n200000 0\n", "400000", 2, 200000, false},
                {"", "", "", "400000", 2, 400000, true},
                {"700000", "", "", "400000", 2, 400000, true}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct qs_survey s = {0};
        say(&s, "devices/system/cpu/cpufreq/policy0/scaling_available_frequencies", rows[i].table);
        say(&s, "devices/system/cpu/cpufreq/policy0/scaling_boost_frequencies", rows[i].boost);
        say(&s, "devices/system/cpu/cpufreq/policy0/stats/time_in_state", rows[i].times);
        say(&s, "devices/system/cpu/cpufreq/policy0/cpuinfo_min_freq", "100000");
        say(&s, "devices/system/cpu/cpufreq/policy0/cpuinfo_max_freq", rows[i].hw_max);
        say(&s, "devices/system/cpu/cpufreq/policy0/scaling_min_freq", "150000");
        say(&s, "devices/system/cpu/cpufreq/policy0/scaling_max_freq", "250000");
        QS_SCOPED(qs_board_free_at) struct qs_board *b = board_of(&s, false);
        const struct qs_board_domain *d = qs_board_domain(b, "policy0");
        assert_int_equal(d->steps_khz.count, rows[i].count);
        assert_int_equal(d->hw_max_khz, rows[i].hi_khz);
        assert_int_equal(d->range, rows[i].range);
        assert_int_equal(d->min_khz, 150000);
        assert_int_equal(d->max_khz, 250000);
    }
}

static void check_refused(const struct qs_board *b, const char *wish, enum qs_errc code, const char *text)
{
    struct qs_err err = QS_ERR_INIT;
    struct qs_wishes wishes = {0};
    struct qs_scalar_why why;
    struct qs_pins pins;
    assert_true(qs_wish_read(wish, &wishes.frequency[QS_DOMAIN_OTHER], &why));
    assert_false(qs_board_pin(b, &wishes, true, &pins, &err));
    assert_string_equal(err.text, text);
    assert_int_equal(err.code, code);
}

static void check_held(const struct qs_board *b, const char *wish, const char *text, const char *value)
{
    struct qs_err err = QS_ERR_INIT;
    struct qs_wishes wishes = {0};
    struct qs_scalar_why why;
    QS_SCOPED(qs_pins_done) struct qs_pins pins = {0};
    assert_true(qs_wish_read(wish, &wishes.frequency[QS_DOMAIN_OTHER], &why));
    if (!qs_board_pin(b, &wishes, true, &pins, &err))
        fail_msg("%s", err.text);
    assert_string_equal(pins.choices.at[0].text, text);
    assert_string_equal(pins.items.at[pins.items.count - 1].path, DEV "min_freq");
    assert_string_equal(pins.items.at[pins.items.count - 1].value, value);
}

/* Without a table all between the limits, in the unit of the files. */
static void test_ranges(void **state)
{
    (void)state;
    QS_SCOPED(qs_board_free_at) struct qs_board *b = devfreq(NULL, "100000000", "900000000");
    assert_true(b->domains.at[0].range);
    assert_int_equal(b->domains.at[0].hold, QS_HOLD_OK);
    assert_true(has_note(b, "odd: no file says what the hardware can do"));
    check_held(b, "50%", "odd: 450 MHz (50% of 900 MHz is 450 MHz)", "450000000");
    check_held(b, "1%", "odd: 100 MHz (1% of 900 MHz is 9 MHz; below all steps: the lowest)", "100000000");
    check_held(b, "max", "odd: 900 MHz (its highest)", "900000000");
    check_held(b, "123456kHz", "odd: 123.456 MHz (as asked)", "123456000");
    check_held(b, "900MHz", "odd: 900 MHz (as asked)", "900000000");
    check_refused(b, "901MHz", QS_E_JOB, "odd has no 901 MHz: it goes from 100 MHz to 900 MHz");
    check_refused(b, "99MHz", QS_E_JOB, "odd has no 99 MHz: it goes from 100 MHz to 900 MHz");
    QS_SCOPED(qs_board_free_at) struct qs_board *raw = devfreq(NULL, "762", "13763");
    check_held(raw, "60%", "odd: 8257 (60% of 13763 is 8257.8)", "8257");
    check_refused(
        raw, "1GHz", QS_E_JOB,
        "the steps of odd (762 to 13763) are not frequencies: write max, min or a share such as 60%");
    QS_SCOPED(qs_board_free_at) struct qs_board *one = devfreq("500000", "500000", "500000");
    check_refused(one, "1GHz", QS_E_JOB, "odd has no 1000 MHz: it goes from 500 MHz to 500 MHz");
}

static void test_reasons(void **state)
{
    (void)state;
    static const struct {
        const char *files[3];
        unsigned access;
        int32_t error;
        enum qs_board_hold hold;
        enum qs_errc code;
        const char *text;
    } rows[] = {{{DEV "available_frequencies", DEV "max_freq", NULL},
                 RW,
                 0,
                 QS_HOLD_NO_FILE,
                 QS_E_NOT_FOUND,
                 "odd cannot be held at a frequency: the device has no files for its limits; or write "
                 "`frequency: {other: free}`"},
                {{DEV "min_freq", DEV "max_freq", NULL},
                 QS_BOARD_READABLE,
                 0,
                 QS_HOLD_DENIED,
                 QS_E_DENIED,
                 "odd cannot be held at a frequency: " DEV
                 "min_freq may not be written by the agent's user: run the agent "
                 "as root (a phone: `adb root`, or `su`; a board: start it as root); or write `frequency: "
                 "{other: free}`"},
                {{DEV "min_freq", DEV "max_freq", NULL},
                 RW,
                 EACCES,
                 QS_HOLD_DENIED,
                 QS_E_DENIED,
                 "odd cannot be held at a frequency: " DEV
                 "min_freq may not be read by the agent's user: run the agent "
                 "as root (a phone: `adb root`, or `su`; a board: start it as root); or write `frequency: "
                 "{other: free}`"}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct qs_survey s = {0};
        for (size_t k = 0; k < 3 && rows[i].files[k] != NULL; k++)
            qs_survey_add(&s, rows[i].files[k], rows[i].access,
                          rows[i].error != 0 ? QS_READING_UNREADABLE : QS_READING_OK, rows[i].error, "50000",
                          rows[i].error != 0 ? 0 : 5);
        QS_SCOPED(qs_board_free_at) struct qs_board *b = board_of(&s, false);
        assert_int_equal(b->domains.at[0].hold, rows[i].hold);
        check_refused(b, "max", rows[i].code, rows[i].text);
    }
    QS_SCOPED(qs_board_free_at) struct qs_board *b = devfreq("none", "-1", "many");
    assert_int_equal(b->domains.at[0].hold, QS_HOLD_NO_NUMBERS);
    check_refused(b, "max", QS_E_NOT_FOUND,
                  "odd cannot be held at a frequency: its files do not say which frequencies it has; or "
                  "write `frequency: {other: free}`");
}

/* More than there may be of each is left out and noted. */
static void test_crowds(void **state)
{
    (void)state;
    struct qs_survey s = {0};
    for (unsigned i = 0; i < 1100; i++) {
        QS_FREED char *zone = qs_asprintf("class/thermal/thermal_zone%u/temp", i);
        QS_FREED char *clock = qs_asprintf("class/devfreq/d%u/available_frequencies", i);
        QS_FREED char *online = qs_asprintf("devices/system/cpu/cpu%u/online", i);
        say(&s, zone, "40000");
        say(&s, clock, "40000");
        say(&s, online, "1");
    }
    qs_survey_add(&s, "/etc/passwd", RW, QS_READING_OK, 0, "", 0);
    qs_survey_add(&s, "class/../../etc/passwd", RW, QS_READING_OK, 0, "", 0);
    qs_survey_add(&s, "", RW, QS_READING_OK, 0, "", 0);
    qs_survey_add(&s, "class/a b", RW, QS_READING_OK, 0, "", 0);
    qs_survey_add(&s, "class/\x1b[2J", RW, QS_READING_OK, 0, "", 0);
    assert_int_equal(s.refused, 5);
    QS_SCOPED(qs_board_free_at) struct qs_board *b = board_of(&s, false);
    assert_int_equal(b->sensors.count, QS_BOARD_SENSORS_MAX);
    assert_int_equal(b->domains.count, QS_BOARD_DOMAINS_MAX);
    assert_int_equal(b->switches.count, QS_BOARD_SWITCHES_MAX);
    assert_string_equal(b->sensors.at[255].name, "thermal:thermal_zone255");
    assert_true(has_note(b, "more than 256 sensors"));
    assert_true(has_note(b, "more than 256 frequency domains"));
    assert_true(has_note(b, "more than 1024 switches"));
    assert_true(has_note(b, "5 files of the survey were left out"));
    for (unsigned i = 0; i <= QS_BOARD_ROWS_MAX; i++) {
        QS_FREED char *path = qs_asprintf("class/x%u", i);
        say(&s, path, "");
    }
    assert_int_equal(s.refused, 1);
    assert_int_equal(s.count, QS_BOARD_ROWS_MAX);
    qs_survey_done(&s);
}

/* The first of two rows with one path counts. */
static void test_twice(void **state)
{
    (void)state;
    struct qs_survey s = {0};
    say(&s, "class/thermal/thermal_zone0/temp", "40000");
    say(&s, "class/thermal/thermal_zone0/temp", "50000");
    QS_SCOPED(qs_board_free_at) struct qs_board *b = board_of(&s, false);
    assert_int_equal(b->sensors.count, 1);
    assert_int_equal(b->sensors.at[0].value, 40000);
}

static void test_damaged(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to, *text;
    } rows[] = {
        {"{\"version\":1", "[{\"version\":1", NULL},
        {"\"version\":1", "\"version\":2",
         "a stored board: it is a board of version 2, and this quiesced reads version 1"},
        {"\"version\":1", "\"version\":-1", "a stored board: `version` is not what a board has there"},
        {"\"version\":1,", "", "a stored board: `version` is missing"},
        {"\"kind\":\"cpu\"", "\"kind\":\"tpu\"", "a stored board: `kind` is not what a board has there"},
        {"\"kind\":\"cpu\"", "\"kind\":null", "a stored board: `kind` is not what a board has there"},
        {"\"name\":\"policy0\"", "\"name\":null", "a stored board: `name` is not what a board has there"},
        {"\"name\":\"policy0\"", "\"name\":7", "a stored board: `name` is not what a board has there"},
        {"[600000,", "[\"600000\",", "a stored board: `steps_khz` is not what a board has there"},
        {"[600000,", "[-600000,", "a stored board: `steps_khz` is not what a board has there"},
        {"[600000,", "[6e99,", "a stored board: `steps_khz` is not what a board has there"},
        {"[600000,", "[", "a stored board: the domain `policy0` contradicts itself"},
        {"\"range\":false", "\"range\":0", "a stored board: `range` is not what a board has there"},
        {"\"min_file\":\"devices", "\"min_file\":null,\"x\":\"devices",
         "a stored board: the domain `policy0` contradicts itself"},
        {"\"div\":1", "\"div\":0", "a stored board: the sensor `thermal:cpu-thermal` divides by less than 1"},
        {"\"notes\":[]", "\"notes\":[null]", "a stored board: `notes` is not what a board has there"},
        {"\"notes\":[]", "\"notes\":{}", "a stored board: `notes` is not what a board has there"}};
    QS_SCOPED(qs_board_free_at) struct qs_board *b = tree_board(boards, "rpi4b", true);
    QS_BUF(json);
    qs_board_json(b, &json);
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct qs_err err = QS_ERR_INIT;
        const char *at = strstr(json.data, rows[i].from);
        assert_non_null(at);
        QS_FREED char *bad =
            qs_asprintf("%.*s%s%s", (int)(at - json.data), json.data, rows[i].to, at + strlen(rows[i].from));
        assert_null(qs_board_from_json(bad, &err));
        assert_int_equal(err.code, QS_E_DATA);
        if (rows[i].text != NULL)
            assert_string_equal(err.text, rows[i].text);
    }
    struct qs_err err = QS_ERR_INIT;
    assert_null(qs_board_from_json("", &err));
    assert_null(qs_board_from_json("null", &err));
}

/* The frequency of the governor "userspace" goes with it: it is not put back as "undefined". */
static void test_set_frequency(void **state)
{
    static const char *const files[][2] = {
        {"governor", "simple_ondemand"},    {"available_governors", "userspace simple_ondemand"},
        {"min_freq", "100000000"},          {"max_freq", "200000000"},
        {"cur_freq", "100000000"},          {"available_frequencies", "100000000 200000000"},
        {"userspace/set_freq", "undefined"}};
    struct qs_survey s = {0};
    struct qs_wishes wishes = {0};
    struct qs_err err = QS_ERR_INIT;
    QS_SCOPED(qs_pins_done) struct qs_pins pins = {0};
    (void)state;
    for (size_t i = 0; i < COUNT(files); i++) {
        char path[80];
        snprintf(path, sizeof path, "class/devfreq/odd-gpu/%s", files[i][0]);
        say(&s, path, files[i][1]);
    }
    QS_SCOPED(qs_board_free_at) struct qs_board *b = board_of(&s, true);
    wishes.frequency[QS_DOMAIN_GPU].how = QS_WISH_MIN;
    assert_true(qs_board_pin(b, &wishes, true, &pins, &err));
    const struct qs_pin_item *last = &pins.items.at[pins.items.count - 1];
    assert_string_equal(last->path, "class/devfreq/odd-gpu/userspace/set_freq");
    assert_string_equal(last->value, "100000000");
    assert_int_equal(last->flags, QS_TUNE_TRANSIENT);
    assert_int_equal(pins.items.at[0].flags, 0); /* its governor is put back */
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    boards = argv[1];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_readings),    cmocka_unit_test(test_unreadable),
        cmocka_unit_test(test_names),       cmocka_unit_test(test_tables),
        cmocka_unit_test(test_long_tables), cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_reasons),     cmocka_unit_test(test_crowds),
        cmocka_unit_test(test_twice),       cmocka_unit_test(test_policies),
        cmocka_unit_test(test_damaged),     cmocka_unit_test(test_set_frequency)};
    return cmocka_run_group_tests_name("device odd boards", tests, NULL, NULL);
}
