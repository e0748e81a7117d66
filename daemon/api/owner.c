#include "api/owner.h"

#include <pwd.h>
#include <stdio.h>
#include <string.h>

bool qs_owner_look_up(uid_t uid, char *out)
{
    struct passwd entry, *found = NULL;
    char text[4096];
    bool ok = getpwuid_r(uid, &entry, text, sizeof text, &found) == 0;
    if (found && *found->pw_name)
        snprintf(out, QS_API_NAME_BYTES, "%s", found->pw_name);
    else
        snprintf(out, QS_API_NAME_BYTES, "%lu", (unsigned long)uid);
    return ok;
}

static struct qs_api_name *name_of(struct qs_exchange *ex)
{
    return &ex->api->names[ex->uid == 0 ? 0 : 1];
}

/* On the pool. */
static bool look_up(struct qs_exchange *ex, struct qs_err *err)
{
    (void)err; /* a number is a name too */
    ex->owner_known = ex->api->p.look_up(ex->uid, ex->owner);
    return true;
}

static void keep(struct qs_exchange *ex)
{
    struct qs_api_name *name = name_of(ex);
    if (ex->owner_known && !name->known) {
        memcpy(name->text, ex->owner, sizeof name->text);
        name->known = true;
    }
    ex->owner_then(ex);
}

void qs_owner_guess(struct qs_exchange *ex)
{
    const struct qs_api_name *name = name_of(ex);
    ex->owner_known = name->known;
    if (name->known)
        memcpy(ex->owner, name->text, sizeof ex->owner);
    else
        snprintf(ex->owner, sizeof ex->owner, "%lu", (unsigned long)ex->uid);
}

void qs_owner_find(struct qs_exchange *ex, qs_exchange_fn *then)
{
    qs_owner_guess(ex);
    ex->owner_then = then;
    if (ex->owner_known)
        then(ex);
    else
        qs_exchange_work(ex, look_up, keep);
}
