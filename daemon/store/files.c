#include "store/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/folder.h"
#include "base/mem.h"
#include "base/text.h"
#include "proto/auth.h"

static const char temporary[] = "upload-"; /* names of content are hex: none begins so */

/* Content whose name may not be on disk: it gets its name now, or a sync has failed since. It counts as
 * missing until an upload has brought it whole. */
struct doubt {
    char sha256[65];
};

struct qs_files {
    char *dir;                /* owned */
    pthread_mutex_t settling; /* one name at a time: held while the disk is waited for, not by who asks */
    pthread_mutex_t mutex;    /* of what follows */
    struct doubt *doubts;     /* owned */
    size_t doubt_count;
};

struct qs_upload {
    struct qs_files *files; /* borrowed */
    char *path;             /* owned */
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

/* ---- doubts ---- */

static size_t find_doubt(const struct qs_files *files, const char *sha256)
{
    size_t i = 0;
    while (i < files->doubt_count && strcmp(files->doubts[i].sha256, sha256) != 0)
        i++;
    return i;
}

static bool is_doubted(struct qs_files *files, const char *sha256)
{
    pthread_mutex_lock(&files->mutex);
    bool doubted = find_doubt(files, sha256) < files->doubt_count;
    pthread_mutex_unlock(&files->mutex);
    return doubted;
}

static void set_doubt(struct qs_files *files, const char *sha256, bool doubted)
{
    pthread_mutex_lock(&files->mutex);
    size_t i = find_doubt(files, sha256);
    if (doubted && i == files->doubt_count) {
        files->doubts = qs_grow(files->doubts, files->doubt_count++, sizeof *files->doubts);
        snprintf(files->doubts[i].sha256, sizeof files->doubts[i].sha256, "%s", sha256);
    } else if (!doubted && i < files->doubt_count) {
        files->doubts[i] = files->doubts[--files->doubt_count];
    }
    pthread_mutex_unlock(&files->mutex);
}

/* ---- opening ---- */

/* What lies in it is run on devices: it is ours, and nobody else writes it. A link that we have laid
 * ourselves may lead to another disk. */
static bool check_dir(const char *dir, struct qs_err *err)
{
    struct stat st, link;
    if (stat(dir, &st) != 0 || lstat(dir, &link) != 0)
        return fail_errno(err, dir);
    if (st.st_uid != geteuid() || link.st_uid != geteuid())
        return qs_fail(err, QS_E_STORE_PLACE,
                       "%s, which keeps the database's files, belongs to another user (%lu)", dir,
                       (unsigned long)(st.st_uid != geteuid() ? st.st_uid : link.st_uid));
    return qs_folder_check(dir, 0022, "the database's files are not kept in it", err);
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
    if (!qs_folder_make(dir, err) || !check_dir(dir, err) || !remove_leftovers(dir, err))
        return NULL;
    return qs_files_open_reading(dir);
}

struct qs_files *qs_files_open_reading(const char *dir)
{
    struct qs_files *files = qs_calloc(1, sizeof *files);
    files->dir = qs_strdup(dir);
    pthread_mutex_init(&files->settling, NULL);
    pthread_mutex_init(&files->mutex, NULL);
    return files;
}

void qs_files_close(struct qs_files *files)
{
    if (!files)
        return;
    pthread_mutex_destroy(&files->settling);
    pthread_mutex_destroy(&files->mutex);
    free(files->doubts);
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
    QS_FREED char *final = path_of(files->dir, expected);
    if (!final) {
        qs_fail(err, QS_E_CONFLICT, "a file is named by the 64 lower-case hex digits of its SHA-256");
        return NULL;
    }
    struct qs_upload *up = qs_calloc(1, sizeof *up);
    *up = (struct qs_upload){.files = files, .max_bytes = max_bytes};
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

/* Its name, and the name of a folder that was made for it, are synced before anybody is told. */
static bool give_name(struct qs_upload *up, const char *final, struct qs_err *err)
{
    QS_FREED char *parent = qs_folder_of(final);
    bool ok = qs_folder_make(parent, err) && (rename(up->path, final) == 0 || fail_errno(err, final));
    if (ok) {
        up->path[0] = 0;
        ok = qs_folder_sync(parent, err) && qs_folder_sync(up->files->dir, err);
    }
    return ok;
}

/* A sync that failed is not tried again: the kernel may call clean what never reached the disk. What it was
 * for goes, and where it cannot, it stays in doubt. */
static bool settle(struct qs_upload *up, const char *final, struct qs_err *err)
{
    struct qs_files *files = up->files;
    if (fsync(up->fd) != 0)
        return fail_errno(err, up->path);
    pthread_mutex_lock(&files->settling);
    bool ok = qs_files_has(files, up->expected); /* somebody else has brought it meanwhile */
    if (!ok) {
        set_doubt(files, up->expected, true);
        ok = give_name(up, final, err);
        if (ok || unlink(final) == 0 || errno == ENOENT)
            set_doubt(files, up->expected, false);
    }
    pthread_mutex_unlock(&files->settling);
    return ok;
}

bool qs_upload_finish(struct qs_upload *up, int64_t *ret_bytes, struct qs_err *err)
{
    uint8_t sum[QS_SHA256_BYTES];
    char hex[2 * QS_SHA256_BYTES + 1];
    qs_sha256_final(&up->sum, sum);
    qs_hex(sum, sizeof sum, hex);
    bool ok =
        strcmp(hex, up->expected) == 0 ||
        qs_fail(err, QS_E_CONFLICT, "the content's SHA-256 is %s, but %s was announced", hex, up->expected);
    QS_FREED char *final = path_of(up->files->dir, up->expected);
    ok = ok && settle(up, final, err);
    if (ok)
        *ret_bytes = up->bytes;
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
    QS_FREED char *path = path_of(files->dir, sha256);
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd >= 0 && fstat(fd, &st) != 0) {
        close(fd);
        fd = -1;
    }
    if (fd < 0)
        qs_fail(err, QS_E_NOT_FOUND, "no file with this content is here");
    else
        *ret_bytes = st.st_size;
    return fd;
}

bool qs_files_has(struct qs_files *files, const char sha256[65])
{
    QS_FREED char *path = path_of(files->dir, sha256);
    return path && access(path, R_OK) == 0 && !is_doubted(files, sha256);
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
        QS_FREED char *path = qs_asprintf("%s/%s", files->dir, e->d_name);
        sweep_folder(&s, path);
    }
    if (d)
        closedir(d);
    return s.swept;
}
