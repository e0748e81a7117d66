#include "linux/spool.h"

#include "core/print.h"
#include "linux/io.h"
#include "proto/crc32c.h"
#include "proto/limits.h"
#include "proto/wire.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { VERSION = 1, SUMMED_AT = QS_SPOOL_MARK_BYTES + 4 };

static const char mark[] = "QSSPOOL"; /* and the version in place of its NUL */

/* ---- records ---- */

static uint32_t sum_of(const uint8_t head[QS_SPOOL_HEAD_BYTES])
{
    return qs_crc32c(0, head + SUMMED_AT, QS_SPOOL_HEAD_BYTES - SUMMED_AT);
}

void qs_spool_encode(const struct qs_ring_window *w, uint64_t order, const uint8_t *body,
                     uint8_t head[QS_SPOOL_HEAD_BYTES])
{
    struct qs_writer out;
    qs_writer_init(&out, head, QS_SPOOL_HEAD_BYTES);
    qs_put_bytes(&out, mark, QS_SPOOL_MARK_BYTES - 1);
    qs_put_u8(&out, VERSION);
    qs_put_u32(&out, 0);
    qs_put_u32(&out, qs_crc32c(0, body, qs_ring_bytes(w)));
    qs_put_u64(&out, order);
    qs_put_uid(&out, &w->farm);
    qs_put_uid(&out, &w->run);
    qs_put_u32(&out, w->window);
    qs_put_u64(&out, w->first_seq);
    qs_put_u32(&out, w->rows);
    qs_put_u16(&out, w->metrics);
    qs_put_u16(&out, w->first_metric);
    qs_put_u8(&out, w->document.has);
    qs_put_u8(&out, w->document.status);
    qs_put_u64(&out, w->document.total_bytes);
    qs_put_u32(&out, (uint32_t)w->closed_bytes);
    qs_put_u32(&out, (uint32_t)w->document_bytes);
    qs_writer_init(&out, head + QS_SPOOL_MARK_BYTES, 4);
    qs_put_u32(&out, sum_of(head));
}

uint64_t qs_spool_decode(const uint8_t head[QS_SPOOL_HEAD_BYTES], struct qs_ring_window *w, uint32_t *crc)
{
    struct qs_wire_reader in;
    qs_reader_init(&in, head + QS_SPOOL_MARK_BYTES, QS_SPOOL_HEAD_BYTES - QS_SPOOL_MARK_BYTES);
    *w = (struct qs_ring_window){.sent = true}; /* by whoever has kept it, for all that we know */
    bool whole = qs_get_u32(&in) == sum_of(head);
    *crc = qs_get_u32(&in);
    uint64_t order = qs_get_u64(&in);
    w->farm = qs_get_uid(&in);
    w->run = qs_get_uid(&in);
    w->window = qs_get_u32(&in);
    w->first_seq = qs_get_u64(&in);
    w->rows = qs_get_u32(&in);
    w->metrics = qs_get_u16(&in);
    w->first_metric = qs_get_u16(&in);
    w->document.has = qs_get_u8(&in) != 0;
    w->document.status = qs_get_u8(&in);
    w->document.total_bytes = qs_get_u64(&in);
    w->closed_bytes = qs_get_u32(&in);
    w->document_bytes = qs_get_u32(&in);
    w->rows_bytes = (size_t)w->rows * qs_ring_row_bytes(w->metrics);
    bool ours = memcmp(head, mark, QS_SPOOL_MARK_BYTES - 1) == 0 && head[QS_SPOOL_MARK_BYTES - 1] == VERSION;
    bool fits = w->rows > 0 && w->rows <= QS_ITERATIONS_MAX && w->metrics <= QS_METRICS_MAX &&
                w->first_seq <= QS_SEQ_MAX && w->closed_bytes <= QS_RING_CLOSED_BYTES &&
                w->document_bytes <= QS_DOCUMENT_MAX_BYTES;
    return ours && whole && fits ? order : 0;
}

/* ---- places ---- */

static void name_of(uint16_t at, char name[QS_SPOOL_NAME_BYTES])
{
    qs_print(name, QS_SPOOL_NAME_BYTES, "spool.%03u", (unsigned)at - 1);
}

static int open_place(const struct qs_spool *s, uint16_t at, int flags)
{
    char name[QS_SPOOL_NAME_BYTES];
    name_of(at, name);
    return openat(s->dir_fd, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC | flags, 0600);
}

static void remove_place(struct qs_spool *s, uint16_t at)
{
    char name[QS_SPOOL_NAME_BYTES];
    name_of(at, name);
    unlinkat(s->dir_fd, name, 0); /* where it stays it is found again, offered and acknowledged */
    s->places[at - 1] = QS_SPOOL_FREE;
    if (s->at == at) {
        qs_io_close(&s->fd);
    }
}

/* At the beginning of the place that is open. Its file keeps its size, so that nothing but these bytes has to
 * reach the disk. */
static bool write_at_start(const struct qs_spool *s, const uint8_t *head, size_t n, const uint8_t *body,
                           size_t body_n)
{
    return lseek(s->fd, 0, SEEK_SET) == 0 && qs_io_write(s->fd, head, n) &&
           qs_io_write(s->fd, body, body_n) && fdatasync(s->fd) == 0;
}

/* A place for so many bytes is open, and the disk has room for them. Not all file systems can promise that.
 */
static bool take_place(struct qs_spool *s, size_t bytes)
{
    struct stat st;
    if (s->fd >= 0 && s->places[s->at - 1] != QS_SPOOL_FREE) {
        qs_io_close(&s->fd);
    }
    if (s->fd < 0) {
        uint16_t at = 1;
        while (at <= QS_SPOOL_PLACES && s->places[at - 1] != QS_SPOOL_FREE) {
            at++;
        }
        errno = ENOSPC;
        s->fd = at <= QS_SPOOL_PLACES ? open_place(s, at, O_CREAT) : -1;
        if (s->fd < 0) {
            return false;
        }
        s->at = at;
        if (fsync(s->dir_fd) != 0) {
            qs_io_close(&s->fd);
            return false;
        }
    }
    if (fstat(s->fd, &st) != 0) {
        return false;
    }
    if ((uint64_t)st.st_size >= bytes) {
        return true;
    }
    if (fallocate(s->fd, 0, 0, (off_t)bytes) != 0) {
        return errno == EOPNOTSUPP || errno == ENOSYS;
    }
    return fdatasync(s->fd) == 0;
}

static bool write_window(struct qs_spool *s, const struct qs_ring *ring, struct qs_ring_window *w)
{
    uint8_t head[QS_SPOOL_HEAD_BYTES];
    const uint8_t *body = ring->memory + w->at;
    qs_spool_encode(w, s->order + 1, body, head);
    if (!take_place(s, sizeof head + qs_ring_bytes(w)) ||
        !write_at_start(s, head, sizeof head, body, qs_ring_bytes(w))) {
        return false;
    }
    s->order++;
    w->slot = s->at;
    s->places[s->at - 1] = QS_SPOOL_TAKEN;
    return true;
}

static bool fail(struct qs_port_fault *fault)
{
    fault->code = errno;
    qs_print(fault->text, sizeof fault->text,
             "the folder --state cannot keep what is measured until it is acknowledged, so nothing is: %s",
             strerror(errno));
    return false;
}

bool qs_spool_reserve(struct qs_spool *s, struct qs_ring *ring, size_t bytes, struct qs_port_fault *fault)
{
    qs_spool_tidy(s, ring);
    for (size_t i = 0; i < qs_ring_complete(ring); i++) {
        if (ring->windows[i].slot == 0 && !write_window(s, ring, &ring->windows[i])) {
            return fail(fault);
        }
    }
    return take_place(s, QS_SPOOL_HEAD_BYTES + bytes) || fail(fault);
}

void qs_spool_keep(struct qs_spool *s, const struct qs_ring *ring, struct qs_ring_window *w)
{
    (void)write_window(s, ring, w); /* else the next window is not opened before it is there */
}

/* That which is open is used again for the next window, and its file keeps its blocks meanwhile: no change of
 * the file system is left to be written in a window. */
void qs_spool_tidy(struct qs_spool *s, const struct qs_ring *ring)
{
    static const uint8_t zeros[QS_SPOOL_MARK_BYTES];
    uint8_t used[QS_SPOOL_PLACES + 1] = {0};
    for (size_t i = 0; i < qs_ring_complete(ring); i++) {
        used[ring->windows[i].slot] = 1;
    }
    for (uint16_t at = 1; at <= QS_SPOOL_PLACES; at++) {
        if (s->places[at - 1] != QS_SPOOL_TAKEN || used[at]) {
            continue;
        }
        s->places[at - 1] = QS_SPOOL_FREE;
        if (s->fd < 0 || s->at != at || !write_at_start(s, zeros, sizeof zeros, NULL, 0)) {
            remove_place(s, at);
        }
    }
}

void qs_spool_rest(struct qs_spool *s, const struct qs_ring *ring)
{
    if (s->fd >= 0) {
        qs_spool_tidy(s, ring);
    }
    if (s->fd >= 0 && s->places[s->at - 1] == QS_SPOOL_FREE) {
        remove_place(s, s->at);
    }
    qs_io_close(&s->fd);
}

/* ---- what an earlier agent has left ---- */

static void note(struct qs_spool *s, uint16_t at, const char *what)
{
    char name[QS_SPOOL_NAME_BYTES];
    name_of(at, name);
    qs_io_append(s->note, sizeof s->note, "; ");
    qs_io_append(s->note, sizeof s->note, name);
    qs_io_append(s->note, sizeof s->note, what);
}

static uint64_t leave(struct qs_spool *s, uint16_t at, const char *what)
{
    s->places[at - 1] = QS_SPOOL_FOREIGN;
    note(s, at, what);
    return 0;
}

static uint64_t drop(struct qs_spool *s, uint16_t at)
{
    remove_place(s, at);
    note(s, at, " was torn or damaged and is dropped");
    return 0;
}

/* The order of what is kept in this place; 0: nothing is. */
static uint64_t look(struct qs_spool *s, uint16_t at)
{
    static const uint8_t zeros[QS_SPOOL_MARK_BYTES];
    uint8_t head[QS_SPOOL_HEAD_BYTES] = {0};
    struct qs_ring_window w;
    uint32_t crc;
    int fd = open_place(s, at, 0);
    if (fd < 0 && errno == ENOENT) {
        return 0;
    }
    ssize_t got = fd >= 0 ? pread(fd, head, sizeof head, 0) : -1;
    qs_io_close(&fd);
    if (got < 0) {
        return leave(s, at, " cannot be read");
    }
    if (memcmp(head, zeros, sizeof zeros) == 0) {
        remove_place(s, at);
        return 0;
    }
    if (memcmp(head, mark, QS_SPOOL_MARK_BYTES - 1) == 0 && head[QS_SPOOL_MARK_BYTES - 1] > VERSION) {
        return leave(s, at, " is of a newer agent and waits for one");
    }
    uint64_t order = qs_spool_decode(head, &w, &crc);
    return order > 0 ? order : drop(s, at);
}

static bool read_all(int fd, uint8_t *bytes, size_t n, off_t at)
{
    ssize_t got = 1;
    while (n > 0 && (got > 0 || (got < 0 && errno == EINTR))) {
        got = pread(fd, bytes, n, at);
        bytes += got > 0 ? got : 0;
        n -= got > 0 ? (size_t)got : 0;
        at += got > 0 ? got : 0;
    }
    return n == 0;
}

/* Numbers of a run follow each other: what has a hole behind it can never be stored. It was acknowledged with
 * what is missing, and its place was not yet erased when the power was cut. */
static void load(struct qs_spool *s, uint16_t at, struct qs_ring *ring)
{
    uint8_t head[QS_SPOOL_HEAD_BYTES];
    struct qs_ring_window w;
    struct qs_ring_span before;
    uint32_t crc = 0;
    size_t n = 0;
    int fd = open_place(s, at, 0);
    bool ok = fd >= 0 && read_all(fd, head, sizeof head, 0) && qs_spool_decode(head, &w, &crc) > 0;
    bool more = ok && qs_ring_span(ring, &w.farm, &w.run, &before);
    uint8_t *body = ok ? qs_ring_put_back(ring, &w, &n) : NULL;
    if (ok && !body) {
        leave(s, at, " waits until there is room for it");
    } else if (ok && read_all(fd, body, n, sizeof head) && qs_crc32c(0, body, n) == crc &&
               (!more || before.next <= w.first_seq)) {
        ring->windows[ring->count - 1].slot = at;
        s->places[at - 1] = QS_SPOOL_TAKEN;
        if (more && before.next < w.first_seq) {
            qs_ring_ack(ring, &w.farm, &w.run, before.next);
        }
    } else {
        if (body) {
            qs_ring_drop_last(ring);
        }
        drop(s, at);
    }
    qs_io_close(&fd);
}

void qs_spool_init(struct qs_spool *s)
{
    s->dir_fd = s->lock_fd = s->fd = -1;
    s->at = 0;
    s->order = 0;
    memset(s->places, QS_SPOOL_FREE, sizeof s->places);
    qs_print(s->note, sizeof s->note,
             "none: without --state what is measured is kept in memory alone until the host has it");
}

void qs_spool_open(struct qs_spool *s, const char *dir, int dir_fd, int lock_fd, struct qs_ring *ring)
{
    static uint64_t orders[QS_SPOOL_PLACES + 1]; /* [0] is the greatest: no place */
    qs_spool_init(s);
    s->dir_fd = dir_fd;
    s->lock_fd = lock_fd;
    qs_print(s->note, sizeof s->note, "%.200s", dir);
    for (uint16_t at = 1; at <= QS_SPOOL_PLACES; at++) {
        orders[at] = look(s, at);
    }
    orders[0] = UINT64_MAX;
    for (;;) {
        uint16_t first = 0;
        for (uint16_t at = 1; at <= QS_SPOOL_PLACES; at++) {
            first = orders[at] > 0 && orders[at] < orders[first] ? at : first;
        }
        if (first == 0) {
            break;
        }
        s->order = orders[first];
        orders[first] = 0;
        load(s, first, ring);
    }
    qs_spool_tidy(s, ring);
}

void qs_spool_close(struct qs_spool *s, const struct qs_ring *ring)
{
    if (s->dir_fd >= 0) {
        qs_spool_rest(s, ring);
    }
    qs_io_close(&s->dir_fd);
    qs_io_close(&s->lock_fd);
}
