#include "linux/pull.h"

#include "core/print.h"
#include "linux/io.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RECORD_BYTES = 8192, RECORDS_MAX = 65536 };

void qs_pull_init(struct qs_pull *pull)
{
    pull->log_fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    pull->log_errno = pull->log_fd < 0 ? errno : 0;
    pull->log_len = 0;
    pull->log_total = 0;
}

void qs_pull_begin(struct qs_pull *pull)
{
    pull->log_len = 0;
    pull->log_total = 0;
    clock_gettime(CLOCK_REALTIME_COARSE, &pull->began);
    if (pull->log_fd >= 0 && lseek(pull->log_fd, 0, SEEK_END) < 0) {
        pull->log_errno = errno;
        close(pull->log_fd);
        pull->log_fd = -1;
    }
}

/* A record is "priority,number,microseconds,flags;text\n" and lines of details, which begin with a blank. */
static void keep_record(struct qs_pull *pull, char *record)
{
    char line[RECORD_BYTES + 32];
    const char *p = record;
    int64_t field[3] = {0};
    char *text = strchr(record, ';');
    for (int i = 0; i < 3 && qs_io_i64(&p, &field[i]); i++) {
        p += *p == ',';
    }
    if (!text) {
        return;
    }
    text[strcspn(text, "\n")] = '\0';
    int n = qs_print(line, sizeof line, "[%" PRId64 ".%06" PRId64 "] %s\n", field[2] / 1000000,
                     field[2] % 1000000, text + 1);
    if (n > 0 && (size_t)n < sizeof line) {
        size_t room = sizeof pull->log - pull->log_len;
        size_t fits = (size_t)n < room ? (size_t)n : room;
        memcpy(pull->log + pull->log_len, line, fits);
        pull->log_len += fits;
        pull->log_total += (uint64_t)n;
    }
}

/* EPIPE: records were overwritten before we came; the next read goes on behind them. */
static void read_log(struct qs_pull *pull)
{
    char record[RECORD_BYTES];
    for (int i = 0; i < RECORDS_MAX; i++) {
        ssize_t n = read(pull->log_fd, record, sizeof record - 1);
        if (n < 0 && (errno == EPIPE || errno == EINTR)) {
            continue;
        }
        if (n <= 0) {
            return;
        }
        record[n] = '\0';
        keep_record(pull, record);
    }
}

static void fail(struct qs_port_piece *piece, enum qs_pull_status status, const char *why)
{
    piece->status = (uint8_t)status;
    qs_print(piece->why, sizeof piece->why, "%s", why);
}

static void kernel_log_piece(struct qs_pull *pull, const struct qs_msg_pull *m, struct qs_port_piece *piece)
{
    if (pull->log_fd < 0) {
        fail(piece, pull->log_errno == ENOENT ? QS_PULL_MISSING : QS_PULL_UNREADABLE,
             strerror(pull->log_errno));
        return;
    }
    if (m->offset == 0) {
        read_log(pull);
    }
    size_t at = m->offset < pull->log_len ? (size_t)m->offset : pull->log_len;
    size_t left = pull->log_len - at;
    piece->status = QS_PULL_OK;
    piece->total_bytes = pull->log_total;
    piece->bytes = pull->log + at;
    piece->n = left < m->max_bytes ? left : m->max_bytes;
}

/* The time of change is the kernel's: a program cannot set it back. */
static bool is_older(const struct stat *st, const struct timespec *began)
{
    return st->st_ctim.tv_sec < began->tv_sec ||
           (st->st_ctim.tv_sec == began->tv_sec && st->st_ctim.tv_nsec < began->tv_nsec);
}

static void file_piece(struct qs_pull *pull, int cwd_fd, const struct qs_identity *as,
                       const struct qs_msg_pull *m, struct qs_port_piece *piece)
{
    char path[QS_PATH_MAX_BYTES + 1];
    struct stat st;
    qs_text_copy(m->path, path, sizeof path);
    /* With the rights of whoever has left it: a link that leads elsewhere shows what its maker may see. */
    int fd = qs_identity_open(as, cwd_fd, path, O_RDONLY);
    if (fd < 0) {
        fail(piece, errno == ENOENT || errno == ENOTDIR ? QS_PULL_MISSING : QS_PULL_UNREADABLE,
             strerror(errno));
        return;
    }
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        fail(piece, QS_PULL_NO_FILE, "not a regular file");
    } else {
        ssize_t n = pread(fd, pull->piece, m->max_bytes, (off_t)m->offset);
        if (n < 0) {
            fail(piece, QS_PULL_UNREADABLE, strerror(errno));
        } else {
            piece->status = QS_PULL_OK;
            piece->total_bytes = (uint64_t)st.st_size;
            piece->bytes = pull->piece;
            piece->n = (size_t)n;
            qs_print(piece->why, sizeof piece->why, "%s",
                     is_older(&st, &pull->began) ? "it is older than the run, which did not write it" : "");
        }
    }
    close(fd);
}

void qs_pull_piece(struct qs_pull *pull, int cwd_fd, const struct qs_identity *as,
                   const struct qs_msg_pull *m, struct qs_port_piece *piece)
{
    *piece = (struct qs_port_piece){.status = QS_PULL_OK};
    if (m->source == QS_PULL_KERNEL_LOG) {
        kernel_log_piece(pull, m, piece);
    } else {
        file_piece(pull, cwd_fd, as, m, piece);
    }
}
