/* The metrics of one job beside the duration: judged as it is, on its blocks. */
#include "metrics.h"

#include "page.h"
#include "report/job/metrics.h"

static json_t *document(struct metrics *m)
{
    struct qs_buf text;
    struct qs_err err = QS_ERR_INIT;
    qs_buf_init(&text);
    assert_true(qs_report_compare(&m->w.in, &text, &err));
    json_t *doc = page_read(&text);
    qs_buf_done(&text);
    return doc;
}

static const json_t *metric(const json_t *doc, const char *name)
{
    return row_of(doc, "results.0.metrics", "metric", name);
}

static const json_t *judged(const json_t *doc, const char *name)
{
    return row_of(doc, "results.0.comparisons", "metric", name);
}

static void verdict_is(const json_t *doc, const char *name, const char *verdict, const char *reason)
{
    const json_t *one = judged(doc, name);
    assert_string_equal(text_at(one, "verdict"), verdict);
    assert_string_equal(text_at(one, "reason"), reason);
}

/* What the job ends with, and its verdicts in one. */
static void ends_with(struct metrics *m, int code, const char *brief)
{
    struct qs_buf text, one;
    struct qs_err err = QS_ERR_INIT;
    int got = -1;
    qs_buf_init(&text);
    qs_buf_init(&one);
    assert_true(qs_report_verdicts(&m->w.in, &text, &one, &got, &err));
    assert_int_equal(got, code);
    json_t *doc = page_read(&one);
    assert_string_equal(text_at(doc, "text"), brief);
    json_decref(doc);
    qs_buf_done(&text);
    qs_buf_done(&one);
}

static void test_equal_arms(void **state)
{
    (void)state;
    struct metrics m;
    metrics_init(&m, 2, NULL);
    metrics_fill(&m, 1, 0);
    json_t *doc = document(&m);
    assert_int_equal(json_array_size(at(doc, "results.0.metrics")), 4);
    assert_string_equal(text_at(doc, "results.0.comparisons.0.verdict"), "equivalent");
    verdict_is(doc, "rate", "equivalent", "none");
    verdict_is(doc, "calls", "equivalent", "exact");
    verdict_is(doc, "power_mW", "equivalent", "none");
    const json_t *rate = metric(doc, "rate"), *power = metric(doc, "power_mW");
    assert_string_equal(text_at(rate, "of"), "iterations");
    assert_string_equal(text_at(power, "of"), "windows");
    assert_false(json_is_true(at(rate, "lower_is_better")));
    assert_true(number(rate, "arms.0.values") == 24 && number(rate, "arms.0.runs") == 8);
    assert_true(number(power, "arms.1.values") == 8);
    assert_true(number(judged(doc, "rate"), "base.units") == 8);
    assert_true(number(judged(doc, "rate"), "p") > 0.05);
    assert_true(json_is_null(at(judged(doc, "calls"), "p")));
    assert_int_equal(number(doc, "family.comparisons"), 3); /* duration, rate, power: calls has no p */
    ends_with(&m, 0, "no change");
    json_decref(doc);
    metrics_done(&m);
}

/* Less of what is better when it is more is worse, although the durations are equal. */
static void test_direction_decides(void **state)
{
    (void)state;
    struct metrics m;
    metrics_init(&m, 2, NULL);
    metrics_fill(&m, 0.9, 0);
    json_t *doc = document(&m);
    assert_string_equal(text_at(doc, "results.0.comparisons.0.verdict"), "equivalent");
    verdict_is(doc, "rate", "regression", "none");
    assert_true(fabs(number(judged(doc, "rate"), "ratio") - 0.9) < 0.002);
    assert_non_null(strstr(text_at(judged(doc, "rate"), "sentence"), "% lower than that of a"));
    ends_with(&m, 5, "b rate 10.0 % lower (1 of 4)");
    json_decref(doc);
    m.list[RATE].higher_is_better = false;
    doc = document(&m);
    verdict_is(doc, "rate", "improvement", "none");
    ends_with(&m, 0, "b rate 10.0 % lower (1 of 4)");
    json_decref(doc);
    metrics_done(&m);
}

static void test_deterministic(void **state)
{
    (void)state;
    struct metrics m;
    metrics_init(&m, 2, NULL);
    metrics_fill(&m, 1, 1);
    json_t *doc = document(&m);
    verdict_is(doc, "calls", "regression", "exact");
    assert_true(number(judged(doc, "calls"), "exact.change") == 1);
    assert_string_equal(text_at(judged(doc, "calls"), "sentence"), "calls: 100 count in a, 101 in b (+1)");
    ends_with(&m, 5, "b calls 1.0 % higher (1 of 4)");
    json_decref(doc);
    m.all.at[0].values[CALLS].at[1] = 99; /* a, once: then it is a value like any other */
    doc = document(&m);
    assert_true(has_warning(metric(doc, "calls"), "warnings", "not-deterministic"));
    assert_true(json_is_false(at(judged(doc, "calls"), "exact.base_constant")));
    verdict_is(doc, "calls", "negligible", "no-spread"); /* 1 %, less than the margin */
    ends_with(&m, 0, "no change");
    json_decref(doc);
    metrics_done(&m);
}

static void test_missing_values(void **state)
{
    (void)state;
    struct metrics m;
    metrics_init(&m, 2, NULL);
    metrics_fill(&m, 1, 0);
    m.all.at[3].values[POWER].n = 0; /* the command failed once, in block 2 of b */
    json_t *doc = document(&m);
    const json_t *power = metric(doc, "power_mW");
    assert_true(number(judged(doc, "power_mW"), "base.units") == 7);
    assert_true(number(judged(doc, "power_mW"), "base.units_dropped") == 1);
    assert_true(number(power, "arms.0.runs") == 8 && number(power, "arms.1.runs") == 7);
    assert_true(has_warning(power, "warnings", "missing"));
    json_decref(doc);
    for (size_t i = 0; i < m.all.count; i++)
        m.all.at[i].values[POWER].n = 0; /* nobody has it: it is no metric of this job */
    doc = document(&m);
    assert_int_equal(json_array_size(at(doc, "results.0.metrics")), 3);
    json_decref(doc);
    m.w.in.metrics = NULL;
    doc = document(&m);
    assert_int_equal(json_array_size(at(doc, "results.0.metrics")), 1);
    assert_int_equal(number(doc, "family.comparisons"), 1);
    json_decref(doc);
    metrics_done(&m);
}

static void test_zeros(void **state)
{
    (void)state;
    struct metrics m;
    metrics_init(&m, 2, NULL);
    metrics_fill(&m, 1, 0);
    for (size_t i = 0; i < m.all.count; i++)
        m.all.at[i].values[POWER].at[0] = 0;
    json_t *doc = document(&m);
    verdict_is(doc, "power_mW", "equivalent", "no-spread");
    json_decref(doc);
    m.all.at[1].values[POWER].at[0] = 3;
    doc = document(&m);
    verdict_is(doc, "power_mW", "inconclusive", "not-positive");
    json_decref(doc);
    metrics_done(&m);
}

/* Times rest on the clean blocks, comparisons on all, each for what it is worth. */
static void test_disturbed_blocks(void **state)
{
    (void)state;
    struct metrics m;
    metrics_init(&m, 2, NULL);
    metrics_fill(&m, 1, 0);
    metrics_run(&m, 9, 0, 3);
    metrics_put(metrics_of(&m, RATE), 5000);
    metrics_run(&m, 9, 1, 3);
    metrics_put(metrics_of(&m, RATE), 1);
    metrics_of(&m, RATE)->disturbed = true;
    world_disturb(&m.w.measured.at[m.w.measured.count - 1]);
    json_t *doc = document(&m);
    assert_true(number(doc, "results.0.blocks_used") == 8);
    assert_true(number(judged(doc, "rate"), "base.units") == 9);
    assert_true(number(metric(doc, "rate"), "arms.1.min") > 4000);
    json_decref(doc);
    metrics_done(&m);
}

static void test_views(void **state)
{
    (void)state;
    struct metrics m;
    metrics_init(&m, 2, NULL);
    metrics_fill(&m, 1, 0);
    m.w.in.views = (struct qs_views){.at = {{QS_VIEWS_DISCARD_FIRST, 1}}, .count = 1};
    json_t *doc = document(&m);
    const json_t *rate = metric(doc, "rate"), *power = metric(doc, "power_mW");
    assert_true(number(rate, "arms.0.values") == 16 && number(rate, "arms.0.views.0.dropped") == 8);
    assert_true(number(power, "arms.0.values") == 8); /* a window is no iteration */
    assert_int_equal(json_array_size(at(power, "arms.0.views")), 0);
    json_decref(doc);
    metrics_done(&m);
}

/* Many metrics are many tests: what one alone would call may not stand among them. */
static void test_one_family(void **state)
{
    (void)state;
    struct metrics m;
    metrics_init(&m, 2, NULL);
    metrics_fill(&m, 1.1, 3);
    json_t *doc = document(&m);
    const double p[] = {number(doc, "results.0.comparisons.0.p"), number(judged(doc, "rate"), "p"),
                        number(judged(doc, "power_mW"), "p")};
    const double p_bh[] = {number(doc, "results.0.comparisons.0.p_bh"), number(judged(doc, "rate"), "p_bh"),
                           number(judged(doc, "power_mW"), "p_bh")};
    assert_true(fabs(p_bh[1] - 3 * p[1]) <= 1e-12 * p_bh[1]); /* the least of three */
    assert_true(p_bh[0] >= p[0] && p_bh[2] >= p[2]);
    assert_int_equal(number(doc, "family.selected"), 1);
    assert_true(json_is_true(at(judged(doc, "rate"), "stands")));
    json_decref(doc);
    metrics_done(&m);
}

static void test_verdicts_and_lines(void **state)
{
    (void)state;
    struct metrics m;
    struct qs_buf text, brief;
    struct qs_err err = QS_ERR_INIT;
    int code = 0;
    qs_buf_init(&text);
    qs_buf_init(&brief);
    metrics_init(&m, 2, NULL);
    metrics_fill(&m, 0.9, 0);
    assert_true(qs_report_verdicts(&m.w.in, &text, &brief, &code, &err));
    assert_non_null(strstr(text.data, "{\"point\":0,\"device\":\"local\",\"arm\":\"b\",\"metric\":\"duration_"
                                      "ns\",\"verdict\":\"equivalent\"}"));
    assert_non_null(strstr(text.data, "\"arm\":\"b\",\"metric\":\"rate\",\"verdict\":\"regression\"}"));
    qs_buf_clear(&text);
    qs_report_lines(&m.w.in, &text);
    assert_non_null(strstr(text.data, "\nlocal work: rate of b is "));
    assert_non_null(strstr(text.data, "calls: 100 count in both, exactly: equivalent (8 blocks)\n"));
    qs_buf_done(&text);
    qs_buf_done(&brief);
    metrics_done(&m);
}

/* Commands that fail now and then: no success whatever the verdict, unless the run was ended from outside. */
static void test_failures(void **state)
{
    static const uint32_t failures[] = {QS_TAINT_EXIT, QS_TAINT_TIMEOUT, QS_TAINT_HOOK};
    (void)state;
    struct metrics m;
    struct qs_buf text, brief;
    struct qs_err err = QS_ERR_INIT;
    int code = -1;
    qs_buf_init(&text);
    qs_buf_init(&brief);
    metrics_init(&m, 2, NULL);
    metrics_fill(&m, 0.9, 0);
    struct qs_measured_run *last = &m.w.measured.at[m.w.measured.count - 1];
    for (size_t i = 0; i < 3; i++) {
        last->taint = 0;
        last->values.taints = failures[i] | QS_TAINT_GATE;
        assert_true(qs_report_verdicts(&m.w.in, &text, &brief, &code, &err));
        assert_int_equal(code, 1);
        last->taint = QS_TAINT_INTERRUPTED;
        assert_true(qs_report_verdicts(&m.w.in, &text, &brief, &code, &err));
        assert_int_equal(code, 5);
    }
    last->taint = last->values.taints = QS_TAINT_GATE | QS_TAINT_EVIDENCE | QS_TAINT_OUTPUT;
    assert_true(qs_report_verdicts(&m.w.in, &text, &brief, &code, &err));
    assert_int_equal(code, 5);
    qs_buf_done(&text);
    qs_buf_done(&brief);
    metrics_done(&m);
}

static void test_one_arm(void **state)
{
    (void)state;
    struct metrics m;
    metrics_init(&m, 1, NULL);
    for (uint32_t b = 1; b <= 7; b++) {
        metrics_run(&m, b, 0, 2);
        metrics_put(metrics_of(&m, RATE), b);
    }
    json_t *doc = document(&m);
    assert_int_equal(json_array_size(at(doc, "results.0.comparisons")), 0);
    assert_true(number(doc, "results.0.metrics.1.arms.0.median") == 4);
    assert_true(number(doc, "results.0.metrics.1.arms.0.median_lo") == 1);
    json_decref(doc);
    metrics_done(&m);
}

static void test_sentences(void **state)
{
    (void)state;
    static const struct {
        double lo, hi;
        const char *says;
    } cases[] = {{1.02, 1.05, "m of b is 2.0–5.0 % higher than that of a"},
                 {0.9273, 0.9273, "m of b is 7.27 % lower than that of a"},
                 {0.98, 1.01, "m of b is between 2.0 % lower and 1.0 % higher than that of a"},
                 {1, 1, "m of b is that of a"}};
    struct qs_buf text;
    qs_buf_init(&text);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        qs_buf_clear(&text);
        qs_report_value_sentence(&text, "m", "a", "b", cases[i].lo, cases[i].hi);
        assert_string_equal(text.data, cases[i].says);
    }
    qs_buf_done(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_failures),          cmocka_unit_test(test_equal_arms),
        cmocka_unit_test(test_direction_decides), cmocka_unit_test(test_deterministic),
        cmocka_unit_test(test_missing_values),    cmocka_unit_test(test_zeros),
        cmocka_unit_test(test_disturbed_blocks),  cmocka_unit_test(test_views),
        cmocka_unit_test(test_one_family),        cmocka_unit_test(test_verdicts_and_lines),
        cmocka_unit_test(test_one_arm),           cmocka_unit_test(test_sentences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
