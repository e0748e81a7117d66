/* Many verdicts in a few numbers. */
#include "world.h"

#include "page.h"
#include "report/tally.h"

static json_t *tally_of(const struct qs_tally *tally)
{
    struct qs_buf text;
    struct qs_json j;
    qs_buf_init(&text);
    qs_json_init(&j, &text);
    qs_json_object(&j);
    qs_tally_put(&j, tally);
    qs_json_object_end(&j);
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
    assert_int_equal(json_array_size(at(doc, "tally.verdicts")), 0);
    assert_int_equal(json_array_size(at(doc, "tally.ratios")), 0);
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
    assert_int_equal(json_array_size(at(doc, "tally.verdicts")), 4);
    for (size_t i = 0; i < 4; i++) {
        const json_t *one = json_array_get(at(doc, "tally.verdicts"), i);
        assert_string_equal(text_at(one, "verdict"), want[i].verdict);
        assert_int_equal(json_integer_value(at(one, "n")), want[i].n);
    }
    assert_int_equal(json_array_size(at(doc, "tally.ratios")), 2);
    assert_string_equal(text_at(doc, "tally.ratios.0.metric"), "duration_ns");
    assert_int_equal(json_integer_value(at(doc, "tally.ratios.0.n")), 3);
    assert_true(fabs(number(doc, "tally.ratios.0.geometric_mean") - 2) < 1e-12); /* the third root of 8 */
    assert_string_equal(text_at(doc, "tally.ratios.1.metric"), "rate");
    assert_true(fabs(number(doc, "tally.ratios.1.geometric_mean") - 1.25) < 1e-12);
    json_decref(doc);
    qs_tally_done(&tally);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(verdicts_and_means)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
