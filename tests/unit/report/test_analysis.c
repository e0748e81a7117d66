/* How much work the statistics of a file may take. */
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"
#include "golden.h"
#include "page.h"
#include "report/analysis/impl.h"
#include "report/job/opinion.h"
#include "stats/bootstrap.h"
#include "world.h"

static void test_resamples_are_bounded(void **state)
{
    (void)state;
    struct qs_analysis_opts opts = qs_analysis_opts_default();
    assert_int_equal(qs_analysis_resamples(&opts, 0), 10000);
    assert_int_equal(qs_analysis_resamples(&opts, 10000), 10000);
    assert_int_equal(qs_analysis_resamples(&opts, 40000), 2500);
    assert_int_equal(qs_analysis_resamples(&opts, 2000000), QS_BOOT_RESAMPLES_MIN);
    opts.resamples = 500;
    assert_int_equal(qs_analysis_resamples(&opts, 40000), 500);
}

/* What costs the square of n is not computed of more values. */
static void test_pairs_are_bounded(void **state)
{
    (void)state;
    struct qs_analysis_opts opts = qs_analysis_opts_default();
    static const char *const squares[] = {"drift", "theil_sen"};
    for (size_t i = 0; i < 2; i++) {
        double most = qs_points_cost_ns(squares[i], 5000, &opts),
               more = qs_points_cost_ns(squares[i], 5001, &opts);
        if (!(most > 100 * more && more > 0))
            fail_msg("%s: %g of 5000 values, %g of 5001", squares[i], most, more);
    }
}

static json_t *compared_text(const struct qs_buf *text, bool page)
{
    struct qs_buf out;
    struct qs_import import;
    struct qs_problems problems;
    struct qs_analysis_opts opts = qs_analysis_opts_default();
    qs_buf_init(&out);
    qs_problems_init(&problems);
    assert_true(qs_import_read("made", text->data, text->len, QS_FORMAT_AUTO, &import, &problems));
    struct qs_analysis_file files[2] = {{.name = "a", .import = &import}, {.name = "b", .import = &import}};
    opts.page = page;
    opts.resamples = 100;
    assert_int_equal(qs_analysis_compare(files, 2, &opts, &out), QS_OK);
    json_t *doc = page_read(&out);
    qs_import_done(&import);
    qs_problems_done(&problems);
    qs_buf_done(&out);
    return doc;
}

static json_t *compared(size_t series, bool page)
{
    struct qs_buf text;
    qs_buf_init(&text);
    qs_buf_str(&text, "benchmark,run,iteration,value,unit\n");
    for (size_t i = 0; i < series * 24; i++)
        qs_buf_fmt(&text, "b%zu,%zu,%zu,%zu,ns\n", i / 24, i % 24 / 8, i % 8, 1000 + i * 7919 % 101);
    json_t *doc = compared_text(&text, page);
    qs_buf_done(&text);
    return doc;
}

/* Columns without a benchmark are the benchmarks: what their ratios have in common is the unit. */
static void test_columns_are_tallied_by_unit(void **state)
{
    (void)state;
    struct qs_buf text;
    qs_buf_init(&text);
    qs_buf_str(&text, "left,right\n");
    for (size_t i = 0; i < 24; i++)
        qs_buf_fmt(&text, "%zu,%zu\n", 1000 + i * 7919 % 101, 2000 + i * 7919 % 101);
    json_t *columns = compared_text(&text, true), *rows = compared(3, true);
    assert_int_equal(json_array_size(at(columns, "results")), 2);
    assert_int_equal(json_array_size(at(columns, "tally.ratios")), 1);
    assert_string_equal(text_at(columns, "tally.ratios.0.metric"), text_at(columns, "results.0.unit"));
    assert_int_equal(json_integer_value(at(columns, "tally.ratios.0.n")), 2);
    assert_string_equal(text_at(rows, "tally.ratios.0.metric"), text_at(rows, "results.0.metric"));
    assert_string_not_equal(text_at(rows, "tally.ratios.0.metric"), text_at(rows, "results.0.unit"));
    assert_int_equal(json_integer_value(at(rows, "tally.ratios.0.n")), 3);
    json_decref(columns);
    json_decref(rows);
    qs_buf_done(&text);
}

/* What a page has is what the whole document has. */
static void check_within(const json_t *part, const json_t *whole)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)part, key, value)
    {
        const json_t *other = json_object_get(whole, key);
        assert_non_null(other);
        if (json_is_object(value))
            check_within(value, other);
        else
            assert_true(json_equal(value, other));
    }
}

static void test_a_page_has_what_it_shows(void **state)
{
    (void)state;
    static const char *const shown[] = {"describe",    "quantiles", "median_ci", "median_ci_dependent",
                                        "run_medians", "warnings",  "histogram"};
    json_t *all = compared(4, false), *page = compared(4, true);
    const json_t *whole = at(all, "results.3"), *part = at(page, "results.3");
    check_within(part, whole);
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
        assert_non_null(json_object_get(json_object_get(part, "candidate"), shown[i]));
    assert_non_null(at(whole, "base.bootstrap_mean"));
    assert_null(at(part, "base.bootstrap_mean"));
    assert_null(at(part, "per_run.mann_whitney"));
    json_decref(all);
    json_decref(page);
}

/* More series have a line each. */
static void test_a_line_has_what_it_shows(void **state)
{
    (void)state;
    json_t *all = compared(5, false), *page = compared(5, true);
    const json_t *whole = at(all, "results.4"), *part = at(page, "results.4");
    check_within(part, whole);
    assert_true(json_equal(at(part, "comparisons"), at(whole, "comparisons")));
    assert_non_null(at(part, "base.run_medians"));
    assert_non_null(at(part, "candidate.describe"));
    assert_null(at(part, "base.warnings"));
    assert_null(at(part, "base.quantiles"));
    assert_non_null(at(whole, "base.warnings"));
    json_decref(all);
    json_decref(page);
}

/* Files of other tools, by their names in tests/data. */
static json_t *of_files(const char *const *names, size_t count,
                        enum qs_status (*run)(const struct qs_analysis_file *files, size_t count,
                                              const struct qs_analysis_opts *opts, struct qs_buf *out))
{
    struct qs_analysis_opts opts = qs_analysis_opts_default();
    struct qs_import imports[4];
    struct qs_analysis_file files[4];
    struct qs_buf out;
    struct qs_problems problems;
    qs_problems_init(&problems);
    qs_buf_init(&out);
    for (size_t i = 0; i < count; i++) {
        char *path = qs_asprintf("%s/../../data/%s", golden_dir, names[i]), text[65536];
        FILE *f = fopen(path, "re");
        assert_non_null(f);
        size_t n = fread(text, 1, sizeof text - 1, f);
        text[n] = '\0';
        fclose(f);
        free(path);
        assert_true(qs_import_read(names[i], text, n, QS_FORMAT_AUTO, &imports[i], &problems));
        files[i] = (struct qs_analysis_file){.name = names[i], .import = &imports[i]};
    }
    opts.resamples = 200;
    opts.opinions = QS_OPINIONS_ALL;
    assert_int_equal(run(files, count, &opts, &out), QS_OK);
    json_t *doc = page_read(&out);
    for (size_t i = 0; i < count; i++)
        qs_import_done(&imports[i]);
    qs_problems_done(&problems);
    qs_buf_done(&out);
    return doc;
}

/* tests/e2e/test_offline.py holds the statistics against R; here every field stays what it is. */
static void test_documents_stay_what_they_are(void **state)
{
    (void)state;
    static const char *const described[] = {"pyperf/telco.json", "perfolizer/real1.csv",
                                            "nist_anova/SmLs01.csv"};
    static const char *const compared_ones[] = {"gobench/benchstat_old.txt", "gobench/benchstat_new.txt"};
    static const char *const points[] = {"otava/tigerbeetle.csv", "pyperf/telco.json"};
    json_t *one = of_files(described, 3, qs_analysis_describe),
           *two = of_files(compared_ones, 2, qs_analysis_compare),
           *series = of_files(points, 2, qs_analysis_history);
    golden_document("analysis", one);
    golden_document("analysis-compared", two);
    golden_document("analysis-history", series);
    json_decref(one);
    json_decref(two);
    json_decref(series);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_resamples_are_bounded),
        cmocka_unit_test(test_pairs_are_bounded),
        cmocka_unit_test(test_columns_are_tallied_by_unit),
        cmocka_unit_test(test_a_page_has_what_it_shows),
        cmocka_unit_test(test_a_line_has_what_it_shows),
        cmocka_unit_test(test_documents_stay_what_they_are),
    };
    golden_dir = argc > 1 ? argv[1] : golden_dir;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
