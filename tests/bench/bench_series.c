/* History over the store: 500 nights of 10 benchmarks, 3 runs of 1000 iterations each, written through the
 * store itself. What one page and the list of all series cost is told in units of one bare SQLite scan of the
 * same iterations; in rounds whose order is drawn. The values are made up: nothing was measured. */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "report/history/history.h"
#include "stats/describe.h"
#include "stats/interval.h"
#include "store/read/medians.h"
#include "store/read/history.h"
#include "stored.h"

enum {
    NIGHTS = QS_FULL_OR_SMOKE(500, 5),
    BENCHMARKS = 10,
    RUNS = 3,
    WINDOWS = 10,
    PER_WINDOW = QS_FULL_OR_SMOKE(100, 5),
    ROUNDS = 7
};
enum side { SCAN, FIRST, PAGE, LIST, SIDES };

struct bench {
    struct stored at;
    sqlite3 *bare;
    sqlite3_stmt *scan;
    struct qs_median_row *fresh; /* owned */
    size_t fresh_count;
    int64_t sum; /* so that nothing is left out */
    size_t points, series;
};

static double now_s(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

/* The windows of one series, in the order in which the page wants their iterations. */
static void prepare_scan(struct bench *b)
{
    static const char sql[] =
        "SELECT w.taint | t.taint, w.evals, t.duration_ns FROM run r"
        " CROSS JOIN window w ON w.run_id = r.id CROSS JOIN iteration t ON t.window_id = w.id"
        " WHERE r.point_idx = ?";
    if (sqlite3_open_v2(b->at.path, &b->bare, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(b->bare, sql, -1, &b->scan, NULL) != SQLITE_OK)
        stored_die(sqlite3_errmsg(b->bare));
}

static void run_scan(struct bench *b)
{
    int rc;
    size_t rows = 0;
    sqlite3_bind_int(b->scan, 1, 0);
    while ((rc = sqlite3_step(b->scan)) == SQLITE_ROW) {
        b->sum += sqlite3_column_int64(b->scan, 0) + sqlite3_column_int64(b->scan, 1) +
                  sqlite3_column_int64(b->scan, 2);
        rows++;
    }
    sqlite3_reset(b->scan);
    if (rc != SQLITE_DONE || rows != (size_t)NIGHTS * RUNS * WINDOWS * PER_WINDOW)
        stored_die("the scan saw other rows");
}

static void take_fresh(struct bench *b, struct qs_history_data *data)
{
    free(b->fresh);
    b->fresh = data->fresh;
    b->fresh_count = data->fresh_count;
    data->fresh = NULL;
}

/* The document of one series, or what the list says of each. */
static bool read_series(struct bench *b, struct qs_store_reader *r, const struct qs_series_info *series,
                        bool latest, struct qs_buf *out, struct qs_err *err)
{
    struct qs_history_metrics metrics;
    struct qs_history_data data = {0};
    int64_t since_ns = latest ? series->last_wall_ns : 0,
            until_ns = latest ? series->last_wall_ns : INT64_MAX;
    if (!qs_read_series_metrics(r, series, &metrics, err))
        return false;
    bool ok = qs_read_history(r, series, &metrics.at[0], since_ns, until_ns, &data, err);
    struct qs_history_input in = {.series = series,
                                  .metric = &metrics.at[0],
                                  .metrics = &metrics,
                                  .data = &data,
                                  .opts = qs_history_opts_default()};
    ok = ok && (latest || qs_history_document(&in, out, err));
    for (size_t i = 0; ok && latest && i < data.count; i++)
        qs_buf_fmt(out, "%f ", qs_history_value_of(&data.at[i], 0.95).value);
    take_fresh(b, &data);
    qs_history_data_free(&data);
    qs_history_metrics_free(&metrics);
    return ok;
}

static bool read_page(struct qs_store_reader *r, void *user, struct qs_err *err)
{
    static const struct qs_series_filter all;
    struct bench *b = user;
    struct qs_series_list list;
    struct qs_buf out;
    qs_buf_init(&out);
    bool ok = qs_read_series(r, &all, 10000, &list, err) && read_series(b, r, &list.at[0], false, &out, err);
    b->points = out.len;
    qs_buf_done(&out);
    qs_series_list_free(&list);
    return ok;
}

static bool read_list(struct qs_store_reader *r, void *user, struct qs_err *err)
{
    static const struct qs_series_filter all;
    struct bench *b = user;
    struct qs_series_list list;
    struct qs_buf out;
    qs_buf_init(&out);
    bool ok = qs_read_series(r, &all, 200, &list, err);
    for (size_t i = 0; ok && i < list.count; i++)
        ok = read_series(b, r, &list.at[i], true, &out, err);
    b->series = list.count;
    qs_buf_done(&out);
    qs_series_list_free(&list);
    return ok;
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
    if (b->fresh_count == 0)
        return;
    qs_store_medians(b->at.store, b->fresh, b->fresh_count, stored_on_done, NULL);
    qs_loop_run(b->at.loop);
    b->fresh_count = 0;
}

static double run_side(struct bench *b, enum side side)
{
    struct qs_err err = QS_ERR_INIT;
    if (side == FIRST)
        forget(b);
    double began_s = now_s();
    if (side == SCAN)
        run_scan(b);
    else if (!qs_store_read_now(b->at.store, side == LIST ? read_list : read_page, b, &err))
        stored_die(err.text);
    double spent_s = now_s() - began_s;
    if (side == FIRST && b->fresh_count != (size_t)NIGHTS * RUNS)
        stored_die("a first page found medians that nobody had kept");
    if (side == PAGE && b->fresh_count != 0)
        stored_die("a page computed what was kept");
    keep_fresh(b);
    return spent_s;
}

static void report(const struct bench *b, double spent_s[SIDES][ROUNDS])
{
    static const char *const names[SIDES] = {"bare scan of one series", "first page of it", "page of it",
                                             "list of all series"};
    if (b->series != BENCHMARKS || b->points == 0)
        stored_die("nothing was read");
    for (enum side side = SCAN; side < SIDES; side++) {
        double ratio[ROUNDS], median_s = 0, median = 0;
        struct qs_median_ci ci;
        for (size_t r = 0; r < ROUNDS; r++)
            ratio[r] = spent_s[side][r] / spent_s[SCAN][r];
        if (qs_median(spent_s[side], ROUNDS, &median_s) != QS_OK ||
            qs_median(ratio, ROUNDS, &median) != QS_OK || qs_median_ci(ratio, ROUNDS, 0.95, &ci) != QS_OK)
            stored_die("no median");
        printf("  %-24s %9.2f ms, %.4f of the scan (%.0f %% interval %.4f to %.4f)\n", names[side],
               median_s * 1e3, median, 100 * ci.ci.level, ci.ci.lo, ci.ci.hi);
    }
}

static void run_rounds(struct bench *b)
{
    static double spent_s[SIDES][ROUNDS];
    for (size_t r = 0; r < ROUNDS; r++) {
        enum side order[SIDES] = {SCAN, FIRST, PAGE, LIST};
        for (size_t i = SIDES - 1; i > 0; i--) {
            size_t j = (size_t)qs_rng_below(&b->at.rng, i + 1);
            enum side swap = order[i];
            order[i] = order[j];
            order[j] = swap;
        }
        for (size_t i = 0; i < SIDES; i++)
            spent_s[order[i]][r] = run_side(b, order[i]);
    }
    report(b, spent_s);
}

int main(void)
{
    static struct bench b;
    printf("series: %d nights, %d benchmarks, %d runs of %d iterations; %d rounds, order drawn\n", NIGHTS,
           BENCHMARKS, RUNS, WINDOWS * PER_WINDOW, ROUNDS);
    stored_open(&b.at, &(struct stored_size){.nights = NIGHTS,
                                             .benchmarks = BENCHMARKS,
                                             .runs = RUNS,
                                             .windows = WINDOWS,
                                             .per_window = PER_WINDOW});
    prepare_scan(&b);
    run_side(&b, SCAN); /* from here on all is in memory */
    run_side(&b, FIRST);
    run_rounds(&b);
    free(b.fresh);
    sqlite3_finalize(b.scan);
    sqlite3_close(b.bare);
    stored_close(&b.at);
    return 0;
}
