#include "disk.h"

#include <sqlite3.h>
#include <string.h>

struct disk disk;

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

static const int codes[] = {[DISK_FULL] = SQLITE_FULL,
                            [DISK_BROKEN] = SQLITE_IOERR_WRITE,
                            [DISK_NO_SYNC] = SQLITE_IOERR_FSYNC,
                            [DISK_READ_ONLY] = SQLITE_READONLY};

static bool fails(void)
{
    return disk.fault != DISK_WELL && disk.log_syncs >= disk.fault_after;
}

static int shim_write(sqlite3_file *f, const void *bytes, int n, sqlite3_int64 at)
{
    struct shim_file *shim = (struct shim_file *)(void *)f;
    if (fails() && disk.fault != DISK_NO_SYNC)
        return codes[disk.fault];
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
    if (fails() && disk.fault == DISK_NO_SYNC)
        return codes[disk.fault];
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

static int shim_sleep(sqlite3_vfs *vfs, int us)
{
    (void)vfs;
    disk.sleeps++;
    if (disk.on_sleep)
        disk.on_sleep();
    return us;
}

void disk_install(void)
{
    static sqlite3_vfs vfs;
    real_vfs = sqlite3_vfs_find(NULL);
    vfs = *real_vfs;
    vfs.zName = "faulty";
    vfs.pNext = NULL;
    vfs.xOpen = shim_open;
    vfs.xSleep = shim_sleep;
    vfs.szOsFile = (int)sizeof(struct shim_file) + real_vfs->szOsFile;
    shim_methods = (sqlite3_io_methods){
        2,           shim_close, shim_read,     shim_write,    shim_truncate, shim_sync,
        shim_size,   shim_lock,  shim_unlock,   shim_reserved, shim_control,  shim_sector,
        shim_traits, shim_map,   shim_shm_lock, shim_barrier,  shim_unmap,    NULL,
        NULL};
    sqlite3_vfs_register(&vfs, 1);
}
