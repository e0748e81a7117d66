#include "fixture.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "report/shown.h"
#include "store/files.h"

static void submit_is_idempotent(void **state)
{
    struct fixture *f = *state;
    struct qs_job_row job = {.idem = "key-1", .owner = "me", .name = "first", .spec_json = "{\"x\":1}"};
    struct told same = {0}, other = {0};
    qs_store_submit(f->store, &job, on_told, &same);
    job.spec_json = "{\"x\":2}";
    qs_store_submit(f->store, &job, on_told, &other);
    qs_loop_run(f->loop);
    assert_int_equal(same.code, QS_E_NONE);
    assert_int_equal(same.id, f->job);
    assert_int_equal(other.code, QS_E_CONFLICT);
}

static void a_label_has_one_content(void **state)
{
    struct fixture *f = *state;
    char content[65];
    memset(content, 'a', 64);
    content[64] = 0;
    struct qs_arm_row arm = {.name = "x", .build_label = "r41", .build_content = content, .argv_json = "[]"};
    struct qs_job_row job = {.owner = "me", .name = "n", .spec_json = "{}", .arms = &arm, .arm_count = 1};
    struct told first = {0}, again = {0}, other = {0}, after = {0};
    qs_store_submit(f->store, &job, on_told, &first);
    qs_store_submit(f->store, &job, on_told, &again);
    content[0] = 'b';
    qs_store_submit(f->store, &job, on_told, &other);
    content[0] = 'a';
    qs_store_submit(f->store, &job, on_told, &after);
    qs_loop_run(f->loop);
    assert_int_equal(first.code, QS_E_NONE);
    assert_int_equal(again.code, QS_E_NONE);
    assert_int_equal(other.code, QS_E_CONFLICT);
    /* What failed changed nothing, and the rest of its group went on. */
    assert_int_equal(after.code, QS_E_NONE);
    assert_int_equal(after.id, again.id + 1);
    assert_true(first.order < again.order && again.order < other.order && other.order < after.order);
}

static void windows_follow_each_other(void **state)
{
    struct fixture *f = *state;
    struct qs_iteration_row rows[50];
    run_begin(f, 1, 0, 1, 0);
    struct qs_window_row w = make_window(1, 0, 0, 50, rows);
    assert_int_equal(put_window(f, &w), QS_E_NONE);
    assert_int_equal(put_window(f, &w), QS_E_NONE); /* sent again */
    w = make_window(1, 1, 51, 50, rows);
    assert_int_equal(put_window(f, &w), QS_E_CONFLICT); /* a gap */
    w = make_window(1, 1, 25, 50, rows);
    assert_int_equal(put_window(f, &w), QS_E_CONFLICT); /* overlaps */
    w = make_window(1, 1, 0, 49, rows);
    assert_int_equal(put_window(f, &w), QS_E_CONFLICT); /* shorter than it was */
    w = make_window(1, 1, 50, 50, rows);
    assert_int_equal(put_window(f, &w), QS_E_NONE);
    w = make_window(2, 0, 0, 1, rows);
    assert_int_equal(put_window(f, &w), QS_E_NOT_FOUND); /* a run nobody began */
}

static void other_content_is_a_conflict(void **state)
{
    struct fixture *f = *state;
    struct qs_iteration_row rows[8];
    run_begin(f, 1, 0, 1, 0);
    struct qs_window_row w = make_window(1, 0, 0, 8, rows);
    rows[3].status = 2;
    rows[6].start_off_ns = rows[6].duration_ns = INT64_MIN; /* a device may say any integer */
    assert_int_equal(put_window(f, &w), QS_E_NONE);
    assert_int_equal(put_window(f, &w), QS_E_NONE);
    int64_t *const fields[] = {&rows[7].duration_ns, &rows[0].start_off_ns, &rows[5].values[0],
                               &rows[5].values[2],   &rows[4].values[2],    &w.opened_ns};
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        int64_t was = *fields[i];
        *fields[i] = was == INT64_MIN ? 1 : was + 1;
        assert_int_equal(put_window(f, &w), QS_E_CONFLICT);
        *fields[i] = was;
    }
    rows[3].status = 0;
    assert_int_equal(put_window(f, &w), QS_E_CONFLICT);
    rows[3].status = 2;
    w.metric_count = 2;
    assert_int_equal(put_window(f, &w), QS_E_NONE); /* values it no longer mentions */
    w.metric_count = 3;
    w.taint = QS_TAINT_EVIDENCE; /* the host's judgement: the first stands */
    assert_int_equal(put_window(f, &w), QS_E_NONE);
}

static void empty_windows_are_kept(void **state)
{
    struct fixture *f = *state;
    struct qs_iteration_row rows[4];
    run_begin(f, 1, 0, 1, 0);
    struct qs_window_row none = make_window(1, 0, 0, 0, rows);
    none.how = "gate";
    assert_int_equal(put_window(f, &none), QS_E_NONE);
    assert_int_equal(put_window(f, &none), QS_E_NONE);
    struct qs_window_row w = make_window(1, 1, 0, 4, rows);
    assert_int_equal(put_window(f, &w), QS_E_NONE);
    assert_int_equal(put_window(f, &none), QS_E_NONE); /* sent again, later */
    none.closed_ns++;
    assert_int_equal(put_window(f, &none), QS_E_CONFLICT);
    none = make_window(1, 2, 4, 0, rows);
    assert_int_equal(put_window(f, &none), QS_E_NONE);
    w = make_window(1, 3, 4, 4, rows);
    assert_int_equal(put_window(f, &w), QS_E_NONE);
}

static bool read_big(struct qs_store_reader *r, void *user, struct qs_err *err)
{
    (void)user;
    struct qs_iterations it;
    uint8_t uid[16] = {1};
    if (!qs_read_iterations(r, uid, 4000, 10000, &it, err))
        return false;
    assert_int_equal(it.count, 96);
    assert_int_equal(it.at[0].seq, 4000);
    assert_int_equal(it.at[95].duration_ns, 1000000 + 1000 + 4095);
    qs_iterations_free(&it);
    return true;
}

static void a_big_window_is_one_commit(void **state)
{
    struct fixture *f = *state;
    static struct qs_iteration_row rows[4096];
    run_begin(f, 1, 0, 1, 0);
    struct qs_window_row w = make_window(1, 0, 0, 4096, rows);
    assert_int_equal(put_window(f, &w), QS_E_NONE);
    struct qs_err err = QS_ERR_INIT;
    assert_true(qs_store_read_now(f->store, read_big, NULL, &err));
}

static void events_are_numbered_in_order(void **state)
{
    struct fixture *f = *state;
    struct qs_event_row event = {.wall_ns = 1, .kind = "job.state", .job = f->job, .body_json = "{}"};
    struct told told[20] = {{0}};
    for (size_t i = 0; i < 20; i++) {
        qs_store_event(f->store, &event, on_told, &told[i]);
        if (i % 3 == 0)
            qs_loop_run(f->loop);
    }
    qs_loop_run(f->loop);
    for (size_t i = 1; i < 20; i++)
        assert_true(told[i].id > told[i - 1].id && told[i].order > told[i - 1].order);
}

static void a_hold_keeps_commits_back(void **state)
{
    struct fixture *f = *state;
    struct qs_event_row event = {.wall_ns = 1, .kind = "x", .body_json = "{}"};
    struct told told = {0};
    qs_store_release(f->store); /* nothing was held */
    qs_store_hold(f->store);
    qs_store_hold(f->store);
    qs_store_event(f->store, &event, on_told, &told);
    qs_loop_run(f->loop);
    qs_store_release(f->store);
    qs_loop_run(f->loop);
    assert_int_equal(told.count, 0);
    assert_false(qs_store_is_busy(f->store));
    qs_store_release(f->store);
    qs_loop_run(f->loop);
    assert_int_equal(told.count, 1);
}

static bool count_read(struct qs_store_reader *reader, void *user, struct qs_err *err)
{
    (void)reader;
    (void)err;
    ++*(size_t *)user;
    return true;
}

static void count_told(const struct qs_err *err, void *user)
{
    assert_null(err);
    *(size_t *)user += 10;
}

/* A read uses the processor and the disk as a commit does. */
static void a_hold_keeps_reads_back(void **state)
{
    struct fixture *f = *state;
    size_t seen[8] = {0};
    qs_store_read(f->store, count_read, count_told, &seen[0]); /* it is under way, once */
    qs_store_hold(f->store);
    qs_store_read(f->store, count_read, count_told, &seen[1]);
    qs_store_read_long(f->store, count_read, count_told, &seen[2]);
    qs_loop_run(f->loop);
    assert_int_equal(seen[1] + seen[2], 0);
    qs_store_read(f->store, count_read, count_told, &seen[3]);
    qs_store_release(f->store);
    qs_store_read(f->store, count_read, count_told, &seen[4]);
    qs_store_hold(f->store);
    qs_store_release(f->store); /* whoever has begun does not begin again */
    qs_loop_run(f->loop);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(seen[i], 11);
    for (size_t i = 5; i < 8; i++) {
        qs_store_read(f->store, count_read, count_told, &seen[i]);
        qs_store_hold(f->store);
    }
    fixture_close(f); /* nobody waits in vain, begun or not */
    for (size_t i = 5; i < 8; i++)
        assert_int_equal(seen[i], 11);
    fixture_open(f);
}

struct question {
    struct fixture *f;
    struct told told;
};

static bool ask(struct qs_store_reader *reader, void *user, struct qs_err *err)
{
    (void)reader;
    (void)user;
    (void)err;
    return true;
}

static void answer(const struct qs_err *err, void *user)
{
    struct question *q = user;
    const struct qs_event_row event = {.job = q->f->job, .wall_ns = 1, .kind = "late", .body_json = "{}"};
    assert_null(err);
    qs_store_event(q->f->store, &event, on_told, &q->told);
}

/* A job's end follows from what was read of it. */
static void close_commits_what_a_read_leads_to(void **state)
{
    struct fixture *f = *state;
    struct question q = {.f = f};
    qs_store_read(f->store, ask, answer, &q);
    fixture_close(f);
    assert_int_equal(q.told.count, 1);
    assert_int_equal(q.told.code, QS_E_NONE);
    fixture_open(f);
}

static bool read_left(struct qs_store_reader *reader, void *user, struct qs_err *err)
{
    const uint8_t uid[16] = {1};
    return qs_shown_artifacts(reader, uid, user, err);
}

static void what_a_run_has_left_is_linked_to_it(void **state)
{
    struct fixture *f = *state;
    struct told told[3] = {{0}};
    struct qs_err err = QS_ERR_INIT;
    char *json = NULL, *dir = qs_asprintf("%s.files", f->path), sum[65];
    struct qs_files *files = qs_files_open(dir, &err);
    assert_non_null(files);
    run_begin(f, 1, 0, 1, 0);
    struct qs_artifact_row row = {.run_uid = {1},
                                  .kind = "file",
                                  .name = "out.bin",
                                  .files = files,
                                  .bytes = "abc",
                                  .n = 3,
                                  .total_bytes = 9};
    qs_store_artifact(f->store, &row, on_told, &told[0]);
    qs_store_artifact(f->store, &row, on_told, &told[1]); /* the same again */
    row = (struct qs_artifact_row){
        .run_uid = {1}, .idx = 1, .kind = "kernel-log", .name = "kernel-log", .why = "not for us"};
    qs_store_artifact(f->store, &row, on_told, &told[2]);
    qs_loop_run(f->loop);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(told[i].code, QS_E_NONE);
    assert_true(qs_store_read_now(f->store, read_left, &json, &err));
    assert_string_equal(
        json, "[{\"kind\":\"file\",\"name\":\"out.bin\",\"sha256\":"
              "\"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\","
              "\"kept_bytes\":3,\"total_bytes\":9,\"why\":null},"
              "{\"kind\":\"kernel-log\",\"name\":\"kernel-log\",\"sha256\":\"\",\"kept_bytes\":null,"
              "\"total_bytes\":0,\"why\":\"not for us\"}]");
    free(json);
    int64_t bytes = 0;
    assert_true(qs_files_put(files, "abc", 3, sum, &err));
    int fd = qs_files_get(files, sum, &bytes, &err);
    assert_true(fd >= 0);
    assert_int_equal(bytes, 3);
    close(fd);
    sum[0] = sum[0] == '0' ? '1' : '0';
    assert_true(qs_files_get(files, sum, &bytes, &err) < 0);
    assert_int_equal(err.code, QS_E_NOT_FOUND);
    qs_files_close(files);
    char *path = qs_asprintf("%s/ba/ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", dir),
         *sub = qs_asprintf("%s/ba", dir);
    assert_int_equal(unlink(path) + rmdir(sub) + rmdir(dir), 0);
    free(path);
    free(sub);
    free(dir);
}

static void close_commits_what_waits(void **state)
{
    struct fixture *f = *state;
    struct qs_event_row event = {.wall_ns = 1, .kind = "x", .body_json = "{}"};
    struct told told = {0};
    qs_store_hold(f->store);
    qs_store_event(f->store, &event, on_told, &told);
    fixture_close(f);
    assert_int_equal(told.count, 1);
    assert_int_equal(told.code, QS_E_NONE);
    int64_t last = told.id;
    fixture_open(f);
    qs_store_event(f->store, &event, on_told, &told);
    qs_loop_run(f->loop);
    assert_int_equal(told.id, last + 1);
}

static void a_job_that_ended_stays_ended(void **state)
{
    struct fixture *f = *state;
    struct told told[4] = {{0}};
    qs_store_job_state(f->store, f->job, QS_JOB_RUNNING, NULL, 50, on_told, &told[0]);
    qs_store_job_state(f->store, f->job, QS_JOB_DONE, NULL, 60, on_told, &told[1]);
    qs_store_job_state(f->store, f->job, QS_JOB_RUNNING, NULL, 70, on_told, &told[2]);
    qs_store_job_state(f->store, f->job + 1, QS_JOB_RUNNING, NULL, 70, on_told, &told[3]);
    qs_loop_run(f->loop);
    assert_int_equal(told[0].code, QS_E_NONE);
    assert_int_equal(told[1].code, QS_E_NONE);
    assert_int_equal(told[2].code, QS_E_CONFLICT);
    assert_int_equal(told[3].code, QS_E_NOT_FOUND);
}

/* What `sql` says of the database, a row after the other. */
static void assert_rows(struct fixture *f, const char *sql, const char *want)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *s = NULL;
    struct qs_buf said;
    qs_buf_init(&said);
    assert_int_equal(sqlite3_open_v2(f->path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &s, NULL), SQLITE_OK);
    while (sqlite3_step(s) == SQLITE_ROW)
        qs_buf_fmt(&said, "%s;", (const char *)sqlite3_column_text(s, 0));
    sqlite3_finalize(s);
    sqlite3_close(db);
    assert_string_equal(said.data, want);
    qs_buf_done(&said);
}

/* Runs 1 and 2 are a block, run 3 is half of one, run 4 has not ended; run 5 is another job's. */
static void begin_runs(struct fixture *f)
{
    const struct qs_arm_row arm = {.name = "a", .argv_json = "[]"};
    const struct qs_point_row point = {
        .benchmark = "b", .params_json = "{}", .conditions_json = "{}", .label = "b"};
    const struct qs_job_row job = {.owner = "o",
                                   .name = "n",
                                   .spec_json = "{}",
                                   .arms = &arm,
                                   .arm_count = 1,
                                   .points = &point,
                                   .point_count = 1};
    const struct qs_session_row session = {
        .uid = {98}, .job = f->job + 1, .device = "bench", .boot_uuid = "boot-1", .env_json = "{}"};
    const struct qs_run_row run = {.uid = {5}, .session_uid = {98}, .job = f->job + 1, .block = 1};
    qs_store_submit(f->store, &job, on_fine, NULL);
    qs_store_session_begin(f->store, &session, on_fine, NULL);
    for (uint8_t i = 1; i < 5; i++) {
        const struct qs_run_end_row end = {.uid = {i}, .state = QS_RUN_DONE, .ended_wall_ns = 40 + i};
        run_begin(f, i, 0, i < 3 ? 1 : i - 1U, i == 2);
        if (i < 4)
            qs_store_run_end(f->store, &end, on_fine, NULL);
    }
    qs_store_run_begin(f->store, &run, on_fine, NULL);
    qs_loop_run(f->loop);
}

static void what_a_job_has_left_open_ends_with_it(void **state)
{
    static const struct {
        enum qs_job_state state;
        const char *reason, *runs, *sessions;
    } cases[] = {{QS_JOB_CANCELLED, "enough",
                  "01 done 0 - 41;02 done 0 - 42;03 cancelled 256 enough 43;04 cancelled 256 enough 90;"
                  "05 running 0 - 0;",
                  "98 - 0;99 enough 90;"},
                 {QS_JOB_FAILED, NULL,
                  "01 done 0 - 41;02 done 0 - 42;03 interrupted 256 - 43;04 interrupted 256 - 90;"
                  "05 running 0 - 0;",
                  "98 - 0;99 interrupted 90;"},
                 {QS_JOB_DONE, "whole",
                  "01 done 0 - 41;02 done 0 - 42;03 done 0 - 43;04 interrupted 256 whole 90;"
                  "05 running 0 - 0;",
                  "98 - 0;99 whole 90;"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fixture *f = *state;
        const struct qs_job_end_row end = {.job = f->job,
                                           .at_ns = 90,
                                           .state = cases[i].state,
                                           .reason = cases[i].reason,
                                           .runs_per_block = 2,
                                           .verdict_json = i == 0 ? "{\"v\":1}" : NULL,
                                           .state_json = "{}"};
        begin_runs(f);
        qs_store_job_end(f->store, &end, on_fine, NULL);
        qs_loop_run(f->loop);
        assert_rows(f,
                    "SELECT hex(substr(uid, 1, 1)) || ' ' || state || ' ' || taint || ' ' ||"
                    " coalesce(error_text, '-') || ' ' || coalesce(ended_wall_ns, 0) FROM run ORDER BY uid",
                    cases[i].runs);
        assert_rows(
            f,
            "SELECT CASE hex(substr(uid, 1, 1)) WHEN '63' THEN 99 ELSE 98 END || ' ' ||"
            " coalesce(end_reason, '-') || ' ' || coalesce(ended_wall_ns, 0) FROM session ORDER BY uid",
            cases[i].sessions);
        assert_rows(f, "SELECT coalesce(verdict, '-') FROM job ORDER BY id",
                    i == 0 ? "{\"v\":1};-;" : "-;-;");
        fixture_teardown(state);
        fixture_setup(state);
    }
}

static bool read_first_run(struct qs_store_reader *r, void *user, struct qs_err *err)
{
    const uint8_t uid[16] = {1};
    return qs_read_run(r, uid, user, err);
}

/* Each end of a run adds its taints; what it does not say stays, and its state is the last one's. */
static void a_run_that_ends_again_keeps_its_taints(void **state)
{
    struct fixture *f = *state;
    struct qs_runs runs;
    struct qs_err err = QS_ERR_INIT;
    struct qs_run_end_row end = {.uid = {1},
                                 .state = QS_RUN_DONE,
                                 .stop_reason = "precision",
                                 .taint = QS_TAINT_LINK | QS_TAINT_OUTPUT,
                                 .exe_path = "/bin/true",
                                 .warmup_n = 3,
                                 .ended_wall_ns = 40};
    run_begin(f, 1, 0, 1, 0);
    qs_store_run_end(f->store, &end, on_fine, NULL);
    end = (struct qs_run_end_row){
        .uid = {1}, .state = QS_RUN_INTERRUPTED, .taint = QS_TAINT_INTERRUPTED, .ended_wall_ns = 50};
    qs_store_run_end(f->store, &end, on_fine, NULL);
    qs_loop_run(f->loop);
    assert_true(qs_store_read_now(f->store, read_first_run, &runs, &err));
    assert_int_equal(runs.count, 1);
    assert_int_equal(runs.at[0].taint, QS_TAINT_LINK | QS_TAINT_OUTPUT | QS_TAINT_INTERRUPTED);
    assert_int_equal(runs.at[0].state, QS_RUN_INTERRUPTED);
    assert_string_equal(runs.at[0].stop_reason, "precision");
    qs_runs_free(&runs);
}

static void an_unknown_arm_is_refused(void **state)
{
    struct fixture *f = *state;
    struct told told = {0};
    struct qs_run_row row = {.uid = {1}, .session_uid = {99}, .job = f->job, .arm = 2};
    qs_store_run_begin(f->store, &row, on_told, &told);
    qs_loop_run(f->loop);
    assert_int_equal(told.code, QS_E_CONFLICT);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(submit_is_idempotent),
        TEST(a_label_has_one_content),
        TEST(windows_follow_each_other),
        TEST(other_content_is_a_conflict),
        TEST(empty_windows_are_kept),
        TEST(a_big_window_is_one_commit),
        TEST(events_are_numbered_in_order),
        TEST(a_hold_keeps_commits_back),
        TEST(a_hold_keeps_reads_back),
        TEST(what_a_run_has_left_is_linked_to_it),
        TEST(close_commits_what_a_read_leads_to),
        TEST(close_commits_what_waits),
        TEST(what_a_job_has_left_open_ends_with_it),
        TEST(a_job_that_ended_stays_ended),
        TEST(an_unknown_arm_is_refused),
        TEST(a_run_that_ends_again_keeps_its_taints),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
