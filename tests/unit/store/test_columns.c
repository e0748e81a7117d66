/* Each value that is given has its own column: rows in which no two values are equal are stored, and all
 * tables are compared with tests/golden/store/columns.txt (argument 1). QS_GOLDEN_UPDATE=1 writes that file,
 * to be read by a person. Beside it: what is refused, in its whole words, and the names of states and taints.
 */
#include "fixture.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "store/control.h"
#include "store/read/history.h"
#include "store/tuning.h"

#define SUM(digit)                                                                                           \
    digit digit digit digit digit digit digit digit digit digit digit digit digit digit digit digit

static const char sum_1[] = SUM("0a1b"), sum_2[] = SUM("0a2b"), sum_3[] = SUM("0a3b");
static const char *golden_path;
static struct qs_files *files;

static int setup(void **state)
{
    return fixture_setup_files(state, &files);
}

static int teardown(void **state)
{
    return fixture_teardown_files(state, files);
}

/* ---- everything, with values of its own ---- */

static void put_job(struct fixture *f, int64_t *ret_job)
{
    const struct qs_arm_row arms[] = {
        {.name = "arm-1", .build_label = "label-1", .build_content = sum_1, .argv_json = "[\"argv-1\"]"},
        {.name = "arm-2",
         .build_label = "label-2",
         .argv_json = "[\"argv-2\"]",
         .conditions_json = "{\"c\":3}"}};
    const struct qs_point_row points[] = {{.benchmark = "benchmark-1",
                                           .params_json = "{\"p\":1}",
                                           .conditions_json = "{\"c\":1}",
                                           .label = "point-1"},
                                          {.benchmark = "benchmark-2",
                                           .params_json = "{\"p\":2}",
                                           .conditions_json = "{\"c\":2}",
                                           .label = "point-2"}};
    const struct qs_job_row job = {.idem = "idem",
                                   .owner = "owner",
                                   .name = "name",
                                   .spec_json = "{\"spec\":1}",
                                   .seed = 1001,
                                   .submitted_wall_ns = 1002,
                                   .arms = arms,
                                   .arm_count = 2,
                                   .points = points,
                                   .point_count = 2};
    qs_store_submit(f->store, &job, on_fine, ret_job);
    qs_loop_run(f->loop);
    qs_store_job_state(f->store, *ret_job, QS_JOB_RUNNING, "state's reason", 1003, on_fine, NULL);
}

static void put_device(struct fixture *f)
{
    const struct qs_device_row device = {
        .name = "device", .serial = "serial", .port_path = "port", .profile = "profile", .simulated = true};
    const struct qs_boot_row boot = {.device = "device",
                                     .boot_uuid = "boot",
                                     .fingerprint_json = "{\"f\":1}",
                                     .clock = "clock",
                                     .seen_wall_ns = 2001};
    const struct qs_clock_row clock = {.device = "device",
                                       .boot_uuid = "boot",
                                       .host_ns = 2002,
                                       .device_ns = 2003,
                                       .rtt_ns = 2004,
                                       .wall_ns = 2005};
    qs_store_device(f->store, &device, on_fine, NULL);
    qs_store_boot(f->store, &boot, on_fine, NULL);
    qs_store_clock_pair(f->store, &clock, on_fine, NULL);
}

static void put_run(struct fixture *f, int64_t job)
{
    const struct qs_session_row session = {.uid = {0x31},
                                           .job = job,
                                           .device = "device",
                                           .boot_uuid = "boot",
                                           .env_json = "{\"env\":1}",
                                           .started_wall_ns = 3001};
    const struct qs_run_row run = {.uid = {0x32},
                                   .session_uid = {0x31},
                                   .job = job,
                                   .arm = 1,
                                   .point = 1,
                                   .block = 32,
                                   .pos = 33,
                                   .attempt = 34,
                                   .harness_json = "{\"harness\":1}",
                                   .stream_json = "{\"stream\":1}",
                                   .started_wall_ns = 3002};
    qs_store_session_begin(f->store, &session, on_fine, NULL);
    qs_store_run_begin(f->store, &run, on_fine, NULL);
}

/* One of them is missing. */
static void fill_values(struct qs_iteration_row rows[2])
{
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 7; k++)
            rows[i].values[k] = i == 1 && k == 3 ? INT64_MIN : 4100 + 10 * i + k;
}

static void put_rows(struct fixture *f)
{
    static const char *const metrics[] = {"user_time_us", "max_rss_bytes", "major_faults", "energy_uj",
                                          "speed_khz",    "retries",       "odd_name"};
    const struct qs_reading_row readings[] = {
        {.sensor = "sensor-1", .value = 4001, .age_ns = 4002},
        {.sensor = "sensor-2", .status = 2, .value = 4003, .age_ns = 4004}};
    const struct qs_gate_row gate = {4005, 4006, "tainted", 4007, readings, 2, "busiest", "[[3,1,5]]"};
    const struct qs_evidence_row evidence[] = {
        {.kind = "evidence-1", .present = true, .before = 4008, .after = 4009},
        {.kind = "metric:evidence-2",
         .present = true,
         .before = 4010,
         .after = 4011,
         .is_metric = true,
         .higher_is_better = true},
        {.kind = "evidence-3", .before = 4012, .after = 4013}};
    const struct qs_taint_row taints[] = {{.i = -1, .code = "code-1", .value = 4014, .bound = 4015},
                                          {.i = 1, .code = "code-2", .value = 4016, .bound = 4017}};
    struct qs_iteration_row rows[2] = {{.start_off_ns = 4018, .duration_ns = 4019, .taint = 8, .status = 3},
                                       {.start_off_ns = -1, .duration_ns = 4021, .taint = 16, .status = -9}};
    fill_values(rows);
    const struct qs_document_row document = {.name = "document",
                                             .files = files,
                                             .bytes = "content",
                                             .n = 7,
                                             .total_bytes = 4022,
                                             .why = "document's why"};
    const struct qs_window_row window = {.run_uid = {0x32},
                                         .ord = 0,
                                         .attempt = 41,
                                         .phase = QS_PHASE_MEASURE,
                                         .opened_ns = 4023,
                                         .closed_ns = 4024,
                                         .evals = 42,
                                         .silence = QS_SILENCE_OBSERVED,
                                         .taint = 43,
                                         .how = "how",
                                         .failure = "failure",
                                         .output = "output",
                                         .output_bytes = 4025,
                                         .gate = &gate,
                                         .evidence = evidence,
                                         .evidence_count = 3,
                                         .taints = taints,
                                         .taint_count = 2,
                                         .metrics = metrics,
                                         .metric_count = 7,
                                         .iterations = rows,
                                         .n = 2,
                                         .device_n = 44,
                                         .document = &document};
    qs_store_window(f->store, &window, on_fine, NULL);
}

/* A warm-up whose metrics are of a program that declares them. */
static void put_declared(struct fixture *f)
{
    static const char *const metrics[] = {"declared-1", "declared-2"};
    static const struct qs_metric_kind kinds[] = {{.unit = "unit-1", .higher_is_better = true},
                                                  {.unit = "unit-2", .deterministic = true}};
    const struct qs_iteration_row row = {.start_off_ns = 5001, .duration_ns = 5002, .values = {5003, 5004}};
    const struct qs_window_row window = {.run_uid = {0x32},
                                         .ord = 1,
                                         .phase = QS_PHASE_TUNE,
                                         .first_seq = 2,
                                         .opened_ns = 5005,
                                         .closed_ns = 5006,
                                         .evals = 51,
                                         .how = "done",
                                         .metrics = metrics,
                                         .metric_count = 2,
                                         .kinds = kinds,
                                         .iterations = &row,
                                         .n = 1};
    qs_store_window(f->store, &window, on_fine, NULL);
}

static void put_left(struct fixture *f, int64_t job)
{
    const struct qs_trace_row trace = {
        .has_window = true, .window = 1, .flags = 5, .started_ns = 6001, .stopped_ns = 6002};
    const struct qs_artifact_row artifact = {.run_uid = {0x32},
                                             .idx = 61,
                                             .kind = "trace",
                                             .name = "artifact",
                                             .files = files,
                                             .bytes = "traced",
                                             .n = 6,
                                             .total_bytes = 6003,
                                             .why = "artifact's why",
                                             .trace = &trace};
    const uint8_t run[16] = {0x32};
    const struct qs_event_row event = {.wall_ns = 6004,
                                       .kind = "kind",
                                       .device = "device",
                                       .job = job,
                                       .run_uid = run,
                                       .body_json = "{\"event\":1}"};
    const struct qs_tuning tuning = {.run_uid = {0x32},
                                     .logistic = true,
                                     .precision_ns = 6005,
                                     .accuracy_ns = 6006,
                                     .tries = 6007,
                                     .evaluation_ps = 6008,
                                     .table_evals = 6009,
                                     .logistic_evals = 6010,
                                     .evals = 6011,
                                     .found_wall_ns = 6012};
    qs_store_artifact(f->store, &artifact, on_fine, NULL);
    qs_store_file(f->store, sum_2, 6017, on_fine, NULL);
    qs_store_event(f->store, &event, on_fine, NULL);
    qs_store_tuning(f->store, "{\"depends\":1}", &tuning, on_fine, NULL);
    qs_loop_run(f->loop);
}

static void put_control(struct fixture *f)
{
    const uint8_t session[16] = {0x31}, run[16] = {0x32};
    const struct qs_board_row board = {
        .device = "device", .fingerprint = "fingerprint", .json = "{\"board\":1}", .probed_wall_ns = 8001};
    const struct qs_control_row changes[] = {{.path = "path-1",
                                              .wanted = "wanted-1",
                                              .before = "before-1",
                                              .after = "now-1",
                                              .outcome = "outcome-1",
                                              .error = 8002,
                                              .at_wall_ns = 8003},
                                             {.restore = true,
                                              .path = "path-2",
                                              .wanted = "wanted-2",
                                              .before = "before-2",
                                              .after = "now-2",
                                              .outcome = "outcome-2",
                                              .error = 8004,
                                              .at_wall_ns = 8005}};
    const struct qs_control_rows rows = {.session_uid = session, .run_uid = run, .rows = changes, .count = 2};
    qs_store_board(f->store, &board, on_fine, NULL);
    qs_store_control(f->store, &rows, on_fine, NULL);
    qs_loop_run(f->loop);
}

static void put_ends(struct fixture *f, int64_t job)
{
    const uint8_t session[16] = {0x31};
    const struct qs_run_end_row run = {.uid = {0x32},
                                       .state = QS_RUN_FAILED,
                                       .stop_reason = "stop",
                                       .warmup_n = 71,
                                       .taint = 72,
                                       .error_slug = "slug",
                                       .error_text = "text",
                                       .exe_path = "/exe",
                                       .exe_sha256 = sum_3,
                                       .harness_json = "{\"harness\":2}",
                                       .ended_wall_ns = 7001};
    const struct qs_job_end_row end = {.job = job,
                                       .at_ns = 7003,
                                       .state = QS_JOB_FAILED,
                                       .reason = "job's reason",
                                       .runs_per_block = 2,
                                       .verdict_json = "{\"verdict\":1}",
                                       .result_json = "{\"result\":1}",
                                       .state_json = "{\"state\":1}"};
    qs_store_run_end(f->store, &run, on_fine, NULL);
    qs_store_session_env(f->store, session, "{\"env\":2}", on_fine, NULL);
    qs_store_session_end(f->store, session, 7002, "session's reason", on_fine, NULL);
    qs_store_job_end(f->store, &end, on_fine, NULL);
    qs_loop_run(f->loop);
}

/* Of a run that has ended: they go when it changes. */
static void put_medians(struct fixture *f)
{
    const struct qs_median_row medians[] = {
        {.run_uid = {0x32}, .median = 6013.5, .n = 6014, .windows = 2, .warmup_n = 71},
        {.run_uid = {0x32},
         .metric = 2,
         .median = 6015.5,
         .n = 6016,
         .disturbed = true,
         .windows = 2,
         .warmup_n = 71}};
    qs_store_medians(f->store, medians, 2, on_fine, NULL);
    qs_loop_run(f->loop);
}

/* ---- what is in the tables ---- */

static void add_rows(sqlite3 *db, const char *table, struct qs_buf *out)
{
    char *sql = qs_asprintf("SELECT * FROM \"%s\"", table);
    sqlite3_stmt *s = NULL;
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &s, NULL), SQLITE_OK);
    while (sqlite3_step(s) == SQLITE_ROW) {
        qs_buf_fmt(out, "%s:", table);
        for (int c = 0; c < sqlite3_column_count(s); c++) {
            int type = sqlite3_column_type(s, c);
            if (type == SQLITE_NULL)
                continue;
            qs_buf_fmt(out, " %s=", sqlite3_column_name(s, c));
            const unsigned char *bytes = sqlite3_column_blob(s, c);
            for (int i = 0; type == SQLITE_BLOB && i < sqlite3_column_bytes(s, c); i++)
                qs_buf_fmt(out, "%02x", bytes[i]);
            if (type != SQLITE_BLOB)
                qs_buf_str(out, (const char *)sqlite3_column_text(s, c));
        }
        qs_buf_char(out, '\n');
    }
    sqlite3_finalize(s);
    free(sql);
}

static void add_tables(const char *path, struct qs_buf *out)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *s = NULL;
    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db,
                                        "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name",
                                        -1, &s, NULL),
                     SQLITE_OK);
    while (sqlite3_step(s) == SQLITE_ROW)
        add_rows(db, (const char *)sqlite3_column_text(s, 0), out);
    sqlite3_finalize(s);
    sqlite3_close(db);
}

static char *read_golden(void)
{
    struct qs_buf out;
    char block[4096];
    FILE *f = fopen(golden_path, "r");
    assert_non_null(f);
    qs_buf_init(&out);
    for (size_t n; (n = fread(block, 1, sizeof block, f)) > 0;)
        qs_buf_add(&out, block, n);
    fclose(f);
    return qs_buf_take(&out);
}

static void each_value_has_its_column(void **state)
{
    struct fixture *f = *state;
    struct qs_buf found;
    int64_t job = 0;
    put_job(f, &job);
    put_device(f);
    put_run(f, job);
    put_rows(f);
    put_declared(f);
    put_left(f, job);
    put_control(f);
    put_ends(f, job);
    put_medians(f);
    qs_buf_init(&found);
    add_tables(f->path, &found);
    if (getenv("QS_GOLDEN_UPDATE")) {
        FILE *out = fopen(golden_path, "w");
        assert_int_equal(fwrite(found.data, 1, found.len, out), found.len);
        assert_int_equal(fclose(out), 0);
    }
    char *want = read_golden();
    assert_string_equal(found.data, want);
    free(want);
    qs_buf_done(&found);
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    golden_path = argv[1];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_value_has_its_column, setup, teardown),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    if (getenv("QS_GOLDEN_UPDATE")) {
        fputs("the golden file was written anew: nothing was tested\n", stderr);
        return 1;
    }
    return failed;
}
