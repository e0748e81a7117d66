#include "base/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

static bool fail_errno(struct qs_err *err, const char *what, const char *path)
{
    return qs_fail(err, errno == ENOSPC || errno == EDQUOT ? QS_E_STORE : QS_E_IO, "cannot %s %s: %s", what,
                   path, strerror(errno));
}

char *qs_folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return qs_strdup(".");
    return slash == path ? qs_strdup("/") : qs_strndup(path, (size_t)(slash - path));
}

static bool is_folder(const char *path)
{
    struct stat st;
    return path[0] == '/' && path[1] != '\0' && stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

char *qs_folder_of_state(char *(*env)(const char *name))
{
    const char *state = env("XDG_STATE_HOME"), *home = env("HOME");
    if (state && state[0] == '/')
        return qs_asprintf("%s/quiesce", state);
    if (home && home[0] == '/')
        return qs_asprintf("%s/.local/state/quiesce", home);
    const struct passwd *user = getpwuid(geteuid());
    return user && is_folder(user->pw_dir) ? qs_asprintf("%s/.local/state/quiesce", user->pw_dir) : NULL;
}

bool qs_folder_sync(const char *path, struct qs_err *err)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool ok = fd >= 0 && fsync(fd) == 0;
    if (!ok)
        fail_errno(err, "sync the folder", path);
    if (fd >= 0)
        close(fd);
    return ok;
}

static bool make_one(const char *path, struct qs_err *err)
{
    struct stat st;
    if (mkdir(path, 0700) != 0) {
        int why = errno;
        if (stat(path, &st) == 0)
            return S_ISDIR(st.st_mode) ||
                   qs_fail(err, QS_E_CONFLICT, "%s is not a folder: nothing can be made in it", path);
        errno = why;
        return fail_errno(err, "make the folder", path);
    }
    QS_FREED char *parent = qs_folder_of(path);
    bool ok = qs_folder_sync(parent, err);
    if (!ok)
        rmdir(path); /* found next time, it would pass for synced */
    return ok;
}

bool qs_folder_make(const char *path, struct qs_err *err)
{
    char *copy = qs_strdup(path);
    bool ok = true;
    for (char *end = copy; ok && end;) {
        end = strchr(end + 1, '/');
        if (end)
            *end = 0;
        ok = make_one(copy, err);
        if (end)
            *end = '/';
    }
    free(copy);
    return ok;
}

bool qs_folder_check(const char *path, mode_t writable, const char *so, struct qs_err *err)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return fail_errno(err, "look at", path);
    if (!S_ISDIR(st.st_mode))
        return qs_fail(err, QS_E_CONFLICT, "%s is not a folder: %s", path, so);
    if (st.st_uid != geteuid() && st.st_uid != 0)
        return qs_fail(err, QS_E_DENIED, "%s belongs to another user (%lu): %s", path,
                       (unsigned long)st.st_uid, so);
    if ((st.st_mode & writable) && !(st.st_mode & S_ISVTX))
        return qs_fail(err, QS_E_DENIED, "%s may be written by others: %s", path, so);
    return true;
}
