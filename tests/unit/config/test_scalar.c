#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "config/scalar.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_durations), cmocka_unit_test(test_other_quantities),
        cmocka_unit_test(test_whole_numbers), cmocka_unit_test(test_shares), cmocka_unit_test(test_truth)};
    return cmocka_run_group_tests_name("config scalar", tests, NULL, NULL);
}
