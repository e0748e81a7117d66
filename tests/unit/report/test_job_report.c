/* Reports on jobs and runs: every field is described, and each part says what the stored rows say. */
#include "golden.h"
#include "metrics.h"
#include "page.h"

#include <stdio.h>

#include "base/mem.h"
#include "listener.h"
#include "report/job/document.h"
#include "stats/rng.h"

static const bool brief = false, full = true;

static json_t *job_doc(struct world *w, const struct qs_windows *windows, bool how)
{
    struct qs_buf text;
    qs_buf_init(&text);
    qs_report_job(&w->in, windows, how, &text);
    json_t *doc = page_read(&text);
    qs_buf_done(&text);
    return doc;
}

static json_t *run_doc(struct world *w, const struct qs_run_info *run, const struct qs_windows *windows,
                       bool how)
{
    struct qs_buf text;
    qs_buf_init(&text);
    qs_report_run(&w->in, run, windows, how, &text);
    json_t *doc = page_read(&text);
    qs_buf_done(&text);
    return doc;
}

/* --- windows by hand --- */

enum { FREQ, THROTTLE, HEAT, TICKS, SWITCHES, LINK, STILL, KINDS };
static const char *const kinds[KINDS] = {
    "freq:policy0_khz",           "throttle.cpu0.count", "thermal:soc", "cpu.busy_ticks",
    "sched.involuntary_switches", "host.link.in_bytes",  "load1_milli"};

static void windows_init(struct qs_windows *all)
{
    *all = (struct qs_windows){.kinds = qs_calloc(KINDS, sizeof *all->kinds), .kind_count = KINDS};
    for (size_t i = 0; i < KINDS; i++)
        all->kinds[i] = qs_strdup(kinds[i]);
}

/* A clean window of a second with these durations; every reading is steady. */
static struct qs_window_info *window_add(struct qs_windows *all, uint8_t run, const int64_t *ns, size_t n)
{
    all->at = qs_grow(all->at, all->count, sizeof *all->at);
    struct qs_window_info *w = &all->at[all->count];
    *w = (struct qs_window_info){.run_uid = {run},
                                 .run = run,
                                 .opened_ns = (int64_t)all->count * 2000000000,
                                 .closed_ns = (int64_t)all->count * 2000000000 + 1000000000,
                                 .durations_ns = qs_calloc(n, sizeof *w->durations_ns),
                                 .worth = qs_calloc(n, sizeof *w->worth),
                                 .n = n,
                                 .values = qs_calloc(KINDS, sizeof *w->values),
                                 .value_count = KINDS};
    for (size_t i = 0; i < n; i++)
        w->durations_ns[i] = (double)ns[i];
    for (uint32_t k = 0; k < KINDS; k++)
        w->values[k] = (struct qs_window_value){k, 1000, 1000};
    w->values[LINK].after = (double)all->count;
    all->count++;
    return w;
}

struct made { /* ten runs of one arm, a window of three iterations each */
    struct world w;
    struct qs_windows windows;
};

static void made_init(struct made *m, size_t runs)
{
    world_init(&m->w, 1, "plan: {stop: {fixed: 3}}\n");
    windows_init(&m->windows);
    for (size_t r = 0; r < runs; r++) {
        int64_t base = 2000000 + 1000 * (int64_t)(r * 7 % runs);
        const int64_t ns[] = {base + 100, base, base + 300};
        struct qs_measured_run *s = world_run(&m->w, (uint32_t)r + 1, 0, ns, 3);
        s->run_uid[0] = (uint8_t)(r + 1);
        s->session = s->boot = 1;
        window_add(&m->windows, (uint8_t)(r + 1), ns, 3);
    }
}

static void made_done(struct made *m)
{
    qs_windows_free(&m->windows);
    world_done(&m->w);
}

/* --- described --- */

/* The metrics of an arm and those of a run are described once, and so is what both documents have; a sample
 * has a schema of its own. */
static json_t *as_one(json_t *of_job, json_t *of_run)
{
    size_t i, a;
    json_t *one, *arm;
    json_array_foreach(json_object_get(of_job, "results"), i, one)
    {
        json_array_foreach(json_object_get(one, "arms"), a, arm)
            json_object_set_new(arm, "metrics", json_null());
    }
    json_array_foreach(json_object_get(of_run, "metrics"), i, one)
        json_object_set_new(one, "sample", json_null());
    json_object_update_missing(json_object_get(of_run, "rule"), json_object_get(of_job, "rule"));
    json_object_update_missing(of_run, of_job);
    return of_run;
}

/* Those of an arm beside the duration, without their samples. */
static void add_other_metrics(json_t *to)
{
    struct metrics m;
    size_t i;
    json_t *one;
    const struct qs_windows none = {.count = 0};
    metrics_init(&m, 2, NULL);
    metrics_fill(&m, 1, 0);
    m.w.in.views = (struct qs_views){.at = {{QS_VIEWS_LAST, 2}}, .count = 1};
    json_t *doc = job_doc(&m.w, &none, full);
    json_array_foreach(at(doc, "results.0.arms.0.metrics"), i, one)
    {
        json_object_set_new(one, "sample", json_null());
        if (i > 0)
            json_array_append(to, one);
    }
    json_decref(doc);
    metrics_done(&m);
}

static void test_every_field_is_described(void **state)
{
    (void)state;
    struct made m;
    struct qs_err err = QS_ERR_INIT;
    made_init(&m, 12);
    world_run(&m.w, 13, 0, NULL, 0)->state = QS_RUN_FAILED;
    assert_true(qs_views_parse("last:2", &m.w.in.views, &err));
    json_t *of_job = job_doc(&m.w, &m.windows, full);
    const struct qs_run_info run = {
        .uid = {1}, .arm_name = m.w.spec->arms[0].name, .stop_reason = m.w.spec->name};
    json_t *of_run = run_doc(&m.w, &run, &m.windows, full);
    const char *parts[] = {"floor", "strip", "covariates"};
    for (size_t i = 0; i < 3; i++) /* of an arm, which has more rows */
        json_object_set(json_array_get(json_object_get(of_run, "metrics"), 0), parts[i],
                        json_object_get(at(of_job, "results.0.arms.0.metrics.0"), parts[i]));
    add_other_metrics(json_object_get(of_run, "metrics"));
    golden_document("report-job", of_job);
    golden_document("report-run", of_run);
    page_check(as_one(of_job, of_run), "report.md", 100);
    json_decref(of_job);
    json_decref(of_run);
    made_done(&m);
}

static bool names_sample_stat(const json_t *doc, const char *path, const char *stat)
{
    return json_object_get(at(doc, path), stat) != NULL;
}

static void test_what_it_says(void **state)
{
    (void)state;
    struct made m;
    made_init(&m, 12);
    json_t *doc = job_doc(&m.w, &m.windows, brief);
    assert_string_equal(text_at(doc, "rule.stop"), "fixed(3)");
    assert_string_equal(text_at(doc, "seed"), "18446744073709551615");
    assert_int_equal(number(doc, "results.0.arms.0.runs"), 12);
    assert_int_equal(number(doc, "results.0.arms.0.iterations"), 36);
    assert_int_equal(number(doc, "results.0.arms.0.metrics.0.sample.n"), 36);
    assert_int_equal(number(doc, "results.0.arms.0.metrics.0.sample.runs"), 12);
    assert_string_equal(text_at(doc, "results.0.arms.0.metrics.0.strip.of"), "runs");
    assert_int_equal(json_array_size(at(doc, "results.0.arms.0.metrics.0.strip.median")), 12);
    assert_false(names_sample_stat(doc, "results.0.arms.0.metrics.0.sample", "bootstrap_mean"));
    assert_true(names_sample_stat(doc, "results.0.arms.0.metrics.0.sample", "impact_factor"));
    json_decref(doc);
    doc = job_doc(&m.w, &m.windows, full);
    assert_true(names_sample_stat(doc, "results.0.arms.0.metrics.0.sample", "bootstrap_mean"));
    json_decref(doc);
    made_done(&m);
}

static void test_of_a_run(void **state)
{
    (void)state;
    struct made m;
    struct qs_windows windows;
    struct qs_err err = QS_ERR_INIT;
    const struct qs_run_info run = {.uid = {9}, .warmup_n = 2};
    const int64_t first[] = {900, 800, 100, 110, 120}, second[] = {130, 5000, 140};
    made_init(&m, 1);
    windows_init(&windows);
    window_add(&windows, 9, first, 5);
    window_add(&windows, 9, second, 3)->worth[1] = QS_WORTH_LOST;
    windows.at[0].worth[0] = windows.at[0].worth[1] = QS_WORTH_WARMUP;
    json_t *doc = run_doc(&m.w, &run, &windows, brief);
    assert_int_equal(number(doc, "iterations"), 5);
    assert_int_equal(number(doc, "metrics.0.sample.describe.max"), 140);
    assert_int_equal(number(doc, "metrics.0.sample.dropped.tainted"), 1);
    assert_int_equal(number(doc, "metrics.0.sample.dropped.warm-up"), 2);
    assert_int_equal(number(doc, "rule.warmup_n"), 2);
    assert_int_equal(number(doc, "metrics.0.strip.n"), 8); /* the strip shows what is left out, too */
    assert_int_equal(number(doc, "metrics.0.strip.left_out.0"), 1);
    assert_int_equal(number(doc, "metrics.0.strip.left_out.2"), 0);
    assert_int_equal(number(doc, "metrics.0.strip.left_out.6"), 1);
    assert_true(json_is_false(at(doc, "uses_tainted")));
    json_decref(doc);
    assert_true(qs_views_parse("discard-first:1,last:3", &m.w.in.views, &err));
    doc = run_doc(&m.w, &run, &windows, brief);
    assert_int_equal(number(doc, "metrics.0.sample.describe.min"), 120);
    assert_int_equal(number(doc, "metrics.0.sample.dropped.view"), 2);
    assert_int_equal(number(doc, "metrics.0.views.1.used"), 3);
    assert_int_equal(number(doc, "metrics.0.covariates.windows"), 2);
    json_decref(doc);
    assert_true(qs_views_parse("discard-first:9", &m.w.in.views, &err));
    doc = run_doc(&m.w, &run, &windows, brief); /* its windows are there whatever is left of their values */
    assert_true(json_is_null(at(doc, "metrics.0.sample")));
    assert_int_equal(number(doc, "metrics.0.covariates.windows"), 2);
    json_decref(doc);
    for (size_t i = 0; i < 5; i++)
        windows.at[0].worth[i] = QS_WORTH_DISTURBED;
    for (size_t i = 0; i < 3; i++)
        windows.at[1].worth[i] = QS_WORTH_LOST;
    m.w.in.views.count = 0;
    doc = run_doc(&m.w, &run, &windows, brief);
    assert_true(json_is_true(at(doc, "uses_tainted")));
    assert_int_equal(number(doc, "iterations"), 5);
    assert_int_equal(number(doc, "metrics.0.sample.dropped.tainted"), 3);
    json_decref(doc);
    qs_windows_free(&windows);
    windows_init(&windows);
    doc = run_doc(&m.w, &run, &windows, full); /* nothing was measured */
    assert_true(json_is_null(at(doc, "metrics.0.sample")) && json_is_null(at(doc, "metrics.0.floor.ns")));
    assert_true(number(doc, "metrics.0.runs") == 0 && number(doc, "metrics.0.runs_missing") == 1);
    json_decref(doc);
    qs_windows_free(&windows);
    made_done(&m);
}

/* --- floor --- */

static void expect_floor(struct made *m, const char *code, double ns)
{
    json_t *doc = job_doc(&m->w, &m->windows, brief);
    assert_string_equal(text_at(doc, "results.0.arms.0.metrics.0.floor.code"), code);
    assert_true(strlen(text_at(doc, "results.0.arms.0.metrics.0.floor.text")) > 10);
    bool verified = strcmp(code, "verified") == 0;
    assert_true(json_is_true(at(doc, "results.0.arms.0.metrics.0.floor.verified")) == verified);
    if (verified)
        assert_true(number(doc, "results.0.arms.0.metrics.0.floor.ns") == ns);
    else
        assert_true(json_is_null(at(doc, "results.0.arms.0.metrics.0.floor.ns")));
    json_decref(doc);
}

static void test_floor(void **state)
{
    (void)state;
    struct made m;
    made_init(&m, 10);
    struct qs_window_value *last = m.windows.at[9].values;
    expect_floor(&m, "verified", 2000000);
    last[FREQ].after = 1009;
    expect_floor(&m, "verified", 2000000);
    last[FREQ].after = 1011;
    expect_floor(&m, "moved", 0);
    last[FREQ].after = NAN;
    expect_floor(&m, "missing", 0);
    last[FREQ].after = 0;
    expect_floor(&m, "missing", 0);
    last[FREQ].after = 1000;
    last[FREQ].before = 0;
    expect_floor(&m, "missing", 0);
    last[FREQ].before = 1000;
    last[FREQ].after = 1000;
    last[THROTTLE].after = 1001;
    expect_floor(&m, "throttled", 0);
    last[THROTTLE].after = 1000;
    m.windows.at[4].value_count = 0;
    expect_floor(&m, "missing", 0);
    for (size_t i = 0; i < 10; i++)
        m.windows.at[i].value_count = 0;
    size_t windows = m.windows.count;
    m.windows.count = 0; /* there is one, and it was not read */
    expect_floor(&m, "no-frequency", 0);
    m.windows.count = windows;
    m.windows.kinds[FREQ][0] = 'x';
    expect_floor(&m, "no-frequency", 0);
    made_done(&m);
}

/* --- covariates --- */

static const json_t *covariate(const json_t *doc, const char *arm, const char *name, const char *of)
{
    size_t i;
    const json_t *row;
    char path[80];
    snprintf(path, sizeof path, "%s.metrics.0.covariates.rows", arm);
    json_array_foreach(at(doc, path), i, row)
    {
        if (strcmp(text_at(row, "name"), name) == 0 && strcmp(text_at(row, "of"), of) == 0)
            return row;
    }
    return NULL;
}

static void test_covariates(void **state)
{
    (void)state;
    struct made m;
    struct qs_rng rng;
    qs_rng_seed(&rng, 3, 1);
    made_init(&m, 20);
    for (size_t i = 0; i < 20; i++) {
        struct qs_window_value *v = m.windows.at[i].values;
        double median = m.windows.at[i].durations_ns[0];
        v[HEAT].before = 40000 + median / 100 - 50;
        v[HEAT].after = 40000 + median / 100 + 50;
        v[TICKS].after = v[TICKS].before + 3000000 - median;
        v[SWITCHES].after = v[SWITCHES].before + floor(10 * qs_rng_unit(&rng));
    }
    json_t *doc = job_doc(&m.w, &m.windows, brief);
    const char *arm = "results.0.arms.0";
    const json_t *heat = covariate(doc, arm, "thermal:soc", "run");
    const json_t *ticks = covariate(doc, arm, "cpu.busy_ticks", "run");
    const json_t *switches = covariate(doc, arm, "sched.involuntary_switches", "run");
    assert_true(heat && ticks && switches && covariate(doc, arm, "time", "run"));
    assert_true(fabs(number(heat, "rho") - 1) < 1e-12 && number(heat, "p_bh") < 1e-9);
    assert_true(json_is_null(at(heat, "per")));
    assert_true(fabs(number(ticks, "rho") + 1) < 1e-12);
    assert_string_equal(text_at(ticks, "per"), "second");
    assert_string_equal(text_at(switches, "per"), "iteration");
    assert_true(fabs(number(switches, "rho")) < 0.6);
    assert_null(covariate(doc, arm, "host.link.in_bytes", "run"));
    assert_null(covariate(doc, arm, "load1_milli", "run"));
    assert_null(covariate(doc, arm, "thermal:soc", "window")); /* each run has one window */
    assert_true(number(doc, "results.0.arms.0.metrics.0.covariates.constant") == 3);
    assert_string_equal(text_at(doc, "results.0.arms.0.metrics.0.covariates.meaning"),
                        "association, not cause");
    const json_t *rows = at(doc, "results.0.arms.0.metrics.0.covariates.rows");
    for (size_t i = 1; i < json_array_size(rows); i++)
        assert_true(fabs(number(json_array_get(rows, i - 1), "rho")) >=
                    fabs(number(json_array_get(rows, i), "rho")));
    for (size_t i = 0; i < json_array_size(rows); i++)
        assert_true(number(json_array_get(rows, i), "p_bh") >= number(json_array_get(rows, i), "p"));
    json_decref(doc);
    made_done(&m);
}

/* A run of many windows: its windows are what is compared. A long window is no association by itself. */
static void test_covariates_of_windows(void **state)
{
    (void)state;
    struct made m;
    struct qs_windows windows;
    const struct qs_run_info run = {.uid = {9}};
    made_init(&m, 1);
    windows_init(&windows);
    for (int64_t i = 0; i < 15; i++) {
        int64_t ns = 1000 + 100 * (i * 4 % 15);
        struct qs_window_info *w = window_add(&windows, 9, &ns, 1);
        w->closed_ns = w->opened_ns + ns;
        w->values[TICKS].after = w->values[TICKS].before + (double)ns;    /* busy all the time */
        w->values[SWITCHES].after = w->values[SWITCHES].before + 2;       /* two for each */
        w->values[HEAT].before = w->values[HEAT].after = 50 - (double)ns; /* falls */
    }
    json_t *doc = run_doc(&m.w, &run, &windows, brief);
    char *rows = json_dumps(at(doc, "metrics.0.covariates.rows"), JSON_COMPACT);
    assert_null(strstr(rows, "cpu.busy_ticks"));
    assert_null(strstr(rows, "switches"));
    assert_string_equal(text_at(doc, "metrics.0.covariates.rows.0.name"), "thermal:soc");
    assert_string_equal(text_at(doc, "metrics.0.covariates.rows.0.of"), "window");
    assert_true(fabs(number(doc, "metrics.0.covariates.rows.0.rho") + 1) < 1e-12);
    free(rows);
    json_decref(doc);
    windows.count = 9; /* too few */
    doc = run_doc(&m.w, &run, &windows, brief);
    assert_int_equal(json_array_size(at(doc, "metrics.0.covariates.rows")), 0);
    assert_true(number(doc, "metrics.0.covariates.too_few") > 0);
    json_decref(doc);
    windows.count = 15;
    qs_windows_free(&windows);
    made_done(&m);
}

/* Two windows a run that say the same: of rows that are as strong that of the windows comes first. */
static void test_covariates_of_both(void **state)
{
    (void)state;
    struct made m;
    made_init(&m, 12);
    for (size_t i = 0; i < 24; i++) {
        if (i >= 12) {
            const int64_t ns = (int64_t)m.windows.at[i - 12].durations_ns[0];
            window_add(&m.windows, (uint8_t)(i - 11), &ns, 1);
        }
        struct qs_window_info *w = &m.windows.at[i];
        w->values[HEAT].before = w->values[HEAT].after = w->durations_ns[0];
        if (i % 2)
            w->values[HEAT].before = NAN; /* one reading is enough */
    }
    json_t *doc = job_doc(&m.w, &m.windows, brief);
    const json_t *of_window = at(doc, "results.0.arms.0.metrics.0.covariates.rows.0"),
                 *of_run = at(doc, "results.0.arms.0.metrics.0.covariates.rows.1");
    assert_string_equal(text_at(of_window, "name"), "thermal:soc");
    assert_string_equal(text_at(of_window, "of"), "window");
    assert_int_equal(number(of_window, "n"), 24);
    assert_true(number(of_window, "rho") > 0.999);
    assert_string_equal(text_at(of_run, "name"), "thermal:soc");
    assert_string_equal(text_at(of_run, "of"), "run");
    assert_int_equal(number(of_run, "n"), 12);
    assert_true(number(of_run, "rho") == number(of_window, "rho"));
    json_decref(doc);
    made_done(&m);
}

static void test_nothing(void **state)
{
    (void)state;
    struct world w;
    struct qs_windows windows;
    world_init(&w, 2, NULL);
    windows_init(&windows);
    json_t *doc = job_doc(&w, &windows, full);
    assert_int_equal(json_array_size(at(doc, "results")), 0);
    json_decref(doc);
    world_one(&w, 1, 0, 5); /* one run of one arm of two: no block */
    doc = job_doc(&w, &windows, full);
    assert_true(json_is_null(at(doc, "results.0.arms.0.metrics.0.sample")));
    assert_int_equal(number(doc, "results.0.arms.0.runs"), 0);
    assert_non_null(strstr(text_at(doc, "points.0.levels_sentence"), "too few units"));
    json_decref(doc);
    world_one(&w, 1, 1, 7);
    doc = job_doc(&w, &windows, full); /* one iteration in all of each */
    assert_int_equal(number(doc, "results.0.arms.1.metrics.0.sample.n"), 1);
    assert_string_equal(text_at(doc, "results.0.arms.1.metrics.0.strip.of"), "iterations"); /* of one run */
    json_decref(doc);
    qs_windows_free(&windows);
    world_done(&w);
}

/* Every question may be the last. */
static void test_it_ends_where_it_is_told_to(void **state)
{
    (void)state;
    struct metrics m;
    struct qs_windows windows = {0};
    struct listener all = {.asked = 0};
    struct qs_buf out;
    qs_buf_init(&out);
    metrics_init(&m, 1, NULL);
    m.w.in.progress = (struct qs_progress){.go_on = hear, .user = &all};
    for (uint32_t b = 1; b <= 2; b++) {
        metrics_run(&m, b, 0, 1);
        metrics_put(metrics_of(&m, RATE), b);
    }
    assert_int_equal(qs_report_job(&m.w.in, &windows, full, &out), QS_OK);
    assert_true(!all.fell && all.last >= 1 && all.stages > 40);
    for (size_t k = 1; k <= all.asked; k++) {
        struct listener l = {.refuse_at = k};
        m.w.in.progress.user = &l;
        qs_buf_clear(&out);
        assert_int_equal(qs_report_job(&m.w.in, &windows, full, &out), QS_ECANCELED);
        assert_int_equal(l.asked, k);
    }
    qs_buf_done(&out);
    metrics_done(&m);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_field_is_described),
        cmocka_unit_test(test_what_it_says),
        cmocka_unit_test(test_of_a_run),
        cmocka_unit_test(test_floor),
        cmocka_unit_test(test_covariates),
        cmocka_unit_test(test_covariates_of_windows),
        cmocka_unit_test(test_covariates_of_both),
        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_it_ends_where_it_is_told_to),
    };
    golden_dir = argc > 2 ? argv[1] : golden_dir;
    schema_dir = argc > 2 ? argv[2] : "schema";
    return cmocka_run_group_tests(tests, NULL, NULL);
}
