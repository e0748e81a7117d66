#include "linux/files.h"

#include "core/print.h"
#include "linux/io.h"

#include "proto/msg.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* PLACES: so many agents of one user have a cache at the same time. SYNC: so much waits for the disk at most,
 * so that no answer takes long. */
enum { PLACES = 8, SYNC_BYTES = 4 * 1024 * 1024, BLOCK_BYTES = 65536 };

static const char part_name[] = "part"; /* the others are hashes: none is called so */

void qs_files_name(const struct qs_port_key *key, char name[QS_FILES_NAME_BYTES])
{
    for (size_t i = 0; i < sizeof key->sha256; i++) {
        qs_print(name + 2 * i, 3, "%02x", key->sha256[i]);
    }
    memcpy(name + 2 * sizeof key->sha256, key->executable ? ".x" : "", key->executable ? 3 : 1);
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool read_name(const char *name, struct qs_port_key *key)
{
    for (size_t i = 0; i < sizeof key->sha256; i++) {
        int high = hex_digit(name[2 * i]);
        int low = high < 0 ? -1 : hex_digit(name[2 * i + 1]);
        if (low < 0) {
            return false;
        }
        key->sha256[i] = (uint8_t)(high << 4 | low);
    }
    name += 2 * sizeof key->sha256;
    key->executable = strcmp(name, ".x") == 0;
    return key->executable || name[0] == '\0';
}

bool qs_files_fault(struct qs_port_fault *fault, const char *what)
{
    fault->blame = QS_WIRE_BLAME_DEVICE;
    fault->wire_code = QS_CODE_RESOURCE;
    fault->code = errno == EDQUOT ? ENOSPC : errno;
    qs_print(fault->text, sizeof fault->text, "%.200s: %s", what, strerror(errno));
    return false;
}

/* A directory of our own and of nobody else's, made where it is missing. */
static int open_dir(int at_fd, const char *path)
{
    struct stat st;
    if (mkdirat(at_fd, path, 0700) != 0 && errno != EEXIST) {
        return -1;
    }
    int fd = openat(at_fd, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0 && (fstat(fd, &st) != 0 || st.st_uid != geteuid())) {
        close(fd);
        errno = EPERM;
        return -1;
    }
    return fd;
}

static void make_parents(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0700); /* what cannot be made is missed in the end */
        *slash = '/';
    }
}

int qs_files_open_state(const char *dir)
{
    char path[QS_PORT_PATH_BYTES];
    if ((size_t)qs_print(path, sizeof path, "%s", dir) >= sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    make_parents(path);
    return open_dir(AT_FDCWD, path);
}

int qs_files_lock(int dir_fd, const char *name)
{
    int lock = openat(dir_fd, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) != 0) {
        close(lock);
        errno = EBUSY;
        return -1;
    }
    return lock;
}

static bool take_place(struct qs_linux_files *files, const char *root, unsigned number)
{
    int length = qs_print(files->root, sizeof files->root, "%s/%u", root, number);
    if (length < 0 || (size_t)length >= sizeof files->root) {
        errno = ENAMETOOLONG;
        return false;
    }
    make_parents(files->root);
    int fd = open_dir(AT_FDCWD, files->root);
    if (fd < 0) {
        return false;
    }
    files->lock_fd = qs_files_lock(fd, "lock");
    files->files_fd = files->lock_fd < 0 ? -1 : open_dir(fd, "files");
    files->dirs_fd = files->files_fd < 0 ? -1 : open_dir(fd, "dirs");
    int error = errno;
    close(fd);
    if (files->dirs_fd < 0) {
        qs_files_close(files);
    }
    errno = error;
    return files->dirs_fd >= 0;
}

static bool open_below(struct qs_linux_files *files, const char *root)
{
    errno = EBUSY;
    for (unsigned i = 1; i <= PLACES && errno == EBUSY; i++) {
        if (take_place(files, root, i)) {
            unlinkat(files->files_fd, part_name, 0);
            qs_files_clear(files);
            return true;
        }
    }
    return false;
}

static bool open_default(struct qs_linux_files *files)
{
    char path[QS_PORT_PATH_BYTES - 64];
    const char *state = getenv("XDG_STATE_HOME");
    const char *home = getenv("HOME");
    if (state && state[0] == '/' &&
        (size_t)qs_print(path, sizeof path, "%s/quiesce-agent/cache", state) < sizeof path &&
        open_below(files, path)) {
        return true;
    }
    if (home && home[0] == '/' &&
        (size_t)qs_print(path, sizeof path, "%s/.local/state/quiesce-agent/cache", home) < sizeof path &&
        open_below(files, path)) {
        return true;
    }
    return access("/data/local/tmp", W_OK) == 0 && open_below(files, "/data/local/tmp/quiesce-agent/cache");
}

bool qs_files_open(struct qs_linux_files *files, const char *root, char error[QS_FILES_ERROR_BYTES])
{
    char whole[QS_PORT_PATH_BYTES];
    files->lock_fd = files->files_fd = files->dirs_fd = files->part_fd = -1;
    files->listing = false;
    files->moved = 0;
    error[0] = '\0';
    if (!root) {
        return open_default(files);
    }
    const char *absolute = root[0] == '/' ? root : realpath(".", whole);
    if (absolute == whole) {
        qs_io_append(whole, sizeof whole, "/");
        qs_io_append(whole, sizeof whole, root);
    }
    if (absolute && open_below(files, absolute)) {
        return true;
    }
    qs_print(error, QS_FILES_ERROR_BYTES, "no cache for files in '%.200s': %s", root,
             errno == EBUSY ? "other agents use it" : strerror(errno));
    return false;
}

void qs_files_close(struct qs_linux_files *files)
{
    qs_io_close(&files->part_fd);
    qs_io_close(&files->dirs_fd);
    qs_io_close(&files->files_fd);
    qs_io_close(&files->lock_fd);
}

static bool take_entry(struct qs_linux_files *files, const char *name, struct qs_port_item *item)
{
    struct stat st;
    if (!read_name(name, &item->key) || fstatat(files->files_fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
        !S_ISREG(st.st_mode)) {
        return false;
    }
    item->bytes = (uint64_t)st.st_size;
    item->used_ns = (int64_t)st.st_atim.tv_sec * 1000000000 + st.st_atim.tv_nsec;
    return true;
}

bool qs_files_next(struct qs_linux_files *files, struct qs_port_item *item)
{
    if (!files->listing) {
        files->listing = qs_dir_open_at(&files->list, files->files_fd, ".");
    }
    while (files->listing) {
        const char *name = qs_dir_next(&files->list);
        if (!name) {
            qs_dir_close(&files->list);
            files->listing = false;
        } else if (take_entry(files, name, item)) {
            return true;
        }
    }
    return false;
}

bool qs_files_space(struct qs_linux_files *files, uint64_t *free_bytes, uint64_t *total_bytes)
{
    struct statvfs st;
    if (fstatvfs(files->files_fd, &st) != 0) {
        return false;
    }
    *free_bytes = (uint64_t)st.f_bavail * st.f_frsize;
    *total_bytes = (uint64_t)st.f_blocks * st.f_frsize;
    return true;
}

bool qs_files_look(struct qs_linux_files *files, const struct qs_port_key *key, uint64_t *bytes,
                   int64_t *stamp)
{
    char name[QS_FILES_NAME_BYTES];
    struct stat st;
    qs_files_name(key, name);
    if (fstatat(files->files_fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(st.st_mode)) {
        return false;
    }
    *bytes = (uint64_t)st.st_size;
    *stamp = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
    return true;
}

bool qs_files_sum(struct qs_linux_files *files, const struct qs_port_key *key,
                  uint8_t sha256[QS_SHA256_BYTES])
{
    static uint8_t bytes[BLOCK_BYTES];
    char name[QS_FILES_NAME_BYTES];
    struct qs_sha256 sum;
    ssize_t n;
    qs_files_name(key, name);
    int fd = openat(files->files_fd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) {
        return false;
    }
    qs_sha256_init(&sum);
    while ((n = read(fd, bytes, sizeof bytes)) > 0) {
        qs_sha256_add(&sum, bytes, (size_t)n);
    }
    qs_sha256_final(&sum, sha256);
    close(fd);
    return n == 0;
}

/* The time of the last access, set by hand: what the file system does of itself depends on how it was
 * mounted. */
void qs_files_used(struct qs_linux_files *files, const struct qs_port_key *key)
{
    const struct timespec times[2] = {{.tv_nsec = UTIME_NOW}, {.tv_nsec = UTIME_OMIT}};
    char name[QS_FILES_NAME_BYTES];
    qs_files_name(key, name);
    utimensat(files->files_fd, name, times, AT_SYMLINK_NOFOLLOW);
}

void qs_files_remove(struct qs_linux_files *files, const struct qs_port_key *key)
{
    char name[QS_FILES_NAME_BYTES];
    qs_files_name(key, name);
    unlinkat(files->files_fd, name, 0);
}

bool qs_files_create(struct qs_linux_files *files, struct qs_port_fault *fault)
{
    qs_files_discard(files);
    files->part_fd =
        openat(files->files_fd, part_name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    files->unsynced_bytes = 0;
    return files->part_fd >= 0 || qs_files_fault(fault, "a new file of the cache");
}

bool qs_files_write(struct qs_linux_files *files, const void *bytes, size_t n, struct qs_port_fault *fault)
{
    if (!qs_io_write(files->part_fd, bytes, n)) {
        return qs_files_fault(fault, "writing a file of the cache");
    }
    files->unsynced_bytes += n;
    if (files->unsynced_bytes >= SYNC_BYTES) {
        files->unsynced_bytes = 0;
        return fdatasync(files->part_fd) == 0 || qs_files_fault(fault, "writing a file of the cache");
    }
    return true;
}

bool qs_files_keep(struct qs_linux_files *files, const struct qs_port_key *key, struct qs_port_fault *fault)
{
    char name[QS_FILES_NAME_BYTES];
    qs_files_name(key, name);
    bool ok = fchmod(files->part_fd, key->executable ? 0555 : 0444) == 0 && fsync(files->part_fd) == 0 &&
              renameat(files->files_fd, part_name, files->files_fd, name) == 0 && fsync(files->files_fd) == 0;
    if (!ok) {
        return qs_files_fault(fault, "keeping a file of the cache");
    }
    qs_io_close(&files->part_fd);
    return true;
}

void qs_files_discard(struct qs_linux_files *files)
{
    qs_io_close(&files->part_fd);
    unlinkat(files->files_fd, part_name, 0);
}
