#include "store/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/text.h"
#include "proto/auth.h"

static const char temporary[] = "upload-"; /* names of content are hex: none begins so */

struct qs_files {
    char *dir; /* owned */
};

struct qs_upload {
    char *dir, *path; /* owned */
    char expected[65];
    int fd;
    int64_t bytes, max_bytes;
    struct qs_sha256 sum;
};

static bool fail_errno(struct qs_err *err, const char *path)
{
    return qs_fail(err, errno == ENOSPC || errno == EDQUOT ? QS_E_STORE : QS_E_IO, "%s: %s", path,
                   strerror(errno));
}

static bool make_dir(const char *path, mode_t mode, struct qs_err *err)
{
    return mkdir(path, mode) == 0 || errno == EEXIST || fail_errno(err, path);
}

/* Makes every missing folder above the last component. */
static bool make_parents(const char *path, struct qs_err *err)
{
    char *copy = qs_strdup(path);
    bool ok = true;
    for (char *slash = strchr(copy + 1, '/'); ok && slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        ok = make_dir(copy, 0700, err);
        *slash = '/';
    }
    free(copy);
    return ok;
}

static bool sync_dir(const char *dir, struct qs_err *err)
{
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool ok = fd >= 0 && fsync(fd) == 0;
    if (!ok)
        fail_errno(err, dir);
    if (fd >= 0)
        close(fd);
    return ok;
}

static bool remove_leftovers(const char *dir, struct qs_err *err)
{
    DIR *d = opendir(dir);
    if (!d)
        return fail_errno(err, dir);
    for (struct dirent *e = readdir(d); e; e = readdir(d))
        if (strncmp(e->d_name, temporary, sizeof temporary - 1) == 0)
            unlinkat(dirfd(d), e->d_name, 0);
    closedir(d);
    return true;
}

struct qs_files *qs_files_open(const char *dir, struct qs_err *err)
{
    if (!make_parents(dir, err) || !make_dir(dir, 0700, err) || !remove_leftovers(dir, err))
        return NULL;
    struct qs_files *files = qs_calloc(1, sizeof *files);
    files->dir = qs_strdup(dir);
    return files;
}

void qs_files_close(struct qs_files *files)
{
    if (!files)
        return;
    free(files->dir);
    free(files);
}

/* Owned by the caller; NULL where sha256 is no hash in lower case: it never becomes part of a path unchecked.
 */
static char *path_of(const char *dir, const char *sha256)
{
    if (strspn(sha256, "0123456789abcdef") != 64 || sha256[64] != 0)
        return NULL;
    return qs_asprintf("%s/%.2s/%s", dir, sha256, sha256);
}

struct qs_upload *qs_upload_begin(struct qs_files *files, const char expected[65], int64_t max_bytes,
                                  struct qs_err *err)
{
    char *final = path_of(files->dir, expected);
    if (!final) {
        qs_fail(err, QS_E_CONFLICT, "a file is named by the 64 lower-case hex digits of its SHA-256");
        return NULL;
    }
    free(final);
    struct qs_upload *up = qs_calloc(1, sizeof *up);
    *up = (struct qs_upload){.dir = qs_strdup(files->dir), .max_bytes = max_bytes};
    memcpy(up->expected, expected, sizeof up->expected);
    up->path = qs_asprintf("%s/%sXXXXXX", files->dir, temporary);
    qs_sha256_init(&up->sum);
    up->fd = mkostemp(up->path, O_CLOEXEC); /* 0600 */
    if (up->fd >= 0)
        return up;
    fail_errno(err, up->path);
    qs_upload_abort(up);
    return NULL;
}

static bool write_all(int fd, const void *bytes, size_t n)
{
    for (const char *p = bytes; n > 0;) {
        ssize_t put = write(fd, p, n);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return false;
        p += put;
        n -= (size_t)put;
    }
    return true;
}

bool qs_upload_add(struct qs_upload *up, const void *bytes, size_t n, struct qs_err *err)
{
    if (n > INT64_MAX || (int64_t)n > up->max_bytes - up->bytes)
        return qs_fail(err, QS_E_LIMIT, "the file is bigger than %" PRId64 " bytes", up->max_bytes);
    if (!write_all(up->fd, bytes, n))
        return fail_errno(err, up->path);
    qs_sha256_add(&up->sum, bytes, n);
    up->bytes += (int64_t)n;
    return true;
}

/* Synced before it gets its name, the name synced before anybody is told. */
static bool settle(struct qs_upload *up, const char *final, struct qs_err *err)
{
    char *parent = qs_asprintf("%s/%.2s", up->dir, up->expected);
    bool ok = make_dir(parent, 0700, err) && (fsync(up->fd) == 0 || fail_errno(err, up->path)) &&
              (rename(up->path, final) == 0 || fail_errno(err, final));
    if (ok) {
        up->path[0] = 0;
        ok = sync_dir(parent, err) && sync_dir(up->dir, err);
    }
    free(parent);
    return ok;
}

bool qs_upload_finish(struct qs_upload *up, int64_t *ret_bytes, struct qs_err *err)
{
    uint8_t sum[QS_SHA256_BYTES];
    char hex[2 * QS_SHA256_BYTES + 1];
    qs_sha256_final(&up->sum, sum);
    qs_hex(sum, sizeof sum, hex);
    bool ok = strcmp(hex, up->expected) == 0 ||
              qs_fail(err, QS_E_CONFLICT, "the content's SHA-256 is %s, announced was %s", hex, up->expected);
    char *final = path_of(up->dir, up->expected);
    ok = ok && settle(up, final, err);
    if (ok)
        *ret_bytes = up->bytes;
    free(final);
    qs_upload_abort(up);
    return ok;
}

void qs_upload_abort(struct qs_upload *up)
{
    if (!up)
        return;
    if (up->fd >= 0) {
        close(up->fd);
        if (up->path[0])
            unlink(up->path);
    }
    free(up->dir);
    free(up->path);
    free(up);
}

bool qs_files_put(struct qs_files *files, const void *bytes, size_t n, char ret_sha256[65],
                  struct qs_err *err)
{
    uint8_t sum[QS_SHA256_BYTES];
    int64_t written;
    qs_sha256(bytes, n, sum);
    qs_hex(sum, sizeof sum, ret_sha256);
    if (qs_files_has(files, ret_sha256))
        return true;
    struct qs_upload *up = qs_upload_begin(files, ret_sha256, (int64_t)n, err);
    if (!up)
        return false;
    if (qs_upload_add(up, bytes, n, err))
        return qs_upload_finish(up, &written, err);
    qs_upload_abort(up);
    return false;
}

int qs_files_get(struct qs_files *files, const char sha256[65], int64_t *ret_bytes, struct qs_err *err)
{
    struct stat st;
    char *path = path_of(files->dir, sha256);
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd >= 0 && fstat(fd, &st) != 0) {
        close(fd);
        fd = -1;
    }
    if (fd < 0)
        qs_fail(err, QS_E_NOT_FOUND, "no file with this content is here");
    else
        *ret_bytes = st.st_size;
    free(path);
    return fd;
}

bool qs_files_has(struct qs_files *files, const char sha256[65])
{
    char *path = path_of(files->dir, sha256);
    bool has = path && access(path, R_OK) == 0;
    free(path);
    return has;
}

struct sweep {
    bool (*is_used)(const char *sha256, void *user);
    void *user;
    int64_t older_than_wall_ns;
    struct qs_swept swept;
};

static void sweep_entry(struct sweep *s, int dir_fd, const char *name)
{
    struct stat st;
    if (strspn(name, "0123456789abcdef") != 64 || name[64] != 0 || s->is_used(name, s->user) ||
        fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return;
    int64_t changed_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
    if (changed_ns >= s->older_than_wall_ns || unlinkat(dir_fd, name, 0) != 0)
        return;
    s->swept.files++;
    s->swept.bytes += st.st_size;
}

static void sweep_folder(struct sweep *s, const char *path)
{
    DIR *d = opendir(path);
    for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d))
        sweep_entry(s, dirfd(d), e->d_name);
    if (d)
        closedir(d);
}

struct qs_swept qs_files_sweep(struct qs_files *files, bool (*is_used)(const char *sha256, void *user),
                               void *user, int64_t older_than_wall_ns)
{
    struct sweep s = {.is_used = is_used, .user = user, .older_than_wall_ns = older_than_wall_ns};
    DIR *d = opendir(files->dir);
    for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d)) {
        if (strspn(e->d_name, "0123456789abcdef") != 2 || e->d_name[2] != 0)
            continue;
        char *path = qs_asprintf("%s/%s", files->dir, e->d_name);
        sweep_folder(&s, path);
        free(path);
    }
    if (d)
        closedir(d);
    return s.swept;
}
