/* Moments as people write them. */
#include "cm.h"

#include "ctl/query.h"

static const int64_t now_ns = INT64_C(1790000000) * 1000000000;

static void check(const char *text, bool end_of_day, int64_t seconds)
{
    struct qs_err err = QS_ERR_INIT;
    int64_t got_ns = 0;
    if (!qs_when_parse(text, now_ns, end_of_day, &got_ns, &err))
        fail_msg("%s: %s", text, err.text);
    assert_int_equal(got_ns / 1000000000, seconds);
}

static void moments(void **state)
{
    (void)state;
    check("1970-01-02", false, 86400);
    check("1970-01-02", true, 2 * 86400 - 1);
    check("2026-11-01T05:30", false, 1793511000);
    check("2026-11-01T05:30:07Z", false, 1793511007);
    check("90min", false, 1790000000 - 5400);
    check("12h", false, 1790000000 - 43200);
    check("2w", false, 1790000000 - 14 * 86400);
    check("100000w", false, 0);
}

static void what_is_none(void **state)
{
    static const char *const bad[] = {"",  "soon", "2026-13-01", "2026-11-01 05:30", "-3d",
                                      "3", "3 d",  "1960-01-01", "99999999d"};
    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct qs_err err = QS_ERR_INIT;
        int64_t got_ns = 7;
        assert_false(qs_when_parse(bad[i], now_ns, false, &got_ns, &err));
        assert_int_equal(err.code, QS_E_USAGE);
        assert_int_equal(got_ns, 7);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(moments), cmocka_unit_test(what_is_none)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
