/* Ingest: the same windows in the same order through the whole line (ingest_line.c), through the store alone,
 * and as bare SQLite inserts with the same schema, pragmas, checkpoints and transaction size; in rounds whose
 * order is drawn. The store alone runs on a real loop, so that the hand-over to the pool counts. Gates and
 * evidence are left out of all sides: a few rows per window. */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/loop.h"
#include "ingest.h"
#include "scale.h"
#include "stats/describe.h"
#include "stats/interval.h"
#include "stats/rng.h"

enum { ROUNDS = QS_FULL_OR_SMOKE(9, 6), SIDES = 3 };
enum { BARE, STORE, LINE };

const char *const ingest_metrics[METRICS] = {"user_time_us",         "system_time_us", "max_rss_bytes",
                                             "minor_faults",         "major_faults",   "voluntary_switches",
                                             "involuntary_switches", "block_in",       "block_out"};

void ingest_die(const char *what)
{
    fprintf(stderr, "bench_ingest: %s\n", what);
    exit(1);
}

static double clock_s(clockid_t id)
{
    struct timespec ts;
    clock_gettime(id, &ts);
    return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

void ingest_begin(struct ingest_spent *s)
{
    *s = (struct ingest_spent){clock_s(CLOCK_MONOTONIC), clock_s(CLOCK_PROCESS_CPUTIME_ID)};
}

void ingest_end(struct ingest_spent *s)
{
    *s = (struct ingest_spent){clock_s(CLOCK_MONOTONIC) - s->wall_s,
                               clock_s(CLOCK_PROCESS_CPUTIME_ID) - s->cpu_s};
}

static void on_done(const struct qs_err *err, int64_t id, void *user)
{
    (void)id;
    if (err)
        ingest_die(err->text);
    if (user)
        ++*(int *)user;
}

struct qs_store *ingest_open_world(struct qs_loop *loop, const char *path)
{
    struct qs_store *store = NULL;
    struct qs_err err = QS_ERR_INIT;
    int done = 0;
    if (!qs_store_open(loop, path, NULL, &store, &err))
        ingest_die(err.text);
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
    qs_store_submit(store, &job, on_done, &done);
    qs_store_run_begin(store, &run, on_done, &done);
    qs_loop_run(loop);
    if (done != 2)
        ingest_die("no run to store windows of");
    return store;
}

struct qs_window_row ingest_window_row(uint32_t w, const struct ingest_window *window)
{
    return (struct qs_window_row){.run_uid = {1},
                                  .ord = w,
                                  .phase = QS_PHASE_MEASURE,
                                  .first_seq = (uint64_t)w * PER_WINDOW,
                                  .opened_ns = window->opened_ns,
                                  .closed_ns = window->closed_ns,
                                  .evals = 1,
                                  .how = "done",
                                  .metrics = ingest_metrics,
                                  .metric_count = METRICS,
                                  .iterations = window->rows,
                                  .n = PER_WINDOW};
}

struct ingest_spent ingest_store(const char *path, struct ingest_window *windows)
{
    struct qs_err err = QS_ERR_INIT;
    struct qs_loop *loop = qs_loop_new_real(&err);
    struct ingest_spent spent;
    int done = 0;
    if (!loop)
        ingest_die(err.text);
    struct qs_store *store = ingest_open_world(loop, path);
    ingest_begin(&spent);
    for (uint32_t w = 0; w < WINDOWS; w++) {
        struct qs_window_row row = ingest_window_row(w, &windows[w]);
        qs_store_window(store, &row, on_done, &done);
        if (w % PER_TRANSACTION == PER_TRANSACTION - 1)
            qs_loop_run(loop);
    }
    ingest_end(&spent);
    if (done != WINDOWS)
        ingest_die("not every window was stored");
    qs_store_close(store);
    qs_loop_run(loop);
    qs_loop_free(loop);
    return spent;
}

static sqlite3_stmt *prepare(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *s = NULL;
    if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) != SQLITE_OK)
        ingest_die(sqlite3_errmsg(db));
    return s;
}

static void insert(sqlite3_stmt *s, const int64_t *values, int count)
{
    for (int i = 0; i < count; i++)
        sqlite3_bind_int64(s, i + 1, values[i]);
    if (sqlite3_step(s) != SQLITE_DONE)
        ingest_die("a bare insert failed");
    sqlite3_reset(s);
}

static void insert_window(sqlite3_stmt *const s[3], uint32_t w, const struct ingest_window *window)
{
    const struct qs_iteration_row *rows = window->rows;
    insert(s[0],
           (int64_t[]){w + 1, w, (int64_t)w * PER_WINDOW, PER_WINDOW, window->opened_ns, window->closed_ns},
           6);
    for (int i = 0; i < PER_WINDOW; i++)
        insert(s[1], (int64_t[]){w + 1, i, rows[i].start_off_ns, rows[i].duration_ns, rows[i].taint}, 5);
    for (int i = 0; i < PER_WINDOW; i++) {
        int64_t v[2 + METRICS] = {w + 1, i};
        for (int k = 0; k < METRICS; k++)
            v[2 + k] = rows[i].values[k];
        insert(s[2], v, 2 + METRICS);
    }
}

static void insert_all(sqlite3 *db, sqlite3_stmt *const s[3], const struct ingest_window *windows)
{
    for (uint32_t w = 0; w < WINDOWS; w++) {
        if (w % PER_TRANSACTION == 0)
            sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL);
        insert_window(s, w, &windows[w]);
        if (w % PER_TRANSACTION == PER_TRANSACTION - 1 &&
            sqlite3_exec(db, "COMMIT", NULL, NULL, NULL) != SQLITE_OK)
            ingest_die("a bare commit failed");
    }
}

/* The schema comes from the store itself, which also leaves the file in WAL mode. */
struct ingest_spent ingest_bare(const char *path, struct ingest_window *windows)
{
    sqlite3 *db = NULL;
    struct ingest_spent spent;
    struct qs_loop *loop = qs_loop_new_virtual(1000000000, 1);
    qs_store_close(ingest_open_world(loop, path));
    qs_loop_run(loop);
    qs_loop_free(loop);
    if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL) !=
        SQLITE_OK)
        ingest_die("cannot open");
    sqlite3_exec(db, "PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON; PRAGMA wal_autocheckpoint=1000", NULL,
                 NULL, NULL);
    sqlite3_stmt *s[3] = {
        prepare(db, "INSERT INTO window(id, run_id, ord, attempt, phase, first_seq, n, opened_ns, closed_ns, "
                    "evals, silence, taint, how, output_bytes)"
                    " VALUES(?, 1, ?, 0, 1, ?, ?, ?, ?, 1, 0, 0, 'done', 0)"),
        prepare(db, "INSERT INTO iteration(window_id, i, start_off_ns, duration_ns, taint)"
                    " VALUES(?, ?, ?, ?, ?)"),
        prepare(db, "INSERT INTO iteration_rusage VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")};
    ingest_begin(&spent);
    insert_all(db, s, windows);
    ingest_end(&spent);
    for (int i = 0; i < 3; i++)
        sqlite3_finalize(s[i]);
    sqlite3_close(db);
    return spent;
}

/* All sides must have written the same. */
static void check_content(const char *path, const struct ingest_window *windows)
{
    sqlite3 *db = NULL;
    int64_t want[4] = {0};
    for (size_t w = 0; w < WINDOWS; w++) {
        for (size_t i = 0; i < PER_WINDOW; i++) {
            const struct qs_iteration_row *row = &windows[w].rows[i];
            want[0]++;
            want[1] += row->duration_ns;
            want[2] += row->start_off_ns;
            want[3] += row->values[0] + row->values[METRICS - 1];
        }
    }
    if (sqlite3_open(path, &db) != SQLITE_OK)
        ingest_die("cannot open what was written");
    sqlite3_stmt *s = prepare(db, "SELECT count(*), sum(duration_ns), sum(start_off_ns), "
                                  "sum(user_time_us + block_out)"
                                  " FROM window JOIN iteration ON window_id = id"
                                  " JOIN iteration_rusage USING(window_id, i)");
    if (sqlite3_step(s) != SQLITE_ROW)
        ingest_die("cannot read what was written");
    for (int k = 0; k < 4; k++)
        if (sqlite3_column_int64(s, k) != want[k])
            ingest_die("a side wrote other rows");
    sqlite3_finalize(s);
    sqlite3_close(db);
}

static void run_round(const char *dir, struct qs_rng *rng, struct ingest_window *windows,
                      struct ingest_spent spent[SIDES])
{
    static struct ingest_spent (*const run[SIDES])(const char *, struct ingest_window *) = {
        ingest_bare, ingest_store, ingest_line};
    static const char *const suffix[] = {"", "-wal", "-shm", ".lock"};
    int order[SIDES] = {BARE, STORE, LINE};
    for (int i = SIDES - 1; i > 0; i--) {
        int j = (int)qs_rng_below(rng, (uint64_t)i + 1);
        int swap = order[i];
        order[i] = order[j];
        order[j] = swap;
    }
    for (int i = 0; i < SIDES; i++) {
        char path[96];
        snprintf(path, sizeof path, "%s/bench.db", dir);
        spent[order[i]] = run[order[i]](path, windows);
        check_content(path, windows);
        for (size_t k = 0; k < sizeof suffix / sizeof *suffix; k++) {
            snprintf(path, sizeof path, "%s/bench.db%s", dir, suffix[k]);
            unlink(path);
        }
    }
}

static double median(const double *x)
{
    double m = 0;
    qs_median(x, ROUNDS, &m);
    return m;
}

static void report(struct ingest_spent spent[ROUNDS][SIDES])
{
    static const char *const names[SIDES] = {"bare SQLite", "store alone", "agent to ACK"};
    printf(
        "ingest: %d windows of %d iterations with rusage, %d windows a transaction, %d rounds, order drawn\n",
        WINDOWS, PER_WINDOW, PER_TRANSACTION, ROUNDS);
    for (int side = 0; side < SIDES; side++) {
        double rate[ROUNDS];
        double cpu[ROUNDS];
        double ratio[ROUNDS];
        double cpu_ratio[ROUNDS];
        struct qs_median_ci ci;
        for (int r = 0; r < ROUNDS; r++) {
            rate[r] = (double)WINDOWS * PER_WINDOW / spent[r][side].wall_s / 1e6;
            cpu[r] = spent[r][side].cpu_s;
            ratio[r] = spent[r][BARE].wall_s / spent[r][side].wall_s;
            cpu_ratio[r] = spent[r][side].cpu_s / spent[r][BARE].cpu_s;
        }
        printf("  %-14s %.3f M iterations/s, CPU %.3f s\n", names[side], median(rate), median(cpu));
        if (side == BARE || qs_median_ci(ratio, ROUNDS, 0.95, &ci) != QS_OK)
            continue;
        printf(
            "  %-14s ratio to bare %.2f, %.0f %% interval %.2f to %.2f (goal >= 0.8); CPU %.2f times bare\n",
            "", median(ratio), 100 * ci.ci.level, ci.ci.lo, ci.ci.hi, median(cpu_ratio));
    }
}

int main(void)
{
    char dir[] = "/tmp/qs-bench-XXXXXX";
    char path[64];
    static struct ingest_spent spent[ROUNDS][SIDES];
    struct ingest_window *windows = calloc(WINDOWS, sizeof *windows);
    struct qs_rng rng;
    if (!windows || !mkdtemp(dir))
        ingest_die("cannot start");
    snprintf(path, sizeof path, "%s/first.db", dir);
    ingest_line(path, windows); /* the rows */
    qs_rng_seed(&rng, 1, 0);
    for (int r = 0; r < ROUNDS; r++)
        run_round(dir, &rng, windows, spent[r]);
    report(spent);
    free(windows);
    snprintf(path, sizeof path, "rm -rf '%s'", dir);
    return system(path) == 0 ? 0 : 1;
}
