#include "linux_identity.h"

#include <grp.h>
#include <pwd.h>
#include <string.h>
#include <sys/types.h>

#include "linux_io.h"

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
