#include "store/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/folder.h"
#include "base/mem.h"
#include "store/store.h"

/* SQLite locks bytes from 2^30 on; a database has at most 2^48 bytes. */
static const off_t INODE_LOCK_AT = (off_t)1 << 60;

static bool fail_errno(struct qs_err *err, const char *path)
{
    return qs_fail(err, QS_E_STORE, "%s: %s", path, strerror(errno));
}

/* ---- what is refused ---- */

/* A file that others laid there, or that somebody else knows by another name. Missing is fine. */
static bool check_stat(const char *path, const struct stat *st, struct qs_err *err)
{
    if (S_ISLNK(st->st_mode))
        return qs_fail(err, QS_E_STORE_PLACE, "%s is a symbolic link; it was not followed", path);
    if (!S_ISREG(st->st_mode))
        return qs_fail(err, QS_E_STORE_PLACE, "%s is not a regular file", path);
    if (st->st_nlink > 1)
        return qs_fail(err, QS_E_STORE_PLACE,
                       "%s has %lu names (hard links): a database must have a single one, because its log is "
                       "found by name",
                       path, (unsigned long)st->st_nlink);
    if (st->st_uid != geteuid())
        return qs_fail(err, QS_E_STORE_PLACE, "%s belongs to another user (%lu)", path,
                       (unsigned long)st->st_uid);
    return true;
}

static bool check_name(const char *path, struct qs_err *err)
{
    struct stat st;
    if (lstat(path, &st) != 0)
        return errno == ENOENT || fail_errno(err, path);
    return check_stat(path, &st, err);
}

static bool check_folder(const char *db_path, struct qs_err *err)
{
    struct stat st;
    QS_FREED char *folder = qs_folder_of(db_path);
    bool ok = stat(folder, &st) == 0 || fail_errno(err, folder);
    if (ok && (st.st_mode & S_IWOTH) && !(st.st_mode & S_ISVTX))
        ok = qs_fail(err, QS_E_STORE_PLACE,
                     "%s: anybody may write to its folder and put another file in its place", db_path);
    return ok;
}

static bool check_place(const char *db_path, struct qs_err *err)
{
    static const char *const ends[] = {"", "-wal", "-shm", "-journal"};
    bool ok = check_folder(db_path, err);
    for (size_t i = 0; ok && i < sizeof ends / sizeof *ends; i++) {
        QS_FREED char *path = qs_asprintf("%s%s", db_path, ends[i]);
        ok = check_name(path, err);
    }
    return ok;
}

/* Absolute and without links; of a file that is not there yet its folder is. NULL: err says why. */
static char *resolve(const char *db_path, struct qs_err *err)
{
    struct stat st;
    char *whole = realpath(db_path, NULL);
    if (whole)
        return whole;
    if (errno != ENOENT) {
        fail_errno(err, db_path);
        return NULL;
    }
    if (lstat(db_path, &st) == 0) {
        qs_fail(err, QS_E_STORE_PLACE, "%s is a symbolic link to a file that is not there; none was made",
                db_path);
        return NULL;
    }
    char *folder = qs_folder_of(db_path), *real = realpath(folder, NULL);
    const char *slash = strrchr(db_path, '/');
    if (!real)
        fail_errno(err, db_path);
    else
        whole = qs_asprintf("%s/%s", strcmp(real, "/") == 0 ? "" : real, slash ? slash + 1 : db_path);
    free(folder);
    free(real);
    return whole;
}

/* ---- the lock file ---- */

static long owner_of(int fd)
{
    char text[32] = "";
    ssize_t got = pread(fd, text, sizeof text - 1, 0);
    (void)got; /* where nothing came it stays empty */
    return strtol(text, NULL, 10);
}

static bool is_alive(long pid)
{
    return pid > 0 && (kill((pid_t)pid, 0) == 0 || errno != ESRCH);
}

static bool refuse(long pid, const char *db_path, struct qs_err *err)
{
    if (pid > 0 && !is_alive(pid))
        return qs_fail(err, QS_E_STORE,
                       "%s: process %ld owned this database and has ended, but a child process of it still "
                       "holds the lock (fuser '%s-lock' names it)",
                       db_path, pid, db_path);
    char name[24] = "?";
    if (pid > 0)
        snprintf(name, sizeof name, "%ld", pid);
    return qs_fail(err, QS_E_STORE_TAKEN, "%s: another quiesced (process %s) owns this database", db_path,
                   name);
}

/* Without waiting for an owner that lives. */
static bool lock_file(const struct qs_lock *lock, int patience_ms, struct qs_err *err)
{
    enum { STEP_MS = 10 };
    for (int waited_ms = 0; flock(lock->fd, LOCK_EX | LOCK_NB) != 0; waited_ms += STEP_MS) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return fail_errno(err, lock->path);
        long pid = owner_of(lock->fd);
        if (waited_ms >= patience_ms || is_alive(pid))
            return refuse(pid, lock->db_path, err);
        nanosleep(&(struct timespec){.tv_nsec = STEP_MS * 1000000}, NULL);
    }
    return true;
}

static bool is_named(int fd, const char *path)
{
    struct stat mine, now;
    return fstat(fd, &mine) == 0 && lstat(path, &now) == 0 && mine.st_ino == now.st_ino &&
           mine.st_dev == now.st_dev;
}

static bool open_lock(struct qs_lock *lock, struct qs_err *err)
{
    struct stat st;
    if (!check_name(lock->path, err))
        return false;
    lock->fd = open(lock->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    if (lock->fd < 0 || fstat(lock->fd, &st) != 0)
        return fail_errno(err, lock->path);
    return check_stat(lock->path, &st, err);
}

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* Whoever had it removes the file when it lets go: what was locked may have lost its name meanwhile. */
static bool take_file(struct qs_lock *lock, int patience_ms, struct qs_err *err)
{
    for (;;) {
        if (!open_lock(lock, err) || !lock_file(lock, patience_ms, err))
            return false;
        if (is_named(lock->fd, lock->path))
            return true;
        close_fd(&lock->fd);
    }
}

/* Over what an owner that was killed has left: two whole lines at every moment. */
static void note_owner(const struct qs_lock *lock, const char *contact)
{
    QS_FREED char *text = qs_asprintf("%ld\n%s\n", (long)getpid(), contact ? contact : "");
    ssize_t n = (ssize_t)strlen(text);
    n = pwrite(lock->fd, text, (size_t)n, 0);
    (void)n; /* it is for messages and requests only: a full disk must not keep the store from opening */
}

/* Of whoever has it, to look at; -1: nobody. */
static int open_of_owner(const char *db_path)
{
    char *whole = resolve(db_path, NULL), *path = qs_asprintf("%s-lock", whole ? whole : db_path);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    free(path);
    free(whole);
    return fd;
}

/* Whoever takes the lock at this very moment is patient, as the owner that is noted there has ended. */
bool qs_store_is_owned(const char *db_path)
{
    int fd = open_of_owner(db_path);
    bool owned = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    close_fd(&fd);
    return owned;
}

char *qs_store_contact(const char *db_path)
{
    char text[4096];
    int fd = open_of_owner(db_path);
    ssize_t n = fd >= 0 ? pread(fd, text, sizeof text - 1, 0) : -1;
    close_fd(&fd);
    text[n > 0 ? n : 0] = '\0';
    char *line = strchr(text, '\n'), *end = line ? strchr(line + 1, '\n') : NULL;
    return end && end > line + 1 ? qs_strndup(line + 1, (size_t)(end - line - 1)) : NULL;
}

static void let_go(struct qs_lock *lock)
{
    close_fd(&lock->db_fd);
    close_fd(&lock->fd);
    free(lock->path);
    free(lock->db_path);
    *lock = (struct qs_lock){.fd = -1, .db_fd = -1};
}

bool qs_lock_take(const char *db_path, const char *contact, int patience_ms, struct qs_lock *ret,
                  struct qs_err *err)
{
    *ret = (struct qs_lock){.fd = -1, .db_fd = -1, .db_path = resolve(db_path, err)};
    if (!ret->db_path)
        return false;
    ret->path = qs_asprintf("%s-lock", ret->db_path);
    if (check_place(ret->db_path, err) && take_file(ret, patience_ms, err)) {
        note_owner(ret, contact);
        return true;
    }
    let_go(ret);
    return false;
}

/* ---- the database's inode ---- */

/* SQLite gives its -wal and -shm files the mode of the database. */
static bool open_database(struct qs_lock *lock, struct qs_err *err)
{
    const int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
    struct stat st;
    lock->db_fd = open(lock->db_path, flags | O_CREAT | O_EXCL, 0600);
    lock->made = lock->db_fd >= 0;
    if (lock->db_fd < 0 && errno == EEXIST)
        lock->db_fd = open(lock->db_path, flags);
    if (lock->db_fd < 0 || fstat(lock->db_fd, &st) != 0)
        return fail_errno(err, lock->db_path);
    return check_stat(lock->db_path, &st, err);
}

bool qs_lock_database(struct qs_lock *lock, struct qs_err *err)
{
    struct flock byte = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = INODE_LOCK_AT, .l_len = 1};
    if (!open_database(lock, err))
        return false;
    /* A file system that has no such locks leaves us with the lock file. */
    if (fcntl(lock->db_fd, F_OFD_SETLK, &byte) != 0 && (errno == EAGAIN || errno == EACCES))
        return qs_fail(err, QS_E_STORE_TAKEN, "%s: another quiesced owns this database by another name",
                       lock->db_path);
    return qs_lock_is_same(lock, err);
}

bool qs_lock_is_same(const struct qs_lock *lock, struct qs_err *err)
{
    return is_named(lock->db_fd, lock->db_path) ||
           qs_fail(err, QS_E_STORE_PLACE, "%s: it was replaced by another file while it was being opened",
                   lock->db_path);
}

void qs_lock_drop(struct qs_lock *lock)
{
    if (lock->fd >= 0)
        unlink(lock->path);
    let_go(lock);
}
