/* Bytes on disk of an iteration's duration, and of its rusage, in 200,000 iterations of realistic windows. */
#include "fixture.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { PER_WINDOW = 50, WINDOWS = 4000 };

static uint64_t next_random(uint64_t *x) /* xorshift64, Marsaglia 2003 */
{
    *x ^= *x << 13;
    *x ^= *x >> 7;
    *x ^= *x << 17;
    return *x;
}

static const char *const rusage[] = {"user_time_us",         "system_time_us", "max_rss_bytes",
                                     "minor_faults",         "major_faults",   "voluntary_switches",
                                     "involuntary_switches", "block_in",       "block_out"};

/* Processes of about 10 ms, one after the other. */
static void fill(struct qs_iteration_row *rows, uint64_t *x)
{
    int64_t at_ns = 200000;
    for (size_t i = 0; i < PER_WINDOW; i++) {
        rows[i] = (struct qs_iteration_row){.start_off_ns = at_ns,
                                            .duration_ns = 10000000 + (int64_t)(next_random(x) % 2000000)};
        at_ns += rows[i].duration_ns + 400000;
        const uint64_t scale[] = {9000, 1500, 4 << 20, 300, 1, 4, 3, 1, 9};
        for (size_t k = 0; k < 9; k++)
            rows[i].values[k] = (int64_t)(scale[k] + next_random(x) % scale[k]) - (scale[k] == 1);
    }
}

static int64_t table_bytes(const char *path, const char *table)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *s = NULL;
    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, "SELECT sum(pgsize) FROM dbstat WHERE name = ?", -1, &s, NULL),
                     SQLITE_OK);
    sqlite3_bind_text(s, 1, table, -1, SQLITE_STATIC);
    assert_int_equal(sqlite3_step(s), SQLITE_ROW);
    int64_t bytes = sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
    sqlite3_close(db);
    return bytes;
}

static void an_iteration_is_small(void **state)
{
    struct fixture *f = *state;
    struct qs_iteration_row rows[PER_WINDOW];
    uint64_t x = 42;
    run_begin(f, 1, 0, 1, 0);
    for (uint32_t w = 0; w < WINDOWS; w++) {
        struct qs_window_row window = make_window(1, w, (uint64_t)w * PER_WINDOW, PER_WINDOW, rows);
        fill(rows, &x);
        window.metrics = rusage;
        window.metric_count = 9;
        qs_store_window(f->store, &window, on_fine, NULL);
        if (w % 100 == 99)
            qs_loop_run(f->loop);
    }
    fixture_close(f);
    double n = (double)PER_WINDOW * WINDOWS;
    double duration = (double)table_bytes(f->path, "iteration") / n;
    double metrics = (double)table_bytes(f->path, "iteration_rusage") / n;
    print_message(
        "# %.2f bytes a duration; rusage %.2f bytes an iteration, %.2f a value; status rows %lld bytes\n",
        duration, metrics, metrics / 9, (long long)table_bytes(f->path, "iteration_status"));
    assert_true(duration > 10 && duration <= 24);
    assert_true(metrics > 10 && metrics / 9 <= 6);
}

static int64_t bytes_of(const struct fixture *f, const char *end)
{
    char path[160];
    struct stat st;
    snprintf(path, sizeof path, "%s%s", f->path, end);
    assert_int_equal(stat(path, &st), 0);
    return st.st_size;
}

/* Small commits reach the database when 4 MB of them have come together, not before, and the log then begins
 * anew. */
static void the_log_is_copied_at_4_mb(void **state)
{
    enum { MB = 1000 * 4096, COMMITS = 500 };
    struct fixture *f = *state;
    struct qs_iteration_row rows[PER_WINDOW];
    int64_t before = bytes_of(f, ""), highest = 0;
    run_begin(f, 1, 0, 1, 0);
    for (uint32_t w = 0; w < COMMITS; w++) {
        struct qs_window_row window = make_window(1, w, (uint64_t)w * PER_WINDOW, PER_WINDOW, rows);
        assert_int_equal(put_window(f, &window), QS_E_NONE);
        int64_t log = bytes_of(f, "-wal");
        highest = log > highest ? log : highest;
        if (highest < 3 * (MB / 4))
            assert_int_equal(bytes_of(f, ""), before);
    }
    assert_true(bytes_of(f, "") > before);
    assert_in_range(highest, MB, MB + MB / 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_iteration_is_small, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(the_log_is_copied_at_4_mb, fixture_setup, fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
