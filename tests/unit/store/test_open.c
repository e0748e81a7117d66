#include "fixture.h"

#include <dirent.h>
#include <sqlite3.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/test_hooks.h"

static int setup(void **state)
{
    struct fixture *f = malloc(sizeof *f);
    fixture_init(f);
    *state = f;
    return 0;
}

/* Of the database and of its log. */
static uint64_t sum(const struct fixture *f)
{
    char wal[160];
    snprintf(wal, sizeof wal, "%s-wal", f->path);
    return file_sum(f->path) ^ (3 * file_sum(wal));
}

/* What the first row says, read as anybody would. */
static int number(const char *path, const char *text)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *s = NULL;
    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    assert_int_equal(sqlite3_prepare_v2(db, text, -1, &s, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(s), SQLITE_ROW);
    int value = sqlite3_column_int(s, 0);
    sqlite3_finalize(s);
    sqlite3_close(db);
    return value;
}

static void sql(const char *path, const char *text)
{
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, text, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

/* What it changes stays in the log. */
static void sql_in_log(const char *path, const char *text)
{
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    assert_int_equal(sqlite3_exec(db, text, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

/* Opening fails with this code and leaves every byte where it was. */
static void refused(struct fixture *f, enum qs_errc code, const char *part_of_text)
{
    struct qs_err err = QS_ERR_INIT;
    uint64_t before = sum(f);
    assert_false(qs_store_open(f->loop, f->path, NULL, &f->store, &err));
    assert_int_equal(err.code, code);
    if (!strstr(err.text, part_of_text))
        fail_msg("\"%s\" is not in \"%s\"", part_of_text, err.text);
    assert_null(f->store);
    assert_true(sum(f) == before);
}

static void the_writer_is_set_up(void **state)
{
    struct fixture *f = *state;
    fixture_open(f);
    assert_int_equal(qs_store_test_pragma(f->store, "synchronous"), 2);
    assert_int_equal(qs_store_test_pragma(f->store, "foreign_keys"), 1);
    assert_int_equal(qs_store_test_pragma(f->store, "wal_autocheckpoint"), 0);
    assert_int_equal(qs_store_test_pragma(f->store, "journal_size_limit"), 64 << 20);
    assert_int_equal(qs_store_test_pragma(f->store, "user_version"), (int64_t)qs_migration_count);
    assert_int_equal(qs_store_test_pragma(f->store, "application_id"), QS_STORE_APPLICATION_ID);
    struct stat st;
    char wal[160];
    snprintf(wal, sizeof wal, "%s-wal", f->path);
    assert_int_equal(stat(wal, &st), 0); /* WAL it is */
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_int_equal(stat(f->path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
}

static void the_farm_keeps_its_identity(void **state)
{
    struct fixture *f = *state;
    uint8_t first[16], again[16], zero[16] = {0};
    fixture_open(f);
    qs_store_farm_uid(f->store, first);
    fixture_close(f);
    fixture_open(f);
    qs_store_farm_uid(f->store, again);
    assert_memory_equal(first, again, 16);
    assert_memory_not_equal(first, zero, 16);
}

static void one_process_owns_it(void **state)
{
    struct fixture *f = *state;
    struct qs_err err = QS_ERR_INIT;
    struct qs_store *second = NULL;
    fixture_open(f);
    assert_false(qs_store_open(f->loop, f->path, NULL, &second, &err));
    assert_int_equal(err.code, QS_E_STORE_TAKEN);
    char pid[32];
    snprintf(pid, sizeof pid, "process %ld)", (long)getpid());
    assert_non_null(strstr(err.text, pid));
    fixture_close(f);
    fixture_open(f);
}

static void a_newer_database_is_left_alone(void **state)
{
    struct fixture *f = *state;
    fixture_open(f);
    fixture_close(f);
    sql(f->path, "PRAGMA user_version=97");
    refused(f, QS_E_STORE_NEWER, "version 97");
    char known[32];
    snprintf(known, sizeof known, "up to %zu", qs_migration_count);
    refused(f, QS_E_STORE_NEWER, known);
    /* A version that keeps no log beside it: to open it as ours would already change its header. */
    sql(f->path, "PRAGMA journal_mode=DELETE; PRAGMA user_version=96");
    refused(f, QS_E_STORE_NEWER, "version 96");
}

static void a_newer_version_in_the_log_counts(void **state)
{
    struct fixture *f = *state;
    fixture_open(f);
    fixture_close(f);
    sql_in_log(f->path, "PRAGMA user_version=98");
    refused(f, QS_E_STORE_NEWER, "version 98");
}

/* An id or a version is somebody's, without any table, too. */
static void a_foreign_id_in_the_log_counts(void **state)
{
    struct fixture *f = *state;
    sql(f->path, "PRAGMA journal_mode=WAL");
    sql_in_log(f->path, "PRAGMA application_id=99");
    assert_int_equal(number(f->path, "SELECT count(*) FROM sqlite_master"), 0);
    refused(f, QS_E_STORE, "another application");
    sql_in_log(f->path, "PRAGMA application_id=0; PRAGMA user_version=1");
    refused(f, QS_E_STORE, "another application");
}

static void foreign_files_are_left_alone(void **state)
{
    struct fixture *f = *state;
    FILE *out = fopen(f->path, "w");
    fputs("these are my notes, they are longer than one hundred bytes, so that nobody can say that it was "
          "too short "
          "to be looked at\n",
          out);
    fclose(out);
    refused(f, QS_E_STORE, "not a database");
    assert_int_equal(truncate(f->path, 20), 0);
    refused(f, QS_E_STORE, "not a database");
    assert_int_equal(truncate(f->path, 0), 0); /* nothing is nobody's */
    fixture_open(f);
    fixture_close(f);
    unlink(f->path);
    sql(f->path, "PRAGMA application_id=99; CREATE TABLE t(x)");
    refused(f, QS_E_STORE, "another application");
    unlink(f->path);
    sql(f->path, "CREATE TABLE t(x)");
    refused(f, QS_E_STORE, "another application");
    char lock[160];
    snprintf(lock, sizeof lock, "%s-lock", f->path);
    assert_int_not_equal(access(lock, F_OK), 0); /* no litter */
    unlink(f->path);
}

static void memory_is_no_place(void **state)
{
    struct fixture *f = *state;
    struct qs_err err = QS_ERR_INIT;
    assert_false(qs_store_open(f->loop, ":memory:", NULL, &f->store, &err));
    assert_int_equal(err.code, QS_E_STORE);
    assert_false(qs_store_open(f->loop, "/nonexistent/dir/q.db", NULL, &f->store, &err));
    assert_int_equal(err.code, QS_E_STORE);
}

static void a_failed_migration_changes_nothing(void **state)
{
    struct fixture *f = *state;
    fixture_open(f);
    fixture_close(f);
    enum { ROOM = 64 };
    struct qs_migration list[ROOM], bad[ROOM];
    size_t n = qs_migration_count;
    assert_true(n + 2 <= ROOM);
    memcpy(list, qs_migrations, n * sizeof *list);
    memcpy(bad, qs_migrations, n * sizeof *bad);
    list[n] = (struct qs_migration){"9998_fine.sql", "CREATE TABLE extra(x INT) STRICT;"};
    list[n + 1] = (struct qs_migration){"9999_bad.sql",
                                        "CREATE TABLE more(x INT) STRICT; INSERT INTO more VALUES('text');"};
    bad[n] = list[n + 1];
    struct qs_err err = QS_ERR_INIT;
    uint64_t before = sum(f);
    assert_false(qs_store_open_list(f->loop, f->path, NULL, bad, n + 1, &f->store, &err));
    assert_int_equal(err.code, QS_E_STORE);
    assert_non_null(strstr(err.text, "9999_bad.sql"));
    assert_true(sum(f) == before);
    assert_int_equal(number(f->path, "SELECT count(*) FROM sqlite_master WHERE name = 'more'"), 0);
    assert_int_equal(number(f->path, "PRAGMA user_version"), (int)n);
    /* The one before it stands, and its version with it. */
    assert_false(qs_store_open_list(f->loop, f->path, NULL, list, n + 2, &f->store, &err));
    assert_true(qs_store_open_list(f->loop, f->path, NULL, list, n + 1, &f->store, &err));
    assert_int_equal(qs_store_test_pragma(f->store, "user_version"), (int64_t)n + 1);
    assert_int_equal(qs_store_test_pragma(f->store, "foreign_key_check"), -1);
    fixture_close(f);
    char newer[32];
    snprintf(newer, sizeof newer, "version %zu", n + 1);
    refused(f, QS_E_STORE_NEWER, newer);
}

static void a_failed_first_migration_leaves_no_file(void **state)
{
    struct fixture *f = *state;
    const struct qs_migration bad = {"0001_bad.sql", "CREATE TABLE a(x INT) STRICT; nonsense"};
    struct qs_err err = QS_ERR_INIT;
    assert_false(qs_store_open_list(f->loop, f->path, NULL, &bad, 1, &f->store, &err));
    assert_int_not_equal(access(f->path, F_OK), 0);
    fixture_open(f);
}

static bool count_jobs(struct qs_store_reader *reader, void *user, struct qs_err *err)
{
    struct qs_jobs jobs;
    if (!qs_read_jobs(reader, 0, 10, &jobs, err))
        return false;
    *(size_t *)user = jobs.count;
    qs_jobs_free(&jobs);
    return true;
}

/* How many files there are beside the database, itself included. */
static int files_in(const char *dir)
{
    int n = 0;
    DIR *d = opendir(dir);
    assert_non_null(d);
    for (struct dirent *e = readdir(d); e; e = readdir(d))
        n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

static void open_reading(struct fixture *f, struct qs_store **ret)
{
    struct qs_err err = QS_ERR_INIT;
    if (!qs_store_open_reading(f->loop, f->path, ret, &err))
        fail_msg("%s", err.text);
}

static void reading_nothing_makes_nothing(void **state)
{
    struct fixture *f = *state;
    struct told told = {0};
    size_t jobs = 7;
    open_reading(f, &f->store);
    assert_true(qs_store_read_now(f->store, count_jobs, &jobs, NULL));
    assert_int_equal(jobs, 0);
    qs_store_file(f->store, "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", 1, on_told,
                  &told);
    qs_loop_run(f->loop);
    assert_int_equal(told.count, 1);
    assert_int_equal(told.code, QS_E_STORE);
    assert_non_null(strstr(told.text, "read-only"));
    fixture_close(f);
    assert_int_equal(files_in(f->dir), 0);
    struct qs_err err = QS_ERR_INIT;
    assert_false(qs_store_open_reading(f->loop, f->dir, &f->store, &err));
    assert_int_equal(err.code, QS_E_STORE);
    assert_non_null(strstr(err.text, ": Is a directory"));
    assert_false(qs_store_open_reading(f->loop, "/dev/null/q.db", &f->store, &err));
    assert_string_equal(err.text, "/dev/null/q.db: Not a directory");
    assert_null(f->store);
    fixture_open(f);
}

static void reading_takes_nothing_from_its_owner(void **state)
{
    struct fixture *f = *state;
    struct qs_store *reading;
    size_t jobs = 7;
    fixture_open(f);
    fixture_world(f);
    uint64_t before = sum(f);
    int files = files_in(f->dir);
    open_reading(f, &reading);
    assert_true(qs_store_read_now(reading, count_jobs, &jobs, NULL));
    assert_int_equal(jobs, 1);
    assert_string_equal(qs_store_path(reading), qs_store_path(f->store));
    qs_store_close(reading);
    assert_int_equal(files_in(f->dir), files);
    assert_true(sum(f) == before);
    run_begin(f, 1, 0, 1, 0); /* the owner is the owner still */
    struct qs_err err;
    assert_false(qs_store_open(f->loop, f->path, NULL, &reading, &err));
    assert_int_equal(err.code, QS_E_STORE_TAKEN);
}

static void reading_brings_an_older_one_up_to_date(void **state)
{
    struct fixture *f = *state;
    struct qs_err err = QS_ERR_INIT;
    struct qs_store *reading;
    size_t jobs = 7;
    assert_true(
        qs_store_open_list(f->loop, f->path, NULL, qs_migrations, qs_migration_count - 1, &f->store, &err));
    assert_false(qs_store_open_reading(f->loop, f->path, &reading, &err));
    assert_int_equal(err.code, QS_E_STORE_TAKEN); /* by somebody who knows the older version */
    fixture_close(f);
    assert_int_equal(number(f->path, "PRAGMA user_version"), (int)qs_migration_count - 1);
    open_reading(f, &f->store);
    assert_true(qs_store_read_now(f->store, count_jobs, &jobs, NULL));
    assert_int_equal(jobs, 0);
    assert_int_equal(number(f->path, "PRAGMA user_version"), (int)qs_migration_count);
    fixture_close(f);
    sql(f->path, "PRAGMA user_version=97");
    uint64_t before = sum(f);
    assert_false(qs_store_open_reading(f->loop, f->path, &f->store, &err));
    assert_int_equal(err.code, QS_E_STORE_NEWER);
    assert_null(f->store);
    assert_true(sum(f) == before);
}

static void what_a_former_life_left_open_ends_once(void **state)
{
    struct fixture *f = *state;
    fixture_open(f);
    fixture_world(f);
    run_begin(f, 1, 0, 1, 0);
    fixture_close(f);
    fixture_open(f);
    assert_int_equal(number(f->path, "SELECT count(*) FROM session WHERE ended_wall_ns IS NULL"), 1);
    for (int64_t at_ns = 77; at_ns < 79; at_ns++) {
        qs_store_end_former_life(f->store, at_ns, on_fine, NULL);
        qs_loop_run(f->loop);
    }
    assert_int_equal(number(f->path, "SELECT count(*) FROM session WHERE ended_wall_ns = 77 AND end_reason ="
                                     " 'the daemon ended during this session'"),
                     1);
    assert_int_equal(number(f->path, "SELECT count(*) FROM run WHERE state = 'interrupted' AND"
                                     " ended_wall_ns = 77 AND taint = 256"),
                     1);
}

static void an_owner_says_where_it_is(void **state)
{
    struct fixture *f = *state;
    assert_null(qs_store_contact(f->path));
    assert_false(qs_store_is_owned(f->path));
    fixture_open(f);
    assert_null(qs_store_contact(f->path));
    assert_true(qs_store_is_owned(f->path));
    fixture_close(f);
    assert_false(qs_store_is_owned(f->path));
    /* A longer note of one that was killed. */
    char lock[200];
    snprintf(lock, sizeof lock, "%s-lock", f->path);
    FILE *old = fopen(lock, "w");
    assert_true(old &&
                fprintf(old, "%d\n/a/very/long/path/of/a/daemon/that/was/killed/api.sock\n", INT_MAX) > 0);
    assert_int_equal(fclose(old), 0);
    assert_false(qs_store_is_owned(f->path));
    fixture_open(f);
    assert_null(qs_store_contact(f->path));
    fixture_close(f);
    const struct qs_store_events events = {.contact = "/run/user/1000/quiesce/api.sock"};
    assert_true(qs_store_open(f->loop, f->path, &events, &f->store, NULL));
    char *contact = qs_store_contact(f->path);
    assert_string_equal(contact, "/run/user/1000/quiesce/api.sock");
    free(contact);
    struct qs_store *second;
    struct qs_err err;
    assert_false(qs_store_open(f->loop, f->path, NULL, &second, &err));
    char pid[32];
    snprintf(pid, sizeof pid, "process %ld)", (long)getpid());
    assert_non_null(strstr(err.text, pid));
    fixture_close(f);
    assert_null(qs_store_contact(f->path));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_writer_is_set_up),
        TEST(the_farm_keeps_its_identity),
        TEST(one_process_owns_it),
        TEST(a_newer_database_is_left_alone),
        TEST(a_newer_version_in_the_log_counts),
        TEST(a_foreign_id_in_the_log_counts),
        TEST(foreign_files_are_left_alone),
        TEST(memory_is_no_place),
        TEST(a_failed_migration_changes_nothing),
        TEST(a_failed_first_migration_leaves_no_file),
        TEST(reading_nothing_makes_nothing),
        TEST(reading_takes_nothing_from_its_owner),
        TEST(reading_brings_an_older_one_up_to_date),
        TEST(what_a_former_life_left_open_ends_once),
        TEST(an_owner_says_where_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
