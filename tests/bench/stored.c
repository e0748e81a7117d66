#include "stored.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "stats/describe.h"
#include "stats/interval.h"

enum { BENCHMARKS_MOST = 16, PER_WINDOW_MOST = 100 };

static const int64_t day_ns = INT64_C(86400000000000);

_Noreturn void stored_die(const char *what)
{
    fprintf(stderr, "bench: %s\n", what);
    exit(1);
}

void stored_on_done(const struct qs_err *err, int64_t id, void *user)
{
    if (err)
        stored_die(err->text);
    if (user)
        *(int64_t *)user = id;
}

static void uid_of(uint8_t uid[16], uint8_t kind, uint32_t night, uint32_t benchmark, uint32_t run)
{
    const uint32_t words[4] = {kind, night, benchmark, run};
    memcpy(uid, words, 16);
}

static int64_t submit(struct stored *s, uint32_t night)
{
    struct qs_point_row points[BENCHMARKS_MOST];
    char names[BENCHMARKS_MOST][24];
    int64_t job = 0;
    for (size_t i = 0; i < s->size.benchmarks; i++) {
        snprintf(names[i], sizeof names[i], "bench-%zu", i);
        points[i] = (struct qs_point_row){
            .benchmark = names[i], .params_json = "{}", .conditions_json = "{}", .label = names[i]};
    }
    static const char *const labels[] = {"old", "new"};
    static const char *const contents[] = {
        "00000000000000000000000000000000000000000000000000000000000000aa",
        "00000000000000000000000000000000000000000000000000000000000000bb"};
    size_t half = night < s->size.nights / 2 ? 0 : 1;
    struct qs_arm_row arm = {.name = "tip",
                             .argv_json = "[\"./bench\"]",
                             .build_label = s->size.has_builds ? labels[half] : NULL,
                             .build_content = s->size.has_builds ? contents[half] : NULL};
    struct qs_job_row row = {.owner = "o",
                             .name = "nightly",
                             .spec_json = "{}",
                             .seed = night,
                             .submitted_wall_ns = day_ns * night,
                             .arms = &arm,
                             .arm_count = 1,
                             .points = points,
                             .point_count = s->size.benchmarks};
    qs_store_submit(s->store, &row, stored_on_done, &job);
    qs_loop_run(s->loop);
    return job;
}

static void put_run(struct stored *s, int64_t job, uint32_t night, uint32_t benchmark, uint32_t run)
{
    static struct qs_iteration_row rows[PER_WINDOW_MOST];
    struct qs_run_row begin = {.job = job, .point = benchmark, .block = run + 1};
    uid_of(begin.uid, 2, night, benchmark, run);
    uid_of(begin.session_uid, 1, night, 0, 0);
    qs_store_run_begin(s->store, &begin, stored_on_done, NULL);
    for (uint32_t w = 0; w < s->size.windows; w++) {
        for (size_t i = 0; i < s->size.per_window; i++)
            rows[i] =
                (struct qs_iteration_row){.start_off_ns = (int64_t)i * 1100000,
                                          .duration_ns = 1000000 + (int64_t)qs_rng_below(&s->rng, 50000)};
        struct qs_window_row window = {.ord = w,
                                       .phase = QS_PHASE_MEASURE,
                                       .first_seq = (uint64_t)w * s->size.per_window,
                                       .opened_ns = 1 + w,
                                       .closed_ns = 2 + w,
                                       .evals = 1,
                                       .how = "done",
                                       .iterations = rows,
                                       .n = s->size.per_window};
        memcpy(window.run_uid, begin.uid, sizeof window.run_uid);
        qs_store_window(s->store, &window, stored_on_done, NULL);
    }
    struct qs_run_end_row end = {.state = QS_RUN_DONE, .exe_path = "./bench", .ended_wall_ns = 1};
    memcpy(end.uid, begin.uid, sizeof end.uid);
    qs_store_run_end(s->store, &end, stored_on_done, NULL);
}

static void put_night(struct stored *s, uint32_t night)
{
    int64_t job = submit(s, night);
    struct qs_session_row session = {.job = job,
                                     .device = "bench",
                                     .boot_uuid = "boot",
                                     .env_json = "{\"kernel\":\"6.1\"}",
                                     .started_wall_ns = day_ns * (20000 + night)};
    uid_of(session.uid, 1, night, 0, 0);
    qs_store_session_begin(s->store, &session, stored_on_done, NULL);
    for (uint32_t run = 0; run < s->size.runs; run++)
        for (uint32_t i = 0; i < s->size.benchmarks; i++)
            put_run(s, job, night, i, run);
    qs_store_job_state(s->store, job, QS_JOB_DONE, NULL, 1, stored_on_done, NULL);
    qs_loop_run(s->loop);
}

static void scan_open(struct stored *s)
{
    static const char sql[] =
        "SELECT w.taint | t.taint, w.evals, t.duration_ns FROM run r"
        " CROSS JOIN window w ON w.run_id = r.id CROSS JOIN iteration t ON t.window_id = w.id"
        " WHERE r.point_idx = 0";
    if (sqlite3_open_v2(s->path, &s->bare, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(s->bare, sql, -1, &s->scan, NULL) != SQLITE_OK)
        stored_die(sqlite3_errmsg(s->bare));
}

void stored_open(struct stored *s, const struct stored_size *size)
{
    struct qs_err err = QS_ERR_INIT;
    struct qs_device_row device = {.name = "bench", .serial = "S", .port_path = "", .profile = "local"};
    struct qs_boot_row boot = {
        .device = "bench", .boot_uuid = "boot", .fingerprint_json = "{}", .clock = "monotonic_raw"};
    if (size->benchmarks > BENCHMARKS_MOST || size->per_window > PER_WINDOW_MOST)
        stored_die("too large");
    *s = (struct stored){.size = *size};
    memcpy(s->dir, "/tmp/qs-bench-XXXXXX", sizeof "/tmp/qs-bench-XXXXXX");
    if (!mkdtemp(s->dir))
        stored_die("no directory");
    snprintf(s->path, sizeof s->path, "%s/bench.db", s->dir);
    s->loop = qs_loop_new_virtual(1000000000, 1);
    if (!qs_store_open(s->loop, s->path, NULL, &s->store, &err))
        stored_die(err.text);
    qs_rng_seed(&s->rng, 1, 0);
    qs_store_device(s->store, &device, stored_on_done, NULL);
    qs_store_boot(s->store, &boot, stored_on_done, NULL);
    for (uint32_t night = 0; night < s->size.nights; night++)
        put_night(s, night);
    scan_open(s);
}

void stored_scan(struct stored *s)
{
    int rc;
    size_t rows = 0;
    while ((rc = sqlite3_step(s->scan)) == SQLITE_ROW) {
        s->sum += sqlite3_column_int64(s->scan, 0) + sqlite3_column_int64(s->scan, 1) +
                  sqlite3_column_int64(s->scan, 2);
        rows++;
    }
    sqlite3_reset(s->scan);
    if (rc != SQLITE_DONE ||
        rows != (size_t)s->size.nights * s->size.runs * s->size.windows * s->size.per_window)
        stored_die("the scan saw other rows");
}

void stored_take_fresh(struct stored *s, struct qs_history_data *data)
{
    free(s->fresh);
    s->fresh = data->fresh;
    s->fresh_count = data->fresh_count;
    data->fresh = NULL;
}

/* SQLite's own API, because the store has no call for it. */
void stored_forget(struct stored *s)
{
    sqlite3 *db = NULL;
    if (sqlite3_open(s->path, &db) != SQLITE_OK || sqlite3_busy_timeout(db, 5000) != SQLITE_OK ||
        sqlite3_exec(db, "DELETE FROM run_median", NULL, NULL, NULL) != SQLITE_OK)
        stored_die(sqlite3_errmsg(db));
    sqlite3_close(db);
}

static double cpu_s(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
    return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

static double run_side(struct stored *s, const struct stored_side *side, void *user)
{
    if (side->prepare)
        side->prepare(user);
    double began_s = cpu_s();
    side->run(user);
    double spent_s = cpu_s() - began_s;
    if (s->fresh_count > 0) {
        qs_store_medians(s->store, s->fresh, s->fresh_count, stored_on_done, NULL);
        qs_loop_run(s->loop);
        s->fresh_count = 0;
    }
    return spent_s;
}

static void print_side(const char *name, const double *spent_s, const double *scan_s)
{
    double ratio[STORED_ROUNDS], median_s = 0, median = 0;
    struct qs_median_ci ci;
    for (size_t r = 0; r < STORED_ROUNDS; r++)
        ratio[r] = spent_s[r] / scan_s[r];
    if (qs_median(spent_s, STORED_ROUNDS, &median_s) != QS_OK ||
        qs_median(ratio, STORED_ROUNDS, &median) != QS_OK ||
        qs_median_ci(ratio, STORED_ROUNDS, 0.95, &ci) != QS_OK)
        stored_die("no median");
    printf("  %-24s %9.2f ms, ratio to the scan %.3f (%.0f %% interval %.3f to %.3f)\n", name, median_s * 1e3,
           median, 100 * ci.ci.level, ci.ci.lo, ci.ci.hi);
}

void stored_rounds(struct stored *s, const struct stored_side *sides, size_t count, void *user)
{
    double spent_s[STORED_SIDES_MOST][STORED_ROUNDS];
    size_t order[STORED_SIDES_MOST];
    for (size_t i = 0; i < count; i++) /* from here on all is in memory */
        (void)run_side(s, &sides[i], user);
    for (size_t i = 0; i < count; i++)
        order[i] = i;
    for (size_t r = 0; r < STORED_ROUNDS; r++) {
        for (size_t i = count - 1; i > 0; i--) {
            size_t j = (size_t)qs_rng_below(&s->rng, i + 1), swap = order[i];
            order[i] = order[j];
            order[j] = swap;
        }
        for (size_t i = 0; i < count; i++)
            spent_s[order[i]][r] = run_side(s, &sides[order[i]], user);
    }
    for (size_t i = 0; i < count; i++)
        print_side(sides[i].name, spent_s[i], spent_s[0]);
}

void stored_close(struct stored *s)
{
    char command[64];
    free(s->fresh);
    sqlite3_finalize(s->scan);
    sqlite3_close(s->bare);
    qs_store_close(s->store);
    qs_loop_run(s->loop);
    qs_loop_free(s->loop);
    snprintf(command, sizeof command, "rm -rf '%s'", s->dir);
    if (system(command) != 0)
        stored_die("the folder stays");
}
