/* Ordered views: what they leave of each run, and how they are asked for. */
#include "page.h"
#include "report/views.h"
#include "world.h"

static json_t *document(struct world *w, struct qs_buf *text)
{
    struct qs_err err = QS_ERR_INIT;
    qs_buf_clear(text);
    assert_true(qs_report_compare(&w->in, text, &err));
    return page_read(text);
}

/* Views change what is compared: here the first iteration of each run is what makes b slower. */
static void test_views(void **state)
{
    (void)state;
    struct world w;
    struct qs_buf text;
    struct qs_err err = QS_ERR_INIT;
    qs_buf_init(&text);
    world_init(&w, 2, NULL);
    for (uint32_t b = 1; b <= 8; b++) {
        const int64_t same = 1000000 + 100 * (int64_t)b;
        const int64_t of_a[] = {same, same, same}, of_b[] = {2 * same, 2 * same, same, same, same};
        world_run(&w, b, 0, of_a, 3);
        world_run(&w, b, 1, of_b, 5);
    }
    json_t *doc = document(&w, &text);
    assert_int_equal(json_array_size(at(doc, "views")), 0);
    assert_int_equal(json_integer_value(at(doc, "results.0.arms.1.iterations")), 40);
    json_decref(doc);
    assert_true(qs_views_parse("discard-first:2,last:1", &w.in.views, &err));
    doc = document(&w, &text);
    assert_string_equal(text_at(doc, "views.0.view"), "discard-first");
    assert_int_equal(json_integer_value(at(doc, "views.1.n")), 1);
    assert_int_equal(json_integer_value(at(doc, "results.0.arms.1.iterations")), 8);
    assert_int_equal(json_integer_value(at(doc, "results.0.metrics.0.arms.1.views.0.used")), 24);
    assert_int_equal(json_integer_value(at(doc, "results.0.metrics.0.arms.1.views.0.dropped")), 16);
    assert_int_equal(json_integer_value(at(doc, "results.0.metrics.0.arms.1.views.1.used")), 8);
    assert_int_equal(json_integer_value(at(doc, "results.0.metrics.0.arms.1.views.1.dropped")), 16);
    assert_string_equal(text_at(doc, "results.0.comparisons.0.sentence"), "b takes as long as a");
    assert_int_equal(w.measured.at[1].values.n, 5); /* what is stored does not change */
    json_decref(doc);
    assert_true(qs_views_parse("discard-first:4", &w.in.views, &err)); /* more than a has */
    doc = document(&w, &text);
    assert_int_equal(json_integer_value(at(doc, "results.0.blocks_used")), 0);
    json_decref(doc);
    qs_buf_done(&text);
    world_done(&w);
}

static void test_views_by_name(void **state)
{
    (void)state;
    struct qs_views views;
    struct qs_views_tally tally = {{0}, {0}};
    struct qs_err err = QS_ERR_INIT;
    assert_true(qs_views_parse("fenced,discard-first:1,last:2", &views, &err));
    assert_int_equal(views.count, 3);
    double ns[] = {5, 900, 6, 7, 5, 6, 7, 6, 5, 6};
    assert_int_equal(qs_views_apply(&views, ns, 10, &tally), 2);
    assert_true(ns[0] == 5 && ns[1] == 6);
    assert_true(tally.used[0] == 9 && tally.dropped[0] == 1 && tally.used[1] == 8 && tally.used[2] == 2);
    assert_true(qs_views_parse("fenced", &views, &err));
    double few[] = {5, 900, 6};
    assert_int_equal(qs_views_apply(&views, few, 3, &tally), 3);
    assert_int_equal(qs_views_apply(&views, few, 0, &tally), 0);
    assert_true(
        qs_views_parse("last:1,last:1,last:1,last:1,last:1,last:1,last:1,last:1000000", &views, &err));
    assert_true(views.count == QS_VIEWS_MAX && views.at[7].n == QS_VIEWS_N_MAX);
    static const char *const bad[] = {"",
                                      "last",
                                      "last:",
                                      "last:0",
                                      "last:1000001",
                                      "fenced:3",
                                      "fenced,",
                                      "latest",
                                      "discard-first:x",
                                      "last:-1",
                                      "last:99999999999999999999999",
                                      "last:1,last:1,last:1,last:1,last:1,last:1,last:1,last:1,last:1"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(qs_views_parse(bad[i], &views, &err));
        assert_int_equal(err.code, QS_E_USAGE);
    }
}

/* Each run of a file for itself: one of which nothing is left is none. */
static void test_files(void **state)
{
    (void)state;
    struct qs_import import;
    struct qs_problems problems;
    struct qs_views views;
    struct qs_views_tally tally = {.used = {0}};
    struct qs_err err = QS_ERR_INIT;
    const char *text = "1 2 3\n\n4\n\n5 6 7 8\n";
    qs_problems_init(&problems);
    assert_true(qs_import_read("a", text, strlen(text), QS_FORMAT_NUMBERS, &import, &problems));
    assert_int_equal(import.series[0].runs, 3);
    assert_true(qs_views_parse("discard-first:1,last:2", &views, &err));
    assert_true(qs_views_of_import(&views, &import, &tally, &err));
    const struct qs_import_series *s = &import.series[0];
    const double left[] = {2, 3, 7, 8};
    assert_int_equal(s->n, 4);
    assert_int_equal(s->runs, 2);
    assert_int_equal(s->off[1], 2);
    assert_int_equal(s->off[2], 4);
    assert_memory_equal(s->v, left, sizeof left);
    assert_int_equal(s->dropped[QS_DROP_VIEW], 4);
    assert_int_equal(import.values, 4);
    assert_true(tally.dropped[0] == 3 && tally.used[0] == 5 && tally.dropped[1] == 1 && tally.used[1] == 4);
    assert_true(qs_views_parse("discard-first:2", &views, &err));
    assert_false(qs_views_of_import(&views, &import, &tally, &err));
    assert_int_equal(err.code, QS_E_USAGE);
    assert_non_null(strstr(err.text, "leave nothing of the 4 values"));
    qs_import_done(&import);
    qs_problems_done(&problems);
}

/* Of runs of the store every metric but those of windows. */
static void test_runs(void **state)
{
    (void)state;
    double clean[2][3] = {{1, 2, 3}, {10, 20, 30}}, power[] = {7};
    struct qs_values lists[3] = {{.at = clean[0], .n = 3}, {.at = clean[1], .n = 3}, {.at = power, .n = 1}};
    struct qs_arm_metric metrics[3] = {{.name = NULL}, {.name = NULL}, {.of_windows = true}};
    struct qs_arm_run run = {.state = QS_RUN_DONE, .values = lists};
    struct qs_arm_runs runs = {.at = &run, .count = 1, .metrics = metrics, .metric_count = 3};
    struct qs_views_tally tally = {.used = {0}};
    struct qs_views views;
    struct qs_err err = QS_ERR_INIT;
    assert_true(qs_views_parse("last:1", &views, &err));
    qs_views_of_runs(&views, &runs, &tally);
    assert_true(lists[0].n == 1 && clean[0][0] == 3 && lists[1].n == 1 && clean[1][0] == 30);
    assert_int_equal(lists[2].n, 1);
    assert_true(tally.used[0] == 1 && tally.dropped[0] == 2);
    assert_true(qs_views_parse("discard-first:1", &views, &err));
    qs_views_of_runs(&views, &runs, &tally);
    assert_int_equal(lists[0].n, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_views),
        cmocka_unit_test(test_views_by_name),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
