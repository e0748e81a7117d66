#include "linux/which.h"

#include "core/print.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEFAULT_PATH "/usr/local/bin:/usr/bin:/bin:/system/bin"

const char *qs_which_path(char *const *envp)
{
    for (; *envp; envp++) {
        if (strncmp(*envp, "PATH=", 5) == 0) {
            return *envp + 5;
        }
    }
    return DEFAULT_PATH;
}

/* 0, or why this file cannot be executed. */
static int try_file(int dir_fd, const char *path)
{
    struct stat st;
    if (fstatat(dir_fd, path, &st, 0) != 0) {
        return errno;
    }
    if (!S_ISREG(st.st_mode)) {
        return EISDIR;
    }
    return faccessat(dir_fd, path, X_OK, 0) == 0 ? 0 : EACCES;
}

/* As a shell searches: the first that can be executed; the most telling of the errors otherwise. */
static int search(char *path, size_t cap, const char *name, const char *dirs, int dir_fd)
{
    int error = ENOENT;
    for (const char *dir = dirs; dir;) {
        size_t n = strcspn(dir, ":");
        int len =
            n == 0 ? qs_print(path, cap, "./%s", name) : qs_print(path, cap, "%.*s/%s", (int)n, dir, name);
        if (len > 0 && (size_t)len < cap) {
            int now = try_file(dir_fd, path);
            if (now == 0) {
                return 0;
            }
            error = now == EACCES ? EACCES : error;
        }
        dir = dir[n] == ':' ? dir + n + 1 : NULL;
    }
    return error;
}

int qs_which(char *path, size_t cap, const char *name, char *const *envp, int dir_fd)
{
    if (strchr(name, '/')) {
        size_t n = strlen(name);
        if (n >= cap) {
            return ENAMETOOLONG;
        }
        memcpy(path, name, n + 1);
        return try_file(dir_fd, name);
    }
    return name[0] ? search(path, cap, name, qs_which_path(envp), dir_fd) : ENOENT;
}
