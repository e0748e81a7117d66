#include "store/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

static bool refuse(int fd, const char *path, struct qs_err *err)
{
    char pid[32] = "?";
    ssize_t got = pread(fd, pid, sizeof pid - 1, 0);
    if (got > 0)
        pid[strcspn(pid, "\n")] = 0;
    return qs_fail(err, QS_E_STORE, "%s: another quiesced (process %s) owns this database", path, pid);
}

/* False with *ret_fd >= 0 where the file was replaced between opening and locking: try again. */
static bool still_there(int fd, const char *path)
{
    struct stat mine, now;
    return fstat(fd, &mine) == 0 && stat(path, &now) == 0 && mine.st_ino == now.st_ino &&
           mine.st_dev == now.st_dev;
}

static bool take(const char *db_path, const char *path, int *ret_fd, struct qs_err *err)
{
    for (;;) {
        int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        if (fd < 0)
            return qs_fail(err, QS_E_STORE, "%s: %s", path, strerror(errno));
        if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
            refuse(fd, db_path, err);
            close(fd);
            return false;
        }
        if (still_there(fd, path)) {
            *ret_fd = fd;
            return true;
        }
        close(fd);
    }
}

bool qs_lock_take(const char *db_path, int *ret_fd, struct qs_err *err)
{
    char *path = qs_asprintf("%s-lock", db_path);
    bool ok = take(db_path, path, ret_fd, err);
    free(path);
    if (!ok)
        return false;
    char pid[32];
    int n = snprintf(pid, sizeof pid, "%ld\n", (long)getpid());
    /* The number is for the message only: a full disk must not keep the store from opening. */
    if (ftruncate(*ret_fd, 0) != 0 || pwrite(*ret_fd, pid, (size_t)n, 0) != n)
        errno = 0;
    return true;
}

void qs_lock_drop(const char *db_path, int fd)
{
    char *path = qs_asprintf("%s-lock", db_path);
    unlink(path);
    free(path);
    close(fd);
}
