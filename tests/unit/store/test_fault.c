/* A file system that fails on demand (a VFS over the real one), and what order writes, syncs and callbacks
 * have. */
#include "fixture.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

static struct {
    int fail_syncs;    /* so many of the next syncs of the log fail */
    bool full;         /* every write fails */
    bool log_unsynced; /* the log was written after its last sync */
    int log_syncs;
} disk;

struct shim_file {
    sqlite3_file base;
    bool is_log;
    _Alignas(8) unsigned char real[];
};

static sqlite3_vfs *real_vfs;
static sqlite3_io_methods shim_methods;

static sqlite3_file *real_of(sqlite3_file *f)
{
    return (sqlite3_file *)(void *)((struct shim_file *)(void *)f)->real;
}

static int shim_write(sqlite3_file *f, const void *bytes, int n, sqlite3_int64 at)
{
    struct shim_file *shim = (struct shim_file *)(void *)f;
    if (disk.full)
        return SQLITE_FULL;
    disk.log_unsynced |= shim->is_log;
    return real_of(f)->pMethods->xWrite(real_of(f), bytes, n, at);
}

static int shim_sync(sqlite3_file *f, int flags)
{
    struct shim_file *shim = (struct shim_file *)(void *)f;
    if (shim->is_log && disk.fail_syncs > 0) {
        disk.fail_syncs--;
        return SQLITE_IOERR_FSYNC;
    }
    if (shim->is_log) {
        disk.log_unsynced = false;
        disk.log_syncs++;
    }
    return real_of(f)->pMethods->xSync(real_of(f), flags);
}

static int shim_close(sqlite3_file *f)
{
    return real_of(f)->pMethods->xClose(real_of(f));
}
static int shim_read(sqlite3_file *f, void *bytes, int n, sqlite3_int64 at)
{
    return real_of(f)->pMethods->xRead(real_of(f), bytes, n, at);
}
static int shim_truncate(sqlite3_file *f, sqlite3_int64 size)
{
    return real_of(f)->pMethods->xTruncate(real_of(f), size);
}
static int shim_size(sqlite3_file *f, sqlite3_int64 *size)
{
    return real_of(f)->pMethods->xFileSize(real_of(f), size);
}
static int shim_lock(sqlite3_file *f, int level)
{
    return real_of(f)->pMethods->xLock(real_of(f), level);
}
static int shim_unlock(sqlite3_file *f, int level)
{
    return real_of(f)->pMethods->xUnlock(real_of(f), level);
}
static int shim_reserved(sqlite3_file *f, int *ret)
{
    return real_of(f)->pMethods->xCheckReservedLock(real_of(f), ret);
}
static int shim_control(sqlite3_file *f, int op, void *arg)
{
    return real_of(f)->pMethods->xFileControl(real_of(f), op, arg);
}
static int shim_sector(sqlite3_file *f)
{
    return real_of(f)->pMethods->xSectorSize(real_of(f));
}
static int shim_traits(sqlite3_file *f)
{
    return real_of(f)->pMethods->xDeviceCharacteristics(real_of(f));
}
static int shim_map(sqlite3_file *f, int page, int size, int extend, void volatile **ret)
{
    return real_of(f)->pMethods->xShmMap(real_of(f), page, size, extend, ret);
}
static int shim_shm_lock(sqlite3_file *f, int offset, int n, int flags)
{
    return real_of(f)->pMethods->xShmLock(real_of(f), offset, n, flags);
}
static void shim_barrier(sqlite3_file *f)
{
    real_of(f)->pMethods->xShmBarrier(real_of(f));
}
static int shim_unmap(sqlite3_file *f, int remove)
{
    return real_of(f)->pMethods->xShmUnmap(real_of(f), remove);
}

static int shim_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *f, int flags, int *ret_flags)
{
    (void)vfs;
    struct shim_file *shim = (struct shim_file *)(void *)f;
    sqlite3_file *real = real_of(f);
    shim->is_log = flags & SQLITE_OPEN_WAL;
    shim->base.pMethods = NULL;
    int rc = real_vfs->xOpen(real_vfs, name, real, flags, ret_flags);
    if (real->pMethods)
        shim->base.pMethods = &shim_methods;
    return rc;
}

static void install(void)
{
    static sqlite3_vfs vfs;
    real_vfs = sqlite3_vfs_find(NULL);
    vfs = *real_vfs;
    vfs.zName = "faulty";
    vfs.pNext = NULL;
    vfs.xOpen = shim_open;
    vfs.szOsFile = (int)sizeof(struct shim_file) + real_vfs->szOsFile;
    shim_methods = (sqlite3_io_methods){
        2,           shim_close, shim_read,     shim_write,    shim_truncate, shim_sync,
        shim_size,   shim_lock,  shim_unlock,   shim_reserved, shim_control,  shim_sector,
        shim_traits, shim_map,   shim_shm_lock, shim_barrier,  shim_unmap,    NULL,
        NULL};
    sqlite3_vfs_register(&vfs, 1);
}

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
    assert_int_equal(f->troubles, 3);
    assert_int_equal(put_window(f, &w), QS_E_NONE);
}

static void a_full_disk_fails_the_group(void **state)
{
    struct fixture *f = *state;
    struct qs_iteration_row rows[10];
    run_begin(f, 1, 0, 1, 0);
    struct qs_window_row w = make_window(1, 0, 0, 10, rows);
    disk.full = true;
    assert_int_equal(put_window(f, &w), QS_E_STORE);
    assert_true(f->troubles >= 1);
    disk.full = false;
    assert_int_equal(put_window(f, &w), QS_E_NONE);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, fixture_teardown)

int main(void)
{
    install();
    const struct CMUnitTest tests[] = {
        TEST(done_comes_after_the_sync),
        TEST(a_failed_sync_fails_the_group),
        TEST(while_it_fails_nothing_is_believed),
        TEST(a_full_disk_fails_the_group),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
