/* Every statement of every write and every read fails once: it is told, and the same again succeeds. What a
 * failure leaves open, the assertions of the connections and the leak check notice. */
#include "fixture.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/shown.h"
#include "store/control.h"
#include "store/read/arms.h"
#include "store/read/files.h"
#include "store/read/history.h"
#include "store/read/read.h"
#include "store/read/metrics.h"
#include "store/read/windows.h"
#include "store/tuning.h"

static int fails_at;                  /* so many calls of SQLite until one fails; 0: none does */
static int fails_with = SQLITE_ERROR; /* of one request only; the disk's would end the whole group */
static bool has_failed;

static bool fails(void)
{
    bool now = fails_at == 1;
    fails_at -= fails_at > 0 ? 1 : 0;
    has_failed = has_failed || now;
    return now;
}

int __real_sqlite3_step(sqlite3_stmt *s), __wrap_sqlite3_step(sqlite3_stmt *s);
int __wrap_sqlite3_step(sqlite3_stmt *s)
{
    return fails() ? fails_with : __real_sqlite3_step(s);
}

typedef int prepare_fn(sqlite3 *db, const char *sql, int bytes, unsigned flags, sqlite3_stmt **ret,
                       const char **tail);
prepare_fn __real_sqlite3_prepare_v3, __wrap_sqlite3_prepare_v3;
int __wrap_sqlite3_prepare_v3(sqlite3 *db, const char *sql, int bytes, unsigned flags, sqlite3_stmt **ret,
                              const char **tail)
{
    return fails() ? fails_with : __real_sqlite3_prepare_v3(db, sql, bytes, flags, ret, tail);
}

static const uint8_t uid[16] = {1}, session_uid[16] = {99};
static const char sum[65] = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

static char *lent[64];
static size_t lent_count;

/* A text that is gone when the call returns: the store has copied what it needs, or the address sanitizer
 * finds it. */
static const char *T(const char *text)
{
    assert_true(lent_count < sizeof lent / sizeof *lent);
    return lent[lent_count++] = qs_strdup(text);
}

static void take_back(void)
{
    while (lent_count > 0)
        free(lent[--lent_count]);
}

static void put_device(struct fixture *f, struct told *told)
{
    const struct qs_device_row row = {
        .name = T("bench"), .serial = T("S1"), .port_path = T(""), .profile = T("local")};
    qs_store_device(f->store, &row, on_told, told);
}

static void put_boot(struct fixture *f, struct told *told)
{
    const struct qs_boot_row row = {.device = T("bench"),
                                    .boot_uuid = T("boot-1"),
                                    .fingerprint_json = T("{\"cpu\":\"x\"}"),
                                    .clock = T("monotonic_raw")};
    qs_store_boot(f->store, &row, on_told, told);
}

static void put_clock(struct fixture *f, struct told *told)
{
    const struct qs_clock_row row = {
        .device = T("bench"), .boot_uuid = T("boot-1"), .host_ns = 1, .rtt_ns = 3};
    qs_store_clock_pair(f->store, &row, on_told, told);
}

static void put_job(struct fixture *f, struct told *told)
{
    const struct qs_arm_row arm = {
        .name = T("a"), .build_label = T("r1"), .build_content = T(sum), .argv_json = T("[\"gzip\"]")};
    const struct qs_point_row point = {
        .benchmark = T("gzip"), .params_json = T("{}"), .conditions_json = T("{}"), .label = T("gzip")};
    char spec[128];
    snprintf(spec, sizeof spec, "{\"files\":{\"in\":\"%s\"}}", sum);
    const struct qs_job_row row = {.idem = T("key-1"),
                                   .owner = T("me"),
                                   .name = T("first"),
                                   .spec_json = T(spec),
                                   .arms = &arm,
                                   .arm_count = 1,
                                   .points = &point,
                                   .point_count = 1};
    qs_store_submit(f->store, &row, on_told, told);
}

static void put_state(struct fixture *f, struct told *told)
{
    qs_store_job_state(f->store, 1, QS_JOB_RUNNING, T("begun"), 50, on_told, told);
}

static void put_session(struct fixture *f, struct told *told)
{
    const struct qs_session_row row = {.uid = {99},
                                       .job = 1,
                                       .device = T("bench"),
                                       .boot_uuid = T("boot-1"),
                                       .env_json = T("{\"kernel\":\"6.1\"}"),
                                       .started_wall_ns = 20};
    qs_store_session_begin(f->store, &row, on_told, told);
}

static void put_run(struct fixture *f, struct told *told)
{
    const struct qs_run_row row = {.uid = {1},
                                   .session_uid = {99},
                                   .job = 1,
                                   .block = 1,
                                   .harness_json = T("{}"),
                                   .stream_json = T("{}")};
    qs_store_run_begin(f->store, &row, on_told, told);
}

/* Everything that a window may have. */
static void put_window_of(struct fixture *f, struct told *told, uint32_t ord, enum qs_phase phase)
{
    const struct qs_reading_row reading = {.sensor = T("host.load_1m"), .value = 3};
    const struct qs_gate_row gate = {0, 7, T("tainted"), 2, &reading, 1, T("cc1[7]"), T("[[1,0,2]]")};
    const struct qs_evidence_row evidence[] = {
        {.kind = T("steal"), .present = true, .after = 4},
        {.kind = T("metric:energy_j"), .present = true, .is_metric = true}};
    const struct qs_taint_row taint = {.i = -1, .code = T("gate:temp"), .value = 1, .bound = 2};
    const struct qs_document_row document = {.name = T("o.json"), .total_bytes = 5, .why = T("too big")};
    struct qs_iteration_row rows[2];
    struct qs_window_row w = make_window(1, ord, 2 * ord, 2, rows);
    w.phase = phase;
    rows[1].status = 1;
    rows[1].taint = QS_TAINT_EXIT;
    const char *const metrics[] = {T("user_time_us"), T("max_rss_bytes"), T("energy_uj")};
    const struct qs_metric_kind kinds[3] = {{.unit = T("us")}, {.unit = T("bytes")}, {.unit = T("uJ")}};
    w.metrics = metrics;
    w.kinds = kinds;
    w.how = T("failed");
    w.failure = T("exec");
    w.output = T("said");
    w.gate = &gate;
    w.evidence = evidence;
    w.evidence_count = 2;
    w.taints = &taint;
    w.taint_count = 1;
    w.document = ord == 0 ? &document : NULL;
    qs_store_window(f->store, &w, on_told, told);
}

static void put_window_0(struct fixture *f, struct told *told)
{
    put_window_of(f, told, 0, QS_PHASE_MEASURE);
}

static void put_window_1(struct fixture *f, struct told *told)
{
    put_window_of(f, told, 1, QS_PHASE_TRACED);
}

static void put_artifact(struct fixture *f, struct told *told)
{
    const struct qs_trace_row trace = {.has_window = true, .window = 1, .flags = 15, .started_ns = 5};
    const struct qs_artifact_row row = {
        .run_uid = {1}, .idx = 3, .kind = T("trace"), .name = T("perf"), .why = T("cut"), .trace = &trace};
    qs_store_artifact(f->store, &row, on_told, told);
}

static void put_file(struct fixture *f, struct told *told)
{
    qs_store_file(f->store, sum, 3, on_told, told);
}

static void put_event(struct fixture *f, struct told *told)
{
    const struct qs_event_row row = {.wall_ns = 1,
                                     .kind = T(QS_EVENT_CANCEL),
                                     .job = 1,
                                     .device = T("bench"),
                                     .run_uid = uid,
                                     .body_json = T("{\"why\":\"x\"}")};
    qs_store_event(f->store, &row, on_told, told);
}

static void put_median(struct fixture *f, struct told *told)
{
    const struct qs_median_row row = {.run_uid = {1}, .median = 5, .n = 1, .windows = 2};
    qs_store_medians(f->store, &row, 1, on_told, told);
}

static void put_tuning(struct fixture *f, struct told *told)
{
    const struct qs_tuning row = {.run_uid = {1}, .evals = 205};
    qs_store_tuning(f->store, T("{\"device\":\"bench\"}"), &row, on_told, told);
}

static void put_board(struct fixture *f, struct told *told)
{
    const struct qs_board_row row = {.device = T("bench"), .fingerprint = T("6.1"), .json = T("{}")};
    qs_store_board(f->store, &row, on_told, told);
}

static void put_control(struct fixture *f, struct told *told)
{
    const struct qs_control_row row = {
        .path = T("p"), .wanted = T("1"), .before = T("0"), .after = T("1"), .outcome = T("set")};
    const struct qs_control_rows rows = {
        .session_uid = session_uid, .run_uid = uid, .rows = &row, .count = 1};
    qs_store_control(f->store, &rows, on_told, told);
}

static void end_former_life(struct fixture *f, struct told *told)
{
    qs_store_end_former_life(f->store, 60, on_told, told);
}

static void end_run(struct fixture *f, struct told *told)
{
    const struct qs_run_end_row row = {.uid = {1},
                                       .state = QS_RUN_DONE,
                                       .stop_reason = T("fixed"),
                                       .error_slug = T("e"),
                                       .error_text = T("t"),
                                       .exe_path = T("/x"),
                                       .exe_sha256 = T(sum),
                                       .harness_json = T("{}")};
    qs_store_run_end(f->store, &row, on_told, told);
}

static void change_env(struct fixture *f, struct told *told)
{
    qs_store_session_env(f->store, session_uid, T("{\"later\":1}"), on_told, told);
}

static void end_session(struct fixture *f, struct told *told)
{
    qs_store_session_end(f->store, session_uid, 70, T("done"), on_told, told);
}

static void end_job(struct fixture *f, struct told *told)
{
    const struct qs_job_end_row row = {.job = 1,
                                       .at_ns = 80,
                                       .state = QS_JOB_DONE,
                                       .runs_per_block = 1,
                                       .reason = T("done"),
                                       .verdict_json = T("{}"),
                                       .result_json = T("{}"),
                                       .state_json = T("{}")};
    qs_store_job_end(f->store, &row, on_told, told);
}

static void (*const writes[])(struct fixture *f, struct told *told) = {
    put_device,   put_boot,     put_clock,       put_job,   put_state,    put_session, put_run,
    put_window_0, put_window_1, put_file,        put_event, put_artifact, put_median,  put_tuning,
    put_board,    put_control,  end_former_life, end_run,   change_env,   end_session, end_job};
enum { WRITES = sizeof writes / sizeof *writes };

/* With a failure at each of its calls, until there are no more. Returns how many there were. */
static int write_through(struct fixture *f, size_t i)
{
    for (int at = 1;; at++) {
        struct told told = {0};
        fixture_close(f); /* a new connection has prepared nothing */
        fixture_open(f);
        fails_at = at;
        has_failed = false;
        writes[i](f, &told);
        take_back();
        qs_loop_run(f->loop);
        assert_int_equal(told.count, 1);
        if (!has_failed) {
            fails_at = 0;
            if (told.code != QS_E_NONE)
                fail_msg("write %zu: %s", i, told.text);
            return at - 1;
        }
        if (told.code != QS_E_INTERNAL)
            fail_msg("write %zu, call %d: %s", i, at, told.code ? told.text : "succeeds without it");
    }
}

static void write_all(struct fixture *f)
{
    struct told told[WRITES] = {{0}};
    fixture_init(f);
    fixture_open(f);
    for (size_t i = 0; i < WRITES; i++) {
        writes[i](f, &told[i]);
        take_back();
    }
    qs_loop_run(f->loop);
    for (size_t i = 0; i < WRITES; i++)
        if (told[i].count != 1 || told[i].code != QS_E_NONE)
            fail_msg("write %zu: %s", i, told[i].text);
}

static void each_statement_of_a_write_fails(void **state)
{
    struct fixture f;
    (void)state;
    fixture_init(&f);
    fixture_open(&f);
    for (size_t i = 0; i < WRITES; i++) {
        assert_true(write_through(&f, i) > 1);
        if (writes[i] != put_session && writes[i] != put_run && writes[i] != put_state)
            assert_true(write_through(&f, i) > 1); /* sent again */
    }
    fixture_done(&f);
}

/* A read of everything there is, freed again. */
#define READ(name, type, call, done)                                                                         \
    static bool read_##name(struct qs_store_reader *r, void *user, struct qs_err *err)                       \
    {                                                                                                        \
        type x = {0};                                                                                        \
        (void)user;                                                                                          \
        if (!(call))                                                                                         \
            return false;                                                                                    \
        done;                                                                                                \
        return true;                                                                                         \
    }
#define READ_JSON(name, call, expected) READ(name, char *, call, is_text(x, expected))

/* All of it, with ' for ". */
static void is_text(char *json, const char *expected)
{
    for (char *quote = json; (quote = strchr(quote, '"')) != NULL;)
        *quote = '\'';
    assert_string_equal(json, expected);
    free(json);
}

static void count_control(const struct qs_control_info *control, void *user)
{
    assert_string_equal(control->row.path, "p");
    ++*(int *)user;
}

static const struct qs_metric_names all;
static const struct qs_run_filter filter = {
    .job = 1, .arm = "a", .build = "r1..r1", .build_from = "r1", .build_to = "r1"};
static const struct qs_series_filter any;
static const struct qs_history_metric duration;
static char arm[] = "a";
static const struct qs_series_info series = {.point = 1, .device_id = 1, .arm = arm, .last_wall_ns = 20};

READ(jobs, struct qs_jobs, qs_read_jobs(r, 0, 10, &x, err), qs_jobs_free(&x))
READ(job, struct qs_jobs, qs_read_job(r, 1, &x, err), qs_jobs_free(&x))
READ_JSON(cancel, qs_read_cancel(r, 1, &x, err), "x")
READ(runs, struct qs_runs, qs_read_runs(r, 1, 0, 10, &x, err), qs_runs_free(&x))
READ(run, struct qs_runs, qs_read_run(r, uid, &x, err), qs_runs_free(&x))
READ(iterations, struct qs_iterations, qs_read_iterations(r, uid, 0, 10, &x, err), qs_iterations_free(&x))
READ(measured, struct qs_measured_runs, qs_read_measured_runs(r, 1, &x, err), qs_measured_runs_free(&x))
READ_JSON(windows_json, qs_shown_windows(r, uid, &x, err),
          "[{'window':0,'attempt':0,'phase':'measure','first_seq':0,'n':2,'opened_ns':1000,"
          "'closed_ns':900000,'evals':1,'silence':'claimed','taint':0,'taint_names':'',"
          "'how':'failed','failure':'exec','output':'said','output_bytes':0,"
          "'gate':{'outcome':'tainted','waited_ns':7,'polls':2,'busiest':'cc1[7]',"
          "'deciding':[{'sensor':'host.load_1m','status':'ok','value':3,'age_ns':0,'trace':[[1,2]]}]},"
          "'evidence':[{'kind':'metric:energy_j','before':0,'after':0},{'kind':'steal','before':0,"
          "'after':4}],'taints':[{'i':null,'code':'gate:temp','value':1,'bound':2}]},{'window':1,"
          "'attempt':0,'phase':'traced','first_seq':2,'n':2,'opened_ns':1002,'closed_ns':900002,"
          "'evals':1,'silence':'claimed','taint':0,'taint_names':'','how':'failed','failure':'exec',"
          "'output':'said','output_bytes':0,'gate':{'outcome':'tainted','waited_ns':7,'polls':2,"
          "'busiest':'cc1[7]','deciding':[{'sensor':'host.load_1m','status':'ok','value':3,"
          "'age_ns':0,'trace':[[1,2]]}]},'evidence':[{'kind':'metric:energy_j','before':0,'after':0},{'kind':"
          "'steal',"
          "'before':0,'after':4}],'taints':[{'i':null,'code':'gate:temp','value':1,'bound':2}]}]")
READ_JSON(waits_json, qs_shown_waits(r, 1, 1, &x, err),
          "{'longest':[{'run':'01000000000000000000000000000000','arm_name':'a','device':'bench','block':1,"
          "'window':0,'outcome':'tainted','waited_ns':7,'busiest':'cc1[7]','sensors':[{'sensor':"
          "'host.load_1m','from':'2','to':'2','trace':[[1,2]]}]}],'gates':2,'waited_ns':14}")
READ_JSON(artifacts_json, qs_shown_artifacts(r, uid, &x, err),
          "[{'kind':'file','name':'o.json','sha256':'','kept_bytes':null,'total_bytes':5,"
          "'why':'too big'},{'kind':'trace','name':'perf','sha256':'','kept_bytes':null,"
          "'total_bytes':0,'why':'cut','started_ns':5,'stopped_ns':0,'window':1,'flags':['killed',"
          "'cut','ended-early','left-children']}]")
READ_JSON(traces_json, qs_shown_traces(r, 1, 0, &x, err),
          "[{'point':0,'arm':0,'arm_name':'a','device':'bench',"
          "'fastest':{'run':'01000000000000000000000000000000','block':1,'window':0,'seq':0,"
          "'start_ns':1000,'duration_ns':1001000,'evals':1,'trace':null},"
          "'slowest':{'run':'01000000000000000000000000000000','block':1,'window':0,'seq':0,"
          "'start_ns':1000,'duration_ns':1001000,'evals':1,'trace':null},"
          "'traced_fastest':{'run':'01000000000000000000000000000000','block':1,'window':1,'seq':2,"
          "'start_ns':1002,'duration_ns':1001002,'evals':1,'trace':null},"
          "'traced_slowest':{'run':'01000000000000000000000000000000','block':1,'window':1,'seq':2,"
          "'start_ns':1002,'duration_ns':1001002,'evals':1,'trace':null}}]")
READ_JSON(taints_json, qs_shown_taints(r, 1, &x, err),
          "[{'arm':'a','code':'gate:temp','windows':1,'iterations':0,'example':'block 1,"
          " window 0: 1 (bound 2)','busiest':'cc1'}]")
READ(events, struct qs_event_list, qs_read_events(r, 1, 0, 10, &x, err), qs_events_free(&x))
READ(job_windows, struct qs_windows, qs_read_job_windows(r, 1, &x, err), qs_windows_free(&x))
READ(run_windows, struct qs_windows, qs_read_run_windows(r, uid, &x, err), qs_windows_free(&x))
READ(job_metrics, struct qs_job_metrics, qs_read_job_metrics(r, 1, &all, &x, err), qs_job_metrics_free(&x))
READ(run_metrics, struct qs_job_metrics, qs_read_run_metrics(r, uid, &all, &x, err), qs_job_metrics_free(&x))
READ(arm_runs, struct qs_arm_runs, qs_read_arm_runs(r, &filter, 1, &all, &x, err), qs_arm_runs_free(&x))
READ(series, struct qs_series_list, qs_read_series(r, &any, 10, &x, err), qs_series_list_free(&x))
READ(series_metrics, struct qs_history_metrics, qs_read_series_metrics(r, &series, &x, err),
     qs_history_metrics_free(&x))
READ(history, struct qs_history_data, qs_read_history(r, &series, &duration, 0, 100, &x, err),
     qs_history_data_free(&x))
READ(live_jobs, struct qs_live_jobs, qs_read_live_jobs(r, &x, err), qs_live_jobs_free(&x))
READ(left, bool, qs_read_left_open(r, &x, err) && qs_read_was_prepared(r, 1, "", &x, err), assert_false(x))
READ(file_uses, struct qs_file_uses, qs_read_file_uses(r, &x, err), qs_file_uses_free(&x))
READ(tuning, struct qs_tuning, qs_read_tuning(r, "{\"device\":\"bench\"}", &x, &(bool){false}, err),
     assert_int_equal(x.evals, 205))
READ(board, struct qs_board_info, qs_read_board(r, "bench", &x, err), qs_board_info_free(&x))
READ(control, int, qs_read_control(r, session_uid, count_control, &x, err), assert_true(x > 0))
READ(changer, struct qs_control_session, qs_read_control_session(r, "bench", &x, &(bool){false}, err),
     assert_int_equal(x.job, 1))
READ_JSON(evaluations_json, qs_shown_evals(r, 1, &x, err), "[]")

static qs_store_read_fn *const reads[] = {
    read_jobs,        read_job,      read_cancel,           read_runs,           read_run,
    read_iterations,  read_measured, read_windows_json,     read_artifacts_json, read_traces_json,
    read_taints_json, read_events,   read_job_windows,      read_run_windows,    read_job_metrics,
    read_run_metrics, read_arm_runs, read_series,           read_series_metrics, read_history,
    read_live_jobs,   read_left,     read_file_uses,        read_tuning,         read_board,
    read_control,     read_changer,  read_evaluations_json, read_waits_json};

static void each_statement_of_a_read_fails(void **state)
{
    struct fixture f;
    struct qs_err err = QS_ERR_INIT;
    (void)state;
    write_all(&f);
    fails_with = SQLITE_IOERR;
    for (size_t i = 0; i < sizeof reads / sizeof *reads; i++) {
        for (int at = 1; at == 1 || has_failed; at++) {
            fails_at = at;
            has_failed = false;
            bool ok = qs_store_read_now(f.store, reads[i], NULL, &err);
            fails_at = 0;
            if (ok == has_failed || (has_failed && err.code != QS_E_STORE))
                fail_msg("read %zu, call %d: %s", i, at, ok ? "succeeds without it" : err.text);
        }
    }
    fails_with = SQLITE_ERROR;
    fixture_done(&f);
}

/* One more than a page may have, or none, is refused; both ends are taken. */
static bool read_pages(struct qs_store_reader *r, void *user, struct qs_err *err)
{
    static const size_t limits[] = {0, 1, 1000, 1001, 10000, 10001};
    (void)user;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        struct qs_jobs jobs = {0};
        struct qs_runs runs = {0};
        struct qs_iterations iterations = {0};
        struct qs_series_list list = {0};
        bool few = i > 0 && i<3, many = i> 0 && i < 5;
        assert_int_equal(qs_read_jobs(r, 0, limits[i], &jobs, err), few);
        assert_int_equal(qs_read_runs(r, 1, 0, limits[i], &runs, err), many);
        assert_int_equal(qs_read_iterations(r, uid, 0, limits[i], &iterations, err), many);
        assert_int_equal(qs_read_series(r, &any, limits[i], &list, err), many);
        if (!many)
            assert_int_equal(err->code, QS_E_LIMIT);
        qs_jobs_free(&jobs);
        qs_runs_free(&runs);
        qs_iterations_free(&iterations);
        qs_series_list_free(&list);
    }
    return true;
}

static void pages_have_a_least_and_a_most(void **state)
{
    struct fixture f;
    (void)state;
    write_all(&f);
    assert_true(qs_store_read_now(f.store, read_pages, NULL, &(struct qs_err){0}));
    fixture_done(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_statement_of_a_write_fails),
                                       cmocka_unit_test(each_statement_of_a_read_fails),
                                       cmocka_unit_test(pages_have_a_least_and_a_most)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
