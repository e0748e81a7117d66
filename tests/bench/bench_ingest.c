/* Ingest: whole windows through qs_store_window against bare SQLite inserts of the same rows in the same
 * order, with the same schema, pragmas, checkpoints and transaction size. Real loop, so that the hand-over to
 * the pool counts. */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/loop.h"
#include "store/store.h"

enum { PER_WINDOW = 50, WINDOWS = 8000, PER_TRANSACTION = 100, METRICS = 9 };

static const char *const names[METRICS] = {"user_time_us",         "system_time_us", "max_rss_bytes",
                                           "minor_faults",         "major_faults",   "voluntary_switches",
                                           "involuntary_switches", "block_in",       "block_out"};

struct spent {
    double wall_s, cpu_s;
};

static double clock_s(clockid_t id)
{
    struct timespec ts;
    clock_gettime(id, &ts);
    return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

static void begin(struct spent *s)
{
    *s = (struct spent){clock_s(CLOCK_MONOTONIC), clock_s(CLOCK_PROCESS_CPUTIME_ID)};
}

static void end(struct spent *s)
{
    *s = (struct spent){clock_s(CLOCK_MONOTONIC) - s->wall_s, clock_s(CLOCK_PROCESS_CPUTIME_ID) - s->cpu_s};
}

static void die(const char *what)
{
    fprintf(stderr, "bench_ingest: %s\n", what);
    exit(1);
}

static void on_done(const struct qs_err *err, int64_t id, void *user)
{
    (void)id;
    if (err)
        die(err->text);
    if (user)
        ++*(int *)user;
}

static void fill(struct qs_iteration_row *rows, uint32_t window)
{
    for (uint32_t i = 0; i < PER_WINDOW; i++) {
        rows[i] = (struct qs_iteration_row){.start_off_ns = 10400000 * (int64_t)i,
                                            .duration_ns =
                                                10000000 + (int64_t)((window * 7919 + i * 104729) % 2000000)};
        for (int k = 0; k < METRICS; k++)
            rows[i].values[k] = (int64_t)((window + i * 31) % 1000) * (k + 1);
    }
}

static struct qs_store *open_world(struct qs_loop *loop, const char *path)
{
    struct qs_store *store = NULL;
    struct qs_err err = QS_ERR_INIT;
    if (!qs_store_open(loop, path, NULL, &store, &err))
        die(err.text);
    struct qs_arm_row arm = {.name = "a", .argv_json = "[]"};
    struct qs_point_row point = {
        .benchmark = "b", .params_json = "{}", .conditions_json = "{}", .label = "b"};
    struct qs_job_row job = {.owner = "o",
                             .name = "n",
                             .spec_json = "{}",
                             .arms = &arm,
                             .arm_count = 1,
                             .points = &point,
                             .point_count = 1};
    struct qs_run_row run = {.uid = {1}, .job = 1, .block = 1};
    qs_store_submit(store, &job, on_done, NULL);
    qs_store_run_begin(store, &run, on_done, NULL);
    qs_loop_run(loop);
    return store;
}

static struct spent through_store(struct qs_loop *loop, const char *path)
{
    struct qs_store *store = open_world(loop, path);
    struct qs_iteration_row rows[PER_WINDOW];
    struct spent spent;
    int done = 0;
    begin(&spent);
    for (uint32_t w = 0; w < WINDOWS; w++) {
        fill(rows, w);
        struct qs_window_row window = {.run_uid = {1},
                                       .ord = w,
                                       .phase = QS_PHASE_MEASURE,
                                       .first_seq = (uint64_t)w * PER_WINDOW,
                                       .opened_ns = w,
                                       .closed_ns = w + 1,
                                       .evals = 1,
                                       .how = "done",
                                       .metrics = names,
                                       .metric_count = METRICS,
                                       .iterations = rows,
                                       .n = PER_WINDOW};
        qs_store_window(store, &window, on_done, &done);
        if (w % PER_TRANSACTION == PER_TRANSACTION - 1)
            qs_loop_run(loop);
    }
    qs_loop_run(loop);
    end(&spent);
    if (done != WINDOWS)
        die("not every window was stored");
    qs_store_close(store);
    return spent;
}

static sqlite3_stmt *prepare(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *s = NULL;
    if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) != SQLITE_OK)
        die(sqlite3_errmsg(db));
    return s;
}

static void insert(sqlite3_stmt *s, const int64_t *values, int count)
{
    for (int i = 0; i < count; i++)
        sqlite3_bind_int64(s, i + 1, values[i]);
    if (sqlite3_step(s) != SQLITE_DONE)
        die("a bare insert failed");
    sqlite3_reset(s);
}

static void insert_window(sqlite3_stmt *const s[3], uint32_t w)
{
    struct qs_iteration_row rows[PER_WINDOW];
    fill(rows, w);
    insert(s[0], (int64_t[]){w + 1, w, (int64_t)w * PER_WINDOW, PER_WINDOW, w, w + 1}, 6);
    for (int i = 0; i < PER_WINDOW; i++)
        insert(s[1], (int64_t[]){w + 1, i, rows[i].start_off_ns, rows[i].duration_ns}, 4);
    for (int i = 0; i < PER_WINDOW; i++) {
        int64_t v[2 + METRICS] = {w + 1, i};
        for (int k = 0; k < METRICS; k++)
            v[2 + k] = rows[i].values[k];
        insert(s[2], v, 2 + METRICS);
    }
}

static struct spent bare(const char *path)
{
    sqlite3 *db = NULL;
    struct spent spent;
    if (sqlite3_open(path, &db) != SQLITE_OK)
        die("cannot open");
    sqlite3_exec(db, "PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON; PRAGMA wal_autocheckpoint=1000", NULL,
                 NULL, NULL);
    sqlite3_stmt *s[3] = {
        prepare(db, "INSERT INTO window(id, run_id, ord, attempt, phase, first_seq, n, opened_ns, closed_ns, "
                    "evals, silence, taint,"
                    " how, output_bytes) VALUES(?, 1, ?, 0, 1, ?, ?, ?, ?, 1, 0, 0, 'done', 0)"),
        prepare(
            db,
            "INSERT INTO iteration(window_id, i, start_off_ns, duration_ns, taint) VALUES(?, ?, ?, ?, 0)"),
        prepare(db, "INSERT INTO iteration_rusage VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")};
    begin(&spent);
    for (uint32_t w = 0; w < WINDOWS; w++) {
        if (w % PER_TRANSACTION == 0)
            sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL);
        insert_window(s, w);
        if (w % PER_TRANSACTION == PER_TRANSACTION - 1 &&
            sqlite3_exec(db, "COMMIT", NULL, NULL, NULL) != SQLITE_OK)
            die("a bare commit failed");
    }
    end(&spent);
    for (int i = 0; i < 3; i++)
        sqlite3_finalize(s[i]);
    sqlite3_close(db);
    return spent;
}

int main(void)
{
    char dir[] = "/tmp/qs-bench-XXXXXX", a[64], b[64], command[64];
    struct qs_err err = QS_ERR_INIT;
    struct qs_loop *loop = qs_loop_new_real(&err);
    if (!loop || !mkdtemp(dir))
        die("cannot start");
    snprintf(a, sizeof a, "%s/store.db", dir);
    snprintf(b, sizeof b, "%s/bare.db", dir);
    qs_store_close(open_world(loop, b));
    struct spent raw = bare(b), store = through_store(loop, a);
    double rows = (double)WINDOWS * PER_WINDOW;
    printf("ingest, %d windows of %d iterations with rusage, %d windows a transaction\n", WINDOWS, PER_WINDOW,
           PER_TRANSACTION);
    printf("bare SQLite: %.3f M iterations/s, CPU %.2f s of %.2f s\n", rows / raw.wall_s / 1e6, raw.cpu_s,
           raw.wall_s);
    printf("store:       %.3f M iterations/s, CPU %.2f s of %.2f s\n", rows / store.wall_s / 1e6, store.cpu_s,
           store.wall_s);
    printf("ratio %.2f (goal >= 0.5), CPU %.2f times bare\n", raw.wall_s / store.wall_s,
           store.cpu_s / raw.cpu_s);
    qs_loop_run(loop);
    qs_loop_free(loop);
    snprintf(command, sizeof command, "rm -rf '%s'", dir);
    return system(command) == 0 ? 0 : 1;
}
