/* The directories in which pushed files lie for the runs of a session. They belong to the agent, are open to
 * whoever the runs are, and lie below one that is not: only who is put there gets there. */
#include "linux/files.h"

#include "core/print.h"
#include "linux/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OPEN_MODE = 0777, BLOCK_BYTES = 65536, STAT_BLOCK_BYTES = 512 };

static bool is_self_or_parent(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

static int step_into(int at_fd, const char *name)
{
    bool made = mkdirat(at_fd, name, 0700) == 0;
    if (!made && errno != EEXIST) {
        return -1;
    }
    int fd = openat(at_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0 && made) {
        fchmod(fd, OPEN_MODE);
    }
    return fd;
}

/* The directory in which the name's last part lies: a descriptor, or -1. */
static int open_parent(struct qs_linux_files *files, uint16_t dir, const char *name, const char **last)
{
    char part[QS_FILE_NAME_MAX_BYTES + 1];
    qs_print(part, sizeof part, "%04x", dir);
    int fd = step_into(files->dirs_fd, part);
    for (const char *slash = strchr(name, '/'); fd >= 0 && slash; slash = strchr(name, '/')) {
        qs_print(part, sizeof part, "%.*s", (int)(slash - name), name);
        int next = step_into(fd, part);
        int error = errno;
        close(fd);
        errno = error;
        fd = next;
        name = slash + 1;
    }
    *last = name;
    return fd;
}

static bool copy(int in, int out)
{
    static char bytes[BLOCK_BYTES];
    ssize_t n;
    while ((n = read(in, bytes, sizeof bytes)) > 0) {
        if (!qs_io_write(out, bytes, (size_t)n)) {
            return false;
        }
    }
    return n == 0;
}

static bool copy_item(const struct qs_linux_files *files, const char *item, bool executable, int parent_fd,
                      const char *name)
{
    int in = openat(files->files_fd, item, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    int out =
        in < 0 ? -1 : openat(parent_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    bool ok = out >= 0 && copy(in, out) && fchmod(out, executable ? 0555 : 0444) == 0;
    int error = errno;
    if (out >= 0) {
        close(out);
        if (!ok) {
            unlinkat(parent_fd, name, 0);
        }
    }
    qs_io_close(&in);
    errno = error;
    return ok;
}

bool qs_files_place(struct qs_linux_files *files, uint16_t dir, const char *name,
                    const struct qs_port_key *key, struct qs_port_fault *fault)
{
    char item[QS_FILES_NAME_BYTES];
    const char *last;
    int fd = open_parent(files, dir, name, &last);
    if (fd < 0) {
        return qs_files_fault(fault, name);
    }
    qs_files_name(key, item);
    unlinkat(fd, last, 0);
    /* Where a file system, or Android's rules, allow no second name, it is a second file. */
    bool ok =
        linkat(files->files_fd, item, fd, last, 0) == 0 || copy_item(files, item, key->executable, fd, last);
    if (!ok) {
        qs_files_fault(fault, name);
    }
    close(fd);
    return ok;
}

void qs_files_path(struct qs_linux_files *files, uint16_t dir, char *text, size_t cap)
{
    const char *unused;
    int fd = open_parent(files, dir, "", &unused);
    qs_io_close(&fd);
    qs_print(text, cap, "%s/dirs/%04x", files->root, dir);
}

/* Removes an entry that is no directory; one that is moves up to where `clear` looks again, because a program
 * may have nested them deeper than any stack is. */
static void remove_entry(struct qs_linux_files *files, int fd, const char *name, uint64_t *freed_bytes)
{
    char up[32];
    struct stat st;
    if (is_self_or_parent(name) || fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0) {
        return;
    }
    if (!S_ISDIR(st.st_mode)) {
        bool last = unlinkat(fd, name, 0) == 0 && st.st_nlink == 1;
        *freed_bytes += last ? (uint64_t)st.st_blocks * STAT_BLOCK_BYTES : 0;
        return;
    }
    fchmodat(fd, name, 0700, 0);
    qs_print(up, sizeof up, "moved-%u", (unsigned)files->moved++);
    renameat(fd, name, files->dirs_fd, up);
}

static void empty(struct qs_linux_files *files, const char *name, uint64_t *freed_bytes)
{
    struct qs_dir list;
    fchmodat(files->dirs_fd, name, 0700, 0);
    int fd = openat(files->dirs_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) {
        unlinkat(files->dirs_fd, name, 0);
        return;
    }
    if (qs_dir_open_at(&list, fd, ".")) {
        for (const char *entry = qs_dir_next(&list); entry; entry = qs_dir_next(&list)) {
            remove_entry(files, fd, entry, freed_bytes);
        }
        qs_dir_close(&list);
    }
    close(fd);
}

uint64_t qs_files_clear(struct qs_linux_files *files)
{
    struct qs_dir list;
    uint64_t freed_bytes = 0;
    bool progress = true;
    while (progress && qs_dir_open_at(&list, files->dirs_fd, ".")) {
        progress = false;
        for (const char *name = qs_dir_next(&list); name; name = qs_dir_next(&list)) {
            if (is_self_or_parent(name)) {
                continue;
            }
            empty(files, name, &freed_bytes);
            progress = unlinkat(files->dirs_fd, name, AT_REMOVEDIR) == 0 || progress;
        }
        qs_dir_close(&list);
    }
    return freed_bytes;
}
