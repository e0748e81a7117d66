#include "cm.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"

static struct qs_buf out;
static struct qs_json j;

static int start(void **state)
{
    (void)state;
    qs_buf_init(&out);
    j = qs_json_to(&out);
    return 0;
}

static int end(void **state)
{
    (void)state;
    qs_buf_done(&out);
    return 0;
}

static void containers_have_commas_where_they_belong(void **state)
{
    (void)state;
    qs_json_object(&j);
    qs_json_key(&j, "a");
    qs_json_array(&j);
    qs_json_int(&j, 1);
    qs_json_object(&j);
    qs_json_object_end(&j);
    qs_json_array(&j);
    qs_json_array_end(&j);
    qs_json_null(&j);
    qs_json_array_end(&j);
    qs_json_kstring(&j, "b", "c");
    qs_json_kstring(&j, "n", NULL);
    qs_json_kint(&j, "i", -5);
    qs_json_kdouble(&j, "d", 0.5);
    qs_json_kbool(&j, "t", true);
    qs_json_kraw(&j, "r", "[1,2]");
    qs_json_key(&j, "f");
    qs_json_bool(&j, false);
    qs_json_object_end(&j);
    assert_string_equal(out.data,
                        "{\"a\":[1,{},[],null],\"b\":\"c\",\"n\":null,\"i\":-5,\"d\":0.5,\"t\":true,"
                        "\"r\":[1,2],\"f\":false}");
    assert_int_equal(j.depth, 0);
}

static void a_value_may_stand_alone(void **state)
{
    (void)state;
    qs_json_string(&j, "x");
    assert_string_equal(out.data, "\"x\"");
}

static void the_deepest_level_works(void **state)
{
    (void)state;
    for (int i = 0; i < QS_JSON_DEPTH; i++)
        qs_json_array(&j);
    qs_json_int(&j, 1);
    qs_json_int(&j, 2);
    for (int i = 0; i < QS_JSON_DEPTH; i++)
        qs_json_array_end(&j);
    assert_non_null(strstr(out.data, "[[1,2]]"));
    assert_int_equal(out.len, 2 * QS_JSON_DEPTH + 3);
}

static void integers_are_exact(void **state)
{
    (void)state;
    qs_json_array(&j);
    qs_json_int(&j, INT64_MIN);
    qs_json_int(&j, INT64_MAX);
    qs_json_uint(&j, UINT64_MAX);
    qs_json_array_end(&j);
    assert_string_equal(out.data, "[-9223372036854775808,9223372036854775807,18446744073709551615]");
}

static void doubles_are_short(void **state)
{
    (void)state;
    static const struct {
        double v;
        const char *text;
    } rows[] = {{0, "0"},
                {-0.0, "-0"},
                {1, "1"},
                {0.1, "0.1"},
                {-2.5, "-2.5"},
                {1e300, "1e+300"},
                {1e-7, "1e-07"},
                {123456789012, "123456789012"},
                {0.3, "0.3"},
                {INFINITY, "null"},
                {-INFINITY, "null"},
                {NAN, "null"},
                {0.1 + 0.2, "0.30000000000000004"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        qs_buf_clear(&out);
        qs_json_double(&j, rows[i].v);
        assert_string_equal(out.data, rows[i].text);
    }
}

/* -? digits (. digits)? (e [+-]? digits)?, without a leading zero before other digits (RFC 8259, 6). */
static bool is_json_number(const char *s)
{
    static const char digits[] = "0123456789";
    s += *s == '-';
    size_t whole = strspn(s, digits);
    if (whole == 0 || (whole > 1 && *s == '0'))
        return false;
    s += whole;
    if (*s == '.') {
        size_t part = strspn(++s, digits);
        if (part == 0)
            return false;
        s += part;
    }
    if (*s == 'e') {
        s++;
        s += *s == '+' || *s == '-';
        size_t exponent = strspn(s, digits);
        if (exponent == 0)
            return false;
        s += exponent;
    }
    return *s == '\0';
}

static void doubles_read_back_equal(void **state)
{
    (void)state;
    double edge[] = {DBL_MIN, DBL_MAX, DBL_EPSILON, 5e-324, 2.2250738585072011e-308, 9007199254740993.0,
                     1.0 / 3};
    uint64_t bits = 0x9e3779b97f4a7c15;
    for (size_t i = 0; i < 3000; i++) {
        double v;
        if (i < sizeof edge / sizeof edge[0]) {
            v = edge[i];
        } else {
            bits = bits * 6364136223846793005U + 1442695040888963407U;
            memcpy(&v, &bits, sizeof v);
            if (!isfinite(v))
                continue;
        }
        qs_buf_clear(&out);
        qs_json_double(&j, v);
        assert_true(is_json_number(out.data));
        double back = strtod(out.data, NULL);
        assert_memory_equal(&back, &v, sizeof v);
    }
}

static void one_text_is_an_object(void **state)
{
    (void)state;
    qs_json_one(&out, "why", "a \"b\"");
    assert_string_equal(out.data, "{\"why\":\"a \\\"b\\\"\"}");
}

static void assert_string_as(const char *s, size_t n, const char *want)
{
    qs_buf_clear(&out);
    qs_json_string_n(&j, s, n);
    assert_string_equal(out.data, want);
}

static void text_is_escaped(void **state)
{
    (void)state;
    assert_string_as("", 0, "\"\"");
    assert_string_as("a\"b\\c/", 6, "\"a\\\"b\\\\c/\"");
    assert_string_as("\b\f\n\r\t\0\x01\x1f\x7f", 9, "\"\\b\\f\\n\\r\\t\\u0000\\u0001\\u001f\x7f\"");
    assert_string_as("\xc3\xa9\xe2\x82\xac\xf0\x9f\x90\x88", 9, "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x90\x88\"");
    qs_buf_clear(&out);
    qs_json_object(&j);
    qs_json_kint(&j, "k\n\"", 1);
    qs_json_object_end(&j);
    assert_string_equal(out.data, "{\"k\\n\\\"\":1}");
}

#define R "\xef\xbf\xbd"

/* One U+FFFD for each longest start of a character that is then broken (Unicode 15, 3.9, table 3-8). */
static void what_is_not_utf8_is_replaced(void **state)
{
    (void)state;
    assert_string_as("a\x80z", 3, "\"a" R "z\"");
    assert_string_as("\xff\xfe", 2, "\"" R R "\"");
    assert_string_as("\xc0\xaf", 2, "\"" R R "\"");             /* overlong / */
    assert_string_as("\xe0\x80\xaf", 3, "\"" R R R "\"");       /* overlong, 3 bytes */
    assert_string_as("\xed\xa0\x80", 3, "\"" R R R "\"");       /* a surrogate */
    assert_string_as("\xf4\x90\x80\x80", 4, "\"" R R R R "\""); /* over U+10FFFF */
    assert_string_as("\xe2\x82", 2, "\"" R "\"");               /* cut off */
    assert_string_as("\xf0\x9f\x90"                             /* cut off by a letter */
                     "a",
                     4, "\"" R "a\"");
    assert_string_as("\xe2\x82\xe2\x82\xac", 5, "\"" R "\xe2\x82\xac\""); /* by a character */
    assert_string_as("\xe2\x28\xa1", 3, "\"" R "(" R "\"");
    assert_string_as("\xf4\x8f\xbf\xbf", 4, "\"\xf4\x8f\xbf\xbf\""); /* the last character */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(containers_have_commas_where_they_belong, start, end),
        cmocka_unit_test_setup_teardown(a_value_may_stand_alone, start, end),
        cmocka_unit_test_setup_teardown(the_deepest_level_works, start, end),
        cmocka_unit_test_setup_teardown(integers_are_exact, start, end),
        cmocka_unit_test_setup_teardown(doubles_are_short, start, end),
        cmocka_unit_test_setup_teardown(doubles_read_back_equal, start, end),
        cmocka_unit_test_setup_teardown(text_is_escaped, start, end),
        cmocka_unit_test_setup_teardown(one_text_is_an_object, start, end),
        cmocka_unit_test_setup_teardown(what_is_not_utf8_is_replaced, start, end),
    };
    return cmocka_run_group_tests_name("json", tests, NULL, NULL);
}
