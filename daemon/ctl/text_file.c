#include "ctl/text_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

bool qs_read_text(const char *path, size_t most_bytes, struct qs_buf *text, struct qs_err *err)
{
    char chunk[4096];
    FILE *f = strcmp(path, "-") == 0 ? stdin : fopen(path, "rbe");
    if (f == NULL)
        return qs_fail(err, QS_E_USAGE, "%s: %s", path, strerror(errno));
    for (size_t n = 0; text->len <= most_bytes && (n = fread(chunk, 1, sizeof(chunk), f)) > 0;)
        qs_buf_add(text, chunk, n);
    bool ok = ferror(f) == 0 || qs_fail(err, QS_E_USAGE, "%s: %s", path, strerror(errno));
    if (ok && text->len > most_bytes)
        ok = qs_fail(err, QS_E_LIMIT, "%s is longer than %zu MiB", path, most_bytes / 1024 / 1024);
    if (f != stdin)
        fclose(f);
    return ok;
}

static bool write_all(const char *path, const char *text, size_t n)
{
    FILE *f = fopen(path, "wbe");
    if (f == NULL)
        return false;
    bool written = fwrite(text, 1, n, f) == n;
    int error = errno;
    if (fclose(f) != 0)
        return false;
    errno = error;
    return written;
}

bool qs_may_write(const char *path, struct qs_err *err)
{
    struct stat was;
    bool there = stat(path, &was) == 0, whole = !there || S_ISREG(was.st_mode);
    QS_FREED char *part = qs_asprintf("%s.part", path);
    bool ok = true;
    if (there && S_ISDIR(was.st_mode)) {
        ok = qs_fail(err, QS_E_USAGE, "%s is a folder, not a file", path);
    } else if (!whole) {
        ok = access(path, W_OK) == 0 || qs_fail(err, QS_E_USAGE, "%s: %s", path, strerror(errno));
    } else {
        FILE *f = fopen(part, "wbe");
        ok = f != NULL || qs_fail(err, QS_E_USAGE, "cannot write %s: %s", path, strerror(errno));
        if (f != NULL)
            fclose(f);
        unlink(part);
    }
    return ok;
}

bool qs_write_text(const char *path, const char *text, size_t n, struct qs_err *err)
{
    struct stat was;
    bool whole = stat(path, &was) != 0 || S_ISREG(was.st_mode);
    QS_FREED char *part = qs_asprintf("%s%s", path, whole ? ".part" : "");
    bool ok = write_all(part, text, n) && (!whole || rename(part, path) == 0);
    if (!ok)
        qs_fail(err, QS_E_IO, "%s: %s", path, strerror(errno));
    if (!ok && whole)
        unlink(part);
    return ok;
}

/* The descriptor, or -1. */
static int create(const char *path, struct qs_err *err)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0 && errno == EEXIST)
        qs_fail(err, QS_E_USAGE, "%s is there already, and stays as it is", path);
    else if (fd < 0)
        qs_fail(err, QS_E_USAGE, "cannot write \"%s\": %s", path, strerror(errno));
    return fd;
}

bool qs_may_create(const char *path, struct qs_err *err)
{
    int fd = create(path, err);
    if (fd < 0)
        return false;
    close(fd);
    unlink(path);
    return true;
}

bool qs_create_text(const char *path, const char *text, size_t n, struct qs_err *err)
{
    int fd = create(path, err);
    if (fd < 0)
        return false;
    FILE *f = fdopen(fd, "wb");
    bool ok = f != NULL && fwrite(text, 1, n, f) == n;
    ok = (f != NULL ? fclose(f) : close(fd)) == 0 && ok;
    if (!ok) {
        qs_fail(err, QS_E_IO, "%s: %s", path, strerror(errno));
        unlink(path);
    }
    return ok;
}
