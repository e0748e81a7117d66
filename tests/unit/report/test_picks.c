/* Words for runs. */
#include "world.h"

#include "report/picks.h"

static void parse(const char *text, struct qs_picks *picks)
{
    struct qs_err err = QS_ERR_INIT;
    if (!qs_picks_parse(text, picks, &err))
        fail_msg("%s: %s", text, err.text);
}

static void jobs_builds_and_nights(void **state)
{
    (void)state;
    struct qs_picks p;
    parse("12,7:new arm,build:v2.1:rc,night:2026-11-20", &p);
    assert_int_equal(p.count, 4);
    assert_int_equal(p.at[0].job, 12);
    assert_null(p.at[0].arm);
    assert_int_equal(p.at[1].job, 7);
    assert_string_equal(p.at[1].arm, "new arm");
    assert_string_equal(p.at[2].build, "v2.1:rc");
    assert_int_equal(p.at[2].job, 0);
    assert_true(p.at[3].from_wall_ns == INT64_C(1795176000) * 1000000000); /* date -u -d '2026-11-20 12:00' */
    assert_true(p.at[3].until_wall_ns - p.at[3].from_wall_ns == INT64_C(86400) * 1000000000);
    qs_picks_done(&p);
    parse("night:2024-02-29:new", &p);
    assert_true(p.at[0].from_wall_ns == INT64_C(1709208000) * 1000000000);
    assert_string_equal(p.at[0].arm, "new");
    qs_picks_done(&p);
    parse("night:2000-03-01", &p);
    assert_true(p.at[0].from_wall_ns == INT64_C(951912000) * 1000000000);
    qs_picks_done(&p);
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
        struct qs_picks p;
        struct qs_err err = QS_ERR_INIT;
        if (qs_picks_parse(wrong[i], &p, &err))
            fail_msg("`%s` was taken", wrong[i]);
        assert_int_equal(err.code, QS_E_USAGE);
        assert_null(p.at);
    }
}

static void not_too_many(void **state)
{
    (void)state;
    struct qs_buf text;
    struct qs_picks p;
    struct qs_err err = QS_ERR_INIT;
    qs_buf_init(&text);
    for (int i = 1; i <= 64; i++)
        qs_buf_fmt(&text, "%s%d", i > 1 ? "," : "", i);
    parse(text.data, &p);
    assert_int_equal(p.at[63].job, 64);
    qs_picks_done(&p);
    qs_buf_str(&text, ",65");
    assert_false(qs_picks_parse(text.data, &p, &err));
    qs_buf_done(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jobs_builds_and_nights),
        cmocka_unit_test(what_is_none_is_refused),
        cmocka_unit_test(not_too_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
