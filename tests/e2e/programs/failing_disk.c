/* Loaded into the daemon before its libraries: a disk that fails on demand. The file that QS_DISK names says
 * how, anew with each new text: "KIND N ...", from the Nth sync of the database's log on; without the file
 * all is well. */
#undef _FILE_OFFSET_BITS /* both names of pwrite are meant */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char script[64];
static unsigned syncs;

static bool ends_with(int fd, const char *end)
{
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof path - 1);
    size_t length = strlen(end);
    return n >= (ssize_t)length && memcmp(path + n - (ssize_t)length, end, length) == 0;
}

static bool is_database(int fd)
{
    return ends_with(fd, ".db") || ends_with(fd, ".db-wal");
}

/* 0, or the error of this call. */
static int fault(bool sync, int fd)
{
    static const struct {
        const char *name;
        int write_errno, sync_errno;
    } kinds[] = {{"full", ENOSPC, 0}, {"broken", EIO, 0}, {"unsynced", 0, EIO}, {"read-only", EROFS, EROFS}};
    const char *name = getenv("QS_DISK");
    char now[sizeof script] = "", kind[16] = "";
    unsigned from = 0;
    int error = 0;
    FILE *f = name && is_database(fd) ? fopen(name, "re") : NULL;
    if (!f)
        return 0;
    bool read_it = fgets(now, sizeof now, f) != NULL;
    fclose(f);
    if (!read_it || sscanf(now, "%15s %u", kind, &from) != 2)
        return 0;
    pthread_mutex_lock(&mutex);
    if (strcmp(now, script) != 0)
        syncs = 0;
    memcpy(script, now, sizeof script);
    for (size_t i = 0; syncs >= from && i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(kind, kinds[i].name) == 0)
            error = sync ? kinds[i].sync_errno : kinds[i].write_errno;
    }
    syncs += sync && ends_with(fd, "-wal") ? 1 : 0;
    pthread_mutex_unlock(&mutex);
    errno = error ? error : errno;
    return error;
}

#define NEXT(type, name) ((type)(uintptr_t)dlsym(RTLD_NEXT, name))

ssize_t pwrite(int fd, const void *bytes, size_t n, off_t at)
{
    return fault(false, fd) ? -1
                            : NEXT(ssize_t(*)(int, const void *, size_t, off_t), "pwrite")(fd, bytes, n, at);
}

ssize_t pwrite64(int fd, const void *bytes, size_t n, off64_t at)
{
    return fault(false, fd)
               ? -1
               : NEXT(ssize_t(*)(int, const void *, size_t, off64_t), "pwrite64")(fd, bytes, n, at);
}

int fsync(int fd)
{
    return fault(true, fd) ? -1 : NEXT(int (*)(int), "fsync")(fd);
}

int fdatasync(int fd)
{
    return fault(true, fd) ? -1 : NEXT(int (*)(int), "fdatasync")(fd);
}
