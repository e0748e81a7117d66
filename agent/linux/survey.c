#include "linux/survey.h"

#include "core/glob.h"
#include "core/print.h"
#include "linux/io.h"
#include "proto/msg_control.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PARTS_MAX = QS_CONTROL_PATH_MAX_BYTES / 2 + 1, NAME_BYTES = QS_CONTROL_PATH_MAX_BYTES + 1 };

/* Where one part of the pattern ends. */
static size_t part_bytes(const char *path)
{
    return strcspn(path, "/");
}

static const char *behind(const char *path)
{
    size_t n = part_bytes(path);
    return path[n] == '/' ? path + n + 1 : path + n;
}

/* The least name of a folder that matches and is not below `least` (nor it, where it is excluded). */
static bool least_match(const char *folder, const char *pattern, const char *least, bool excluded,
                        char ret[NAME_BYTES])
{
    struct qs_dir dir;
    const char *name;
    bool found = false;
    if (!qs_dir_open(&dir, folder)) {
        return false;
    }
    while ((name = qs_dir_next(&dir)) != NULL) {
        int order = strcmp(name, least);
        bool taken = strlen(name) < NAME_BYTES && (order > 0 || (order == 0 && !excluded)) &&
                     (!found || strcmp(name, ret) < 0) && qs_glob_match(pattern, name, QS_GLOB_NAME);
        if (taken) {
            memcpy(ret, name, strlen(name) + 1);
            found = true;
        }
    }
    qs_dir_close(&dir);
    return found;
}

/* A search for the next file, with the path that it has come to. */
struct search {
    size_t root_bytes;
    char path[PATH_MAX]; /* root, "/", then what is found */
};

static bool enter(struct search *s, size_t at, const char *name)
{
    size_t n = strlen(name);
    bool fits = at + 1 + n < sizeof s->path && at + n - s->root_bytes <= QS_CONTROL_PATH_MAX_BYTES;
    if (fits) {
        s->path[at] = '/';
        memcpy(s->path + at + 1, name, n + 1);
    }
    return fits;
}

static bool is_file(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* Below path[0 .. at), the least file that matches the rest of the pattern and lies behind `after` (NULL: any
 * does). */
static bool descend(struct search *s, size_t at, const char *pattern, const char *after, int depth)
{
    char part[NAME_BYTES];
    char least[NAME_BYTES] = "";
    char name[NAME_BYTES];
    size_t n = part_bytes(pattern);
    bool last = pattern[n] == '\0';
    if (depth == 0 || n >= sizeof part) {
        return false;
    }
    memcpy(part, pattern, n);
    part[n] = '\0';
    if (after) {
        memcpy(least, after, part_bytes(after));
        least[part_bytes(after)] = '\0';
    }
    bool literal = part[strcspn(part, "*?[\\")] == '\0';
    bool excluded = after && last;
    for (;;) {
        s->path[at] = '\0';
        if (literal) {
            int order = strcmp(part, least);
            if (order < 0 || (order == 0 && excluded)) {
                return false;
            }
            memcpy(name, part, n + 1);
        } else if (!least_match(s->path, part, least, excluded, name)) {
            return false;
        }
        const char *deeper = after && strcmp(name, least) == 0 ? behind(after) : NULL;
        if (enter(s, at, name) &&
            (last ? is_file(s->path)
                  : descend(s, at + 1 + strlen(name), behind(pattern), deeper, depth - 1))) {
            return true;
        }
        if (literal) {
            return false;
        }
        memcpy(least, name, sizeof least);
        excluded = true;
        after = NULL;
    }
}

/* Beside the kernel's own /sys stands the folder of its options: paths that begin with proc/sys are there,
 * and never leave it. A test bed has both below its folder. */
static const char *parent_of(const char *root, const char *path, const char **below)
{
    bool options = strcmp(root, "/sys") == 0 && strncmp(path, "proc/sys/", 9) == 0;
    *below = options ? "/proc/sys" : root;
    return options ? "" : root;
}

/* Is this absolute path below root? Both with links followed. */
static bool is_below(const char *root, const char *path, char real[PATH_MAX])
{
    char real_root[PATH_MAX];
    if (!realpath(root, real_root) || !realpath(path, real)) {
        return false;
    }
    size_t n = strlen(real_root);
    if (n == 1) { /* "/" */
        return true;
    }
    if (strncmp(real, real_root, n) != 0 || real[n] != '/') {
        errno = EXDEV;
        return false;
    }
    return true;
}

int qs_survey_open(const char *root, const char *path, int flags)
{
    char whole[PATH_MAX];
    char real[PATH_MAX];
    struct stat st;
    const char *below;
    int n = qs_print(whole, sizeof whole, "%s/%s", parent_of(root, path, &below), path);
    if (n < 0 || (size_t)n >= sizeof whole) {
        errno = ENAMETOOLONG;
        return -1;
    }
    if (!is_below(below, whole, real)) {
        return -1;
    }
    int fd = open(real, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
    if (fd >= 0 && (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))) {
        qs_io_close(&fd);
        errno = EINVAL;
    }
    return fd;
}

/* For us, by its mode: root may write what nobody may, but a driver takes it from nobody then. */
static uint8_t access_of(const char *path)
{
    struct stat st;
    unsigned mode = stat(path, &st) == 0 ? st.st_mode : 0;
    bool readable = (mode & 0444) != 0 && faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) == 0;
    bool writable = (mode & 0222) != 0 && faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) == 0;
    return (uint8_t)((readable ? QS_FILE_READABLE : 0) | (writable ? QS_FILE_WRITABLE : 0));
}

void qs_survey_read(const char *root, struct qs_port_found *found)
{
    long n = -1;
    int fd = qs_survey_open(root, found->path, O_RDONLY);
    if (fd >= 0) {
        n = (long)pread(fd, found->value, sizeof found->value, 0);
    }
    found->error = n < 0 ? errno : 0;
    found->n = n < 0 ? 0 : (size_t)n;
    qs_io_close(&fd);
}

bool qs_survey_find(const char *root, const char *pattern, const char *after, struct qs_port_found *found)
{
    struct search s;
    char from[NAME_BYTES];
    const char *below;
    root = parent_of(root, pattern, &below);
    size_t n = strlen(root);
    if (n + 1 >= sizeof s.path || strlen(after) >= sizeof from) {
        return false;
    }
    memcpy(from, after, strlen(after) + 1); /* it may be the path of *found */
    memcpy(s.path, root, n + 1);
    s.root_bytes = n;
    if (!descend(&s, n, pattern, from[0] ? from : NULL, PARTS_MAX)) {
        return false;
    }
    memset(found, 0, sizeof *found);
    memcpy(found->path, s.path + n + 1, strlen(s.path + n + 1) + 1);
    found->access = access_of(s.path);
    return true;
}
