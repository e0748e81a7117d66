/* History over the store: 500 nights of 10 benchmarks, 3 runs of 1000 iterations each, written through the
 * store itself. What one page and the list of all series cost is told in units of one bare SQLite scan of the
 * same iterations; in rounds whose order is drawn. The values are made up: nothing was measured. */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/loop.h"
#include "report/history.h"
#include "scale.h"
#include "stats/describe.h"
#include "stats/interval.h"
#include "stats/rng.h"
#include "store/medians.h"
#include "store/read_history.h"
#include "store/store.h"

enum {
    NIGHTS = QS_FULL_OR_SMOKE(500, 5),
    BENCHMARKS = 10,
    RUNS = 3,
    WINDOWS = 10,
    PER_WINDOW = QS_FULL_OR_SMOKE(100, 5),
    ROUNDS = 7
};
enum side { SCAN, FIRST, PAGE, LIST, SIDES };

static const int64_t day_ns = INT64_C(86400000000000);

struct bench {
    char dir[32], path[64];
    struct qs_loop *loop;
    struct qs_store *store;
    sqlite3 *bare;
    sqlite3_stmt *scan;
    struct qs_median_row *fresh; /* owned */
    size_t fresh_count;
    struct qs_rng rng;
    int64_t sum; /* so that nothing is left out */
    size_t points, series;
};

static _Noreturn void die(const char *what)
{
    fprintf(stderr, "bench_series: %s\n", what);
    exit(1);
}

static double now_s(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

static void on_done(const struct qs_err *err, int64_t id, void *user)
{
    if (err)
        die(err->text);
    if (user)
        *(int64_t *)user = id;
}

static void uid_of(uint8_t uid[16], uint8_t kind, uint32_t night, uint32_t benchmark, uint32_t run)
{
    const uint32_t words[4] = {kind, night, benchmark, run};
    memcpy(uid, words, 16);
}

static int64_t submit(struct bench *b, uint32_t night)
{
    struct qs_point_row points[BENCHMARKS];
    char names[BENCHMARKS][16];
    int64_t job = 0;
    for (size_t i = 0; i < BENCHMARKS; i++) {
        snprintf(names[i], sizeof names[i], "bench-%zu", i);
        points[i] = (struct qs_point_row){
            .benchmark = names[i], .params_json = "{}", .conditions_json = "{}", .label = names[i]};
    }
    struct qs_arm_row arm = {.name = "tip", .argv_json = "[\"./bench\"]"};
    struct qs_job_row row = {.owner = "o",
                             .name = "nightly",
                             .spec_json = "{}",
                             .seed = night,
                             .submitted_wall_ns = day_ns * night,
                             .arms = &arm,
                             .arm_count = 1,
                             .points = points,
                             .point_count = BENCHMARKS};
    qs_store_submit(b->store, &row, on_done, &job);
    qs_loop_run(b->loop);
    return job;
}

static void put_run(struct bench *b, int64_t job, uint32_t night, uint32_t benchmark, uint32_t run)
{
    static struct qs_iteration_row rows[PER_WINDOW];
    struct qs_run_row begin = {.job = job, .point = benchmark, .block = run + 1};
    uid_of(begin.uid, 2, night, benchmark, run);
    uid_of(begin.session_uid, 1, night, 0, 0);
    qs_store_run_begin(b->store, &begin, on_done, NULL);
    for (uint32_t w = 0; w < WINDOWS; w++) {
        for (size_t i = 0; i < PER_WINDOW; i++)
            rows[i] =
                (struct qs_iteration_row){.start_off_ns = (int64_t)i * 1100000,
                                          .duration_ns = 1000000 + (int64_t)qs_rng_below(&b->rng, 50000)};
        struct qs_window_row window = {.ord = w,
                                       .phase = QS_PHASE_MEASURE,
                                       .first_seq = (uint64_t)w * PER_WINDOW,
                                       .opened_ns = 1 + w,
                                       .closed_ns = 2 + w,
                                       .evals = 1,
                                       .how = "done",
                                       .iterations = rows,
                                       .n = PER_WINDOW};
        memcpy(window.run_uid, begin.uid, sizeof window.run_uid);
        qs_store_window(b->store, &window, on_done, NULL);
    }
    struct qs_run_end_row end = {.state = QS_RUN_DONE, .exe_path = "./bench", .ended_wall_ns = 1};
    memcpy(end.uid, begin.uid, sizeof end.uid);
    qs_store_run_end(b->store, &end, on_done, NULL);
}

static void put_night(struct bench *b, uint32_t night)
{
    int64_t job = submit(b, night);
    struct qs_session_row session = {.job = job,
                                     .device = "bench",
                                     .boot_uuid = "boot",
                                     .env_json = "{\"kernel\":\"6.1\"}",
                                     .started_wall_ns = day_ns * (20000 + night)};
    uid_of(session.uid, 1, night, 0, 0);
    qs_store_session_begin(b->store, &session, on_done, NULL);
    for (uint32_t run = 0; run < RUNS; run++)
        for (uint32_t i = 0; i < BENCHMARKS; i++)
            put_run(b, job, night, i, run);
    qs_store_job_state(b->store, job, QS_JOB_DONE, NULL, 1, on_done, NULL);
    qs_loop_run(b->loop);
}

static void open_world(struct bench *b)
{
    struct qs_err err = QS_ERR_INIT;
    struct qs_device_row device = {.name = "bench", .serial = "S", .port_path = "", .profile = "local"};
    struct qs_boot_row boot = {
        .device = "bench", .boot_uuid = "boot", .fingerprint_json = "{}", .clock = "monotonic_raw"};
    memcpy(b->dir, "/tmp/qs-bench-XXXXXX", sizeof "/tmp/qs-bench-XXXXXX");
    if (!mkdtemp(b->dir))
        die("no directory");
    snprintf(b->path, sizeof b->path, "%s/bench.db", b->dir);
    b->loop = qs_loop_new_virtual(1000000000, 1);
    if (!qs_store_open(b->loop, b->path, NULL, &b->store, &err))
        die(err.text);
    qs_rng_seed(&b->rng, 1, 0);
    qs_store_device(b->store, &device, on_done, NULL);
    qs_store_boot(b->store, &boot, on_done, NULL);
    for (uint32_t night = 0; night < NIGHTS; night++)
        put_night(b, night);
}

/* The windows of one series, in the order in which the page wants their iterations. */
static void prepare_scan(struct bench *b)
{
    static const char sql[] =
        "SELECT w.taint | t.taint, w.evals, t.duration_ns FROM run r"
        " CROSS JOIN window w ON w.run_id = r.id CROSS JOIN iteration t ON t.window_id = w.id"
        " WHERE r.point_idx = ?";
    if (sqlite3_open_v2(b->path, &b->bare, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(b->bare, sql, -1, &b->scan, NULL) != SQLITE_OK)
        die(sqlite3_errmsg(b->bare));
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
        die("the scan saw other rows");
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
    if (sqlite3_open(b->path, &db) != SQLITE_OK || sqlite3_busy_timeout(db, 5000) != SQLITE_OK ||
        sqlite3_exec(db, "DELETE FROM run_median", NULL, NULL, NULL) != SQLITE_OK)
        die(sqlite3_errmsg(db));
    sqlite3_close(db);
}

static void keep_fresh(struct bench *b)
{
    if (b->fresh_count == 0)
        return;
    qs_store_medians(b->store, b->fresh, b->fresh_count, on_done, NULL);
    qs_loop_run(b->loop);
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
    else if (!qs_store_read_now(b->store, side == LIST ? read_list : read_page, b, &err))
        die(err.text);
    double spent_s = now_s() - began_s;
    if (side == FIRST && b->fresh_count != (size_t)NIGHTS * RUNS)
        die("a first page found medians that nobody had kept");
    if (side == PAGE && b->fresh_count != 0)
        die("a page computed what was kept");
    keep_fresh(b);
    return spent_s;
}

static void report(const struct bench *b, double spent_s[SIDES][ROUNDS])
{
    static const char *const names[SIDES] = {"bare scan of one series", "first page of it", "page of it",
                                             "list of all series"};
    if (b->series != BENCHMARKS || b->points == 0)
        die("nothing was read");
    for (enum side side = SCAN; side < SIDES; side++) {
        double ratio[ROUNDS], median_s = 0, median = 0;
        struct qs_median_ci ci;
        for (size_t r = 0; r < ROUNDS; r++)
            ratio[r] = spent_s[side][r] / spent_s[SCAN][r];
        if (qs_median(spent_s[side], ROUNDS, &median_s) != QS_OK ||
            qs_median(ratio, ROUNDS, &median) != QS_OK || qs_median_ci(ratio, ROUNDS, 0.95, &ci) != QS_OK)
            die("no median");
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
            size_t j = (size_t)qs_rng_below(&b->rng, i + 1);
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
    char command[64];
    printf("series: %d nights, %d benchmarks, %d runs of %d iterations; %d rounds, order drawn\n", NIGHTS,
           BENCHMARKS, RUNS, WINDOWS * PER_WINDOW, ROUNDS);
    open_world(&b);
    prepare_scan(&b);
    run_side(&b, SCAN); /* from here on all is in memory */
    run_side(&b, FIRST);
    run_rounds(&b);
    free(b.fresh);
    sqlite3_finalize(b.scan);
    sqlite3_close(b.bare);
    qs_store_close(b.store);
    qs_loop_run(b.loop);
    qs_loop_free(b.loop);
    snprintf(command, sizeof command, "rm -rf '%s'", b.dir);
    return system(command) == 0 ? 0 : 1;
}
