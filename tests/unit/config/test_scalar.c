#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <stdio.h>

#include <cmocka.h>

#include "config/document/scalar.h"

struct row {
    const char *text;
    int64_t value; /* -1: refused */
};

static void check(enum qs_quantity q, const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct qs_scalar_why why = {0};
        int64_t v = -1;
        bool ok = qs_scalar_quantity(rows[i].text, q, &v, &why);
        if (ok != (rows[i].value != -1) || v != rows[i].value)
            fail_msg("%s: %lld, expected %lld", rows[i].text, (long long)v, (long long)rows[i].value);
        assert_int_equal(ok, why.text[0] == '\0');
    }
}
#define CHECK(q, rows) check(q, rows, sizeof(rows) / sizeof(rows[0]))

static void test_durations(void **state)
{
    (void)state;
    static const struct row rows[] = {{"20s", INT64_C(20000000000)},
                                      {"50ms", 50000000},
                                      {"250us", 250000},
                                      {"250µs", 250000},
                                      {"100ns", 100},
                                      {"5min", INT64_C(300000000000)},
                                      {"1h", INT64_C(3600000000000)},
                                      {"1.5s", 1500000000},
                                      {"0.5min", INT64_C(30000000000)},
                                      {"1min30s", INT64_C(90000000000)},
                                      {"1min 30s", INT64_C(90000000000)},
                                      {"1e3ms", 1000000000},
                                      {"5 s", INT64_C(5000000000)},
                                      {"0", 0},
                                      {"0s", 0},
                                      {"20", -1},
                                      {"1:30", -1},
                                      {"5m", -1},
                                      {"s", -1},
                                      {"", -1},
                                      {"1.5ns", -1},
                                      {"5sec", -1},
                                      {"999999999999h", -1},
                                      {"1e99s", -1},
                                      {"1e-99s", -1},
                                      {"20s!", -1},
                                      {"20 s s", -1},
                                      {"1s20", -1},
                                      {"1s0", -1},
                                      {"5 ", -1},
                                      {"12345678901234567890s", -1}};
    CHECK(QS_QTY_DURATION, rows);
}

static void test_other_quantities(void **state)
{
    (void)state;
    static const struct row sizes[] = {{"64KiB", 65536}, {"1MB", 1000000}, {"1.5KiB", 1536}, {"7B", 7},
                                       {"0.3B", -1},     {"64K", -1},      {"64kB", 64000},  {"1KiB1B", -1}};
    CHECK(QS_QTY_BYTES, sizes);
    static const struct row degrees[] = {{"34C", 34000}, {"34.5C", 34500}, {"34°C", 34000},
                                         {"34", -1},     {"34F", -1},      {"0.0001C", -1}};
    CHECK(QS_QTY_TEMPERATURE, degrees);
    static const struct row rates[] = {{"1.8GHz", 1800000}, {"600MHz", 600000}, {"5kHz", 5}, {"1.8", -1}};
    CHECK(QS_QTY_FREQUENCY, rates);
}

/* Decimal, whatever it looks like. */
static void test_whole_numbers(void **state)
{
    (void)state;
    static const struct row rows[] = {{"0777", 777}, {"1e3", 1000}, {"+5", 5},
                                      {"1.0", 1},    {"08", 8},     {"1.5", -1},
                                      {"0x10", -1},  {"1_000", -1}, {"1:30", -1},
                                      {"no", -1},    {"", -1},      {"9e18", INT64_C(9000000000000000000)},
                                      {"1e19", -1},  {"1e", -1},    {" 1", -1}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct qs_scalar_why why = {0};
        int64_t v = -1;
        bool ok = qs_scalar_int(rows[i].text, &v, &why);
        if (ok != (rows[i].value != -1) || v != rows[i].value)
            fail_msg("%s: %lld", rows[i].text, (long long)v);
    }
    struct qs_scalar_why why;
    uint64_t u = 0;
    assert_true(qs_scalar_uint("18446744073709551615", &u, &why));
    assert_true(u == UINT64_MAX);
    assert_false(qs_scalar_uint("18446744073709551616", &u, &why));
    assert_false(qs_scalar_uint("-1", &u, &why));
}

static void test_shares(void **state)
{
    (void)state;
    struct qs_scalar_why why;
    double v = 0;
    int64_t ppm = 0;
    assert_true(qs_scalar_ratio("2%", &v, &why) && v == 0.02);
    assert_true(qs_scalar_ratio("0.02", &v, &why) && v == 0.02);
    assert_true(qs_scalar_ratio("2 %", &v, &why) && v == 0.02);
    assert_true(qs_scalar_ratio("0.1%", &v, &why) && v == 0.001);
    assert_true(qs_scalar_ratio("5e-2", &v, &why) && v == 0.05);
    assert_true(qs_scalar_ppm("12.3456%", &ppm, &why) && ppm == 123456);
    assert_true(qs_scalar_ppm("0.0000006", &ppm, &why) && ppm == 1);
    assert_true(qs_scalar_ppm("-0.0000006", &ppm, &why) && ppm == -1);
    assert_true(qs_scalar_ppm("0.0000004", &ppm, &why) && ppm == 0);
    assert_false(qs_scalar_ratio("2 percent", &v, &why));
    assert_false(qs_scalar_ratio("%", &v, &why));
    assert_false(qs_scalar_ratio("1e30", &v, &why));
    assert_false(qs_scalar_ratio("nan", &v, &why));
}

static void test_truth(void **state)
{
    (void)state;
    struct qs_scalar_why why;
    bool v = false;
    assert_true(qs_scalar_bool("yes", &v, &why) && v);
    assert_true(qs_scalar_bool("Off", &v, &why) && !v);
    assert_true(qs_scalar_bool("TRUE", &v, &why) && v);
    assert_true(qs_scalar_bool("no", &v, &why) && !v);
    assert_false(qs_scalar_bool("y", &v, &why));
    assert_false(qs_scalar_bool("1", &v, &why));
}

enum what { TIME, SIZE, DEGREES, RATE, WHOLE, SCALED, NATURAL, SHARE, TRUTH };

static bool read_as(enum what what, const char *text, struct qs_scalar_why *why)
{
    int64_t v;
    uint64_t u;
    double ratio;
    bool yes;
    switch (what) {
    case WHOLE:
        return qs_scalar_int(text, &v, why);
    case SCALED:
        return qs_scalar_scaled(text, 3, &v, why);
    case NATURAL:
        return qs_scalar_uint(text, &u, why);
    case SHARE:
        return qs_scalar_ratio(text, &ratio, why);
    case TRUTH:
        return qs_scalar_bool(text, &yes, why);
    case TIME:
    case SIZE:
    case DEGREES:
    case RATE:
        break;
    }
    static const enum qs_quantity quantities[] = {QS_QTY_DURATION, QS_QTY_BYTES, QS_QTY_TEMPERATURE,
                                                  QS_QTY_FREQUENCY};
    return qs_scalar_quantity(text, quantities[what], &v, why);
}

/* Both sides of each bound: NULL where the text is read, else the whole reason and what to write instead. */
static const char share[] = "write a share as 2% or 0.02", times[] = "the units are ns, us, ms, s, min, h, d";
static const struct {
    enum what what;
    const char *text, *why, *suggestion;
} reasons[] = {
    {TIME, "20", "`20` has no unit", "write 20s, 20ms or 20min"},
    {TIME, "5 ", "`5 ` has no unit", "write 5 s, 5 ms or 5 min"},
    {TIME, "0 ", "`0 ` has no unit", "write 0 s, 0 ms or 0 min"},
    {TIME, "1s 0", "`1s 0` has no unit", "write 1s 0s, 1s 0ms or 1s 0min"},
    {TIME, "1:30", "`1:30` could be minutes and seconds or hours and minutes", "write 1min30s, or 1h30min"},
    {TIME, ":30", "`:30` is not a time", ""},
    {TIME, "1:", "`1:`: `:` is not a unit of time", times},
    {TIME, "5m", "`5m`: `m` could be minutes or milliseconds", "write 5min or 5ms"},
    {TIME, "1.25 m", "`1.25 m`: `m` could be minutes or milliseconds", "write 1.25 min or 1.25 ms"},
    {TIME, "5sec", "`5sec`: `sec` is not a unit of time", times},
    {TIME, "5abcdefghijklmnopqrstuvwxyz",
     "`5abcdefghijklmnopqrstuvwxyz`: `abcdefghijklmnopqrst` is not a unit of time", times},
    {TIME, "s", "`s` is not a time", ""},
    {TIME, "-", "`-` is not a time", ""},
    {TIME, "1.5ns", "`1.5ns` is finer than one nanosecond", ""},
    {TIME, "106751d", NULL, NULL},
    {TIME, "106752d", "`106752d` is too large", ""},
    {TIME, "106751d23h", NULL, NULL},
    {TIME, "106751d24h", "`106751d24h` is too large", ""},
    {TIME, "9e18ns", NULL, NULL},
    {TIME, "1e19ns", "`1e19ns` is too large", ""},
    {TIME, "1e31ns", "`1e31ns` is too large", ""},
    {SIZE, "64", "`64` has no unit", "write 64KiB, 64MiB or 64B"},
    {SIZE, "64K", "`64K`: `K` is not a unit of size", "the units are B, kB, MB, GB, KiB, MiB, GiB"},
    {SIZE, "64m", "`64m`: `m` is not a unit of size", "the units are B, kB, MB, GB, KiB, MiB, GiB"},
    {SIZE, "1KiB1B", "`1KiB1B` is not a size", ""},
    {SIZE, "1:30", "`1:30`: `:` is not a unit of size", "the units are B, kB, MB, GB, KiB, MiB, GiB"},
    {SIZE, "0.3B", "`0.3B` is finer than one byte", ""},
    {DEGREES, "34", "`34` has no unit", "write 34C"},
    {DEGREES, "34F", "`34F`: `F` is not a unit of temperature", "the units are C"},
    {DEGREES, "0.0001C", "`0.0001C` is finer than one thousandth of a degree", ""},
    {RATE, "1.8", "`1.8` has no unit", "write 1.8MHz, 1.8GHz or 1.8kHz"},
    {RATE, "0.5kHz", "`0.5kHz` is finer than one kHz", ""},
    {WHOLE, "123456789012345678", NULL, NULL},
    {WHOLE, "1234567890123456789", "`1234567890123456789` is not a whole number", ""},
    {WHOLE, "0.0000000000000000001e19", NULL, NULL},
    {WHOLE, "000000000000000000000000005", NULL, NULL},
    {WHOLE, "1.5", "`1.5` is not a whole number", ""},
    {WHOLE, "1e19", "`1e19` is too large", ""},
    {WHOLE, "10e-1", NULL, NULL},
    {WHOLE, "1e-1", "`1e-1` is not a whole number", ""},
    {WHOLE, "1E+2", NULL, NULL},
    {WHOLE, "1.", "`1.` is not a whole number", ""},
    {WHOLE, ".e1", "`.e1` is not a whole number", ""},
    {WHOLE, "0e99999999999", NULL, NULL},
    {SCALED, "1.234", NULL, NULL},
    {SCALED, "1.2345", "`1.2345` has more than 3 decimals", ""},
    {SCALED, "x", "`x` is not a number", ""},
    {SCALED, "1e18", "`1e18` is too large", ""},
    {NATURAL, "18446744073709551615", NULL, NULL},
    {NATURAL, "18446744073709551616", "`18446744073709551616` is more than 18446744073709551615", ""},
    {NATURAL, "184467440737095516150", "`184467440737095516150` is more than 18446744073709551615", ""},
    {NATURAL, "", "`` is not a whole number from 0", ""},
    {NATURAL, "-1", "`-1` is not a whole number from 0", ""},
    {NATURAL, "1x", "`1x` is not a whole number from 0", ""},
    {SHARE, "0.999999999", NULL, NULL},
    {SHARE, "1", "`1` has no unit, and a share below 1 needs none", "write 1% or 0.01; the whole is 100%"},
    {SHARE, "2.5", "`2.5` has no unit, and a share below 1 needs none",
     "write 2.5% or 0.025; the whole is 100%"},
    {SHARE, "100%", NULL, NULL},
    {SHARE, "2  %", "`2  %` is not a share", share},
    {SHARE, "2 percent", "`2 percent` is not a share", share},
    {SHARE, "%", "`%` is not a share", share},
    {SHARE, "0.000000001", NULL, NULL},
    {SHARE, "0.0000000001", "`0.0000000001` is too large or too fine for a share", share},
    {SHARE, "900719925.4740992%", NULL, NULL},
    {SHARE, "900719925.4740993%", "`900719925.4740993%` is too large or too fine for a share", share},
    {SHARE, "-900719925.4740992%", NULL, NULL},
    {SHARE, "-900719925.4740993%", "`-900719925.4740993%` is too large or too fine for a share", share},
    {TRUTH, "y", "`y` is neither true nor false", "write true or false (yes, no, on, off are read too)"},
};

static void test_reasons(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++) {
        struct qs_scalar_why why = {0};
        bool ok = read_as(reasons[i].what, reasons[i].text, &why);
        if (ok != !reasons[i].why)
            fail_msg("<%s> is %s: %s", reasons[i].text, ok ? "read" : "refused", why.text);
        assert_string_equal(why.text, ok ? "" : reasons[i].why);
        assert_string_equal(why.suggestion, ok ? "" : reasons[i].suggestion);
    }
}

/* What is quoted has at most 60 bytes, and is cut between characters. */
static void test_long_texts_are_cut(void **state)
{
    (void)state;
    char text[80], want[80];
    memset(text, 'a', sizeof text);
    text[60] = '\0';
    assert_string_equal(qs_show(text).text, text);
    memcpy(text + 60, "a", 2);
    snprintf(want, sizeof want, "%.57s…", text);
    assert_string_equal(qs_show(text).text, want);
    for (size_t at = 53; at <= 58; at++) { /* a character of four bytes across the cut */
        memset(text, 'a', 70);
        text[70] = '\0';
        memcpy(text + at, "\xf0\x9f\x90\x88", 4);
        snprintf(want, sizeof want, "%.*s…", (int)(at > 53 && at < 57 ? at : 57), text);
        assert_string_equal(qs_show(text).text, want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_durations),
                                       cmocka_unit_test(test_other_quantities),
                                       cmocka_unit_test(test_whole_numbers),
                                       cmocka_unit_test(test_shares),
                                       cmocka_unit_test(test_truth),
                                       cmocka_unit_test(test_reasons),
                                       cmocka_unit_test(test_long_texts_are_cut)};
    return cmocka_run_group_tests_name("config scalar", tests, NULL, NULL);
}
