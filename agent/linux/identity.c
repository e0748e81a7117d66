#include "linux/identity.h"

#include "core/print.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include "linux/io.h"

/* The system calls that take 32 bits, where an architecture has narrower ones too; straight to the kernel,
 * the library has no function for some and other types for the rest. */
#ifdef SYS_setfsuid32
#define SETFSUID  SYS_setfsuid32
#define SETFSGID  SYS_setfsgid32
#define SETGROUPS SYS_setgroups32
#define GETGROUPS SYS_getgroups32
#else
#define SETFSUID  SYS_setfsuid
#define SETFSGID  SYS_setfsgid
#define SETGROUPS SYS_setgroups
#define GETGROUPS SYS_getgroups
#endif

enum { NEW_MODE = 0666 };

static bool read_number(const char *text, uint32_t *number)
{
    int64_t v = 0;
    bool ok = text[0] >= '0' && text[0] <= '9' && qs_io_i64(&text, &v) && *text == '\0' && v < UINT32_MAX;
    *number = (uint32_t)v;
    return ok;
}

bool qs_identity_find(const char *name, struct qs_identity *identity)
{
    gid_t groups[QS_GROUPS_MAX];
    int count = QS_GROUPS_MAX;
    uint32_t number;
    bool numeric = read_number(name, &number);
    const struct passwd *user = numeric ? getpwuid(number) : getpwnam(name);
    if (!user && !numeric) {
        return false;
    }
    *identity = (struct qs_identity){.uid = number, .gid = number, .groups = {number}, .group_count = 1};
    qs_print(identity->name, sizeof identity->name, "%s", user ? user->pw_name : name);
    qs_print(identity->home, sizeof identity->home, "%s", user ? user->pw_dir : "/");
    qs_print(identity->shell, sizeof identity->shell, "%s",
             user && user->pw_shell[0] != '\0' ? user->pw_shell : "/bin/sh");
    if (!user) {
        return true;
    }
    identity->uid = user->pw_uid;
    identity->gid = user->pw_gid;
    getgrouplist(user->pw_name, user->pw_gid, groups, &count);
    identity->group_count = (size_t)(count < QS_GROUPS_MAX ? count : QS_GROUPS_MAX);
    memcpy(identity->groups, groups, identity->group_count * sizeof groups[0]);
    return true;
}

static bool take_rights(const struct qs_identity *of)
{
    if (syscall(SETGROUPS, of->group_count, of->groups) != 0) {
        return false;
    }
    syscall(SETFSGID, of->gid);
    syscall(SETFSUID, of->uid);
    /* They tell the identity before, never an error: asked once more they tell the one that holds. */
    return (uint32_t)syscall(SETFSGID, -1) == of->gid && (uint32_t)syscall(SETFSUID, -1) == of->uid;
}

bool qs_identity_lend(const struct qs_identity *of, struct qs_identity *own)
{
    long groups = syscall(GETGROUPS, QS_GROUPS_MAX, own->groups);
    if (groups < 0) {
        return false;
    }
    own->uid = (uint32_t)geteuid();
    own->gid = (uint32_t)getegid();
    own->group_count = (size_t)groups;
    if (take_rights(of)) {
        return true;
    }
    qs_identity_end_loan(own);
    return false;
}

void qs_identity_end_loan(const struct qs_identity *own)
{
    (void)take_rights(own); /* root may always take its own rights */
}

int qs_identity_open(const struct qs_identity *as, int at_fd, const char *path, int flags)
{
    struct qs_identity own;
    if (as && !qs_identity_lend(as, &own)) {
        errno = EPERM;
        return -1;
    }
    int fd = openat(at_fd, path, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, NEW_MODE);
    int error = errno;
    if (as) {
        qs_identity_end_loan(&own);
    }
    errno = error;
    return fd;
}
