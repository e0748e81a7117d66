/* Comparison documents of tests/golden/ctl, laid out at three widths in both character sets, against the
 * texts beside them. With QS_GOLDEN_WRITE=1 the texts are written anew. */
#include "cm.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/export.h"
#include "ctl/findings.h"
#include "ctl/layout/sample.h"
#include "pages.h"

static const char *folder; /* argv[1] */

static const char *const names[] = {
    "one-arm",       "two-arms",       "opinions",     "three-arms", "inconclusive",  "too-few",
    "tainted",       "points",         "simulated",    "failed",     "long-names",    "readme",
    "file",          "two-files",      "many-series",  "history",    "drift",         "report-job",
    "report-run",    "series",         "series-list",  "sides",      "sides-few",     "sides-refused",
    "quiet",         "many-histories", "reproduction", "metrics",    "metrics-three", "metrics-one",
    "report-metrics"};
enum { NAMES = sizeof(names) / sizeof(names[0]) };

/* A path is never broken: it is there to be copied. */
static bool has_long_path(const char *line, size_t width)
{
    const char *slash = strchr(line, '/');
    return slash != NULL && qs_face_cells(slash) + 12 > width;
}

static void check_lines(const char *text, const struct qs_face *face)
{
    while (*text != '\0') {
        size_t n = strcspn(text, "\n");
        char *line = strndup(text, n);
        bool wide = qs_face_cells(line) > face->width && !has_long_path(line, face->width);
        if (wide || (n > 0 && line[n - 1] == ' '))
            fail_msg("wider than %zu, or ends in a space: [%s]", face->width, line);
        for (size_t i = 0; i < n && !face->utf8; i++)
            if ((unsigned char)line[i] >= 0x80)
                fail_msg("not ASCII: [%s]", line);
        free(line);
        text += n + (text[n] == '\n');
    }
}

static void lay_out(const char *name, struct qs_layout *layout)
{
    char path[4096];
    struct qs_buf out;
    snprintf(path, sizeof(path), "%s/%s.json", folder, name);
    json_t *doc = json_load_file(path, 0, NULL);
    assert_non_null(doc);
    qs_buf_init(&out);
    lay_out_any(layout, doc, &out);
    check_lines(out.data, &layout->face);
    snprintf(path, sizeof(path), "%s.%zu.%s.txt", name, layout->face.width,
             layout->face.utf8 ? "utf8" : "ascii");
    check_golden(folder, path, &out);
    qs_buf_done(&out);
    json_decref(doc);
}

static void documents_look_as_they_should(void **state)
{
    static const size_t widths[] = {60, 80, 200};
    (void)state;
    for (size_t i = 0; i < NAMES; i++)
        for (size_t w = 0; w < 3; w++)
            for (int utf8 = 0; utf8 < 2; utf8++) {
                struct qs_layout layout = {.face = {.width = widths[w], .utf8 = utf8 == 1},
                                           .home = "/home/USER",
                                           .show_output = true};
                lay_out(names[i], &layout);
            }
}

static void check_export(const char *name, const char *end, void (*export)(const json_t *, struct qs_buf *))
{
    char path[4096];
    struct qs_buf out;
    snprintf(path, sizeof(path), "%s/%s.json", folder, name);
    json_t *doc = json_load_file(path, 0, NULL);
    assert_non_null(doc);
    qs_buf_init(&out);
    export(doc, &out);
    snprintf(path, sizeof(path), "%s.%s", name, end);
    check_golden(folder, path, &out);
    qs_buf_done(&out);
    json_decref(doc);
}

/* Of each kind of document; what a device wrote is harmless for JUnit. */
static void exports_look_as_they_should(void **state)
{
    static const char *const exported[] = {"sides", "sides-refused", "three-arms", "two-files", "metrics"};
    (void)state;
    for (size_t i = 0; i < sizeof(exported) / sizeof(exported[0]); i++) {
        check_export(exported[i], "junit.xml", qs_export_junit);
    }
}

/* Leaves of a document what is computed for a page: of objects that are statistics (`status`) these. */
static void strip(json_t *doc)
{
    static const char *const kept[] = {"describe",
                                       "quantiles",
                                       "median_ci",
                                       "median_ci_dependent",
                                       "run_medians",
                                       "mean_ci_dependent",
                                       "variance_components",
                                       "labelled",
                                       "change_points",
                                       "drift",
                                       "verdict"};
    const char *key;
    json_t *value;
    void *next;
    size_t i;
    json_array_foreach(doc, i, value) strip(value);
    json_object_foreach_safe(doc, next, key, value)
    {
        bool keep = json_object_get(value, "status") == NULL;
        for (size_t k = 0; k < sizeof(kept) / sizeof(kept[0]); k++)
            keep = keep || strcmp(kept[k], key) == 0;
        if (keep)
            strip(value);
        else
            json_object_del(doc, key);
    }
}

/* report/analysis/put.c says what is on a page: a layout that reads more would show nothing there. */
static void a_page_needs_no_more_than_is_computed_for_it(void **state)
{
    static const char *const docs[] = {"file", "two-files", "drift", "history", "many-series"};
    (void)state;
    for (size_t i = 0; i < sizeof(docs) / sizeof(docs[0]); i++) {
        char path[4096];
        struct qs_layout layout = {.face = {.width = 80, .utf8 = true}, .home = "/home/USER"};
        struct qs_buf whole, page;
        snprintf(path, sizeof(path), "%s/%s.json", folder, docs[i]);
        json_t *doc = json_load_file(path, 0, NULL);
        qs_buf_init(&whole);
        qs_buf_init(&page);
        lay_out_any(&layout, doc, &whole);
        strip(doc);
        lay_out_any(&layout, doc, &page);
        assert_string_equal(page.data, whole.data);
        qs_buf_done(&whole);
        qs_buf_done(&page);
        json_decref(doc);
    }
}

/* Each way to fail takes in the one before; a change that does not stand ends no build. */
static void what_ends_a_build_can_be_chosen(void **state)
{
    static const struct {
        const char *verdict;
        bool stands;
        enum qs_fail_on from; /* the first that it fails; NEVER: none */
    } cases[] = {{"regression", true, QS_FAIL_REGRESSION},
                 {"regression", false, QS_FAIL_NEVER},
                 {"probable-regression", true, QS_FAIL_PROBABLE},
                 {"inconclusive", true, QS_FAIL_INCONCLUSIVE},
                 {"improvement", true, QS_FAIL_NEVER},
                 {"equivalent", true, QS_FAIL_NEVER}};
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        json_t *doc = json_pack("{s:[{s:s, s:[{s:s, s:b}]}]}", "results", "label", "x", "comparisons",
                                "verdict", cases[i].verdict, "stands", (int)cases[i].stands);
        struct qs_findings all;
        qs_findings_of(doc, &all);
        assert_int_equal(all.count, 1);
        for (int on = QS_FAIL_NEVER; on <= QS_FAIL_INCONCLUSIVE; on++)
            assert_int_equal(qs_findings_fail(&all, (enum qs_fail_on)on),
                             cases[i].from != QS_FAIL_NEVER && on >= (int)cases[i].from);
        qs_findings_done(&all);
        json_decref(doc);
    }
}

/* One metric in place of the duration; another that nobody has. */
static void a_metric_is_shown_in_full(void **state)
{
    char path[4096];
    struct qs_buf out;
    struct qs_layout layout = {.face = {.width = 80, .utf8 = true}, .metric = "first_row"};
    (void)state;
    snprintf(path, sizeof(path), "%s/report-metrics.json", folder);
    json_t *doc = json_load_file(path, 0, NULL);
    assert_non_null(doc);
    qs_buf_init(&out);
    qs_layout_report(&layout, doc, &out);
    check_lines(out.data, &layout.face);
    check_golden(folder, "report-metric.80.utf8.txt", &out);
    qs_buf_clear(&out);
    layout.metric = "cycles";
    qs_layout_report(&layout, doc, &out);
    assert_non_null(strstr(out.data, "There is no accepted value."));
    qs_buf_done(&out);
    json_decref(doc);
}

/* Four digits, or as many as tell the ends apart; none that a double does not have. */
static void numbers_of_every_size_can_be_read(void **state)
{
    static const struct {
        double lo, hi, typical;
        const char *unit, *text;
    } rows[] = {{1e308, 1.3e308, 1.075e308, "", "1.000e+308–1.300e+308"},
                {999999999999.995, 1000000000000.003, 1e12, "", "999999999999.995–1000000000000.003"},
                {1e20, 1.0000000001e20, 1e20, "", "1.00000000000e+20–1.00000000010e+20"},
                {1e-165, 2e-165, 1e-165, "J", "1.000e-165–2.000e-165 J"},
                {16.89, 16.8975, 16.89, "", "16.89–16.90"},
                {5, 5, 5, "", "5.000–5.000"},
                {-5.0003, -5.0001, -5, "", "-5.00030 to -5.00010"},
                {-0.25, 0.25, 0, "", "-0.25 to 0.25"},
                {0, 1e-7, 1e-7, "", "0.000e+00–1.000e-07"},
                {12.1, 12.4, 12.2, NULL, "12.10–12.40 ns"},
                {12.1e6, 12.4e6, 12.2e6, NULL, "12.10–12.40 ms"}};
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct qs_layout layout = {.face = {.width = 80, .utf8 = true}, .plain_unit = rows[i].unit};
        struct qs_buf out;
        qs_buf_init(&out);
        qs_sample_range(&layout, rows[i].lo, rows[i].hi, rows[i].typical, &out);
        assert_string_equal(out.data, rows[i].text);
        qs_buf_done(&out);
    }
}

/* Where there is no least and no largest value, the digits stay as they are. */
static void what_is_no_range_is_no_scale(void **state)
{
    const struct qs_layout layout = {.face = {.width = 80, .utf8 = true}, .plain_unit = ""};
    static const double rows[][2] = {{INFINITY, -INFINITY}, {NAN, NAN}, {1e200, INFINITY}, {2, 1}};
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct qs_scale scale;
        qs_layout_scale_of(&layout, 1e200, &scale);
        int before = scale.decimals;
        qs_scale_part(&scale, rows[i][0], rows[i][1]);
        assert_int_equal(scale.decimals, before);
    }
}

/* The interval of dependent values is in the headline where they were found so, and there alone. */
static void dependent_values_have_their_own_interval(void **state)
{
    static const struct {
        const char *runs, *warning, *lo, *text;
    } rows[] = {
        {"1", "dependence", "30", "  30.00–60.00 x: median 40.00 x (95 % interval, 90 values worth 7.5)\n"},
        {"1", "dependence", "null", "  median 40.00 x (too few for an interval, 90 values worth 7.5)\n"},
        {"1", "drift", "30", "  39.00–41.00 x: median 40.00 x (96 % interval, 90 values)\n"},
        {"9", "dependence", "30", "  38.00–42.00 x: median 40.00 x (97 % interval, 9 runs)\n"}};
    const struct qs_layout layout = {.face = {.width = 80, .utf8 = true}, .plain_unit = "x"};
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct qs_buf text, out;
        qs_buf_init(&text);
        qs_buf_init(&out);
        qs_buf_fmt(
            &text,
            "{\"runs\":%s,\"n\":90,\"warnings\":[{\"code\":\"%s\"}],"
            "\"median_ci\":{\"estimate\":40,\"lo\":39,\"hi\":41,\"level\":0.96},"
            "\"median_ci_dependent\":{\"estimate\":40,\"lo\":%s,\"hi\":60,\"level\":0.95,\"n_eff\":7.5},"
            "\"run_medians\":{\"estimate\":40,\"lo\":38,\"hi\":42,\"level\":0.97}}",
            rows[i].runs, rows[i].warning, rows[i].lo);
        json_t *sample = json_loads(text.data, 0, NULL);
        qs_sample_headline(&layout, sample, 1, &out);
        assert_string_equal(out.data, rows[i].text);
        json_decref(sample);
        qs_buf_done(&text);
        qs_buf_done(&out);
    }
}

/* No screen is too narrow: only the least columns and words that cannot be broken are wider. */
static void every_width_is_survived(void **state)
{
    (void)state;
    for (size_t i = 0; i < NAMES; i++)
        for (size_t width = QS_FACE_LEAST; width < 100; width += 7) {
            char path[4096];
            struct qs_buf out;
            struct qs_layout layout = {.face = {.width = width, .utf8 = true, .color = true},
                                       .sort = QS_SORT_MEDIAN,
                                       .unit = QS_UNIT_S};
            snprintf(path, sizeof(path), "%s/%s.json", folder, names[i]);
            json_t *doc = json_load_file(path, 0, NULL);
            qs_buf_init(&out);
            lay_out_any(&layout, doc, &out);
            assert_true(out.len > 0);
            qs_buf_done(&out);
            json_decref(doc);
        }
}

/* Fields that are missing or of another type: a daemon of another version. */
static void other_documents_do_no_harm(void **state)
{
    static const char *const docs[] = {
        "{}",
        "[]",
        "{\"results\":7,\"points\":[{\"levels\":[3,{}]}]}",
        "{\"kind\":\"run\",\"metrics\":[7,{\"metric\":\"duration_ns\",\"sample\":{},\"strip\":{\"median\":["
        "null,1],\"lo\":1,\"hi\":1},"
        "\"covariates\":{\"rows\":[{\"p_bh\":0},5]},\"views\":[{}],\"floor\":[]},{}]}",
        "{\"kind\":\"series\",\"points\":[{}],\"segments\":[{\"changes\":[{\"from\":-1,\"to\":9}]},{}],"
        "\"breaks\":[{}]}",
        "{\"kind\":\"series\",\"points\":7}",
        "{\"kind\":\"reproduction\",\"results\":[{}],\"environments\":[{\"differences\":[3]}],"
        "\"run\":{\"original\":{}}}",
        "{\"series\":[{\"params\":3,\"latest\":[]}]}",
        "{\"results\":[{}]}",
        "{\"kind\":\"sides\",\"tally\":{\"verdicts\":[7,{\"n\":9}],\"ratios\":[{\"n\":3},3]}}",
        "{\"kind\":\"comparison\",\"results\":[{},{\"unit\":7,\"verdict\":[],\"base\":{\"histogram\":3}}]}",
        "{\"results\":[{\"arms\":[{}],\"comparisons\":[{}]}]}",
        "{\"results\":[{\"arms\":[{\"iterations\":3}],\"metrics\":[{\"comparisons\":[{},7]},3,{\"arms\":[5]}]"
        "}]}",
        "{\"results\":[{\"arms\":[{\"iterations\":3,\"histogram\":{\"lo_ns\":2,\"hi_ns\":1,\"counts\":[1]}}]}"
        "]}",
        "{\"results\":[{\"arms\":[{\"iterations\":3,\"name\":\"\\u001b[31m\",\"command\":\"\\u0007\","
        "\"warnings\":[1,null]}]}],\"db\":\"/a b'c\",\"taints\":[{\"code\":5}]}"};
    (void)state;
    for (size_t i = 0; i < sizeof(docs) / sizeof(docs[0]); i++) {
        struct qs_buf out;
        const struct qs_layout layout = {.face = {.width = 80, .utf8 = true}, .show_output = true};
        json_t *doc = json_loads(docs[i], 0, NULL);
        assert_non_null(doc);
        qs_buf_init(&out);
        qs_layout_compare(&layout, doc, &out);
        qs_layout_report(&layout, doc, &out);
        qs_layout_analysis(&layout, doc, &out);
        qs_layout_jobs(&layout, doc, &out);
        qs_layout_job(&layout, doc, &out);
        qs_layout_run(&layout, doc, &out);
        qs_layout_devices(&layout, doc, &out);
        qs_layout_sides(&layout, doc, &out);
        qs_export_junit(doc, &out);
        assert_null(strchr(out.data, '\033'));
        struct qs_findings all;
        qs_findings_of(doc, &all);
        assert_false(qs_findings_fail(&all, QS_FAIL_REGRESSION));
        qs_findings_done(&all);
        qs_buf_done(&out);
        json_decref(doc);
    }
}

/* The number of a taint in what people count in. */
static void what_tainted_windows_is_told_in_words(void **state)
{
    static const char text[] =
        "{\"arms\":[{\"name\":\"a\",\"taints\":["
        "{\"code\":\"end:thermal:cpu\",\"windows\":1,\"example\":\"block 3, window 0: 61051 (bound 61000)\"},"
        "{\"code\":\"pin:policy4.max\",\"windows\":3,\"example\":\"block 2, window 1: 1200000 (bound "
        "1800000)\"},"
        "{\"code\":\"gate:freq:policy4_khz\",\"windows\":4,\"busiest\":\"qs-heater\",\"example\":\"block 1, "
        "window 0: 1200000 (bound 1800000)\"},"
        "{\"code\":\"gate:thermal:cpu\",\"windows\":4,\"busiest\":\"cc1\",\"example\":\"block 1, "
        "window 0: 51200 (bound 45000)\"},"
        "{\"code\":\"residency:policy4\",\"windows\":5,\"example\":\"block 1, window 0: 120 (bound 0)\"},"
        "{\"code\":\"throttled.thermalservice\",\"windows\":2,\"example\":\"block 1, window 2: 3 (bound "
        "2)\"}]}]}";
    const struct qs_layout layout = {.face = {.width = 200, .utf8 = true}};
    json_t *result = json_loads(text, 0, NULL);
    struct qs_buf out;
    (void)state;
    assert_non_null(result);
    qs_buf_init(&out);
    qs_layout_doubts(&layout, NULL, result, &out);
    static const char *const wanted[] = {
        "1 window ended with thermal:cpu above its `end_below` (first: block 3, window 0: at 61.1 °C, at "
        "most "
        "61.0 °C)\n",
        "3 windows had the limit policy4.max elsewhere than it is held at (first: block 2, window 1: at "
        "1200000, "
        "held at 1800000)\n",
        "4 windows began although the clock policy4_khz was not at its highest (first: block 1, window 0: at "
        "1200.0 MHz, wanted 1800.0 MHz)\n",
        "4 windows began although cpu was not as the gate wants it (first: block 1, window 0: at 51.2 °C, "
        "the "
        "bound is 45.0 °C); busiest: cc1\n",
        "5 windows had policy4 at another frequency than the one it is held at (first: block 1, window 0: "
        "for 120 "
        "ms)\n",
        "throttled, as Android says (first: block 1, window 2: thermal status 3)"};
    for (size_t k = 0; k < sizeof wanted / sizeof *wanted; k++)
        if (!strstr(out.data, wanted[k]))
            fail_msg("no `%s` in %s", wanted[k], out.data);
    qs_buf_done(&out);
    json_decref(result);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(documents_look_as_they_should),
                                       cmocka_unit_test(exports_look_as_they_should),
                                       cmocka_unit_test(a_page_needs_no_more_than_is_computed_for_it),
                                       cmocka_unit_test(what_ends_a_build_can_be_chosen),
                                       cmocka_unit_test(numbers_of_every_size_can_be_read),
                                       cmocka_unit_test(what_is_no_range_is_no_scale),
                                       cmocka_unit_test(dependent_values_have_their_own_interval),
                                       cmocka_unit_test(every_width_is_survived),
                                       cmocka_unit_test(a_metric_is_shown_in_full),
                                       cmocka_unit_test(other_documents_do_no_harm),
                                       cmocka_unit_test(what_tainted_windows_is_told_in_words)};
    if (argc != 2)
        return 2;
    folder = argv[1];
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    if (getenv("QS_GOLDEN_WRITE") != NULL) {
        fputs("golden files were written anew: nothing was tested\n", stderr);
        return 1;
    }
    return failed;
}
