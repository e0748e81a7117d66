/* Somebody keeps a transaction open on the database: commits neither fail nor wait, and it is told. */
#include "fixture.h"

#include <sqlite3.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "disk.h"
#include "store/test_hooks.h"
#include "store/write/writer.h"

enum { MIB = 1024 * 1024, MANY = 80 };

struct log {
    int blocked, free;
    int64_t blocked_bytes, free_bytes;
    struct qs_loop *loop;
};

static void on_log(int64_t bytes, const char *notice, void *user)
{
    bool blocked = notice != NULL;
    struct log *log = user;
    log->blocked += blocked ? 1 : 0;
    log->free += blocked ? 0 : 1;
    *(blocked ? &log->blocked_bytes : &log->free_bytes) = bytes;
    qs_loop_stop(log->loop);
}

static void on_done(const struct qs_err *err, int64_t id, void *user)
{
    struct fixture *f = user;
    on_fine(err, id, NULL);
    f->job++; /* here: how many commits there were */
    qs_loop_stop(f->loop);
}

/* Real time: the store tries again each second, for as long as it takes. */
static void open_real(struct fixture *f, struct log *log)
{
    struct qs_err err = QS_ERR_INIT;
    struct qs_store_events events = {.on_log = on_log, .user = log};
    fixture_init(f);
    assert_int_equal(qs_loop_free(f->loop), 0);
    f->loop = log->loop = qs_loop_new_real(NULL);
    if (!qs_store_open(f->loop, f->path, &events, &f->store, &err))
        fail_msg("%s", err.text);
}

/* A commit of a mebibyte. */
static void commit(struct fixture *f)
{
    int64_t before = f->job;
    char *body = qs_malloc(MIB + 3);
    memset(body, 'x', MIB + 2);
    body[0] = body[MIB + 1] = '"';
    body[MIB + 2] = '\0';
    struct qs_event_row event = {.wall_ns = 1, .kind = "note", .body_json = body};
    qs_store_event(f->store, &event, on_done, f);
    free(body);
    while (f->job == before)
        qs_loop_run(f->loop);
}

static sqlite3 *begin_reading(const char *path)
{
    sqlite3 *reader = NULL;
    assert_int_equal(sqlite3_open_v2(path, &reader, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_exec(reader, "BEGIN; SELECT count(*) FROM job", NULL, NULL, NULL), SQLITE_OK);
    return reader;
}

static void a_reader_that_stays_is_told_and_not_waited_for(void **state)
{
    struct fixture f;
    struct log log = {0};
    (void)state;
    open_real(&f, &log);
    sqlite3 *reader = begin_reading(f.path);
    while (f.job < MANY) /* with a second's patience for each above the bound it would not end in time */
        commit(&f);
    assert_int_equal(log.blocked, 1);
    assert_int_equal(log.free, 0);
    assert_in_range(log.blocked_bytes, QS_WAL_TRUNCATE_PAGES * QS_WAL_PAGE_BYTES, 35 * MIB);
    char *notice = qs_store_notice(f.store);
    assert_non_null(strstr(notice, "keeps a transaction open"));
    assert_non_null(strstr(notice, "at 268 MB new windows wait")); /* 256 MiB */
    free(notice);
    assert_false(qs_store_log_is_full(f.store));
    assert_int_equal(sqlite3_close(reader), SQLITE_OK);
    while (log.free == 0) /* by itself: nothing is committed any more */
        qs_loop_run(f.loop);
    assert_int_equal(log.free_bytes, 0);
    assert_null(qs_store_notice(f.store));
    assert_int_equal(log.blocked, 1);
    fixture_done(&f);
}

/* Measuring waits from the bound on, and goes on when there is room; what was measured is still committed. */
static void a_log_that_reaches_its_bound_is_full(void **state)
{
    enum { FULL_BYTES = 8 * MIB, BLOCKED_PAGES = QS_WAL_CHECKPOINT_PAGES };
    struct fixture f;
    struct log log = {0};
    (void)state;
    open_real(&f, &log);
    qs_store_bound_log(f.store, BLOCKED_PAGES, FULL_BYTES);
    sqlite3 *reader = begin_reading(f.path);
    while (!qs_store_log_is_full(f.store) && f.job < MANY)
        commit(&f);
    assert_in_range(f.job, 7, 9); /* of a mebibyte each */
    assert_int_equal(log.blocked, 1);
    commit(&f);
    assert_true(qs_store_log_is_full(f.store));
    char *notice = qs_store_notice(f.store);
    assert_non_null(strstr(notice, "at 8 MB new windows wait"));
    free(notice);
    assert_int_equal(sqlite3_close(reader), SQLITE_OK);
    while (log.free == 0)
        qs_loop_run(f.loop);
    assert_false(qs_store_log_is_full(f.store));
    fixture_done(&f);
}

static void without_a_reader_nothing_is_told(void **state)
{
    struct fixture f;
    struct log log = {0};
    (void)state;
    open_real(&f, &log);
    while (f.job < MANY)
        commit(&f);
    assert_int_equal(log.blocked + log.free, 0);
    fixture_done(&f);
}

/* A writer alone; `pages` of the log grow by one with each commit that changes one row. */
static void open_writer(struct fixture *f, struct qs_store_writer *w)
{
    struct qs_err err = QS_ERR_INIT;
    fixture_init(f);
    fixture_open(f);
    fixture_close(f);
    memset(&disk, 0, sizeof disk);
    if (!qs_store_writer_open(w, f->path, qs_migrations, qs_migration_count, &err) ||
        !qs_db_exec(&w->db, "PRAGMA synchronous=OFF", &err))
        fail_msg("%s", err.text);
}

static bool apply_sql(struct qs_db *db, const void *row, int64_t *ret_id, struct qs_err *err)
{
    (void)ret_id;
    return qs_db_exec(db, row, err);
}

static bool writes(struct qs_store_writer *w, const char *sql)
{
    struct qs_request req = {.apply = apply_sql, .row = sql};
    struct qs_err trouble;
    return qs_store_writer_commit(w, &req, &trouble) && req.ok;
}

static void grow(struct qs_store_writer *w, int pages)
{
    while (w->wal_pages < pages)
        assert_true(writes(w, "UPDATE farm SET created_wall_ns = created_wall_ns + 1"));
    assert_int_equal(w->wal_pages, pages);
}

static void the_log_is_copied_at_its_bound(void **state)
{
    struct fixture f;
    struct qs_store_writer w;
    (void)state;
    open_writer(&f, &w);
    uint64_t before = file_sum(f.path);
    grow(&w, QS_WAL_CHECKPOINT_PAGES - 1);
    assert_int_equal(file_sum(f.path), before);
    grow(&w, QS_WAL_CHECKPOINT_PAGES);
    assert_int_not_equal(file_sum(f.path), before);
    assert_true(writes(&w, "UPDATE farm SET created_wall_ns = 5"));
    assert_int_equal(w.wal_pages, 1);
    qs_store_writer_close(&w);
    fixture_done(&f);
}

static void a_reader_blocks_it_from_its_bound_on(void **state)
{
    struct fixture f;
    struct qs_store_writer w;
    struct qs_err err;
    (void)state;
    open_writer(&f, &w);
    sqlite3 *reader = begin_reading(f.path);
    assert_true(writes(&w, "CREATE TABLE big AS SELECT zeroblob(8000 * 4096) AS x"));
    grow(&w, QS_WAL_TRUNCATE_PAGES - 1);
    assert_false(w.blocked);
    grow(&w, QS_WAL_TRUNCATE_PAGES);
    assert_true(w.blocked);
    assert_true(qs_store_writer_tidy(&w, &err));
    assert_true(w.blocked);
    assert_int_equal(w.wal_pages, QS_WAL_TRUNCATE_PAGES);
    assert_int_equal(disk.sleeps, 0); /* nobody waited for the reader */
    assert_int_equal(sqlite3_close(reader), SQLITE_OK);
    grow(&w, QS_WAL_TRUNCATE_PAGES + 1); /* a commit tries no more */
    assert_true(qs_store_writer_tidy(&w, &err));
    assert_false(w.blocked);
    assert_int_equal(w.wal_pages, 0);
    qs_store_writer_close(&w);
    fixture_done(&f);
}

static sqlite3 *other_writer;

static void leave(void)
{
    assert_int_equal(sqlite3_close(other_writer), SQLITE_OK);
    other_writer = NULL;
    disk.on_sleep = NULL;
}

/* Before and after a checkpoint, which waits for nobody. */
static void another_writer_is_waited_for(void **state)
{
    struct fixture f;
    struct qs_store_writer w;
    struct qs_err err;
    (void)state;
    open_writer(&f, &w);
    for (int round = 1; round <= 2; round++) {
        assert_int_equal(sqlite3_open_v2(f.path, &other_writer, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
        assert_int_equal(sqlite3_exec(other_writer, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
        disk.on_sleep = leave;
        assert_true(writes(&w, "UPDATE farm SET created_wall_ns = 5"));
        assert_int_equal(disk.sleeps, round);
        assert_true(qs_store_writer_tidy(&w, &err));
    }
    qs_store_writer_close(&w);
    fixture_done(&f);
}

struct slow {
    sem_t begun;
    int told;
    bool ended, ended_before_told;
};

/* Whoever closes the store meanwhile falls asleep, and must be woken. */
static bool read_slowly(struct qs_store_reader *reader, void *user, struct qs_err *err)
{
    struct slow *slow = user;
    (void)reader;
    (void)err;
    sem_post(&slow->begun);
    nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    slow->ended = true;
    return true;
}

static void after_slowly(const struct qs_err *err, void *user)
{
    struct slow *slow = user;
    assert_null(err);
    slow->told++;
    slow->ended_before_told = slow->ended;
}

static void closing_waits_for_what_is_read(void **state)
{
    struct fixture f;
    struct log log = {0};
    struct slow slow = {.told = 0};
    (void)state;
    open_real(&f, &log);
    assert_int_equal(sem_init(&slow.begun, 0, 0), 0);
    qs_store_read(f.store, read_slowly, after_slowly, &slow);
    assert_int_equal(sem_wait(&slow.begun), 0);
    fixture_close(&f);
    assert_int_equal(slow.told, 1);
    assert_true(slow.ended_before_told);
    sem_destroy(&slow.begun);
    fixture_done(&f);
}

int main(void)
{
    disk_install();
    assert_int_equal(qs_loop_free(qs_loop_new_real(NULL)),
                     0); /* the first one opens what stays for the next */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_log_is_copied_at_its_bound),
        cmocka_unit_test(a_reader_blocks_it_from_its_bound_on),
        cmocka_unit_test(another_writer_is_waited_for),
        cmocka_unit_test(a_reader_that_stays_is_told_and_not_waited_for),
        cmocka_unit_test(a_log_that_reaches_its_bound_is_full),
        cmocka_unit_test(without_a_reader_nothing_is_told),
        cmocka_unit_test(closing_waits_for_what_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
