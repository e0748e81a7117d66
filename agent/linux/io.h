/* Small files and folders of /proc and /sys, without the heap. */
#ifndef QS_LINUX_IO_H
#define QS_LINUX_IO_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

/* Reads a file's beginning into text, at most cap - 1 bytes and always NUL-terminated. Returns the number of
 * bytes, or -1 (text is "" then). */
long qs_io_read(const char *path, char *text, size_t cap);
/* The same for an open descriptor, from its start; it stays open. */
long qs_io_reread(int fd, char *text, size_t cap);
/* All of them, where the descriptor stands. False: errno. */
bool qs_io_write(int fd, const void *bytes, size_t n);
/* qs_io_read, cut at the first line's end and freed of trailing blanks. False where the file is unreadable or
 * empty. */
bool qs_io_line(const char *path, char *text, size_t cap);
/* A whole number after optional blanks at *p; moves *p behind it. */
bool qs_io_i64(const char **p, int64_t *value);
/* Behind the state's letter of a /proc/PID/stat (proc(5)): the fields from the fourth on. NULL where it ends
 * before. The name in it may hold anything. */
const char *qs_io_stat_fields(const char *text);
/* "12.34" as 1234 for decimals = 2 (cut, not rounded); moves *p behind it. */
bool qs_io_decimal(const char **p, int decimals, int64_t *value);
/* Appends to text, cut at cap - 1 bytes. */
void qs_io_append(char *text, size_t cap, const char *more);
/* "0-3,6" of the first `bits` CPUs of a set given as a test function. */
void qs_io_cpu_list(char *text, size_t cap, bool (*has)(void *arg, int cpu), void *arg);
int64_t qs_io_now_ns(clockid_t clock);
/* Closes it unless it is -1, which it is then; errno stays. */
void qs_io_close(int *fd);
/* All of them, or the program ends. */
void qs_io_random(uint8_t *bytes, size_t n);
/* Of a process that was forked from ours: it holds none of our files but this one (-1: none), its standard
 * streams are /dev/null. */
void qs_io_let_go(int kept_fd);
/* Bytes that a terminal or a log cannot show become '?'. */
void qs_io_printable(char *text);

/* What a cpu_set_t holds, in bits; musl's CPU_SETSIZE is smaller than its set. */
enum { QS_CPUS_MAX = 8 * sizeof(cpu_set_t) };

/* Entries of a folder. Open, next until false, close. */
struct qs_dir {
    int fd;
    size_t at, len;
    _Alignas(8) char bytes[8192];
};
bool qs_dir_open(struct qs_dir *dir, const char *path);
bool qs_dir_open_at(struct qs_dir *dir, int dir_fd, const char *path);
/* The next entry's name (valid until the next call), or NULL. */
const char *qs_dir_next(struct qs_dir *dir);
void qs_dir_close(struct qs_dir *dir);

#endif
