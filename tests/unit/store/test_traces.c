/* Traced windows are kept and shown, and in no statistic; the fastest and the slowest iteration lead to a
 * trace. */
#include "fixture.h"

#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/shown.h"
#include "store/files.h"
#include "store/read/arms.h"
#include "store/read/util.h"

static struct qs_files *files;

static int setup(void **state)
{
    return fixture_setup_files(state, &files);
}

static int teardown(void **state)
{
    return fixture_teardown_files(state, files);
}

/* Four iterations with these durations. */
static void put(struct fixture *f, uint8_t run, uint32_t ord, uint64_t first, enum qs_phase phase,
                const int64_t durations_ns[4], uint32_t taint)
{
    struct qs_iteration_row rows[4];
    const struct qs_taint_row why = {.i = -1, .code = "link.frames", .value = 3, .bound = 0};
    struct qs_window_row w = make_window(run, ord, first, 4, rows);
    w.phase = phase;
    w.taint = taint;
    w.taints = &why;
    w.taint_count = taint != 0;
    for (size_t i = 0; i < 4; i++)
        rows[i].duration_ns = durations_ns[i];
    assert_int_equal(put_window(f, &w), QS_E_NONE);
}

/* A clean window of four, whose shortest and longest were disturbed. */
static void put_disturbed(struct fixture *f, uint8_t run, uint32_t ord, uint64_t first, enum qs_phase phase)
{
    static const int64_t durations_ns[4] = {470, 7, 7000, 470};
    struct qs_iteration_row rows[4];
    struct qs_window_row w = make_window(run, ord, first, 4, rows);
    w.phase = phase;
    for (size_t i = 0; i < 4; i++)
        rows[i].duration_ns = durations_ns[i];
    rows[1].taint = rows[2].taint = QS_TAINT_EVIDENCE;
    assert_int_equal(put_window(f, &w), QS_E_NONE);
}

static void put_trace(struct fixture *f, uint8_t run, uint32_t window, const char *content, const char *why)
{
    const struct qs_trace_row trace = {.has_window = content != NULL,
                                       .window = window,
                                       .flags = content ? 2 : 0,
                                       .started_ns = content ? 1000 : 0,
                                       .stopped_ns = content ? 9000 : 0};
    struct qs_artifact_row row = {.run_uid = {run},
                                  .kind = "trace",
                                  .name = content ? "perf.1" : "perf",
                                  .files = files,
                                  .bytes = content,
                                  .n = content ? strlen(content) : 0,
                                  .total_bytes = content ? (int64_t)strlen(content) : 0,
                                  .why = why,
                                  .trace = &trace};
    qs_store_artifact(f->store, &row, on_fine, NULL);
    qs_loop_run(f->loop);
}

static void end_run(struct fixture *f, uint8_t run)
{
    const struct qs_run_end_row end = {.uid = {run}, .state = QS_RUN_DONE, .ended_wall_ns = 5};
    qs_store_run_end(f->store, &end, on_fine, NULL);
    qs_loop_run(f->loop);
}

/* Two runs of an arm; the second has no trace of its own. */
static void two_runs(struct fixture *f)
{
    static const int64_t first[4] = {500, 400, 300, 600}, second[4] = {450, 700, 420, 430},
                         traced[4] = {9, 2000, 30, 40};
    run_begin(f, 1, 0, 1, 0);
    put(f, 1, 0, 0, QS_PHASE_MEASURE, first, 0);
    put(f, 1, 1, 4, QS_PHASE_TRACED, traced, QS_TAINT_LINK);
    put_disturbed(f, 1, 2, 8, QS_PHASE_TRACED);
    put_trace(f, 1, 1, "a trace", NULL);
    end_run(f, 1);
    run_begin(f, 2, 0, 2, 0);
    put(f, 2, 0, 0, QS_PHASE_MEASURE, second, 0);
    put_trace(f, 2, 0, NULL, "no such tracer");
    end_run(f, 2);
}

static bool check_excluded(struct qs_store_reader *r, void *user, struct qs_err *err)
{
    const struct fixture *f = user;
    struct qs_measured_runs measured;
    struct qs_runs runs;
    struct qs_jobs jobs;
    char *taints = NULL;
    assert_true(qs_read_measured_runs(r, f->job, &measured, err));
    assert_int_equal(measured.count, 2);
    const struct qs_measured_run *s = &measured.at[0];
    assert_int_equal(s->values.n, 4);
    assert_int_equal(s->values.at[2], 300);
    assert_int_equal(s->values.tainted, 0);
    assert_int_equal(s->values.taints, 0);
    assert_false(s->values.disturbed);
    assert_int_equal(s->window_n, 4);
    assert_true(fabs(s->user_us_mean - 11.5) < 1e-9); /* of the numbers 0 to 3 */
    assert_int_equal(s->windows[QS_SILENCE_NONE] + s->windows[QS_SILENCE_OBSERVED] +
                         s->windows[QS_SILENCE_PROVEN] + s->windows[QS_SILENCE_CLAIMED],
                     1);
    qs_measured_runs_free(&measured);
    assert_true(qs_read_runs(r, f->job, 0, 10, &runs, err));
    assert_int_equal(runs.at[0].n, 4);
    assert_int_equal(runs.at[0].n_tainted, 0);
    assert_int_equal(runs.at[0].acked_seq, 11); /* it is on disk like any other */
    qs_runs_free(&runs);
    assert_true(qs_read_job(r, f->job, &jobs, err));
    assert_int_equal(jobs.at[0].runs_tainted, 0);
    qs_jobs_free(&jobs);
    assert_true(qs_shown_taints(r, f->job, &taints, err));
    assert_string_equal(taints, "[]");
    free(taints);
    return true;
}

static void they_count_for_nothing(void **state)
{
    struct fixture *f = *state;
    struct qs_err err = QS_ERR_INIT;
    two_runs(f);
    assert_true(qs_store_read_now(f->store, check_excluded, f, &err));
}

static bool check_shown(struct qs_store_reader *r, void *user, struct qs_err *err)
{
    struct qs_iterations it;
    char *windows = NULL;
    const uint8_t uid[16] = {1};
    (void)user;
    assert_true(qs_read_iterations(r, uid, 0, 20, &it, err));
    assert_int_equal(it.count, 12);
    assert_int_equal(it.at[3].phase, QS_PHASE_MEASURE);
    assert_int_equal(it.at[4].phase, QS_PHASE_TRACED);
    assert_int_equal(it.at[5].duration_ns, 2000);
    qs_iterations_free(&it);
    assert_true(qs_shown_windows(r, uid, &windows, err));
    assert_non_null(strstr(windows, "\"phase\":\"measure\""));
    assert_non_null(strstr(windows, "\"phase\":\"traced\""));
    free(windows);
    return true;
}

static void they_are_kept_and_marked(void **state)
{
    struct fixture *f = *state;
    struct qs_err err = QS_ERR_INIT;
    two_runs(f);
    assert_true(qs_store_read_now(f->store, check_shown, f, &err));
}

static void has(const char *json, const char *part)
{
    if (!strstr(json, part))
        fail_msg("%s is not in %s", part, json);
}

static void run_attempt(struct fixture *f, uint8_t run, uint8_t session, uint32_t block, uint32_t attempt)
{
    const struct qs_run_row row = {.uid = {run},
                                   .session_uid = {session},
                                   .job = f->job,
                                   .block = block,
                                   .attempt = attempt,
                                   .started_wall_ns = 30};
    qs_store_run_begin(f->store, &row, on_fine, NULL);
    qs_loop_run(f->loop);
}

/* Whoever reads runs for numbers is told the same of each. */
static void check_superseded(struct qs_store_reader *r, int64_t job, struct qs_err *err)
{
    static const bool superseded[7] = {[2] = true, [3] = true};
    const struct qs_metric_names all = {.names = NULL};
    const struct qs_run_filter filter = {.job = job};
    struct qs_measured_runs measured;
    struct qs_arm_runs runs;
    assert_true(qs_read_measured_runs(r, job, &measured, err));
    assert_int_equal(measured.count, 6);
    for (size_t i = 0; i < measured.count; i++)
        assert_int_equal(measured.at[i].superseded, superseded[measured.at[i].run_uid[0]]);
    qs_measured_runs_free(&measured);
    assert_true(qs_read_arm_runs(r, &filter, 1, &all, &runs, err));
    for (size_t i = 0; i < runs.count; i++)
        assert_int_equal(runs.at[i].superseded, superseded[runs.at[i].uid[0]]);
    qs_arm_runs_free(&runs);
}

static bool check_repeated(struct qs_store_reader *r, void *user, struct qs_err *err)
{
    const struct fixture *f = user;
    char *json = NULL;
    check_superseded(r, f->job, err);
    assert_true(qs_shown_traces(r, f->job, 0, &json, err));
    has(strstr(json, "\"fastest\""), "\"duration_ns\":300,");
    has(strstr(json, "\"slowest\""), "\"run\":\"01000000000000000000000000000000\"");
    has(strstr(json, "\"slowest\""), "\"duration_ns\":600,");
    free(json);
    assert_true(qs_shown_traces(r, f->job, 3, &json, err)); /* the run that is asked for is shown */
    has(strstr(json, "\"slowest\""), "\"duration_ns\":9000,");
    free(json);
    return true;
}

static bool check_links(struct qs_store_reader *r, void *user, struct qs_err *err)
{
    const struct fixture *f = user;
    const uint8_t uid[16] = {2};
    char *json = NULL, *left = NULL;
    assert_true(qs_shown_traces(r, f->job, 0, &json, err));
    has(json, "[{\"point\":0,\"arm\":0,");
    has(json,
        "\"fastest\":{\"run\":\"01000000000000000000000000000000\",\"block\":1,\"window\":0,\"seq\":2,");
    has(json,
        "\"slowest\":{\"run\":\"02000000000000000000000000000000\",\"block\":2,\"window\":0,\"seq\":1,");
    /* The run of the slowest has no trace: the nearest one is another's. */
    const char *slowest = strstr(json, "\"slowest\"");
    has(slowest, "\"duration_ns\":700,\"evals\":1,\"trace\":{\"run\":\"01000000000000000000000000000000\","
                 "\"name\":\"perf.1\"");
    has(json, "\"traced_fastest\":{\"run\":\"01000000000000000000000000000000\",\"block\":1,\"window\":1,"
              "\"seq\":4,");
    has(strstr(json, "\"traced_slowest\""), "\"duration_ns\":2000,\"evals\":1,\"trace\":{");
    has(strstr(json, "\"traced_slowest\""), "\"started_ns\":1000,\"offset_ns\":");
    free(json);
    assert_true(qs_shown_traces(r, f->job, 2, &json, err));
    has(json,
        "\"fastest\":{\"run\":\"02000000000000000000000000000000\",\"block\":2,\"window\":0,\"seq\":2,");
    assert_null(strstr(json, "traced_"));
    free(json);
    assert_true(qs_shown_artifacts(r, uid, &left, err));
    has(left, "\"kind\":\"trace\",\"name\":\"perf\",\"sha256\":\"\",\"kept_bytes\":null,\"total_bytes\":0,"
              "\"why\":\"no such tracer\"");
    has(left, "\"window\":null,\"flags\":[]");
    free(left);
    return true;
}

static void other_device(struct fixture *f, uint8_t session)
{
    const struct qs_device_row device = {
        .name = "other", .serial = "S2", .port_path = "", .profile = "local"};
    const struct qs_boot_row boot = {
        .device = "other", .boot_uuid = "boot-2", .fingerprint_json = "{}", .clock = "monotonic_raw"};
    const struct qs_session_row row = {.uid = {session},
                                       .job = f->job,
                                       .device = "other",
                                       .boot_uuid = "boot-2",
                                       .env_json = "{}",
                                       .started_wall_ns = 20};
    qs_store_device(f->store, &device, on_fine, NULL);
    qs_store_boot(f->store, &boot, on_fine, NULL);
    qs_store_session_begin(f->store, &row, on_fine, NULL);
    qs_loop_run(f->loop);
}

/* Block 2 was measured once before, and block 3 is: their runs are kept, and in no summary. */
static void what_does_not_count_is_not_looked_at(void **state)
{
    static const int64_t extremes[4] = {1, 9000, 2, 3};
    struct fixture *f = *state;
    struct qs_err err = QS_ERR_INIT;
    two_runs(f);
    run_attempt(f, 3, 99, 2, 1);
    put(f, 3, 0, 0, QS_PHASE_MEASURE, extremes, 0);
    end_run(f, 3);
    run_attempt(f, 4, 99, 2, 2);
    put(f, 4, 0, 0, QS_PHASE_MEASURE, (const int64_t[4]){450, 460, 470, 480}, 0);
    end_run(f, 4);
    other_device(f, 98); /* whose blocks are its own */
    run_attempt(f, 5, 98, 2, 7);
    end_run(f, 5);
    run_attempt(f, 6, 99, 3, 0); /* under way */
    put(f, 6, 0, 0, QS_PHASE_MEASURE, extremes, 0);
    assert_true(qs_store_read_now(f->store, check_repeated, f, &err));
}

static void has_step(struct fixture *f, const char *sql, const char *step)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *s = NULL;
    bool found = false;
    assert_int_equal(sqlite3_open_v2(f->path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &s, NULL), SQLITE_OK);
    while (sqlite3_step(s) == SQLITE_ROW) {
        const char *text = (const char *)sqlite3_column_text(s, 3);
        found = found || strcmp(text, step) == 0;
    }
    sqlite3_finalize(s);
    sqlite3_close(db);
    assert_true(found);
}

/* Each run asks it: whether there is any such run is looked up in an index that has no others. */
static void a_block_that_was_not_begun_again_costs_one_look(void **state)
{
    has_step(*state, "EXPLAIN QUERY PLAN SELECT " QS_RUN_SUPERSEDED " FROM run r",
             "SEARCH later USING INDEX run_again (job_id=? AND point_idx=? AND block=?)");
}

static bool check_counted(struct qs_store_reader *r, void *user, struct qs_err *err)
{
    const struct fixture *f = user;
    char *json = NULL;
    assert_true(qs_shown_traces(r, f->job, 0, &json, err));
    has(strstr(json, "\"fastest\""), "\"seq\":7,");
    has(strstr(json, "\"fastest\""), "\"duration_ns\":440,");
    has(strstr(json, "\"slowest\""), "\"seq\":6,");
    has(strstr(json, "\"slowest\""), "\"duration_ns\":480,");
    free(json);
    return true;
}

/* The stop rule set two clean iterations aside; disturbed ones are none of them, and not looked at. */
static void warm_up_and_disturbed_iterations_are_no_extremes(void **state)
{
    struct fixture *f = *state;
    struct qs_err err = QS_ERR_INIT;
    const struct qs_run_end_row end = {.uid = {1}, .state = QS_RUN_DONE, .ended_wall_ns = 5, .warmup_n = 2};
    run_begin(f, 1, 0, 1, 0);
    put(f, 1, 0, 0, QS_PHASE_MEASURE, (const int64_t[4]){1, 9000, 2, 8000}, QS_TAINT_LINK);
    put(f, 1, 1, 4, QS_PHASE_MEASURE, (const int64_t[4]){3, 7000, 480, 440}, 0);
    put_trace(f, 1, 1, "a trace", NULL);
    qs_store_run_end(f->store, &end, on_fine, NULL);
    qs_loop_run(f->loop);
    assert_true(qs_store_read_now(f->store, check_counted, f, &err));
}

/* Nor where no stop rule has set any aside: whether clean ones came before them or not, whether it is the
 * window that is disturbed or the iteration. */
static void disturbed_iterations_alone_are_no_extremes(void **state)
{
    struct fixture *f = *state;
    struct qs_err err = QS_ERR_INIT;
    run_begin(f, 1, 0, 1, 0);
    put(f, 1, 0, 0, QS_PHASE_MEASURE, (const int64_t[4]){1, 9000, 2, 8000}, QS_TAINT_LINK);
    put(f, 1, 1, 4, QS_PHASE_MEASURE, (const int64_t[4]){450, 460, 480, 440}, 0);
    put(f, 1, 2, 8, QS_PHASE_MEASURE, (const int64_t[4]){1, 9000, 2, 8000}, QS_TAINT_LINK);
    put_disturbed(f, 1, 3, 12, QS_PHASE_MEASURE);
    put_trace(f, 1, 1, "a trace", NULL);
    end_run(f, 1);
    assert_true(qs_store_read_now(f->store, check_counted, f, &err));
}

static void the_fastest_and_the_slowest_lead_to_a_trace(void **state)
{
    struct fixture *f = *state;
    struct qs_err err = QS_ERR_INIT;
    two_runs(f);
    assert_true(qs_store_read_now(f->store, check_links, f, &err));
}

/* The heads of the groups, "arm name device" each, in their order. */
static void expect_groups(const char *json, const char *const *heads, size_t n)
{
    static const char key[] = "{\"point\":0,\"arm\":";
    for (size_t i = 0; i < n; i++) {
        json = strstr(json, key);
        assert_non_null(json);
        json += strlen(key);
        if (strncmp(json, heads[i], strlen(heads[i])) != 0)
            fail_msg("%s is not at %s", heads[i], json);
    }
    assert_null(strstr(json, key));
}

static bool check_groups(struct qs_store_reader *r, void *user, struct qs_err *err)
{
    static const char *const heads[] = {"0,\"arm_name\":\"a\",\"device\":\"bench\",\"fastest\":",
                                        "1,\"arm_name\":\"b\",\"device\":\"bench\",\"fastest\":",
                                        "1,\"arm_name\":\"b\",\"device\":\"other\",\"fastest\":"};
    const struct fixture *f = user;
    char *json = NULL;
    assert_true(qs_shown_traces(r, f->job, 0, &json, err));
    expect_groups(json, heads, 3);
    free(json);
    return true;
}

/* A run of the second arm, in this session. */
static void run_of_b(struct fixture *f, uint8_t run, uint8_t session)
{
    const struct qs_run_row row = {
        .uid = {run}, .session_uid = {session}, .job = f->job, .arm = 1, .block = 1, .started_wall_ns = 30};
    qs_store_run_begin(f->store, &row, on_fine, NULL);
    qs_loop_run(f->loop);
    put(f, run, 0, 0, QS_PHASE_MEASURE, (const int64_t[4]){450, 460, 470, 480}, 0);
    end_run(f, run);
}

static void each_arm_and_device_has_its_own(void **state)
{
    struct fixture *f = *state;
    struct qs_err err = QS_ERR_INIT;
    const struct qs_device_row device = {
        .name = "other", .serial = "S2", .port_path = "", .profile = "local"};
    const struct qs_boot_row boot = {
        .device = "other", .boot_uuid = "boot-2", .fingerprint_json = "{}", .clock = "c", .seen_wall_ns = 5};
    const struct qs_session_row session = {.uid = {98},
                                           .job = f->job,
                                           .device = "other",
                                           .boot_uuid = "boot-2",
                                           .env_json = "{}",
                                           .started_wall_ns = 20};
    qs_store_device(f->store, &device, on_fine, NULL);
    qs_store_boot(f->store, &boot, on_fine, NULL);
    qs_store_session_begin(f->store, &session, on_fine, NULL);
    two_runs(f);
    run_of_b(f, 3, 99);
    run_of_b(f, 4, 98);
    assert_true(qs_store_read_now(f->store, check_groups, f, &err));
}

static bool check_nothing(struct qs_store_reader *r, void *user, struct qs_err *err)
{
    const struct fixture *f = user;
    char *json = NULL;
    assert_true(qs_shown_traces(r, f->job, 0, &json, err));
    assert_null(json);
    return true;
}

static void a_job_without_traces_has_no_links(void **state)
{
    static const int64_t durations[4] = {1, 2, 3, 4};
    struct fixture *f = *state;
    struct qs_err err = QS_ERR_INIT;
    run_begin(f, 1, 0, 1, 0);
    put(f, 1, 0, 0, QS_PHASE_MEASURE, durations, 0);
    end_run(f, 1);
    assert_true(qs_store_read_now(f->store, check_nothing, f, &err));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(they_count_for_nothing),
        TEST(they_are_kept_and_marked),
        TEST(warm_up_and_disturbed_iterations_are_no_extremes),
        TEST(disturbed_iterations_alone_are_no_extremes),
        TEST(the_fastest_and_the_slowest_lead_to_a_trace),
        TEST(what_does_not_count_is_not_looked_at),
        TEST(a_block_that_was_not_begun_again_costs_one_look),
        TEST(each_arm_and_device_has_its_own),
        TEST(a_job_without_traces_has_no_links),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
