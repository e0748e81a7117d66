#include "linux/io.h"

#include "core/print.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SHORT_BYTES = 256 };

long qs_io_reread(int fd, char *text, size_t cap)
{
    size_t n = 0;
    while (n + 1 < cap) {
        ssize_t got = pread(fd, text + n, cap - 1 - n, (off_t)n);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0 && n == 0) {
            text[0] = '\0';
            return -1;
        }
        if (got <= 0) {
            break;
        }
        n += (size_t)got;
        if (n < SHORT_BYTES && text[n - 1] == '\n') {
            break; /* a driver's one line came whole: asking for more would cost as much again */
        }
    }
    text[n] = '\0';
    return (long)n;
}

long qs_io_read(const char *path, char *text, size_t cap)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        text[0] = '\0';
        return -1;
    }
    long n = qs_io_reread(fd, text, cap);
    close(fd);
    return n;
}

bool qs_io_write(int fd, const void *bytes, size_t n)
{
    for (const char *p = bytes; n > 0;) {
        ssize_t put = write(fd, p, n);
        if (put < 0 && errno == EINTR) {
            continue;
        }
        if (put <= 0) {
            errno = put == 0 ? ENOSPC : errno;
            return false;
        }
        p += put;
        n -= (size_t)put;
    }
    return true;
}

bool qs_io_line(const char *path, char *text, size_t cap)
{
    if (qs_io_read(path, text, cap) <= 0) {
        return false;
    }
    size_t n = strcspn(text, "\n");
    while (n > 0 && isspace((unsigned char)text[n - 1])) {
        n--;
    }
    text[n] = '\0';
    return n > 0;
}

bool qs_io_i64(const char **p, int64_t *value)
{
    return qs_io_decimal(p, 0, value);
}

const char *qs_io_stat_fields(const char *text)
{
    const char *end = strrchr(text, ')');
    return end && strlen(end) > 3 ? end + 4 : NULL;
}

bool qs_io_decimal(const char **p, int decimals, int64_t *value)
{
    const char *s = *p;
    while (*s == ' ' || *s == '\t') {
        s++;
    }
    bool minus = *s == '-';
    s += minus;
    if (!isdigit((unsigned char)*s)) {
        return false;
    }
    uint64_t v = 0;
    for (; isdigit((unsigned char)*s) && v < UINT64_C(100000000000000000); s++) {
        v = v * 10 + (uint64_t)(*s - '0');
    }
    bool point = decimals > 0 && *s == '.';
    s += point;
    for (int i = 0; i < decimals; i++) {
        bool digit = point && isdigit((unsigned char)*s);
        v = v * 10 + (digit ? (uint64_t)(*s - '0') : 0);
        s += digit;
        point = digit;
    }
    while (isdigit((unsigned char)*s)) {
        s++;
    }
    *value = minus ? -(int64_t)v : (int64_t)v;
    *p = s;
    return true;
}

void qs_io_append(char *text, size_t cap, const char *more)
{
    size_t n = strlen(text);
    size_t m = strlen(more);
    if (n + 1 >= cap) {
        return;
    }
    m = m < cap - 1 - n ? m : cap - 1 - n;
    memcpy(text + n, more, m);
    text[n + m] = '\0';
}

void qs_io_cpu_list(char *text, size_t cap, bool (*has)(void *arg, int cpu), void *arg)
{
    text[0] = '\0';
    for (int cpu = 0; cpu < QS_CPUS_MAX; cpu++) {
        if (!has(arg, cpu)) {
            continue;
        }
        int last = cpu;
        while (last + 1 < QS_CPUS_MAX && has(arg, last + 1)) {
            last++;
        }
        char part[48];
        const char *comma = text[0] ? "," : "";
        if (last > cpu) {
            qs_print(part, sizeof part, "%s%d-%d", comma, cpu, last);
        } else {
            qs_print(part, sizeof part, "%s%d", comma, cpu);
        }
        qs_io_append(text, cap, part);
        cpu = last;
    }
}

int64_t qs_io_now_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void qs_io_close(int *fd)
{
    int error = errno;
    if (*fd >= 0) {
        close(*fd);
    }
    *fd = -1;
    errno = error;
}

void qs_io_printable(char *text)
{
    for (; *text; text++) {
        if ((unsigned char)*text < 0x20 || (unsigned char)*text >= 0x7f) {
            *text = '?';
        }
    }
}

/* What getdents64 fills in (its man page); no header names it. */
struct entry {
    uint64_t ino;
    int64_t off;
    unsigned short reclen;
    unsigned char type;
    char name[];
};

bool qs_dir_open(struct qs_dir *dir, const char *path)
{
    return qs_dir_open_at(dir, AT_FDCWD, path);
}

bool qs_dir_open_at(struct qs_dir *dir, int dir_fd, const char *path)
{
    dir->at = dir->len = 0;
    dir->fd = openat(dir_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return dir->fd >= 0;
}

const char *qs_dir_next(struct qs_dir *dir)
{
    if (dir->at >= dir->len) {
        long n = syscall(SYS_getdents64, dir->fd, dir->bytes, sizeof dir->bytes);
        dir->at = 0;
        dir->len = n > 0 ? (size_t)n : 0;
        if (n <= 0) {
            return NULL;
        }
    }
    const struct entry *e = (const void *)(dir->bytes + dir->at);
    dir->at += e->reclen;
    return e->name;
}

void qs_dir_close(struct qs_dir *dir)
{
    close(dir->fd);
    dir->fd = -1;
}

void qs_io_let_go(int kept_fd)
{
    enum { INHERITED_MAX = 1024 };
    int fd = open("/dev/null", O_RDWR);
    for (int i = 0; i <= 2 && fd >= 0; i++) {
        dup2(fd, i);
    }
    for (int i = 3; i < INHERITED_MAX; i++) {
        if (i != kept_fd) {
            close(i);
        }
    }
}

/* Kernels before 3.17 have no getrandom. Without any randomness there is no session that could be trusted. */
void qs_io_random(uint8_t *bytes, size_t n)
{
    int fd = -1;
    bool again = true;
    while (n > 0 && again) {
        ssize_t got = fd >= 0 ? read(fd, bytes, n) : getrandom(bytes, n, 0);
        again = got > 0 || (got < 0 && errno == EINTR);
        bytes += got > 0 ? got : 0;
        n -= got > 0 ? (size_t)got : 0;
        if (!again && fd < 0) {
            fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
            again = fd >= 0;
        }
    }
    qs_io_close(&fd);
    if (n > 0) {
        abort();
    }
}
