/* What a job's verdicts come to, in a few words. */
#include "page.h"
#include "world.h"

#include "base/mem.h"

/* Of eight blocks in which each arm takes so many times what the first takes. Owned. */
static json_t *brief_of(const char *const names[3], double b, double c)
{
    struct world w;
    struct qs_buf text, brief;
    struct qs_err err = QS_ERR_INIT;
    int exit_code;
    qs_buf_init(&text);
    qs_buf_init(&brief);
    world_init(&w, 3, NULL);
    for (size_t a = 0; a < 3; a++) {
        free(w.spec->arms[a].name);
        w.spec->arms[a].name = qs_strdup(names[a]);
    }
    for (uint32_t block = 1; block <= 8; block++)
        for (uint32_t a = 0; a < 3; a++)
            world_one(&w, block, a,
                      (int64_t)((1000000 + 97 * ((block * 3 + a * 5) % 8)) * (a == 0   ? 1
                                                                              : a == 1 ? b
                                                                                       : c)));
    assert_true(qs_report_verdicts(&w.in, &text, &brief, &exit_code, &err));
    json_t *doc = page_read(&brief);
    qs_buf_done(&brief);
    qs_buf_done(&text);
    world_done(&w);
    return doc;
}

static void brief_is(const char *const names[3], double b, double c, const char *expected)
{
    json_t *doc = brief_of(names, b, c);
    assert_string_equal(text_at(doc, "text"), expected);
    json_decref(doc);
}

static void the_worst_comes_first(void **state)
{
    (void)state;
    static const char *const plain[3] = {"a", "b", "c"};
    static const char *const longer[3] = {"a", "größer-als-die-Spalte-ist", "c"};
    brief_is(plain, 1, 1, "no change");
    brief_is(plain, 1.05, 1.1, "c 10.0 % slower (2 of 2)");
    brief_is(plain, 1.1, 1.05, "b 10.0 % slower (2 of 2)");
    brief_is(plain, 0.5, 1.05, "c 5.0 % slower (1 of 2)");
    brief_is(plain, 0.5, 1, "b 50.0 % faster (1 of 2)");
    brief_is(plain, 3.5, 1, "b 250 % slower (1 of 2)");
    brief_is(plain, 12, 1, "b 12 times as long (1 of 2)");
    brief_is(longer, 1.1, 1, "größer-als-die-Spalt… 10.0 % slower (1 of 2)");
}

static void it_says_what_it_is_of(void **state)
{
    (void)state;
    static const char *const names[3] = {"a", "b", "c"};
    json_t *doc = brief_of(names, 1, 1.08);
    assert_string_equal(text_at(doc, "verdict"), "regression");
    assert_string_equal(text_at(doc, "metric"), "duration_ns");
    assert_string_equal(text_at(doc, "base"), "a");
    assert_string_equal(text_at(doc, "arm"), "c");
    assert_string_equal(text_at(doc, "device"), "local");
    assert_string_equal(text_at(doc, "label"), "work");
    assert_true(fabs(number(doc, "ratio") - 1.08) < 0.001);
    assert_int_equal(number(doc, "comparisons"), 2);
    assert_int_equal(number(doc, "of_kind"), 1);
    assert_true(json_is_true(at(doc, "stands")));
    json_decref(doc);
}

/* Of eight blocks in which b takes so many times what a takes, disturbed or not. */
static void is_judged(double ratio, bool disturbed, const char *verdict, const char *reason)
{
    struct world w;
    struct qs_buf text;
    struct qs_err err = QS_ERR_INIT;
    qs_buf_init(&text);
    world_init(&w, 2, NULL);
    for (uint32_t block = 1; block <= 8; block++) {
        world_one(&w, block, 0, 1000000);
        struct qs_measured_run *b = world_one(&w, block, 1, (int64_t)(1e6 * ratio) + 800 * (block % 4));
        if (disturbed)
            world_disturb(b);
    }
    assert_true(qs_report_compare(&w.in, &text, &err));
    json_t *doc = page_read(&text);
    assert_string_equal(text_at(doc, "results.0.comparisons.0.verdict"), verdict);
    assert_string_equal(text_at(doc, "results.0.comparisons.0.reason"), reason);
    json_decref(doc);
    qs_buf_done(&text);
    world_done(&w);
}

/* One arm was disturbed in every run, the other in none: what is left may be a selection. */
static void losses_forbid_good_news(void **state)
{
    (void)state;
    static const struct {
        double ratio;
        const char *verdict;
    } rows[] = {
        {0.9, "improvement"}, {0.979, "probable-improvement"}, {0.99, "negligible"}, {0.9988, "equivalent"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        is_judged(rows[i].ratio, false, rows[i].verdict, "none");
        is_judged(rows[i].ratio, true, "inconclusive", "taint-rates-differ");
    }
    is_judged(1.1, true, "regression", "none"); /* bad news stands */
    is_judged(1.019, true, "probable-regression", "none");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_worst_comes_first),
                                       cmocka_unit_test(it_says_what_it_is_of),
                                       cmocka_unit_test(losses_forbid_good_news)};
    return cmocka_run_group_tests_name("brief", tests, NULL, NULL);
}
