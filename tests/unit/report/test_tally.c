/* Many verdicts in a few numbers. */
#include "world.h"

#include "page.h"
#include "report/tally.h"

static json_t *tally_of(const struct qs_tally *tally)
{
    struct qs_buf text;
    qs_buf_init(&text);
    struct qs_json j = qs_json_to(&text);
    qs_tally_put(&j, tally);
    json_t *doc = page_read(&text);
    qs_buf_done(&text);
    return doc;
}

/* Words come the worst first, metrics as they came; what has no ratio is a verdict all the same. */
static void verdicts_and_means(void **state)
{
    (void)state;
    struct qs_tally tally = {0};
    json_t *doc = tally_of(&tally);
    assert_int_equal(json_array_size(at(doc, "verdicts")), 0);
    assert_int_equal(json_array_size(at(doc, "ratios")), 0);
    assert_true(json_is_null(at(doc, "sentence")));
    json_decref(doc);
    qs_tally_add(&tally, "duration_ns", QS_VERDICT_INCONCLUSIVE, 0.5);
    qs_tally_add(&tally, "bytes", QS_VERDICT_EQUIVALENT, NAN);
    qs_tally_add(&tally, "rate", QS_VERDICT_REGRESSION, 1.25);
    qs_tally_add(&tally, "duration_ns", QS_VERDICT_REGRESSION, 8);
    qs_tally_add(&tally, "duration_ns", QS_VERDICT_INCONCLUSIVE, 2);
    qs_tally_add(&tally, "duration_ns", QS_VERDICT_EQUIVALENT, 0);
    qs_tally_add(&tally, "duration_ns", QS_VERDICT_IMPROVEMENT, INFINITY);
    doc = tally_of(&tally);
    static const struct {
        const char *verdict;
        int64_t n;
    } want[] = {{"regression", 2}, {"improvement", 1}, {"equivalent", 2}, {"inconclusive", 2}};
    assert_int_equal(json_array_size(at(doc, "verdicts")), 4);
    for (size_t i = 0; i < 4; i++) {
        const json_t *one = json_array_get(at(doc, "verdicts"), i);
        assert_string_equal(text_at(one, "verdict"), want[i].verdict);
        assert_int_equal(json_integer_value(at(one, "n")), want[i].n);
    }
    assert_int_equal(json_array_size(at(doc, "ratios")), 2);
    assert_string_equal(text_at(doc, "ratios.0.metric"), "duration_ns");
    assert_int_equal(json_integer_value(at(doc, "ratios.0.n")), 3);
    assert_true(fabs(number(doc, "ratios.0.geometric_mean") - 2) < 1e-12); /* the third root of 8 */
    assert_string_equal(text_at(doc, "ratios.1.metric"), "rate");
    assert_true(fabs(number(doc, "ratios.1.geometric_mean") - 1.25) < 1e-12);
    assert_string_equal(
        text_at(doc, "sentence"),
        "7 verdicts: 2 regressions, 1 improvement, 2 equivalent, 2 inconclusive; geometric mean "
        "of 3 ratios +100.0 %");
    json_decref(doc);
    qs_tally_done(&tally);
}

static void check_words(const struct qs_tally *tally, const char *want)
{
    QS_BUF(words);
    qs_tally_words(tally, &words);
    assert_string_equal(words.data, want);
}

/* One verdict needs no count, and one ratio no mean; a time is not named, and of many metrics the first are.
 */
static void a_tally_in_words(void **state)
{
    (void)state;
    struct qs_tally tally = {0};
    static const char *const metrics[] = {"time", "a", "b", "c", "d"};
    qs_tally_add(&tally, "bytes", QS_VERDICT_PROBABLE_REGRESSION, 1.25);
    check_words(&tally, "");
    qs_tally_add(&tally, "rate", QS_VERDICT_NEGLIGIBLE, 1.25);
    check_words(&tally, "2 verdicts: 1 probable-regression, 1 negligible");
    qs_tally_add(&tally, "bytes", QS_VERDICT_PROBABLE_REGRESSION, 1.25);
    check_words(
        &tally,
        "3 verdicts: 2 probable-regressions, 1 negligible; geometric mean of 2 ratios (bytes) +25.0 %");
    qs_tally_done(&tally);
    for (size_t i = 0; i < 10; i++)
        qs_tally_add(&tally, metrics[i / 2], QS_VERDICT_EQUIVALENT, 0.5);
    check_words(
        &tally,
        "10 verdicts: 10 equivalent; geometric mean of 2 ratios -50.0 %; geometric mean of 2 ratios "
        "(a) -50.0 %; geometric mean of 2 ratios (b) -50.0 %; geometric mean of 2 ratios (c) -50.0 %");
    qs_tally_done(&tally);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(verdicts_and_means),
                                       cmocka_unit_test(a_tally_in_words)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
