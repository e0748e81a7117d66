/* `compare` and `history` over 10,000 stored runs: the runs of each job with what counts of them, a
 * comparison of two builds of 5,000 runs each, the same with every job named, and the history of all, the
 * first time and once its medians are kept. The others read and compute the whole document, in units of one
 * bare SQLite scan of the same iterations; CPU time, in rounds whose order is drawn. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/history/history.h"
#include "report/sides/sides.h"
#include "stored.h"

enum {
    NIGHTS = QS_FULL_OR_SMOKE(1000, 12),
    RUNS = QS_FULL_OR_SMOKE(10, 3),
    NAMED = QS_FULL_OR_SMOKE(60, 6),
    PER_WINDOW = 5
};

struct bench {
    struct stored at;
    struct qs_job_spec *spec;               /* owned: of all jobs */
    struct qs_sides_job *jobs;              /* owned */
    struct qs_run_selector selectors[2][2]; /* owned: of builds, and of jobs as well, each of both sides */
    struct qs_arm_runs runs[2];             /* owned */
    size_t asked;                           /* which selectors */
    struct qs_buf out;
};

static void parse_job(struct bench *b)
{
    static const char text[] = "quiesce: 1\nname: made\nbenchmarks: [{name: bench-0, argv: [bench]}]\narms: "
                               "{tip: {argv: [bench]}}\n";
    struct qs_problems problems;
    struct qs_doc *doc = NULL;
    qs_problems_init(&problems);
    if (!qs_doc_read("made", text, sizeof text - 1, false, &doc, &problems) ||
        !qs_job_from_doc(doc, &b->spec, &problems))
        stored_die("the job is refused");
    qs_doc_free(doc);
    qs_problems_done(&problems);
    b->jobs = qs_calloc(NIGHTS, sizeof *b->jobs);
    for (size_t i = 0; i < NIGHTS; i++)
        b->jobs[i] = (struct qs_sides_job){.id = (int64_t)i + 1, .spec = b->spec};
}

static void select_runs(const char *text, struct qs_run_selector *ret)
{
    struct qs_err err = QS_ERR_INIT;
    if (!qs_run_selector_parse(text, ret, &err))
        stored_die(err.text);
}

/* Jobs are numbered from 1 on. */
static void make_selectors(struct bench *b)
{
    static const char *const builds[2] = {"build:old", "build:new"};
    for (int side = 0; side < 2; side++) {
        struct qs_buf text;
        qs_buf_init(&text);
        qs_buf_str(&text, builds[side]);
        select_runs(text.data, &b->selectors[0][side]);
        for (int i = 0; i < NAMED; i++)
            qs_buf_fmt(&text, ",%d", side * (NIGHTS / 2) + i + 1);
        select_runs(text.data, &b->selectors[1][side]);
        qs_buf_done(&text);
    }
}

static bool read_jobs(struct qs_store_reader *r, void *user, struct qs_err *err)
{
    bool ok = true;
    (void)user;
    for (int64_t job = 1; ok && job <= NIGHTS; job++) {
        struct qs_measured_runs runs;
        ok = qs_read_measured_runs(r, job, &runs, err);
        if (ok && (runs.count != RUNS || runs.at[RUNS - 1].values.n != PER_WINDOW))
            stored_die("other runs were measured");
        qs_measured_runs_free(&runs);
    }
    return ok;
}

static bool read_sides(struct qs_store_reader *r, void *user, struct qs_err *err)
{
    static const struct qs_metric_names all;
    struct bench *b = user;
    bool ok = true;
    for (int k = 0; ok && k < 2; k++) {
        const struct qs_run_selector *selector = &b->selectors[b->asked][k];
        ok = qs_read_arm_runs(r, selector->at, selector->count, &all, &b->runs[k], err);
    }
    return ok;
}

static void compare(struct bench *b, size_t kind)
{
    struct qs_err err = QS_ERR_INIT;
    b->asked = kind;
    qs_buf_init(&b->out);
    if (!qs_store_read_now(b->at.store, read_sides, b, &err))
        stored_die(err.text);
    const struct qs_sides_input in = {
        .selector = {"a", "b"},
        .pool = {qs_run_selector_pool(&b->selectors[kind][0]), qs_run_selector_pool(&b->selectors[kind][1])},
        .runs = {&b->runs[0], &b->runs[1]},
        .jobs = b->jobs,
        .job_count = NIGHTS,
        .margin_ratio = NAN,
        .alpha = NAN,
        .allow = "",
        .seed = 1};
    if (b->runs[0].count != (size_t)NIGHTS / 2 * RUNS || b->runs[1].count != b->runs[0].count ||
        qs_sides_compare(&in, &b->out) != QS_OK || !strstr(b->out.data, "\"verdict\""))
        stored_die("nothing was compared");
    for (int k = 0; k < 2; k++)
        qs_arm_runs_free(&b->runs[k]);
    qs_buf_done(&b->out);
}

static bool read_history(struct qs_store_reader *r, void *user, struct qs_err *err)
{
    static const struct qs_series_filter all;
    struct bench *b = user;
    struct qs_series_list list;
    struct qs_history_metrics metrics;
    struct qs_history_data data = {0};
    bool ok = qs_read_series(r, &all, 10000, &list, err) &&
              qs_read_series_metrics(r, &list.at[0], &metrics, err) &&
              qs_read_history(r, &list.at[0], &metrics.at[0], 0, INT64_MAX, &data, err);
    if (!ok)
        return false;
    const struct qs_history_input in = {.series = &list.at[0],
                                        .metric = &metrics.at[0],
                                        .metrics = &metrics,
                                        .data = &data,
                                        .opts = qs_history_opts_default()};
    ok = data.count == NIGHTS && qs_history_document(&in, &b->out, err);
    stored_take_fresh(&b->at, &data);
    qs_history_data_free(&data);
    qs_history_metrics_free(&metrics);
    qs_series_list_free(&list);
    return ok;
}

static void history(struct bench *b, bool kept)
{
    struct qs_err err = QS_ERR_INIT;
    qs_buf_init(&b->out);
    if (!qs_store_read_now(b->at.store, read_history, b, &err))
        stored_die(err.text);
    if (b->at.fresh_count != (kept ? 0 : (size_t)NIGHTS * RUNS))
        stored_die("other medians are kept");
    qs_buf_done(&b->out);
}

static void forget(void *user)
{
    struct bench *b = user;
    stored_forget(&b->at);
}

static void run_scan(void *user)
{
    struct bench *b = user;
    stored_scan(&b->at);
}

static void run_jobs(void *user)
{
    struct bench *b = user;
    struct qs_err err = QS_ERR_INIT;
    if (!qs_store_read_now(b->at.store, read_jobs, b, &err))
        stored_die(err.text);
}

static void run_builds(void *user)
{
    compare(user, 0);
}

static void run_names(void *user)
{
    compare(user, 1);
}

static void run_first(void *user)
{
    history(user, false);
}

static void run_kept(void *user)
{
    history(user, true);
}

int main(void)
{
    static struct bench b;
    static const struct stored_side sides[] = {
        {.name = "bare scan", .run = run_scan},
        {.name = "runs of each job", .run = run_jobs},
        {.name = "compare, two builds", .run = run_builds},
        {.name = "compare, and named jobs", .run = run_names},
        {.name = "history, the first time", .prepare = forget, .run = run_first},
        {.name = "history, medians kept", .run = run_kept}};
    printf("stored: %d nights of %d runs of %d iterations; %d rounds, order drawn\n", NIGHTS, RUNS,
           PER_WINDOW, STORED_ROUNDS);
    stored_open(&b.at, &(struct stored_size){.nights = NIGHTS,
                                             .benchmarks = 1,
                                             .runs = RUNS,
                                             .windows = 1,
                                             .per_window = PER_WINDOW,
                                             .has_builds = true});
    parse_job(&b);
    make_selectors(&b);
    stored_rounds(&b.at, sides, sizeof sides / sizeof *sides, &b);
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 2; k++)
            qs_run_selector_done(&b.selectors[i][k]);
    qs_job_free(b.spec);
    free(b.jobs);
    stored_close(&b.at);
    return 0;
}
