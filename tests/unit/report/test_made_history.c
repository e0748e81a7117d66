/* Whole documents of made series of nights: steps, drifts, breaks, sessions of few runs, builds without a
 * name. */
#include "golden.h"
#include "listener.h"
#include "page.h"
#include "world.h"

#include <stdio.h>

#include "report/history/history.h"
#include "stats/rng.h"

enum { NIGHTS_MOST = 64, RUNS_MOST = 8 };

struct nights {
    const char *name;
    size_t count;
    double step, step_at, back_at, slope,
        noise; /* a ratio; shares of the nights; of each night; of each run */
    bool higher_is_better, breaks, odd, simulated;
    double margin_ratio;
    size_t window;
    const char *build; /* only these */
};

static const struct nights series[] = {
    {.name = "a step and back", .count = 45, .step = 1.08, .step_at = 0.4, .back_at = 0.7, .noise = 0.004},
    {.name = "higher is better",
     .count = 40,
     .step = 1.08,
     .step_at = 0.5,
     .noise = 0.004,
     .higher_is_better = true},
    {.name = "within the margin",
     .count = 40,
     .step = 1.04,
     .step_at = 0.5,
     .noise = 0.004,
     .margin_ratio = 0.05},
    {.name = "hardly beyond it", .count = 40, .step = 1.024, .step_at = 0.5, .noise = 0.008},
    {.name = "a drift", .count = 40, .slope = 0.004, .noise = 0.002},
    {.name = "breaks",
     .count = 32,
     .step = 1.1,
     .step_at = 0.75,
     .noise = 0.004,
     .breaks = true,
     .simulated = true},
    {.name = "odd sessions", .count = 24, .noise = 0.01, .odd = true},
    {.name = "without a label", .count = 24, .noise = 0.01, .odd = true, .build = "exe 00000000000"},
    {.name = "one label", .count = 24, .noise = 0.01, .breaks = true, .build = "v1"},
    {.name = "one night", .count = 1, .noise = 0.01},
    {.name = "no night", .count = 0},
};

struct made { /* borrowed texts, but for the labels */
    struct qs_history_session at[NIGHTS_MOST];
    struct qs_history_run runs[NIGHTS_MOST][RUNS_MOST];
    char labels[NIGHTS_MOST][24], hashes[NIGHTS_MOST][65];
    struct qs_history_data data;
    struct qs_history_metric metric;
    struct qs_history_metrics metrics;
    struct qs_series_info info;
};

static char *word(const char *text)
{
    return (char *)(uintptr_t)text;
}

#define JOB(more) "{\"text\":\"quiesce: 1\\nbenchmarks: [{name: a, argv: [x]}]\\n" more "\\n\"}"

static const char *spec_of(size_t i)
{
    static const char *const specs[] = {
        JOB(""),
        JOB("conditions: {gate: [{sensor: load1_milli, below: 1.5}, {sensor: load1_milli, above: 0.1}]}"),
        JOB("conditions: {gate: [{sensor: load1_milli, below: 1.6}, {sensor: load1_milli, above: 0.1}]}"),
        JOB("conditions: {gate: none, bounds: none}"),
        "{\"text\":\"no: [document\"}",
        "{\"text\":7}",
        "{\"name\":\"none\"}",
        "not JSON",
    };
    return specs[i / 4 % 8];
}

static void fill_facts(struct made *m, const struct nights *of, size_t i)
{
    struct qs_history_session *s = &m->at[i];
    s->job_name = word("nightly");
    s->conditions_json = word("{}");
    s->boot = word(i < 20 ? "boot-1" : "boot-2");
    s->spec_json = word(of->breaks ? spec_of(i) : spec_of(0));
    s->env_json =
        word((of->breaks && i >= 10) || (of->odd && i >= 16) ? "{\"cgroup\":\"b\",\"kernel\":\"6.2\"}"
                                                             : "{\"cgroup\":\"a\",\"kernel\":\"6.1\"}");
    s->argv_json = word(of->breaks && i >= 30 ? "[\"y\"]" : "[\"x\"]");
    snprintf(m->labels[i], sizeof m->labels[i], "v%zu", i);
    snprintf(m->hashes[i], sizeof m->hashes[i], "%064zu", of->breaks ? i / 3 : i);
    memcpy(m->hashes[i], of->odd && i % 4 == 0 ? "ff" : "00", 2);
    if (i % 7 != 3 && !(of->odd && i % 2))
        s->build_label = s->build_content = m->labels[i];
}

static void fill_runs(struct made *m, const struct nights *of, size_t i, double level, struct qs_rng *rng)
{
    static const size_t counts[] = {1, 2, 5, 6, 7, 0, 3};
    struct qs_history_session *s = &m->at[i];
    s->runs = m->runs[i];
    s->run_count = of->odd ? counts[i % 7] : 3;
    for (size_t k = 0; k < s->run_count; k++) {
        struct qs_history_run *run = &s->runs[k];
        double wobble = 1 + of->noise * (2 * qs_rng_unit(rng) - 1);
        *run = (struct qs_history_run){.median = level * wobble, .n = 4 + k, .exe_sha256 = m->hashes[i]};
        run->exe_of_job = of->breaks ? i % 2 == 0 : !of->odd;
        if (of->odd) {
            run->disturbed = k >= 1 + i % 4;
            run->median = i == 14 && k < 2       ? (double)k - 1
                          : i == 15              ? 1.0
                          : i % 5 == 4 && k == 1 ? NAN
                                                 : run->median;
            run->n = i % 6 == 5 && k == 0 ? 0 : run->n;
            run->exe_sha256 = k == 0 || i % 8 == 1 ? word("") : m->hashes[i];
        }
    }
}

static void made_init(struct made *m, const struct nights *of)
{
    struct qs_rng rng;
    qs_rng_seed(&rng, (uint64_t)(of - series), 3);
    *m = (struct made){
        .metric = {.name = word("joy"), .unit = word("ops"), .lower_is_better = !of->higher_is_better}};
    for (size_t i = 0; i < of->count; i++) {
        double share = (double)i / (double)of->count, level = 1000 * (1 + of->slope * (double)i);
        bool after = of->step > 0 && share >= of->step_at && !(of->back_at > 0 && share >= of->back_at);
        m->at[i] = (struct qs_history_session){.uid = {1, (uint8_t)i},
                                               .id = (int64_t)i + 1,
                                               .job = (int64_t)i + 5,
                                               .started_wall_ns = INT64_C(1790000000000000000) +
                                                                  INT64_C(86400000000000) * (int64_t)i};
        fill_facts(m, of, i);
        fill_runs(m, of, i, after ? level * of->step : level, &rng);
    }
    m->data = (struct qs_history_data){.at = m->at, .count = of->count};
    m->metrics = (struct qs_history_metrics){.at = &m->metric, .count = 1};
    m->info = (struct qs_series_info){.benchmark = word("blur"),
                                      .params_json = word("{\"n\":1}"),
                                      .controls_json = word("{}"),
                                      .device = word("bench"),
                                      .arm = word("tip"),
                                      .simulated = of->simulated};
}

static bool write_to(struct qs_buf *out, const struct made *m, const struct nights *of, struct listener *l,
                     struct qs_err *err)
{
    struct qs_history_input in = {.series = &m->info,
                                  .metric = &m->metric,
                                  .metrics = &m->metrics,
                                  .data = &m->data,
                                  .build = of->build,
                                  .opts = qs_history_opts_default(),
                                  .progress = {.go_on = hear, .user = l}};
    if (of->margin_ratio > 0)
        in.opts.margin_ratio = of->margin_ratio;
    qs_buf_clear(out);
    return qs_history_document(&in, out, err);
}

static void histories_stay_what_they_are(void **state)
{
    (void)state;
    static struct made m;
    struct qs_buf text;
    json_t *all = json_object();
    qs_buf_init(&text);
    for (size_t i = 0; i < sizeof series / sizeof *series; i++) {
        struct listener l = {.asked = 0};
        struct qs_err err = QS_ERR_INIT;
        made_init(&m, &series[i]);
        assert_true(write_to(&text, &m, &series[i], &l, &err));
        json_object_set_new(all, series[i].name, page_read(&text));
    }
    golden_document("made-nights", all);
    json_decref(all);
    qs_buf_done(&text);
}

/* Every question may be the last. */
static void it_ends_where_it_is_told_to(void **state)
{
    (void)state;
    static struct made m;
    struct listener all = {.asked = 0};
    struct qs_err err = QS_ERR_INIT;
    struct qs_buf text;
    qs_buf_init(&text);
    made_init(&m, &series[5]);
    assert_true(write_to(&text, &m, &series[5], &all, &err));
    assert_true(!all.fell && all.last == 1 && all.asked > 16);
    for (size_t k = 1; k <= all.asked; k++) {
        struct listener l = {.refuse_at = k};
        struct qs_err why = QS_ERR_INIT;
        assert_false(write_to(&text, &m, &series[5], &l, &why));
        assert_int_equal(why.code, QS_E_STOPPED);
        assert_int_equal(l.asked, k);
    }
    qs_buf_done(&text);
}

/* Of any two sessions that follow each other. */
static void an_environment_that_cannot_be_read_is_told(void **state)
{
    (void)state;
    static struct made m;
    struct listener l = {.asked = 0};
    struct qs_err err = QS_ERR_INIT;
    struct qs_buf text;
    qs_buf_init(&text);
    made_init(&m, &series[0]);
    m.at[44].env_json = word("{");
    assert_false(write_to(&text, &m, &series[0], &l, &err));
    assert_int_equal(err.code, QS_E_DATA);
    qs_buf_done(&text);
}

int main(int argc, char **argv)
{
    setenv("TZ", "UTC0", 1); /* nights are named where this runs */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(histories_stay_what_they_are),
        cmocka_unit_test(it_ends_where_it_is_told_to),
        cmocka_unit_test(an_environment_that_cannot_be_read_is_told),
    };
    golden_dir = argc > 1 ? argv[1] : golden_dir;
    return cmocka_run_group_tests_name("made_history", tests, NULL, NULL);
}
