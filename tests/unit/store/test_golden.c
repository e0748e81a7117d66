/* Databases of each released version open, are brought to the newest one, and still say what they said, row
 * by row and through what reads them. tests/golden/db/make.py made them; what is there is never made again.
 */
#include "fixture.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "store/migrate.h"
#include "store/read/history.h"

enum { WINDOWS = 3, PER_WINDOW = 5 };

static void copy(const char *from, const char *to)
{
    char block[4096];
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    assert_non_null(in);
    assert_non_null(out);
    for (size_t n; (n = fread(block, 1, sizeof block, in)) > 0;)
        assert_int_equal(fwrite(block, 1, n, out), n);
    fclose(in);
    assert_int_equal(fclose(out), 0);
}

static bool read_rows(struct qs_store_reader *r, void *user, struct qs_err *err)
{
    (void)user;
    struct qs_measured_runs measured;
    struct qs_iterations it;
    uint8_t uid[16] = {2};
    assert_true(qs_read_measured_runs(r, 1, &measured, err));
    assert_int_equal(measured.count, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(measured.at[i].arm, i);
        assert_int_equal(measured.at[i].values.n, 14);
        assert_int_equal(measured.at[i].values.tainted, 1);
        assert_int_equal(measured.at[i].values.at[13], 1000000 + 1000 * ((int64_t)i + 1) + 13);
    }
    qs_measured_runs_free(&measured);
    assert_true(qs_read_iterations(r, uid, 0, 100, &it, err));
    assert_int_equal(it.count, WINDOWS * PER_WINDOW);
    assert_int_equal(it.at[14].status, -9);
    assert_int_equal(it.at[13].values[0], 23);
    qs_iterations_free(&it);
    return true;
}

/* The first column of all rows, a line each. Owned by the caller. */
static char *ask(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *s = NULL;
    struct qs_buf out;
    int rc = sqlite3_prepare_v2(db, sql, -1, &s, NULL);
    if (rc != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    qs_buf_init(&out);
    while ((rc = sqlite3_step(s)) == SQLITE_ROW) {
        const unsigned char *text = sqlite3_column_text(s, 0);
        qs_buf_fmt(&out, "%s\n", text ? (const char *)text : "NULL");
    }
    assert_int_equal(rc, SQLITE_DONE);
    sqlite3_finalize(s);
    return qs_buf_take(&out);
}

static void says(sqlite3 *db, const char *sql, const char *expected)
{
    char *said = ask(db, sql);
    if (strcmp(said, expected) != 0)
        fail_msg("%s\nsays\n%sexpected\n%s", sql, said, expected);
    free(said);
}

static sqlite3 *open_raw(const char *path)
{
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    return db;
}

/* Every table of the old database, with the columns that it had then, says the same in the new one. */
static void rows_are_kept(sqlite3 *old, sqlite3 *new)
{
    static const char each_sql[] = "SELECT 'SELECT ' || group_concat('quote(' || i.name || ')', '||'',''||') "
                                   "|| ' FROM ' || t.name || ' ORDER BY 1'"
                                   " FROM sqlite_master t JOIN pragma_table_info(t.name) i WHERE t.type = "
                                   "'table' GROUP BY t.name ORDER BY t.name";
    char *all = ask(old, each_sql), *at = NULL;
    int tables = 0;
    for (char *sql = strtok_r(all, "\n", &at); sql; sql = strtok_r(NULL, "\n", &at)) {
        char *before = ask(old, sql);
        says(new, sql, before);
        free(before);
        tables++;
    }
    assert_true(tables >= 24);
    free(all);
}

/* What a version added, of run 3: `then` in databases that had it already, `before` in older ones. */
static const struct {
    int since;
    const char *sql, *before, *then;
} added[] = {
    {2, "SELECT id || ' ' || warmup_n FROM run ORDER BY id", "1 0\n2 0\n3 0\n", "1 0\n2 0\n3 2\n"},
    {3,
     "SELECT run || kind || name || coalesce(kept_bytes, '-') || ' ' || total_bytes || coalesce(why, '-') "
     "FROM v_artifact"
     " WHERE kind <> 'trace' ORDER BY 1",
     "",
     "02000000000000000000000000000000kernel-logkernel-log5 7cut\n03000000000000000000000000000000filecore- "
     "123456789too big\n"
     "03000000000000000000000000000000outputoutput5 5-\n"},
    {4, "SELECT harness FROM run ORDER BY id", "NULL\nNULL\nNULL\n",
     "NULL\nNULL\n{\"layout\": \"random\", \"stack\": 4096}\n"},
    {5, "SELECT seq || phase || evals FROM v_iteration WHERE run LIKE '03%' AND window = 0 ORDER BY seq",
     "0warmup1\n1warmup1\n", "0tune3\n1tune4\n"},
    {5,
     "SELECT device || benchmark || evals || oracle || evaluation_ns || ' ' || run FROM v_tuning WHERE run "
     "LIKE '03%'",
     "", "benchgzip17logistic1234.567 03000000000000000000000000000000\n"},
    {6, "SELECT name || deterministic FROM metric WHERE id > 9 ORDER BY id", "energy_uj0\n",
     "energy_uj0\ninstructions1\n"},
    {7, "SELECT phase FROM v_window WHERE run LIKE '03%' AND window = 1", "measure\n", "traced\n"},
    {7,
     "SELECT tool || window || ' ' || started_ns || ' ' || stopped_ns || ' ' || kept_bytes FROM v_trace "
     "WHERE run LIKE '03%'",
     "", "perf1 500 990000 4\n"},
    {8, "SELECT coalesce(start_ns, 'none') FROM v_iteration WHERE run LIKE '03%' AND window = 2 ORDER BY seq",
     "2000000\n2000400\n", "none\nnone\n"},
    {8,
     "SELECT coalesce(stream, '-') || (SELECT sum(device_n) FROM window WHERE run_id = 3) FROM run WHERE id "
     "= 3",
     "NULL\n", "{\"format\": \"numbers\", \"unit\": \"ms\"}1\n"},
    {9, "SELECT run_id || ' ' || coalesce(median, 'none') || ' ' || n || soft FROM run_median ORDER BY 1", "",
     "1 1001006.5 140\n3 none 01\n"},
    {10, "SELECT coalesce(verdict, '-') || coalesce(builds, '-') FROM v_job", "--\n", "b 3.1 % slowerr42\n"},
    {10,
     "SELECT group_concat(arm || coalesce(build, '-'), ' ') FROM (SELECT DISTINCT arm, build FROM v_run "
     "ORDER "
     "BY 1) UNION ALL"
     " SELECT group_concat(arm || coalesce(build, '-'), ' ') FROM (SELECT DISTINCT arm, build FROM "
     "v_iteration ORDER BY 1) UNION ALL"
     " SELECT group_concat(arm || coalesce(build, '-'), ' ') FROM (SELECT DISTINCT arm, build FROM v_window "
     "ORDER BY 1)",
     "a- b-\na- b-\na- b-\n", "a- br42\na- br42\na- br42\n"},
    {12,
     "SELECT DISTINCT arm || conditions FROM v_run UNION ALL SELECT DISTINCT arm || conditions FROM "
     "v_iteration "
     "ORDER BY 1",
     "adefault\nadefault\nbdefault\nbdefault\n", "adefault\nadefault\nbpinned\nbpinned\n"},
    {12, "SELECT name || coalesce(conditions, '-') FROM arm ORDER BY idx", "a-\nb-\n",
     "a-\nb{\"name\":\"pinned\",\"controls\":{\"affinity\":\"2\"},\"gate\":[]}\n"},
    {10,
     "SELECT what || arm || build FROM (SELECT 'gate' AS what, arm, build FROM v_gate UNION ALL SELECT "
     "'evidence', arm, build FROM v_evidence UNION ALL SELECT 'taint', arm, build FROM v_taint UNION ALL "
     "SELECT 'trace', arm, build FROM v_trace UNION ALL SELECT 'left', arm, build FROM v_artifact UNION ALL "
     "SELECT 'tuned', arm, build FROM v_tuning) WHERE build IS NOT NULL",
     "", "gatebr42\nevidencebr42\ntaintbr42\ntracebr42\nleftbr42\nleftbr42\ntunedbr42\n"},
    {14, "SELECT fingerprint || board || probed_wall_ns FROM device_board ORDER BY 1", "",
     "6.1.0 Bench{\"version\": 1, \"notes\": [\"old\"]}70\n6.6.0 Bench{\"version\": 1, \"notes\": "
     "[]}80\n"},
    {14,
     "SELECT device || seq || kind || path || wanted || coalesce(before, '-') || coalesce(now, '-') || "
     "outcome || error || '-' || substr(run, 1, 2) || at FROM v_control ORDER BY seq",
     "",
     "bench0setdevices/system/cpu/cpufreq/policy0/"
     "scaling_max_freq180000024000001800000set0-1970-01-01T00:01:30Z\n"
     "bench1restoredevices/system/cpu/cpufreq/policy0/"
     "scaling_max_freq2400000--refused13-031970-01-01T00:01:31Z\n"},
    {15,
     "SELECT device || kind || domain || sensor || says || coalesce(tau_s || '-' || end_mc, why, '') || "
     "found "
     "FROM v_model ORDER BY kind, sensor",
     "",
     "benchcoolsbigthermal:cpufits50.0-31000.01970-01-01T00:01:35Z\n"
     "benchcoolsbigthermal:skinshortit bends too little1970-01-01T00:01:35Z\n"
     "benchsensorthermal:cpuok1970-01-01T00:01:35Z\n"},
    {16, "SELECT sensor || ' ' || status || age_ns FROM v_gate WHERE status = 'spoilt'", "",
     "thermal:dumpsys.battery spoilt5\n"},
    {17, "SELECT trace FROM v_gate WHERE trace IS NOT NULL", "", "[[0,41000],[1000,40500]]\n"},
    {18,
     "SELECT name || kind || sticks || effect || coalesce(seen_low_khz || '-' || loop_ratio, why) || "
     "found_wall_ns "
     "FROM device_knob ORDER BY name",
     "",
     "idle:cpu0.1idlerefusedunknownPermission denied96000000000\npolicy0cpuyesyes600000-2.4896000000000\n"},
    {19,
     "SELECT device || kind || key || value || by || at_wall_ns || coalesce(until_wall_ns, '') FROM "
     "device_word",
     "", "absenttagrack3bob99000000000\nbenchholdits battery is changedann9700000000098000000000\n"},
};

static void additions_are_read(sqlite3 *db, int version)
{
    for (size_t i = 0; i < sizeof added / sizeof *added; i++)
        says(db, added[i].sql, version >= added[i].since ? added[i].then : added[i].before);
}

/* Brought to the newest it has the tables, views, indexes and triggers that a new one has. */
static void schema_is_the_newest(sqlite3 *db)
{
    static const char sql[] =
        "SELECT type || name || coalesce(sql, '') FROM sqlite_master ORDER BY type, name";
    struct fixture fresh;
    fixture_init(&fresh);
    fixture_open(&fresh);
    sqlite3 *new = open_raw(fresh.path);
    char *expected = ask(new, sql), version[16];
    says(db, sql, expected);
    snprintf(version, sizeof version, "%zu\n", qs_migration_count);
    says(db, "PRAGMA user_version", version);
    says(db, "PRAGMA integrity_check", "ok\n");
    says(db, "SELECT count(*) FROM pragma_foreign_key_check", "0\n");
    free(expected);
    sqlite3_close(new);
    fixture_done(&fresh);
}

/* All but the newest, which may have no release yet, must be here. */
static int newest_golden(void)
{
    char path[512];
    int version = 0;
    do
        snprintf(path, sizeof path, GOLDEN_DIR "/v%d.db", ++version);
    while (access(path, R_OK) == 0);
    assert_true(version >= (int)qs_migration_count);
    return version - 1;
}

static void is_migrated(int version)
{
    struct fixture f;
    char golden[512], old_path[160];
    fixture_init(&f);
    snprintf(golden, sizeof golden, GOLDEN_DIR "/v%d.db", version);
    snprintf(old_path, sizeof old_path, "%s/old.db", f.dir);
    copy(golden, f.path);
    copy(golden, old_path);
    sqlite3 *old = open_raw(old_path);
    char *said = ask(old, "PRAGMA user_version");
    assert_int_equal(atoi(said), version);
    free(said);
    fixture_open(&f);
    fixture_close(&f);
    sqlite3 *new = open_raw(f.path);
    rows_are_kept(old, new);
    schema_is_the_newest(new);
    if (version > 1) /* the first is a real one, without run 3 */
        additions_are_read(new, version);
    sqlite3_close(old);
    sqlite3_close(new);
    fixture_done(&f);
}

static void each_version_keeps_its_rows(void **state)
{
    (void)state;
    for (int version = 1; version <= newest_golden(); version++)
        is_migrated(version);
}

static void is_continued(int version)
{
    struct fixture f;
    struct qs_err err = QS_ERR_INIT;
    struct qs_iteration_row rows[PER_WINDOW];
    char golden[512];
    fixture_init(&f);
    snprintf(golden, sizeof golden, GOLDEN_DIR "/v%d.db", version);
    copy(golden, f.path);
    fixture_open(&f);
    assert_true(qs_store_read_now(f.store, read_rows, NULL, &err));
    struct qs_window_row again = make_window(1, 1, PER_WINDOW, PER_WINDOW, rows);
    assert_int_equal(put_window(&f, &again), QS_E_NONE);
    struct qs_window_row next = make_window(1, 3, 3 * PER_WINDOW, PER_WINDOW, rows);
    assert_int_equal(put_window(&f, &next), QS_E_NONE);
    fixture_done(&f);
}

static void each_version_is_read_and_continued(void **state)
{
    (void)state;
    for (int version = 1; version <= newest_golden(); version++)
        is_continued(version);
}

struct series_found {
    struct qs_series_list list;
    struct qs_history_data data; /* of arm a */
};

static bool read_series(struct qs_store_reader *r, void *user, struct qs_err *err)
{
    struct series_found *found = user;
    const struct qs_series_filter all = {0};
    size_t i = 0;
    if (!qs_read_series(r, &all, 100, &found->list, err))
        return false;
    while (strcmp(found->list.at[i].arm, "a") != 0)
        i++;
    return qs_read_history(r, &found->list.at[i], NULL, 0, INT64_MAX, &found->data, err);
}

static void says_series(struct fixture *f, const char *expected, const char *conditions)
{
    struct series_found found = {0};
    struct qs_err err = QS_ERR_INIT;
    struct qs_buf out;
    assert_true(qs_store_read_now(f->store, read_series, &found, &err));
    qs_buf_init(&out);
    for (size_t i = 0; i < found.list.count; i++)
        qs_buf_fmt(&out, "%s %s %u %u\n", found.list.at[i].arm, found.list.at[i].controls_json,
                   found.list.at[i].sessions, found.list.at[i].runs);
    assert_string_equal(out.data, expected);
    qs_buf_clear(&out);
    for (size_t i = 0; i < found.data.count; i++)
        qs_buf_fmt(&out, "%s\n", found.data.at[i].conditions_json);
    assert_string_equal(out.data, conditions);
    qs_buf_done(&out);
    qs_series_list_free(&found.list);
    qs_history_data_free(&found.data);
}

/* The job of the golden database once more, with all its conditions in its point and one arm under its own.
 */
static void measure_again(struct fixture *f)
{
    static const uint8_t session_uid[16] = {98};
    int64_t job = 0;
    struct qs_arm_row arms[] = {
        {.name = "a", .argv_json = "[]"},
        {.name = "b",
         .argv_json = "[]",
         .conditions_json = "{\"name\":\"pinned\",\"controls\":{\"affinity\":\"3\"}}"}};
    struct qs_point_row point = {.benchmark = "gzip",
                                 .params_json = "{}",
                                 .conditions_json = "{\"name\":\"default\",\"controls\":{},\"stop\":null}",
                                 .label = "gzip"};
    struct qs_job_row row = {.owner = "me",
                             .name = "second",
                             .spec_json = "{}",
                             .arms = arms,
                             .arm_count = 2,
                             .points = &point,
                             .point_count = 1};
    qs_store_submit(f->store, &row, on_fine, &job);
    qs_loop_run(f->loop);
    struct qs_session_row session = {
        .job = job, .device = "bench", .boot_uuid = "boot-1", .env_json = "{}", .started_wall_ns = 50};
    memcpy(session.uid, session_uid, sizeof session.uid);
    qs_store_session_begin(f->store, &session, on_fine, NULL);
    for (uint8_t arm = 0; arm < 2; arm++) {
        struct qs_run_row run = {
            .uid = {(uint8_t)(40 + arm)}, .job = job, .arm = arm, .block = 1, .pos = arm};
        memcpy(run.session_uid, session_uid, sizeof run.session_uid);
        qs_store_run_begin(f->store, &run, on_fine, NULL);
        struct qs_run_end_row end = {.uid = {(uint8_t)(40 + arm)}, .state = QS_RUN_DONE, .ended_wall_ns = 60};
        qs_store_run_end(f->store, &end, on_fine, NULL);
    }
    qs_store_job_state(f->store, job, QS_JOB_DONE, NULL, 61, on_fine, NULL);
    qs_loop_run(f->loop);
}

/* Other gates and stop rules, or none that were kept, are the same series; other controls are another. */
static void keeps_its_series(int version)
{
    static const char now[] = "{\"name\":\"default\",\"controls\":{},\"stop\":null}\n";
    struct fixture f;
    char golden[512], both[256];
    const char *before = version < 12 ? "{}\n" : "{\"name\":\"default\",\"controls\":{},\"gate\":[]}\n";
    fixture_init(&f);
    snprintf(golden, sizeof golden, GOLDEN_DIR "/v%d.db", version);
    copy(golden, f.path);
    fixture_open(&f);
    says_series(&f, version < 12 ? "a {} 1 1\nb {} 1 1\n" : "b {\"affinity\":\"2\"} 1 1\na {} 1 1\n", before);
    measure_again(&f);
    snprintf(both, sizeof both, "%s%s", before, now);
    says_series(&f,
                version < 12 ? "b {\"affinity\":\"3\"} 1 1\na {} 2 2\nb {} 1 1\n"
                             : "b {\"affinity\":\"2\"} 1 1\nb {\"affinity\":\"3\"} 1 1\na {} 2 2\n",
                both);
    fixture_done(&f);
}

static void each_version_keeps_its_series(void **state)
{
    (void)state;
    for (int version = 1; version <= newest_golden(); version++)
        keeps_its_series(version);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_version_keeps_its_rows),
        cmocka_unit_test(each_version_is_read_and_continued),
        cmocka_unit_test(each_version_keeps_its_series),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
