/* `compare` and `history` over 10,000 stored runs: a comparison of two builds of 5,000 runs each, the same
 * with every job named, and the history of all, the first time and once its medians are kept. Each reads and
 * computes the whole document, in units of one bare SQLite scan of the same iterations; CPU time, in rounds
 * whose order is drawn. */
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "report/history/history.h"
#include "report/sides/sides.h"
#include "stats/describe.h"
#include "stats/interval.h"
#include "store/read/history.h"
#include "stored.h"

enum {
    NIGHTS = QS_FULL_OR_SMOKE(1000, 12),
    RUNS = QS_FULL_OR_SMOKE(10, 3),
    NAMED = QS_FULL_OR_SMOKE(60, 6),
    PER_WINDOW = 5,
    ROUNDS = 7
};
enum side { SCAN, BUILDS, NAMES, FIRST, PAGE, SIDES };

struct bench {
    struct stored at;
    sqlite3 *bare;
    sqlite3_stmt *scan;
    struct qs_job_spec *spec;    /* owned: of all jobs */
    struct qs_sides_job *jobs;   /* owned */
    struct qs_picks picks[2][2]; /* owned: of builds, and of jobs as well, each of both sides */
    struct qs_arm_runs runs[2];  /* owned */
    size_t asked;                /* which picks */
    struct qs_median_row *fresh; /* owned */
    size_t fresh_count;
    struct qs_buf out;
    int64_t sum; /* so that nothing is left out */
};

static double cpu_s(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
    return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

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

static void pick(const char *text, struct qs_picks *ret)
{
    struct qs_err err = QS_ERR_INIT;
    if (!qs_picks_parse(text, ret, &err))
        stored_die(err.text);
}

/* Jobs are numbered from 1 on. */
static void make_picks(struct bench *b)
{
    static const char *const builds[2] = {"build:old", "build:new"};
    for (int side = 0; side < 2; side++) {
        struct qs_buf text;
        qs_buf_init(&text);
        qs_buf_str(&text, builds[side]);
        pick(text.data, &b->picks[0][side]);
        for (int i = 0; i < NAMED; i++)
            qs_buf_fmt(&text, ",%d", side * (NIGHTS / 2) + i + 1);
        pick(text.data, &b->picks[1][side]);
        qs_buf_done(&text);
    }
}

static void prepare_scan(struct bench *b)
{
    static const char sql[] =
        "SELECT w.taint | t.taint, w.evals, t.duration_ns FROM run r"
        " CROSS JOIN window w ON w.run_id = r.id CROSS JOIN iteration t ON t.window_id = w.id";
    if (sqlite3_open_v2(b->at.path, &b->bare, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(b->bare, sql, -1, &b->scan, NULL) != SQLITE_OK)
        stored_die(sqlite3_errmsg(b->bare));
}

static void run_scan(struct bench *b)
{
    int rc;
    size_t rows = 0;
    while ((rc = sqlite3_step(b->scan)) == SQLITE_ROW) {
        b->sum += sqlite3_column_int64(b->scan, 0) + sqlite3_column_int64(b->scan, 1) +
                  sqlite3_column_int64(b->scan, 2);
        rows++;
    }
    sqlite3_reset(b->scan);
    if (rc != SQLITE_DONE || rows != (size_t)NIGHTS * RUNS * PER_WINDOW)
        stored_die("the scan saw other rows");
}

static bool read_sides(struct qs_store_reader *r, void *user, struct qs_err *err)
{
    static const struct qs_arm_wanted all;
    struct bench *b = user;
    bool ok = true;
    for (int k = 0; ok && k < 2; k++) {
        const struct qs_picks *picks = &b->picks[b->asked][k];
        ok = qs_read_arm_runs(r, picks->at, picks->count, &all, &b->runs[k], err);
    }
    return ok;
}

static void compare(struct bench *b, size_t picks)
{
    struct qs_err err = QS_ERR_INIT;
    b->asked = picks;
    if (!qs_store_read_now(b->at.store, read_sides, b, &err))
        stored_die(err.text);
    const struct qs_sides_input in = {
        .selector = {"a", "b"},
        .pool = {qs_picks_pool(&b->picks[picks][0]), qs_picks_pool(&b->picks[picks][1])},
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
    b->fresh = data.fresh;
    b->fresh_count = data.fresh_count;
    data.fresh = NULL;
    qs_history_data_free(&data);
    qs_history_metrics_free(&metrics);
    qs_series_list_free(&list);
    return ok;
}

static void history(struct bench *b, bool kept)
{
    struct qs_err err = QS_ERR_INIT;
    if (!qs_store_read_now(b->at.store, read_history, b, &err))
        stored_die(err.text);
    if (b->fresh_count != (kept ? 0 : (size_t)NIGHTS * RUNS))
        stored_die("other medians are kept");
}

/* As before anybody has asked: SQLite's own API, because the store has no call for it. */
static void forget(struct bench *b)
{
    sqlite3 *db = NULL;
    if (sqlite3_open(b->at.path, &db) != SQLITE_OK || sqlite3_busy_timeout(db, 5000) != SQLITE_OK ||
        sqlite3_exec(db, "DELETE FROM run_median", NULL, NULL, NULL) != SQLITE_OK)
        stored_die(sqlite3_errmsg(db));
    sqlite3_close(db);
}

static void keep_fresh(struct bench *b)
{
    if (b->fresh_count > 0) {
        qs_store_medians(b->at.store, b->fresh, b->fresh_count, stored_on_done, NULL);
        qs_loop_run(b->at.loop);
    }
    free(b->fresh);
    b->fresh = NULL;
    b->fresh_count = 0;
}

static double run_side(struct bench *b, enum side side)
{
    if (side == FIRST)
        forget(b);
    double began_s = cpu_s();
    qs_buf_init(&b->out);
    if (side == SCAN)
        run_scan(b);
    else if (side == BUILDS || side == NAMES)
        compare(b, side == NAMES);
    else
        history(b, side == PAGE);
    qs_buf_done(&b->out);
    double spent_s = cpu_s() - began_s;
    keep_fresh(b);
    return spent_s;
}

static void report(double spent_s[SIDES][ROUNDS])
{
    static const char *const names[SIDES] = {"bare scan", "compare, two builds", "compare, and named jobs",
                                             "history, the first time", "history, medians kept"};
    for (enum side side = SCAN; side < SIDES; side++) {
        double ratio[ROUNDS], median_s = 0, median = 0;
        struct qs_median_ci ci;
        for (size_t r = 0; r < ROUNDS; r++)
            ratio[r] = spent_s[side][r] / spent_s[SCAN][r];
        if (qs_median(spent_s[side], ROUNDS, &median_s) != QS_OK ||
            qs_median(ratio, ROUNDS, &median) != QS_OK || qs_median_ci(ratio, ROUNDS, 0.95, &ci) != QS_OK)
            stored_die("no median");
        printf("  %-24s %9.2f ms, ratio to the scan %.2f (%.0f %% interval %.2f to %.2f)\n", names[side],
               median_s * 1e3, median, 100 * ci.ci.level, ci.ci.lo, ci.ci.hi);
    }
}

static void run_rounds(struct bench *b)
{
    static double spent_s[SIDES][ROUNDS];
    for (size_t r = 0; r < ROUNDS; r++) {
        enum side order[SIDES] = {SCAN, BUILDS, NAMES, FIRST, PAGE};
        for (size_t i = SIDES - 1; i > 0; i--) {
            size_t j = (size_t)qs_rng_below(&b->at.rng, i + 1);
            enum side swap = order[i];
            order[i] = order[j];
            order[j] = swap;
        }
        for (size_t i = 0; i < SIDES; i++)
            spent_s[order[i]][r] = run_side(b, order[i]);
    }
    report(spent_s);
}

int main(void)
{
    static struct bench b;
    printf("stored: %d nights of %d runs of %d iterations; %d rounds, order drawn\n", NIGHTS, RUNS,
           PER_WINDOW, ROUNDS);
    stored_open(&b.at, &(struct stored_size){.nights = NIGHTS,
                                             .benchmarks = 1,
                                             .runs = RUNS,
                                             .windows = 1,
                                             .per_window = PER_WINDOW,
                                             .has_builds = true});
    parse_job(&b);
    make_picks(&b);
    prepare_scan(&b);
    for (enum side side = SCAN; side <= FIRST; side++) /* from here on all is in memory */
        run_side(&b, side);
    run_rounds(&b);
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 2; k++)
            qs_picks_done(&b.picks[i][k]);
    qs_job_free(b.spec);
    free(b.jobs);
    sqlite3_finalize(b.scan);
    sqlite3_close(b.bare);
    stored_close(&b.at);
    return 0;
}
