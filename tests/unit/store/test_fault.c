/* A disk that fails: what order writes, syncs and callbacks have, and what is believed to be stored. */
#include "fixture.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "disk.h"
#include "store/test_hooks.h"
#include "store/write/writer.h"

static int setup(void **state)
{
    memset(&disk, 0, sizeof disk);
    return fixture_setup(state);
}

static void on_synced(const struct qs_err *err, int64_t id, void *user)
{
    (void)id;
    assert_null(err);
    assert_false(disk.log_unsynced);
    ++*(int *)user;
}

static void done_comes_after_the_sync(void **state)
{
    struct fixture *f = *state;
    struct qs_iteration_row rows[10];
    int done = 0;
    run_begin(f, 1, 0, 1, 0);
    for (uint32_t i = 0; i < 20; i++) {
        int before = disk.log_syncs;
        struct qs_window_row w = make_window(1, i, 10 * i, 10, rows);
        qs_store_window(f->store, &w, on_synced, &done);
        assert_int_equal(done, i); /* never inside the call */
        qs_loop_run(f->loop);
        assert_int_equal(done, i + 1);
        assert_true(disk.log_syncs > before);
    }
}

static void a_failed_sync_fails_the_group(void **state)
{
    struct fixture *f = *state;
    struct qs_iteration_row rows[10];
    struct told told[3] = {{0}};
    run_begin(f, 1, 0, 1, 0);
    disk.fail_syncs = 1;
    for (uint32_t i = 0; i < 3; i++) {
        struct qs_window_row w = make_window(1, i, 10 * i, 10, rows);
        qs_store_window(f->store, &w, on_told, &told[i]);
    }
    qs_loop_run(f->loop);
    for (int i = 0; i < 3; i++)
        assert_int_equal(told[i].code, QS_E_STORE);
    assert_int_equal(f->troubles, 1);
    /* On a new connection the same is sent again, as an agent does that was not acknowledged. */
    for (uint32_t i = 0; i < 3; i++) {
        struct qs_window_row w = make_window(1, i, 10 * i, 10, rows);
        assert_int_equal(put_window(f, &w), QS_E_NONE);
        assert_false(disk.log_unsynced);
    }
    assert_int_equal(f->troubles, 1);
}

static void while_it_fails_nothing_is_believed(void **state)
{
    struct fixture *f = *state;
    struct qs_iteration_row rows[10];
    run_begin(f, 1, 0, 1, 0);
    struct qs_window_row w = make_window(1, 0, 0, 10, rows);
    disk.fail_syncs = 3; /* the commit, then the checkpoint of each new connection */
    for (int i = 0; i < 3; i++)
        assert_int_equal(put_window(f, &w), QS_E_STORE);
    assert_int_equal(f->troubles, 1); /* told once, until it is over */
    assert_int_equal(f->recoveries, 0);
    assert_non_null(qs_store_trouble(f->store));
    assert_int_equal(put_window(f, &w), QS_E_NONE);
    assert_int_equal(f->recoveries, 1);
    assert_null(qs_store_trouble(f->store));
    w = make_window(1, 1, 10, 10, rows);
    disk.fail_syncs = 1;
    assert_int_equal(put_window(f, &w), QS_E_STORE);
    assert_int_equal(f->troubles, 2);
}

static sqlite3 *begin_reading(const char *path)
{
    sqlite3 *reader = NULL;
    assert_int_equal(sqlite3_open_v2(path, &reader, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_exec(reader, "BEGIN; SELECT count(*) FROM job", NULL, NULL, NULL), SQLITE_OK);
    return reader;
}

/* The log cannot begin anew before it leaves: each attempt waits for 5 s at most, and says why it failed. */
static void after_a_failed_sync_a_reader_is_waited_for(void **state)
{
    enum { PAUSES_OF_5_S = 59 }; /* SQLite's: 1, 2, 5, 10, 15, 20, 25, 25, 25, 50, 50 ms, then 100 ms each */
    struct fixture *f = *state;
    struct qs_iteration_row rows[10];
    run_begin(f, 1, 0, 1, 0);
    struct qs_window_row w = make_window(1, 0, 0, 10, rows);
    sqlite3 *reader = begin_reading(f->path);
    char *want =
        qs_asprintf("%s: after the last failure: nothing is stored until the log can be restarted, and "
                    "somebody keeps a transaction open on it (`lsof %s-wal` shows who)",
                    qs_store_path(f->store), qs_store_path(f->store));
    disk.fail_syncs = 1;
    assert_int_equal(put_window(f, &w), QS_E_STORE);
    for (int i = 1; i <= 2; i++) {
        assert_int_equal(put_window(f, &w), QS_E_STORE);
        assert_string_equal(qs_store_trouble(f->store)->text, want);
        assert_in_range(disk.sleeps, i * PAUSES_OF_5_S - 2 * i, i * PAUSES_OF_5_S + 2 * i);
    }
    free(want);
    assert_int_equal(f->recoveries, 0);
    assert_int_equal(sqlite3_close(reader), SQLITE_OK);
    assert_int_equal(put_window(f, &w), QS_E_NONE);
    assert_int_equal(f->troubles, 1);
    assert_int_equal(f->recoveries, 1);
}

static void a_full_disk_fails_the_group(void **state)
{
    struct fixture *f = *state;
    struct qs_iteration_row rows[10];
    run_begin(f, 1, 0, 1, 0);
    struct qs_window_row w = make_window(1, 0, 0, 10, rows);
    disk.fault = DISK_FULL;
    assert_int_equal(put_window(f, &w), QS_E_STORE);
    assert_true(f->troubles >= 1);
    disk.fault = DISK_WELL;
    assert_int_equal(put_window(f, &w), QS_E_NONE);
}

struct ended {
    struct qs_loop *loop;
    enum qs_errc code;
};

static void on_ended(const struct qs_err *err, int64_t id, void *user)
{
    struct ended *ended = user;
    (void)id;
    ended->code = err ? err->code : QS_E_NONE;
    qs_loop_stop(ended->loop);
}

/* An event with so many bytes. The loop does not end by itself: a blocked log is tried again each second. */
static enum qs_errc put_event(struct fixture *f, size_t bytes)
{
    struct ended ended = {.loop = f->loop};
    char *body = qs_calloc(bytes + 3, 1);
    memset(body, ' ', bytes + 2);
    body[0] = body[bytes + 1] = '"';
    qs_store_event(f->store, &(struct qs_event_row){.wall_ns = 1, .kind = "note", .body_json = body},
                   on_ended, &ended);
    free(body);
    qs_loop_run(f->loop);
    return ended.code;
}

static void stop(void *user)
{
    qs_loop_stop(user);
}

static bool log_is_blocked(struct fixture *f)
{
    char *notice = qs_store_notice(f->store);
    free(notice);
    return notice != NULL;
}

/* A log that is begun anew, or cannot be, says nothing of whether commits succeed again. */
static void a_tidy_log_is_no_recovery(void **state)
{
    enum { TRIES = 3 };
    struct fixture *f = *state;
    qs_store_bound_log(f->store, QS_WAL_CHECKPOINT_PAGES, INT64_MAX);
    sqlite3 *reader = begin_reading(f->path);
    while (!log_is_blocked(f))
        assert_int_equal(put_event(f, 1 << 20), QS_E_NONE);
    disk.fail_syncs = 1;
    assert_int_equal(put_event(f, 1), QS_E_STORE);
    assert_int_equal(f->troubles, 1);
    (void)qs_timer_start(f->loop, TRIES * INT64_C(1000000000) + 1, stop, f->loop);
    qs_loop_run(f->loop);
    assert_int_equal(f->recoveries, 0);
    assert_non_null(qs_store_trouble(f->store));
    assert_int_equal(sqlite3_close(reader), SQLITE_OK);
    assert_int_equal(put_event(f, 1), QS_E_NONE);
    assert_int_equal(f->recoveries, 1);
    assert_null(qs_store_trouble(f->store));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, fixture_teardown)

int main(void)
{
    disk_install();
    const struct CMUnitTest tests[] = {
        TEST(done_comes_after_the_sync),          TEST(a_failed_sync_fails_the_group),
        TEST(while_it_fails_nothing_is_believed), TEST(a_full_disk_fails_the_group),
        TEST(a_tidy_log_is_no_recovery),          TEST(after_a_failed_sync_a_reader_is_waited_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
