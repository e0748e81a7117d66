#include "linux/trace_file.h"

#include "core/print.h"
#include "linux/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define TRACE  "trace"
#define PREFIX "quiesce-trace-"

static const char *const folders[] = {"/data/local/tmp", "/tmp", "/var/tmp", "/dev/shm"};

/* TRIES: a sweep takes the folder away in the moment in which it is made. */
enum { DEPTH_MAX = 6, OWNER_ONLY = 0600, TRIES = 3 };

void qs_trace_file_init(struct qs_trace_file *f)
{
    f->dir_fd = -1;
    f->dir[0] = '\0';
}

/* Opens the folder just made, and locks it: from here on no sweep takes it for one of the dead. One that came
 * before that has it locked, or has removed it: then the lock is not ours, or there is no such name. */
static bool take_folder(struct qs_trace_file *f)
{
    f->dir_fd = open(f->dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (f->dir_fd >= 0 && flock(f->dir_fd, LOCK_EX | LOCK_NB) == 0 && access(f->dir, F_OK) == 0) {
        return true;
    }
    qs_io_close(&f->dir_fd);
    return false;
}

static bool make_in(struct qs_trace_file *f, const char *folder)
{
    for (int i = 0; i < TRIES; i++) {
        qs_print(f->dir, sizeof f->dir, "%s/" PREFIX "%d-XXXXXX", folder, (int)getpid());
        if (!mkdtemp(f->dir)) {
            return false;
        }
        if (take_folder(f)) {
            return true;
        }
        int error = errno;
        rmdir(f->dir);
        errno = error;
    }
    return false;
}

bool qs_trace_file_make(struct qs_trace_file *f, uint64_t max_bytes)
{
    f->max_bytes = max_bytes;
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        if (make_in(f, folders[i])) {
            return true;
        }
    }
    return false;
}

bool qs_trace_file_give(const struct qs_trace_file *f, uint32_t uid, uint32_t gid)
{
    return fchown(f->dir_fd, uid, gid) == 0;
}

int qs_trace_file_input(const struct qs_trace_file *f, struct qs_text bytes)
{
    int fd = openat(f->dir_fd, "input", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, OWNER_ONLY);
    if (fd >= 0 && (write(fd, bytes.p, bytes.n) != (ssize_t)bytes.n || lseek(fd, 0, SEEK_SET) != 0)) {
        close(fd);
        return -1;
    }
    return fd;
}

int qs_trace_file_said(const struct qs_trace_file *f)
{
    return openat(f->dir_fd, "said", O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, OWNER_ONLY);
}

void qs_trace_file_path(const struct qs_trace_file *f, char *path, size_t cap)
{
    qs_print(path, cap, "%s/" TRACE, f->dir);
}

/* A regular file with one name, not followed, not waited for; -1 and why. */
static int open_own(const struct qs_trace_file *f, const char *name, struct stat *st, const char **why)
{
    int fd = openat(f->dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0) {
        *why = errno == ENOENT  ? "the tracer has written no file"
               : errno == ELOOP ? "the tracer wrote a symbolic link in place of its file"
                                : strerror(errno);
        return -1;
    }
    if (fstat(fd, st) != 0 || !S_ISREG(st->st_mode) || st->st_nlink != 1) {
        *why = "what the tracer wrote is not a regular file with a single name";
        close(fd);
        return -1;
    }
    return fd;
}

size_t qs_trace_file_tail(const struct qs_trace_file *f, char *text, size_t cap)
{
    struct stat st;
    const char *why;
    int fd = open_own(f, "said", &st, &why);
    if (fd < 0) {
        return 0;
    }
    off_t from = st.st_size > (off_t)cap ? st.st_size - (off_t)cap : 0;
    ssize_t n = pread(fd, text, cap, from);
    close(fd);
    return n > 0 ? (size_t)n : 0;
}

void qs_trace_file_look(const struct qs_trace_file *f, struct qs_port_traced *traced)
{
    struct stat st;
    const char *why = "";
    int fd = open_own(f, TRACE, &st, &why);
    if (fd >= 0) {
        close(fd);
        traced->there = st.st_size > 0;
        traced->total_bytes = (uint64_t)st.st_size;
        traced->flags |= traced->total_bytes >= f->max_bytes ? (uint32_t)QS_TRACE_CUT : 0;
        why = traced->there ? "" : "the tracer's file is empty";
    }
    qs_print(traced->why, sizeof traced->why, "%s", why);
}

static void refuse(struct qs_port_piece *piece, enum qs_pull_status status, const char *why)
{
    piece->status = (uint8_t)status;
    qs_print(piece->why, sizeof piece->why, "%s", why);
}

void qs_trace_file_piece(struct qs_trace_file *f, const struct qs_msg_pull *m, struct qs_port_piece *piece)
{
    struct stat st;
    const char *why = "";
    *piece = (struct qs_port_piece){.status = QS_PULL_OK};
    if (f->dir_fd < 0) {
        refuse(piece, QS_PULL_MISSING, "no tracer has run");
        return;
    }
    int fd = open_own(f, TRACE, &st, &why);
    if (fd < 0) {
        refuse(piece, QS_PULL_NO_FILE, why);
        return;
    }
    uint64_t left = m->offset < f->max_bytes ? f->max_bytes - m->offset : 0;
    ssize_t n = pread(fd, f->piece, left < m->max_bytes ? (size_t)left : m->max_bytes, (off_t)m->offset);
    close(fd);
    if (n < 0) {
        refuse(piece, QS_PULL_UNREADABLE, strerror(errno));
        return;
    }
    piece->total_bytes = (uint64_t)st.st_size;
    piece->bytes = f->piece;
    piece->n = (size_t)n;
}

/* Entries are unlinked by name in an open folder: what they point to is not touched. */
static void empty_folder(int dir_fd, int depth)
{
    struct qs_dir dir;
    if (depth == 0 || !qs_dir_open_at(&dir, dir_fd, ".")) {
        return;
    }
    for (const char *name = qs_dir_next(&dir); name; name = qs_dir_next(&dir)) {
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || unlinkat(dir_fd, name, 0) == 0) {
            continue;
        }
        int inner = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (inner >= 0) {
            empty_folder(inner, depth - 1);
            close(inner);
            unlinkat(dir_fd, name, AT_REMOVEDIR);
        }
    }
    qs_dir_close(&dir);
}

void qs_trace_file_remove(struct qs_trace_file *f)
{
    if (f->dir_fd < 0) {
        return;
    }
    empty_folder(f->dir_fd, DEPTH_MAX);
    close(f->dir_fd);
    rmdir(f->dir);
    qs_trace_file_init(f);
}

/* A folder that nobody holds any more: its agent was killed. The lock tells, because a number of a process
 * may be another's by now, or one of another container. */
static void sweep_one(int parent_fd, const char *name)
{
    struct stat st;
    int fd = openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) {
        return;
    }
    bool ours = fstat(fd, &st) == 0 && (st.st_uid == geteuid() || geteuid() == 0);
    if (ours && flock(fd, LOCK_EX | LOCK_NB) == 0) {
        empty_folder(fd, DEPTH_MAX);
        unlinkat(parent_fd, name, AT_REMOVEDIR);
    }
    close(fd);
}

void qs_trace_file_sweep(void)
{
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        struct qs_dir dir;
        if (qs_dir_open(&dir, folders[i])) {
            for (const char *name = qs_dir_next(&dir); name; name = qs_dir_next(&dir)) {
                if (strncmp(name, PREFIX, sizeof PREFIX - 1) == 0) {
                    sweep_one(dir.fd, name);
                }
            }
            qs_dir_close(&dir);
        }
    }
}
