/* Words for runs. */
#include "world.h"

#include "report/sides/selector.h"

static void parse(const char *text, struct qs_run_selector *selector)
{
    struct qs_err err = QS_ERR_INIT;
    if (!qs_run_selector_parse(text, selector, &err))
        fail_msg("%s: %s", text, err.text);
}

static void jobs_builds_and_nights(void **state)
{
    (void)state;
    struct qs_run_selector p;
    parse("12,7:new arm,build:v2.1:rc,night:2026-11-20", &p);
    assert_int_equal(p.count, 4);
    assert_int_equal(p.at[0].job, 12);
    assert_null(p.at[0].arm);
    assert_int_equal(p.at[1].job, 7);
    assert_string_equal(p.at[1].arm, "new arm");
    assert_string_equal(p.at[2].build, "v2.1:rc");
    assert_int_equal(p.at[2].job, 0);
    assert_true(p.at[3].from_wall_ns == INT64_C(1795132800) * 1000000000); /* date -u -d '2026-11-20' */
    assert_true(p.at[3].until_wall_ns - p.at[3].from_wall_ns == INT64_C(86400) * 1000000000);
    qs_run_selector_done(&p);
    parse("night:2024-02-29:new", &p);
    assert_true(p.at[0].from_wall_ns == INT64_C(1709164800) * 1000000000);
    assert_string_equal(p.at[0].arm, "new");
    qs_run_selector_done(&p);
    parse("night:2000-03-01", &p);
    assert_true(p.at[0].from_wall_ns == INT64_C(951868800) * 1000000000);
    qs_run_selector_done(&p);
}

/* A day is one of this machine's: 25 hours long where clocks go back. */
static void nights_are_local(void **state)
{
    (void)state;
    struct qs_run_selector p;
    setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
    parse("night:2026-10-25,night:2026-11-20", &p);
    setenv("TZ", "UTC0", 1);
    assert_true(p.at[0].from_wall_ns ==
                INT64_C(1792879200) * 1000000000); /* date -d '2026-10-25 00:00 CEST' */
    assert_true(p.at[0].until_wall_ns - p.at[0].from_wall_ns == INT64_C(90000) * 1000000000);
    assert_true(p.at[1].from_wall_ns ==
                INT64_C(1795129200) * 1000000000); /* date -d '2026-11-20 00:00 CET' */
    qs_run_selector_done(&p);
}

static void ranges_and_what_they_pool(void **state)
{
    (void)state;
    struct qs_run_selector p;
    parse("build:r01..r06,build:..x,build:a..", &p);
    assert_string_equal(p.at[0].build, "r01..r06"); /* a label may be written so */
    assert_string_equal(p.at[0].build_from, "r01");
    assert_string_equal(p.at[0].build_to, "r06");
    assert_null(p.at[1].build_from);
    assert_null(p.at[2].build_to);
    assert_int_equal(qs_run_selector_pool(&p), QS_POOL_ALL);
    qs_run_selector_done(&p);
    static const struct {
        const char *text;
        enum qs_pool pool;
    } cases[] = {{"1,2,3", QS_POOL_JOBS},     {"1:a,2:b", QS_POOL_ALL},
                 {"1,2:b", QS_POOL_JOBS},     {"night:2026-11-20", QS_POOL_NAMES},
                 {"build:a,3", QS_POOL_JOBS}, {"night:2026-11-20:head,build:a", QS_POOL_ALL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        parse(cases[i].text, &p);
        assert_int_equal(qs_run_selector_pool(&p), cases[i].pool);
        qs_run_selector_done(&p);
    }
}

static void what_is_none_is_refused(void **state)
{
    (void)state;
    static const char *const wrong[] = {"",
                                        "x",
                                        "0",
                                        "12:",
                                        "12,",
                                        ",12",
                                        "12 ",
                                        "build:",
                                        "-3",
                                        "99999999999999999999",
                                        "night:",
                                        "1e3",
                                        "Build:x",
                                        "12;3",
                                        "night:2026-11-20:",
                                        "night:2026-11-2",
                                        "night:2026-13-01",
                                        "night:2026-02-29",
                                        "night:2100-02-29",
                                        "night:2026-11-20x",
                                        "night:1969-12-31"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct qs_run_selector p;
        struct qs_err err = QS_ERR_INIT;
        if (qs_run_selector_parse(wrong[i], &p, &err))
            fail_msg("`%s` was taken", wrong[i]);
        assert_int_equal(err.code, QS_E_USAGE);
        assert_null(p.at);
    }
}

static void not_too_many(void **state)
{
    (void)state;
    struct qs_buf text;
    struct qs_run_selector p;
    struct qs_err err = QS_ERR_INIT;
    qs_buf_init(&text);
    for (int i = 1; i <= 64; i++)
        qs_buf_fmt(&text, "%s%d", i > 1 ? "," : "", i);
    parse(text.data, &p);
    assert_int_equal(p.at[63].job, 64);
    qs_run_selector_done(&p);
    qs_buf_str(&text, ",65");
    assert_false(qs_run_selector_parse(text.data, &p, &err));
    qs_buf_done(&text);
}

int main(void)
{
    setenv("TZ", "UTC0", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jobs_builds_and_nights),
        cmocka_unit_test(nights_are_local),
        cmocka_unit_test(ranges_and_what_they_pool),
        cmocka_unit_test(what_is_none_is_refused),
        cmocka_unit_test(not_too_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
