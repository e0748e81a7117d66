/* Files with keys: which are taken. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "link/link_impl.h"

static bool read_key(int fd, const char *path, struct qs_link *link, struct qs_err *err)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return qs_fail(err, QS_E_CONFIG, "cannot read the key file %s: %s", path, strerror(errno));
    if (!S_ISREG(st.st_mode))
        return qs_fail(err, QS_E_CONFIG, "the key file %s is not a regular file", path);
    if (st.st_uid != geteuid() || (st.st_mode & 077) != 0)
        return qs_fail(err, QS_E_DENIED,
                       "the key file %s must be ours and closed to others: chmod 600, owner %ld", path,
                       (long)geteuid());
    if (st.st_size < QS_LINK_KEY_MIN_BYTES || st.st_size > QS_LINK_KEY_MAX_BYTES)
        return qs_fail(err, QS_E_CONFIG, "the key file %s has %lld bytes; it needs %d to %d", path,
                       (long long)st.st_size, QS_LINK_KEY_MIN_BYTES, QS_LINK_KEY_MAX_BYTES);
    ssize_t got = read(fd, link->key, sizeof link->key);
    if (got != st.st_size)
        return qs_fail(err, QS_E_CONFIG, "cannot read all of the key file %s", path);
    link->key_bytes = (size_t)got;
    return true;
}

bool qs_link_read_key(struct qs_link *link, const char *path, struct qs_err *err)
{
    link->key_bytes = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return qs_fail(err, QS_E_CONFIG, "cannot open the key file %s: %s", path, strerror(errno));
    bool ok = read_key(fd, path, link, err);
    close(fd);
    return ok;
}

void qs_link_forget_key(struct qs_link *link)
{
    explicit_bzero(link->key, sizeof link->key);
    link->key_bytes = 0;
}
