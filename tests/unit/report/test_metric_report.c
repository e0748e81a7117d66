/* The report on a job or a run has every metric. */
#include "metrics.h"
#include "page.h"
#include "report/job/document.h"

static json_t *job_doc(struct metrics *m)
{
    const struct qs_windows none = {.count = 0};
    const bool brief = false;
    struct qs_buf text;
    qs_buf_init(&text);
    assert_int_equal(qs_report_job(&m->w.in, &none, brief, &text), QS_OK);
    json_t *doc = page_read(&text);
    qs_buf_done(&text);
    return doc;
}

static json_t *run_doc(struct metrics *m, const struct qs_run_info *run, const struct qs_windows *windows)
{
    const bool brief = false;
    struct qs_buf text;
    qs_buf_init(&text);
    assert_int_equal(qs_report_run(&m->w.in, run, windows, brief, &text), QS_OK);
    json_t *doc = page_read(&text);
    qs_buf_done(&text);
    return doc;
}

/* Each metric is a sample of its own, with the views and the checks of the duration. */
static void test_metrics(void **state)
{
    (void)state;
    struct metrics m;
    struct qs_err err = QS_ERR_INIT;
    metrics_init(&m, 2, NULL);
    metrics_fill(&m, 0.5, 0);
    m.all.at[0].values[POWER].n = 0;
    m.all.at[2].values[RATE].tainted = 4;
    m.all.at[2].values[RATE].warm = 1;
    assert_true(qs_views_parse("discard-first:1", &m.w.in.views, &err));
    json_t *doc = job_doc(&m);
    const json_t *a = at(doc, "results.0.arms.0.metrics"), *b = at(doc, "results.0.arms.1.metrics");
    assert_int_equal(json_array_size(a), 4);
    assert_string_equal(text_at(a, "0.metric"), "duration_ns");
    assert_string_equal(text_at(a, "0.unit"), "ns");
    assert_true(number(a, "0.runs") == 8 && number(a, "0.runs_missing") == 0 && number(a, "0.values") == 16);
    assert_true(number(a, "0.views.0.used") == 16 && number(a, "0.views.0.dropped") == 8);
    assert_true(json_is_object(at(a, "0.floor")) && json_is_object(at(a, "0.covariates")));
    assert_true(json_is_null(at(a, "1.floor")) && json_is_null(at(a, "1.covariates")));
    assert_string_equal(text_at(a, "1.metric"), "rate");
    assert_true(number(a, "1.sample.n") == 16 && number(a, "1.sample.dropped.view") == 8);
    assert_true(number(a, "1.sample.dropped.tainted") == 4 && number(a, "1.sample.dropped.warm-up") == 1);
    assert_true(number(a, "1.sample.run_medians.estimate") > 4990);
    assert_true(number(b, "1.sample.run_medians.estimate") < 2510);
    assert_true(number(a, "1.strip.n") == 8 && number(a, "1.strip.lo") > 4990);
    assert_true(has_warning(a, "2.sample.warnings", "constant"));
    assert_true(number(a, "3.runs") == 7 && number(a, "3.runs_missing") == 1);
    assert_true(number(a, "3.sample.n") == 7); /* of windows: the view does not count iterations here */
    assert_string_equal(text_at(a, "3.strip.of"), "runs");
    assert_int_equal(json_array_size(at(a, "3.views")), 0);
    json_decref(doc);
    m.all.at[2].values[RATE].n = 1; /* of which the view leaves nothing: it is counted all the same */
    doc = job_doc(&m);
    a = at(doc, "results.0.arms.0.metrics");
    assert_true(number(a, "1.runs") == 7 && number(a, "1.runs_missing") == 1);
    assert_true(number(a, "1.views.0.used") == 14 && number(a, "1.views.0.dropped") == 8);
    json_decref(doc);
    metrics_done(&m);
}

static void test_metrics_of_a_run(void **state)
{
    (void)state;
    struct metrics m;
    double ns[] = {900, 800, 850};
    enum qs_worth worth[3] = {QS_WORTH_COUNTS, QS_WORTH_COUNTS, QS_WORTH_COUNTS};
    struct qs_window_info window = {.durations_ns = ns, .worth = worth, .n = 3};
    struct qs_windows windows = {.at = &window, .count = 1};
    metrics_init(&m, 1, NULL);
    metrics_run(&m, 1, 0, 3);
    for (int i = 0; i < 3; i++)
        metrics_put(metrics_of(&m, RATE), 10 + i);
    const struct qs_run_info run = {.uid = {0}, .arm_name = m.w.spec->arms[0].name};
    json_t *doc = run_doc(&m, &run, &windows);
    assert_int_equal(json_array_size(at(doc, "metrics")), 2); /* it has no value of the others */
    assert_string_equal(text_at(doc, "metrics.0.metric"), "duration_ns");
    assert_true(number(doc, "metrics.0.runs") == 1 && number(doc, "metrics.0.values") == 3);
    assert_string_equal(text_at(doc, "metrics.1.metric"), "rate");
    assert_true(number(doc, "metrics.1.sample.n") == 3 && number(doc, "metrics.1.sample.describe.max") == 12);
    assert_string_equal(text_at(doc, "metrics.1.strip.of"), "iterations");
    json_decref(doc);
    for (size_t i = 0; i < 3; i++)
        worth[i] = QS_WORTH_DISTURBED;
    metrics_of(&m, RATE)->disturbed = true;
    metrics_of(&m, RATE)->tainted = 4;
    doc = run_doc(&m, &run, &windows);
    assert_true(number(doc, "metrics.1.sample.n") == 3 && json_is_true(at(doc, "uses_tainted")));
    assert_true(number(doc, "metrics.1.sample.dropped.tainted") == 1); /* one of the four is missing */
    json_decref(doc);
    m.w.in.metrics = NULL;
    doc = run_doc(&m, &run, &windows);
    assert_int_equal(json_array_size(at(doc, "metrics")), 1);
    json_decref(doc);
    metrics_done(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_metrics),
                                       cmocka_unit_test(test_metrics_of_a_run)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
