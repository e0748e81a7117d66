/* What a device did last: its last session with its marked windows, and its sensors by wall time. */
#include "fixture.h"

#include <sqlite3.h>

#include "base/buf.h"
#include "store/read/recent.h"

/* The clock of the device is 5000 behind the wall, by its last mapping. */
static void map_clock(struct fixture *f)
{
    struct qs_clock_row pair = {.device = "bench",
                                .boot_uuid = "boot-1",
                                .host_ns = 1,
                                .device_ns = 10,
                                .rtt_ns = 2,
                                .wall_ns = 9999};
    qs_store_clock_pair(f->store, &pair, on_fine, NULL);
    pair.host_ns = 2;
    pair.device_ns = 100;
    pair.wall_ns = 5100;
    qs_store_clock_pair(f->store, &pair, on_fine, NULL);
    qs_loop_run(f->loop);
}

static void put(struct fixture *f, uint32_t ord, enum qs_phase phase, size_t taints, const char *trace)
{
    static const struct qs_evidence_row evidence[] = {
        {.kind = "thermal:cpu", .present = true, .before = 40000, .after = 41000},
        {.kind = "freq:policy0_khz", .present = true, .before = 600000, .after = 1800000},
        {.kind = "thermal:gone"},
        {.kind = "cpu.steal_ticks", .present = true, .before = 1, .after = 2}};
    static const struct qs_taint_row marks[] = {{.i = -1, .code = "pin:policy0.max", .value = 1, .bound = 2},
                                                {.i = -1, .code = "end:thermal:cpu", .value = 3, .bound = 4}};
    const struct qs_reading_row readings[] = {{.sensor = "load1_milli"},
                                              {.sensor = "thermal:cpu", .value = 39000}};
    const struct qs_gate_row gate = {.began_ns = 500,
                                     .decided_ns = 900,
                                     .outcome = "open",
                                     .deciding = readings,
                                     .deciding_count = 2,
                                     .trace = trace};
    struct qs_iteration_row rows[2];
    struct qs_window_row w = make_window(1, ord, 2 * ord, 2, rows);
    w.phase = phase;
    w.evidence = evidence;
    w.evidence_count = 4;
    w.taints = marks;
    w.taint_count = taints;
    w.taint = taints > 0 ? 2 : 0;
    w.gate = &gate;
    assert_int_equal(put_window(f, &w), QS_E_NONE);
}

static void show_reading(const struct qs_recent_reading *r, void *user)
{
    qs_buf_fmt(user, "%s %lld %lld\n", r->sensor, (long long)r->wall_ns, (long long)r->value);
}

static void show_taint(const char *code, int64_t windows, void *user)
{
    qs_buf_fmt(user, "%s %lld\n", code, (long long)windows);
}

static void show_session(const struct qs_last_session *e, void *user)
{
    qs_buf_fmt(user, "%u %s %s %s job%d %lld..%lld runs %lld windows %lld tainted %lld n %lld\n", e->uid[0],
               e->job_name, e->job_state, e->end_reason ? e->end_reason : "-", (int)e->job,
               (long long)e->started_wall_ns, (long long)e->ended_wall_ns, (long long)e->runs,
               (long long)e->windows, (long long)e->tainted, (long long)e->iterations);
}

static bool read_all(struct qs_store_reader *r, void *user, struct qs_err *err)
{
    const struct fixture *f = user;
    static const uint8_t session[16] = {99};
    QS_BUF(out);
    (void)f;
    assert_true(qs_read_recent(r, "bench", show_reading, &out, err));
    assert_string_equal(out.data,
                        "freq:policy0_khz 6000 600000\nfreq:policy0_khz 6002 600000\n"
                        "freq:policy0_khz 6004 600000\nfreq:policy0_khz 905000 1800000\n"
                        "freq:policy0_khz 905002 1800000\nfreq:policy0_khz 905004 1800000\n"
                        "thermal:cpu 6000 40000\nthermal:cpu 6002 40000\nthermal:cpu 6004 40000\n"
                        "thermal:cpu 905000 41000\nthermal:cpu 905002 41000\nthermal:cpu 905004 41000\n"
                        "thermal:cpu 7005500 45000\nthermal:cpu 9005500 44000\n");
    qs_buf_clear(&out);
    assert_true(qs_read_recent(r, "another", show_reading, &out, err));
    assert_true(qs_read_last_session(r, "another", show_session, &out, err));
    assert_int_equal(out.len, 0);
    assert_true(qs_read_last_session(r, "bench", show_session, &out, err));
    assert_string_equal(out.data, "99 first queued it was over job1 20..70 runs 1 windows 2 tainted 1 n 4\n");
    qs_buf_clear(&out);
    assert_true(qs_read_session_taints(r, session, show_taint, &out, err));
    assert_string_equal(out.data, "end:thermal:cpu 1\npin:policy0.max 1\n");
    return true;
}

/* Warm-ups count for the sensors, not for the session's windows; what was missing is no reading. */
static void what_was_last(void **state)
{
    static const uint8_t session[16] = {99};
    struct fixture *f = *state;
    struct qs_err err = QS_ERR_INIT;
    map_clock(f);
    run_begin(f, 1, 0, 1, 0);
    put(f, 0, QS_PHASE_WARMUP, 2, NULL);
    put(f, 1, QS_PHASE_MEASURE, 2, "[[7,1,45000],[8,0,3],[9,1,44000]]");
    put(f, 2, QS_PHASE_MEASURE, 0, NULL);
    qs_store_session_end(f->store, session, 70, "it was over", on_fine, NULL);
    qs_loop_run(f->loop);
    if (!qs_store_read_now(f->store, read_all, f, &err))
        fail_msg("%s", err.text);
}

struct counted {
    size_t n;
    int64_t oldest_ns;
};

static void count(const struct qs_recent_reading *r, void *user)
{
    struct counted *c = user;
    c->oldest_ns = c->n == 0 || r->wall_ns < c->oldest_ns ? r->wall_ns : c->oldest_ns;
    c->n++;
}

static bool read_count(struct qs_store_reader *r, void *user, struct qs_err *err)
{
    return qs_read_recent(r, "bench", count, user, err);
}

/* However much there is, the last windows alone are read; without a clock none are. */
static void only_the_last_windows(void **state)
{
    struct fixture *f = *state;
    struct qs_err err = QS_ERR_INIT;
    struct counted c = {.n = 0};
    run_begin(f, 1, 0, 1, 0);
    for (uint32_t i = 0; i < QS_RECENT_WINDOWS + 5; i++)
        put(f, i, QS_PHASE_MEASURE, 0, NULL);
    assert_true(qs_store_read_now(f->store, read_count, &c, &err));
    assert_int_equal(c.n, 0);
    map_clock(f);
    assert_true(qs_store_read_now(f->store, read_count, &c, &err));
    assert_int_equal(c.n, 4 * QS_RECENT_WINDOWS);
    assert_int_equal(c.oldest_ns, 5000 + 1000 + 2 * 5); /* before the sixth window */
}

/* ---- where the disk cannot be read ---- */

static int steps, fails_at; /* 0: none does */

int __real_sqlite3_step(sqlite3_stmt *statement);
int __wrap_sqlite3_step(sqlite3_stmt *statement);
int __wrap_sqlite3_step(sqlite3_stmt *statement)
{
    return fails_at > 0 && ++steps == fails_at ? SQLITE_IOERR : __real_sqlite3_step(statement);
}

static void show_nothing(const struct qs_last_session *e, void *user)
{
    (void)e, (void)user;
}

static bool read_one(struct qs_store_reader *r, void *user, struct qs_err *err)
{
    static const uint8_t session[16] = {99};
    QS_BUF(out);
    switch (*(int *)user) {
    case 0:
        return qs_read_last_session(r, "bench", show_nothing, NULL, err);
    case 1:
        return qs_read_session_taints(r, session, show_taint, &out, err);
    default:
        return qs_read_recent(r, "bench", show_reading, &out, err);
    }
}

static void each_step_of_a_read_fails(void **state)
{
    struct fixture *f = *state;
    struct qs_err err = QS_ERR_INIT;
    map_clock(f);
    run_begin(f, 1, 0, 1, 0);
    put(f, 0, QS_PHASE_MEASURE, 1, NULL);
    for (int which = 0; which < 3; which++) {
        bool ok = false;
        int at = 0;
        while (!ok) {
            steps = 0;
            fails_at = ++at;
            ok = qs_store_read_now(f->store, read_one, &which, &err);
            assert_true(ok == (steps < at));
            fails_at = 0;
            assert_true(ok || err.code == QS_E_STORE);
            assert_true(qs_store_read_now(f->store, read_one, &which, &err)); /* the next one succeeds */
        }
        assert_true(at > 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_was_last, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(only_the_last_windows, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(each_step_of_a_read_fails, fixture_setup, fixture_teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
