#include "linux/stream.h"

#include "core/print.h"
#include "linux/io.h"

#include "linux/memory.h"
#include "proto/names.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PAGE_BYTES = 4096 };

void qs_stream_init(struct qs_linux_stream *s)
{
    s->on = s->due = false;
    s->spool_fd = -1;
}

void qs_stream_begin(struct qs_linux_stream *s, const struct qs_msg_run_begin *run, int dir_fd,
                     const struct qs_identity *as)
{
    s->as = as;
    s->on = run->mode == QS_RUN_STREAM;
    s->source = run->stream.source;
    s->max_bytes = run->stream.document_max_bytes;
    s->dir_fd = dir_fd;
    s->due = false;
    qs_text_copy(run->stream.path, s->path, sizeof s->path);
}

static void remove_file(const struct qs_linux_stream *s)
{
    struct qs_identity own;
    if (s->as && !qs_identity_lend(s->as, &own)) {
        return;
    }
    unlinkat(s->dir_fd, s->path, 0);
    if (s->as) {
        qs_identity_end_loan(&own);
    }
}

/* What the process made is ours to take away: it was not there before. */
static void take_away(struct qs_linux_stream *s)
{
    struct stat st;
    if (s->due && s->source == QS_STREAM_FILE && fstatat(s->dir_fd, s->path, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
        (S_ISREG(st.st_mode) || S_ISLNK(st.st_mode))) {
        remove_file(s);
    }
    s->due = false;
}

static void close_spool(struct qs_linux_stream *s)
{
    qs_io_close(&s->spool_fd);
}

void qs_stream_end(struct qs_linux_stream *s)
{
    if (s->on) {
        take_away(s);
    }
    close_spool(s);
    s->on = false;
}

/* Larger than what is kept, by a byte at least: who fills it has written too much. */
static size_t spool_bytes(const struct qs_linux_stream *s)
{
    return ((size_t)s->max_bytes + PAGE_BYTES) / PAGE_BYTES * PAGE_BYTES;
}

bool qs_stream_window(struct qs_linux_stream *s, struct qs_port_fault *fault)
{
    take_away(s);
    close_spool(s);
    if (s->source == QS_STREAM_FILE) {
        return true;
    }
    s->spool_fd = qs_memory_open("quiesce-stream", spool_bytes(s));
    if (s->spool_fd >= 0) {
        return true;
    }
    fault->blame = QS_WIRE_BLAME_DEVICE;
    fault->wire_code = QS_CODE_RESOURCE;
    fault->code = errno;
    qs_print(fault->text, sizeof fault->text, "no memory for the output: %s", strerror(errno));
    return false;
}

bool qs_stream_start(struct qs_linux_stream *s, struct qs_port_fault *fault)
{
    struct stat st;
    if (s->source == QS_STREAM_FILE && fstatat(s->dir_fd, s->path, &st, AT_SYMLINK_NOFOLLOW) == 0) {
        fault->blame = QS_WIRE_BLAME_OPERATOR;
        fault->wire_code = QS_CODE_STATE;
        fault->code = EEXIST;
        qs_print(
            fault->text, sizeof fault->text,
            "'%.120s' is there before the program has run: it would be read as what this one wrote; take "
            "it away, or say prepare: [rm, -f, %.60s]",
            s->path, s->path);
        return false;
    }
    s->due = true;
    return true;
}

static void fail(struct qs_port_document *document, enum qs_pull_status status, const char *why)
{
    *document = (struct qs_port_document){.status = (uint8_t)status};
    qs_print(document->why, sizeof document->why, "%s", why);
}

static void copy(int fd, uint64_t total_bytes, uint8_t *memory, size_t cap, struct qs_port_document *document)
{
    size_t want = total_bytes < cap ? (size_t)total_bytes : cap;
    size_t n = 0;
    while (n < want) {
        ssize_t got = pread(fd, memory + n, want - n, (off_t)n);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            fail(document, QS_PULL_UNREADABLE, strerror(errno));
            return;
        }
        if (got == 0) {
            break;
        }
        n += (size_t)got;
    }
    *document =
        (struct qs_port_document){.status = QS_PULL_OK, .total_bytes = n < want ? n : total_bytes, .n = n};
}

/* With the rights of who made it: what its path leads to is no more than its maker may see. */
static void take_file(struct qs_linux_stream *s, uint8_t *memory, size_t cap,
                      struct qs_port_document *document)
{
    struct stat st;
    int fd = qs_identity_open(s->as, s->dir_fd, s->path, O_RDONLY | O_NOFOLLOW);
    if (fd < 0) {
        fail(document,
             errno == ENOENT || errno == ENOTDIR ? QS_PULL_MISSING
             : errno == ELOOP                    ? QS_PULL_NO_FILE
                                                 : QS_PULL_UNREADABLE,
             errno == ELOOP ? "a symbolic link" : strerror(errno));
        return;
    }
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        fail(document, QS_PULL_NO_FILE, "not a regular file");
    } else {
        copy(fd, (uint64_t)st.st_size, memory, cap, document);
    }
    close(fd);
}

void qs_stream_take(struct qs_linux_stream *s, uint8_t *memory, size_t cap, struct qs_port_document *document)
{
    if (s->source == QS_STREAM_FILE) {
        take_file(s, memory, cap, document);
        take_away(s);
        return;
    }
    off_t written = lseek(s->spool_fd, 0, SEEK_CUR);
    if (written < 0) {
        fail(document, QS_PULL_UNREADABLE, strerror(errno));
    } else {
        /* Where the next byte would go is for the program to say, but there is no more than this. */
        uint64_t most = spool_bytes(s);
        copy(s->spool_fd, (uint64_t)written < most ? (uint64_t)written : most, memory, cap, document);
    }
    close_spool(s);
    s->due = false;
}
