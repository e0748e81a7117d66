#include "linux/journal.h"

#include "core/print.h"
#include "linux/files.h"
#include "linux/io.h"
#include "proto/crc32c.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

enum { LENGTH_BYTES = 2, CRC_BYTES = 4 };

static const char name[] = "control.journal";
static const char new_name[] = "control.journal.new";
static const char lock_name[] = "control.lock";

size_t qs_journal_encode(const struct qs_journal_record *r, uint8_t *out, size_t cap)
{
    struct qs_writer w;
    struct qs_writer length;
    qs_writer_init(&w, out, cap);
    qs_put_u16(&w, 0);
    qs_put_u8(&w, (uint8_t)r->kind);
    if (r->kind == QS_JOURNAL_HEAD) {
        qs_put_text(&w, r->boot);
        qs_put_text(&w, r->root);
    } else {
        if (r->kind == QS_JOURNAL_SET) {
            qs_put_u8(&w, r->flags);
        }
        qs_put_text(&w, r->path);
        if (r->kind == QS_JOURNAL_SET) {
            qs_put_text(&w, r->value);
        }
    }
    if (!w.ok || w.len + CRC_BYTES > QS_JOURNAL_RECORD_BYTES) {
        return 0;
    }
    qs_writer_init(&length, out, LENGTH_BYTES);
    qs_put_u16(&length, (uint16_t)(w.len - LENGTH_BYTES));
    qs_put_u32(&w, qs_crc32c(0, out, w.len));
    return w.ok ? w.len : 0;
}

static bool fits(struct qs_text text, size_t least, size_t cap)
{
    return text.n >= least && text.n < cap;
}

static bool read_fields(struct qs_wire_reader *r, struct qs_journal_record *out)
{
    *out = (struct qs_journal_record){.kind = (enum qs_journal_kind)qs_get_u8(r)};
    switch (out->kind) {
    case QS_JOURNAL_HEAD:
        out->boot = qs_get_text(r);
        out->root = qs_get_text(r);
        return fits(out->boot, 1, QS_JOURNAL_BOOT_BYTES) && fits(out->root, 1, QS_JOURNAL_ROOT_BYTES);
    case QS_JOURNAL_SET:
        out->flags = qs_get_u8(r);
        out->path = qs_get_text(r);
        out->value = qs_get_text(r);
        return fits(out->path, 1, QS_JOURNAL_TEXT_BYTES) && fits(out->value, 0, QS_JOURNAL_TEXT_BYTES);
    case QS_JOURNAL_DONE:
        out->path = qs_get_text(r);
        return fits(out->path, 1, QS_JOURNAL_TEXT_BYTES);
    }
    return false;
}

size_t qs_journal_decode(const uint8_t *bytes, size_t n, struct qs_journal_record *r)
{
    struct qs_wire_reader in;
    qs_reader_init(&in, bytes, n);
    size_t body = qs_get_u16(&in);
    size_t whole = LENGTH_BYTES + body + CRC_BYTES;
    if (in.err != 0 || whole > n || whole > QS_JOURNAL_RECORD_BYTES) {
        return 0;
    }
    in.left = body;
    if (!read_fields(&in, r) || in.err != 0 || in.left != 0) {
        return 0;
    }
    qs_reader_init(&in, bytes + LENGTH_BYTES + body, CRC_BYTES);
    return qs_get_u32(&in) == qs_crc32c(0, bytes, LENGTH_BYTES + body) ? whole : 0;
}

static struct qs_journal_entry *find(struct qs_journal_state *state, struct qs_text path)
{
    for (size_t i = 0; i < state->count; i++) {
        if (qs_text_is(path, state->entries[i].path)) {
            return &state->entries[i];
        }
    }
    return NULL;
}

static void forget(struct qs_journal_state *state, size_t i)
{
    state->count--;
    memmove(&state->entries[i], &state->entries[i + 1], (state->count - i) * sizeof state->entries[0]);
}

static struct qs_journal_entry *add(struct qs_journal_state *state, struct qs_text path, struct qs_text value)
{
    struct qs_journal_entry *e = &state->entries[state->count++];
    *e = (struct qs_journal_entry){.stuck_fd = -1};
    qs_text_copy(path, e->path, sizeof e->path);
    qs_text_copy(value, e->value, sizeof e->value);
    return e;
}

static void apply(struct qs_journal_state *state, const struct qs_journal_record *r)
{
    if (r->kind == QS_JOURNAL_HEAD) {
        qs_text_copy(r->boot, state->boot, sizeof state->boot);
        qs_text_copy(r->root, state->root, sizeof state->root);
        return;
    }
    struct qs_journal_entry *e = find(state, r->path);
    if (r->kind == QS_JOURNAL_DONE) {
        if (e) {
            forget(state, (size_t)(e - state->entries));
        }
    } else if (e) {
        e->flags |= r->flags;
    } else if (state->count < QS_JOURNAL_ENTRIES) {
        add(state, r->path, r->value)->flags = r->flags;
    } else {
        state->damaged = true; /* none of ours has so many */
    }
}

void qs_journal_replay(struct qs_journal_state *state, const uint8_t *bytes, size_t n)
{
    bool lost = false;
    state->count = 0;
    state->boot[0] = state->root[0] = '\0';
    state->damaged = false;
    for (size_t at = 0; at < n;) {
        struct qs_journal_record r;
        size_t used = qs_journal_decode(bytes + at, n - at, &r);
        if (used > 0) {
            state->damaged = state->damaged || lost;
            lost = false;
            apply(state, &r);
        }
        lost = lost || used == 0;
        at += used > 0 ? used : 1;
    }
}

static bool write_record(int fd, const struct qs_journal_record *r, size_t *bytes)
{
    uint8_t out[QS_JOURNAL_RECORD_BYTES];
    size_t n = qs_journal_encode(r, out, sizeof out);
    if (n == 0) {
        errno = E2BIG;
        return false;
    }
    *bytes += n;
    return qs_io_write(fd, out, n);
}

static bool write_head(const struct qs_journal *j, int fd, size_t *bytes)
{
    const struct qs_journal_record head = {
        .kind = QS_JOURNAL_HEAD, .boot = qs_text_of(j->boot), .root = qs_text_of(j->root)};
    return write_record(fd, &head, bytes);
}

static bool write_set(int fd, const char *path, const char *value, uint8_t flags, size_t *bytes)
{
    const struct qs_journal_record set = {
        .kind = QS_JOURNAL_SET, .flags = flags, .path = qs_text_of(path), .value = qs_text_of(value)};
    return write_record(fd, &set, bytes);
}

static bool empty(struct qs_journal *j)
{
    if (ftruncate(j->fd, 0) != 0 || fdatasync(j->fd) != 0) {
        return false;
    }
    j->bytes = 0;
    return true;
}

enum {
    COMPACT_BYTES = QS_JOURNAL_FILE_BYTES / 2
}; /* a longer file is written anew: a start reads all of it */

/* The whole state in a new file, which takes the old one's place in one step. */
static bool replace(struct qs_journal *j)
{
    size_t bytes = 0;
    int fd =
        openat(j->dir_fd, new_name, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
    bool ok = fd >= 0 && write_head(j, fd, &bytes);
    for (size_t i = 0; ok && i < j->state.count; i++) {
        const struct qs_journal_entry *e = &j->state.entries[i];
        ok = write_set(fd, e->path, e->value, e->flags, &bytes);
    }
    ok = ok && fdatasync(fd) == 0 && renameat(j->dir_fd, new_name, j->dir_fd, name) == 0;
    if (!ok) {
        qs_io_close(&fd);
        return false;
    }
    qs_io_close(&j->fd);
    j->fd = fd;
    j->bytes = bytes;
    return fsync(j->dir_fd) == 0;
}

static bool rewrite(struct qs_journal *j)
{
    j->broken = !(j->state.count == 0 ? empty(j) : replace(j));
    return !j->broken;
}

/* One more record, after the head where it is the first. False: nothing is known of the file's end. */
static bool append(struct qs_journal *j, const char *path, const char *value, uint8_t flags)
{
    if ((j->broken || j->bytes > COMPACT_BYTES) && !rewrite(j)) {
        return false;
    }
    size_t bytes = j->bytes;
    bool ok = (j->bytes > 0 || write_head(j, j->fd, &bytes)) &&
              write_set(j->fd, path, value, flags, &bytes) && fdatasync(j->fd) == 0;
    if (!ok) {
        int error = errno;
        j->broken = true;
        (void)!ftruncate(j->fd, (off_t)j->bytes); /* it was not changed: better if nobody puts it back */
        errno = error;
        return false;
    }
    j->bytes = bytes;
    return true;
}

struct qs_journal_entry *qs_journal_find(struct qs_journal *j, const char *path)
{
    return find(&j->state, qs_text_of(path));
}

bool qs_journal_keep(struct qs_journal *j, const char *path, const char *value, uint8_t flags)
{
    struct qs_journal_entry *e = find(&j->state, qs_text_of(path));
    if (e && (flags & ~e->flags) == 0) {
        return true;
    }
    if (!e && j->state.count >= QS_JOURNAL_ENTRIES) {
        errno = ENOSPC;
        return false;
    }
    if (!append(j, path, e ? e->value : value, flags)) {
        return false;
    }
    if (!e) {
        e = add(&j->state, qs_text_of(path), qs_text_of(value));
    }
    e->flags |= flags;
    return true;
}

/* Not synced: putting it back once more does no harm. */
void qs_journal_release(struct qs_journal *j, size_t i)
{
    const struct qs_journal_record done = {.kind = QS_JOURNAL_DONE,
                                           .path = qs_text_of(j->state.entries[i].path)};
    if (j->state.count > 1 && !j->broken) {
        j->broken = !write_record(j->fd, &done, &j->bytes);
    }
    forget(&j->state, i);
    if (j->state.count == 0 || j->bytes > COMPACT_BYTES) {
        rewrite(j);
    }
}

static bool read_file(struct qs_journal *j)
{
    static uint8_t bytes[QS_JOURNAL_FILE_BYTES];
    size_t n = 0;
    ssize_t got = 1;
    while (got != 0 && n < sizeof bytes) {
        got = pread(j->fd, bytes + n, sizeof bytes - n, (off_t)n);
        if (got < 0 && errno != EINTR) {
            return false;
        }
        n += got > 0 ? (size_t)got : 0;
    }
    qs_journal_replay(&j->state, bytes, n);
    j->state.damaged = j->state.damaged || n == sizeof bytes;
    j->bytes = n;
    return true;
}

static void forget_volatile(struct qs_journal *j)
{
    for (size_t i = j->state.count; i-- > 0;) {
        if (!(j->state.entries[i].flags & QS_JOURNAL_PERSISTENT)) {
            forget(&j->state, i);
        }
    }
}

static bool fail(struct qs_journal *j, const char *dir, const char *why, char *error)
{
    qs_print(error, QS_JOURNAL_ERROR_BYTES, "no journal in '%.150s': %.150s", dir, why);
    qs_journal_close(j);
    j->state.count = 0;
    return false;
}

static bool is_own(int fd, struct stat *file)
{
    return fstat(fd, file) == 0 && S_ISREG(file->st_mode) && file->st_uid == geteuid() &&
           file->st_nlink == 1 && (file->st_mode & 022) == 0;
}

/* What is read there is written into the device's files, perhaps by root. */
static bool is_ours(const struct qs_journal *j)
{
    struct stat dir;
    struct stat file;
    return fstat(j->dir_fd, &dir) == 0 && (dir.st_mode & 022) == 0 && is_own(j->fd, &file);
}

void qs_journal_say_holder(const struct qs_journal *j)
{
    char text[16];
    int n = qs_print(text, sizeof text, "%d\n", (int)getpid());
    if (ftruncate(j->lock_fd, 0) == 0) {
        (void)!pwrite(j->lock_fd, text, (size_t)n, 0); /* without it nobody knows, and that is all */
    }
}

/* Who has the lock, with its name. 0: nobody knows. */
static pid_t find_holder(const struct qs_journal *j, char comm[32])
{
    char text[16] = "";
    char path[32];
    struct stat file;
    const char *p = text;
    int64_t pid = 0;
    int fd = openat(j->dir_fd, lock_name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    bool known = fd >= 0 && is_own(fd, &file) && pread(fd, text, sizeof text - 1, 0) > 0 &&
                 qs_io_i64(&p, &pid) && pid > 1 && pid <= INT32_MAX;
    qs_io_close(&fd);
    qs_print(path, sizeof path, "/proc/%d/comm", (int)pid);
    return known && qs_io_line(path, comm, 32) ? (pid_t)pid : 0;
}

enum { HAND_OVER_TRIES = 200, HAND_OVER_NS = 10 * 1000 * 1000 };

/* Takes the lock. Who stays behind for an agent is asked to let go; before he has said that he has it, it is
 * still in the name of one that is gone. An agent that lives keeps it. Returns who that is, 0: nobody knows.
 */
static pid_t take_lock(struct qs_journal *j, char comm[32])
{
    const struct timespec pause = {.tv_nsec = HAND_OVER_NS};
    pid_t asked = 0;
    for (int i = 0;; i++) {
        j->lock_fd = qs_files_lock(j->dir_fd, lock_name);
        pid_t holder = j->lock_fd < 0 && errno == EBUSY ? find_holder(j, comm) : -1;
        bool lingers = holder > 0 && strcmp(comm, QS_JOURNAL_LINGERER) == 0;
        if (holder < 0 || (holder > 0 && !lingers) || i == HAND_OVER_TRIES) {
            return holder;
        }
        if (lingers && holder != asked && kill(holder, SIGTERM) == 0) {
            asked = holder;
        }
        nanosleep(&pause, NULL);
    }
}

/* False: `why` names who has it. */
static bool lock(struct qs_journal *j, char why[150])
{
    char comm[32];
    pid_t holder = take_lock(j, comm);
    if (j->lock_fd >= 0) {
        qs_journal_say_holder(j);
        return true;
    }
    qs_print(why, 150, "%s", holder < 0 ? strerror(errno) : "another agent has it");
    if (holder > 0) {
        qs_print(why, 150, "another agent has it (process %d, %.31s)", (int)holder, comm);
    }
    return false;
}

bool qs_journal_open(struct qs_journal *j, const char *dir, const char *boot, const char *root,
                     char error[QS_JOURNAL_ERROR_BYTES])
{
    char why[200];
    j->fd = j->lock_fd = -1;
    j->bytes = 0;
    j->broken = j->rebooted = false;
    j->state.count = 0;
    qs_print(j->boot, sizeof j->boot, "%s", boot);
    qs_print(j->root, sizeof j->root, "%s", root);
    j->dir_fd = qs_files_open_state(dir);
    if (j->dir_fd < 0) {
        return fail(j, dir, strerror(errno), error);
    }
    if (!lock(j, why)) {
        return fail(j, dir, why, error);
    }
    j->fd = openat(j->dir_fd, name, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (j->fd >= 0 && !is_ours(j)) {
        return fail(j, dir, "others may write into the folder or its journal", error);
    }
    if (j->fd < 0 || !read_file(j) || strlen(root) >= sizeof j->root) {
        return fail(j, dir,
                    strlen(root) >= sizeof j->root ? "the path of --sysfs is too long" : strerror(errno),
                    error);
    }
    if (j->state.count > 0 && j->state.root[0] && strcmp(j->state.root, root) != 0) {
        qs_print(why, sizeof why,
                 "it is of an agent with --sysfs %.60s: start that one to put its settings back",
                 j->state.root);
        return fail(j, dir, why, error);
    }
    j->rebooted = j->state.boot[0] && strcmp(j->state.boot, boot) != 0;
    if (j->rebooted) {
        forget_volatile(j);
    }
    if (j->bytes > 0) {
        rewrite(j); /* where that fails, nothing is changed until it works; what it holds is put back */
    }
    return true;
}

void qs_journal_close(struct qs_journal *j)
{
    int error = errno;
    qs_io_close(&j->fd);
    qs_io_close(&j->lock_fd);
    qs_io_close(&j->dir_fd);
    errno = error;
}
