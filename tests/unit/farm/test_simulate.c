/* Ten simulated devices and one job through the real line, in virtual time. */
#include "bed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sqlite3.h>

#include "api/render.h"
#include "base/mem.h"
#include "device/session/table.h"
#include "farm/simulate.h"
#include "link/link.h"
#include "link/link_impl.h"
#include "report/job/report.h"
#include "store/read/read.h"

static const char ten_devices[] = "devices:\n"
                                  "  d0: {link: sim, sim_seed: 1}\n  d1: {link: sim, sim_seed: 2}\n"
                                  "  d2: {link: sim, sim_seed: 3}\n  d3: {link: sim, sim_seed: 4}\n"
                                  "  d4: {link: sim, sim_seed: 5}\n  d5: {link: sim, sim_seed: 6}\n"
                                  "  d6: {link: sim, sim_seed: 7}\n  d7: {link: sim, sim_seed: 8}\n"
                                  "  d8: {link: sim, sim_seed: 9}\n  d9: {link: sim, sim_seed: 10}\n";

static const char slower_job[] = "quiesce: 1\n"
                                 "name: slower\n"
                                 "benchmarks: [{name: pretend, argv: [sim, \"{ns}\"]}]\n"
                                 "arms: {base: {params: {ns: 1000000}}, slower: {params: {ns: 1100000}}}\n"
                                 "devices: {take: all}\n"
                                 "plan: {blocks: {min: 6, max: 8}, window: {iterations: 5}}\n";

static const char number_job[] = "quiesce: 1\n"
                                 "name: one number\n"
                                 "benchmarks: [{name: pretend, argv: [sim, \"123456789\", exact]}]\n"
                                 "plan: {seed: 5, blocks: {min: 6, max: 6}, window: {iterations: 3}}\n";

static char dir[] = "/tmp/quiesce-test-XXXXXX";

/* The event log of one simulation, and its document; both owned by the caller. */
static void simulate(const char *farm, const char *job, uint64_t seed, const char *db, char **ret_log,
                     char **ret_doc)
{
    struct qs_err err = QS_ERR_INIT;
    struct qs_buf out;
    struct qs_farm_config *config = bed_farm_of(farm);
    char *path = qs_asprintf("%s/events", dir);
    qs_buf_init(&out);
    const struct qs_simulation sim = {.config = config,
                                      .job_text = job,
                                      .job_bytes = strlen(job),
                                      .job_name = "job.yaml",
                                      .db = db,
                                      .event_log = path,
                                      .seed = seed,
                                      .json = true};
    if (!qs_simulate(&sim, &out, &err))
        fail_msg("%s", err.text);
    FILE *f = fopen(path, "re");
    assert_non_null(f);
    enum { MOST = 1 << 20 };
    char *log = qs_calloc(1, MOST);
    assert_in_range(fread(log, 1, MOST - 1, f), 100, MOST - 2);
    fclose(f);
    unlink(path);
    free(path);
    qs_farm_config_free(config);
    *ret_log = log;
    *ret_doc = qs_buf_take(&out);
    qs_buf_done(&out);
}

static size_t count(const char *text, const char *word)
{
    size_t n = 0;
    for (const char *at = strstr(text, word); at; at = strstr(at + 1, word))
        n++;
    return n;
}

static void test_equal_seeds_give_equal_bytes(void **state)
{
    (void)state;
    char *log[3], *doc[3];
    simulate(ten_devices, slower_job, 42, NULL, &log[0], &doc[0]);
    simulate(ten_devices, slower_job, 42, NULL, &log[1], &doc[1]);
    simulate(ten_devices, slower_job, 43, NULL, &log[2], &doc[2]);
    assert_string_equal(log[0], log[1]);
    assert_string_equal(doc[0], doc[1]);
    assert_string_not_equal(log[0], log[2]);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(count(log[i], "\n"), count(log[i], "}}\n")); /* of each event and its body */
        assert_int_equal(count(log[i], "\"kind\":\"job.start\""), 10);
        assert_int_equal(count(log[i], "\"state\":\"done\""), 1); /* the log ends with the job */
        assert_int_equal(count(doc[i], "\"verdict\":\"regression\""), 10);
        assert_non_null(strstr(doc[i], "\"state\":\"done\",\"stopped\":\"interval\""));
        assert_non_null(strstr(doc[i], "\"simulated\":true"));
        free(log[i]);
        free(doc[i]);
    }
}

static void test_only_simulated_devices(void **state)
{
    (void)state;
    struct qs_err err = QS_ERR_INIT;
    struct qs_buf out;
    struct qs_farm_config *config = bed_farm_of("devices: {x: {link: unix, address: /tmp/nosuch}}\n");
    const struct qs_simulation sim = {.config = config, .job_text = "", .job_name = "x"};
    qs_buf_init(&out);
    assert_false(qs_simulate(&sim, &out, &err));
    assert_int_equal(err.code, QS_E_CONFIG);
    qs_buf_done(&out);
    qs_farm_config_free(config);
}

enum { SAID_BYTES = 2048 };

/* What it writes to standard error, a job's problems, comes into said. */
static bool simulate_quietly(const struct qs_simulation *sim, struct qs_buf *out, char said[SAID_BYTES],
                             struct qs_err *err)
{
    FILE *to = tmpfile();
    assert_non_null(to);
    int kept = dup(STDERR_FILENO);
    assert_true(dup2(fileno(to), STDERR_FILENO) >= 0);
    bool ok = qs_simulate(sim, out, err);
    fflush(stderr);
    dup2(kept, STDERR_FILENO);
    close(kept);
    ssize_t n = pread(fileno(to), said, SAID_BYTES - 1, 0);
    said[n > 0 ? n : 0] = '\0';
    fclose(to);
    return ok;
}

/* A command of this machine takes real time: a simulation that waited for it would be no simulation. */
static void test_real_commands_are_refused(void **state)
{
    static const char farm[] = "devices: {x: {link: sim, sim_seed: 1}}\n"
                               "rules: {enough: {command: [/bin/true]}}\n"
                               "metrics: {power: {command: [/bin/true], unit: mW}}\n";
    static const struct {
        const char *plan, *refused; /* refused: NULL: it is not */
    } cases[] = {
        {"stop: {fixed: 5}", NULL},
        {"stop: {any: [{external: enough}, {fixed: 5}]}", "the rule `enough` is a real command"},
        {"metrics: [power]", "the metric `power` is a real command, which has no place in virtual time"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct qs_err err = QS_ERR_INIT;
        struct qs_buf out;
        char said[SAID_BYTES];
        struct qs_farm_config *config = bed_farm_of(farm);
        char *job = qs_asprintf("quiesce: 1\nname: n\nbenchmarks: [{name: p, argv: [sim, \"1000000\"]}]\n"
                                "plan:\n  blocks: 2\n  window: {iterations: 5}\n  %s\n",
                                cases[i].plan);
        const struct qs_simulation sim = {
            .config = config, .job_text = job, .job_bytes = strlen(job), .job_name = "job.yaml"};
        qs_buf_init(&out);
        bool ok = simulate_quietly(&sim, &out, said, &err);
        assert_int_equal(ok, cases[i].refused == NULL);
        assert_int_equal(err.code, ok ? QS_E_NONE : QS_E_JOB);
        assert_true(ok || strstr(said, cases[i].refused));
        free(job);
        qs_buf_done(&out);
        qs_farm_config_free(config);
    }
}

/* ---- the verdict at the end of a job ---- */

static size_t rests, rests_of_verdicts;

void __real_qs_loop_rest(struct qs_loop *loop);
void __wrap_qs_loop_rest(struct qs_loop *loop);
bool __real_qs_report_verdicts(const struct qs_report_input *in, struct qs_buf *out, int *ret_exit,
                               struct qs_err *err);
bool __wrap_qs_report_verdicts(const struct qs_report_input *in, struct qs_buf *out, int *ret_exit,
                               struct qs_err *err);

void __wrap_qs_loop_rest(struct qs_loop *loop)
{
    rests++;
    __real_qs_loop_rest(loop);
}

bool __wrap_qs_report_verdicts(const struct qs_report_input *in, struct qs_buf *out, int *ret_exit,
                               struct qs_err *err)
{
    size_t before = rests;
    bool ok = __real_qs_report_verdicts(in, out, ret_exit, err);
    rests_of_verdicts += rests - before;
    return ok;
}

/* Statistics at the end of one job would disturb a window of another on this machine: they ask for the runs
 * and each of two arms, and at the end. */
static void test_the_closing_verdict_rests_for_windows(void **state)
{
    char *log, *doc;
    (void)state;
    rests_of_verdicts = 0;
    simulate("devices: {d0: {link: sim, sim_seed: 1}}\n", slower_job, 42, NULL, &log, &doc);
    assert_true(rests_of_verdicts >= 4);
    free(log);
    free(doc);
}

/* ---- one number, at every hop ---- */

enum { NUMBER = 123456789, RUNS = 6, PER_RUN = 3, MEASURED = RUNS * PER_RUN };

static struct {
    size_t wire, session, row;
} seen;

void __real_qs_link_bytes(struct qs_link *link, uint8_t *bytes, size_t n);
void __wrap_qs_link_bytes(struct qs_link *link, uint8_t *bytes, size_t n);
qs_session_act __real_qs_session_do_rows, __wrap_qs_session_do_rows;
qs_session_act __real_qs_session_do_quiet, __wrap_qs_session_do_quiet;
qs_session_act __real_qs_session_do_closed, __wrap_qs_session_do_closed;
void __real_qs_store_window(struct qs_store *store, const struct qs_window_row *w, qs_store_done_fn *done,
                            void *user);
void __wrap_qs_store_window(struct qs_store *store, const struct qs_window_row *w, qs_store_done_fn *done,
                            void *user);

/* Bytes as they come from the agent's core. */
void __wrap_qs_link_bytes(struct qs_link *link, uint8_t *bytes, size_t n)
{
    static const uint8_t number[8] = {0x15, 0xcd, 0x5b, 0x07, 0, 0, 0, 0}; /* 123456789, little endian */
    for (size_t i = 0; n >= sizeof number && i <= n - sizeof number; i++)
        seen.wire += memcmp(bytes + i, number, sizeof number) == 0 ? 1 : 0;
    __real_qs_link_bytes(link, bytes, n);
}

/* Windows that are open, by their sessions, and what came from others meanwhile. */
static struct {
    const struct qs_session *open[2];
    size_t both, rows_of_others;
} line;

static size_t others_open(const struct qs_session *s)
{
    return (line.open[0] && line.open[0] != s ? 1U : 0U) + (line.open[1] && line.open[1] != s ? 1U : 0U);
}

bool __wrap_qs_session_do_quiet(struct qs_session *s, const union qs_msg *m)
{
    line.both += others_open(s);
    line.open[line.open[0] ? 1 : 0] = s;
    return __real_qs_session_do_quiet(s, m);
}

bool __wrap_qs_session_do_closed(struct qs_session *s, const union qs_msg *m)
{
    for (size_t i = 0; i < 2; i++)
        line.open[i] = line.open[i] == s ? NULL : line.open[i];
    return __real_qs_session_do_closed(s, m);
}

bool __wrap_qs_session_do_rows(struct qs_session *s, const union qs_msg *m)
{
    line.rows_of_others += others_open(s);
    struct qs_iter it = qs_list_iter(&m->iterations.rows);
    struct qs_row row;
    while (qs_list_row(&it, m->iterations.metrics.count, &row))
        seen.session += row.duration_ns == NUMBER ? 1 : 0;
    return __real_qs_session_do_rows(s, m);
}

void __wrap_qs_store_window(struct qs_store *store, const struct qs_window_row *w, qs_store_done_fn *done,
                            void *user)
{
    for (size_t i = 0; i < w->n; i++)
        seen.row += w->phase == QS_PHASE_MEASURE && w->iterations[i].duration_ns == NUMBER ? 1 : 0;
    __real_qs_store_window(store, w, done, user);
}

static void simulate_two(const char *farm)
{
    char *log, *doc;
    memset(&line, 0, sizeof line);
    simulate(farm, slower_job, 42, NULL, &log, &doc);
    assert_int_equal(count(doc, "\"verdict\":\"regression\""), 2);
    assert_null(line.open[0]);
    assert_null(line.open[1]);
    free(log);
    free(doc);
}

/* On one hub no window is open while another one is, nor while another one's iterations come. */
static void test_windows_on_one_hub_exclude_each_other(void **state)
{
    (void)state;
    simulate_two("devices:\n  d0: {link: sim, sim_seed: 1}\n  d1: {link: sim, sim_seed: 2}\n");
    assert_true(line.both > 0); /* two hubs: they do overlap, and the test would see it */
    assert_true(line.rows_of_others > 0);
    simulate_two("devices:\n  d0: {link: sim, sim_seed: 1, hub: desk}\n"
                 "  d1: {link: sim, sim_seed: 2, hub: desk}\n");
    assert_int_equal(line.both, 0);
    assert_int_equal(line.rows_of_others, 0);
}

static int64_t query(const char *db, const char *sql)
{
    sqlite3 *raw;
    sqlite3_stmt *stmt;
    assert_int_equal(sqlite3_open_v2(db, &raw, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(raw, sql, -1, &stmt, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
    assert_int_equal(sqlite3_column_type(stmt, 0), SQLITE_INTEGER);
    int64_t v = sqlite3_column_int64(stmt, 0);
    sqlite3_finalize(stmt);
    sqlite3_close(raw);
    return v;
}

static size_t count_rendered(const struct qs_iterations *it)
{
    struct qs_buf text;
    qs_buf_init(&text);
    struct qs_json j = qs_json_to(&text);
    qs_render_iterations(&j, it, 100);
    size_t n = count(text.data, "\"duration_ns\":123456789,");
    qs_buf_done(&text);
    return n;
}

static bool read_numbers(struct qs_store_reader *reader, void *user, struct qs_err *err)
{
    size_t *found = user;
    struct qs_measured_runs measured;
    assert_true(qs_read_measured_runs(reader, 1, &measured, err));
    assert_int_equal(measured.count, RUNS);
    for (size_t r = 0; r < measured.count; r++) {
        struct qs_iterations it;
        for (size_t i = 0; i < measured.at[r].values.n; i++)
            assert_int_equal(measured.at[r].values.at[i], NUMBER);
        assert_true(qs_read_iterations(reader, measured.at[r].run_uid, 0, 100, &it, err));
        for (size_t i = 0; i < it.count; i++)
            *found += it.at[i].duration_ns == NUMBER ? 1 : 0;
        assert_int_equal(count_rendered(&it), PER_RUN); /* as the API answers */
        qs_iterations_free(&it);
    }
    qs_measured_runs_free(&measured);
    return true;
}

static size_t read_store(const char *db)
{
    struct qs_err err = QS_ERR_INIT;
    struct qs_loop *loop = qs_loop_new_virtual(1, 1);
    const struct qs_store_events events = {0};
    struct qs_store *store;
    size_t found = 0;
    assert_true(qs_store_open(loop, db, &events, &store, &err));
    assert_true(qs_store_read_now(store, read_numbers, &found, &err));
    qs_store_close(store);
    assert_int_equal(qs_loop_free(loop), 0);
    return found;
}

static void one_number_test(void **state)
{
    (void)state;
    char *log, *doc, *db = qs_asprintf("%s/number.db", dir);
    simulate("devices: {d0: {link: sim, sim_seed: 1}}\n", number_job, 1, db, &log, &doc);
    assert_true(seen.wire >= MEASURED);    /* pilots as well */
    assert_true(seen.session >= MEASURED); /* pilots as well */
    assert_int_equal(seen.row, MEASURED);
    assert_int_equal(query(db, "SELECT count(*) FROM iteration t JOIN window w ON w.id = t.window_id"
                               " WHERE w.phase = 1 AND t.duration_ns = 123456789"),
                     MEASURED);
    assert_int_equal(query(db, "SELECT max(duration_ns) FROM iteration"), NUMBER);
    assert_int_equal(read_store(db), MEASURED);
    assert_non_null(strstr(doc, "\"median\":123456789,\"median_lo\":123456789,\"median_hi\":123456789"));
    assert_non_null(strstr(doc, "\"min\":123456789,\"max\":123456789"));
    free(log);
    free(doc);
    free(db);
}

static int make_dir(void **state)
{
    (void)state;
    return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
    static const char *const names[] = {"number.db",      "number.db-wal",   "number.db-shm",
                                        "number.db.lock", "number.db.files", ""};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *path = qs_asprintf("%s/%s", dir, names[i]);
        (void)remove(path);
        free(path);
    }
    return access(dir, F_OK) == 0 ? -1 : 0; /* nothing else may lie there */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equal_seeds_give_equal_bytes),
        cmocka_unit_test(test_only_simulated_devices),
        cmocka_unit_test(test_real_commands_are_refused),
        cmocka_unit_test(test_windows_on_one_hub_exclude_each_other),
        cmocka_unit_test(one_number_test),
        cmocka_unit_test(test_the_closing_verdict_rests_for_windows),
    };
    return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
