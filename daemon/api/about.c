/* What is known without a read: the daemon itself. */
#include <stdlib.h>
#include <unistd.h>

#include "api/handlers.h"
#include "api/reply.h"
#include "base/json.h"
#include "base/loop.h"
#include "base/mem.h"
#include "farm/farm.h"
#include "store/store.h"

void qs_handle_health(struct qs_exchange *ex)
{
    QS_BUF(out);
    struct qs_json j = qs_json_to(&out);
    qs_json_object(&j);
    const char *disk = qs_farm_waits_for_disk(ex->api->p.farm, 0);
    const struct qs_err *trouble = qs_store_trouble(ex->api->p.store);
    qs_json_kbool(&j, "ok", !disk && !trouble);
    if (disk || trouble)
        qs_json_kstring(&j, "why", disk ? disk : trouble->text);
    qs_json_object_end(&j);
    qs_reply_json(ex, 200, &out);
}

void qs_handle_version(struct qs_exchange *ex)
{
    const struct qs_api *api = ex->api;
    QS_BUF(out);
    struct qs_json j = qs_json_to(&out);
    qs_json_object(&j);
    qs_json_kstring(&j, "version", api->p.version);
    qs_json_kbool(&j, "embedded", api->p.embedded);
    qs_json_kstring(&j, "db", qs_store_path(api->p.store));
    qs_json_kint(&j, "pid", getpid());
    qs_json_kbool(&j, "simulated", api->p.simulated);
    qs_json_kint(&j, "uptime_ns", qs_loop_now_ns(api->p.loop) - api->started_ns);
    qs_json_object_end(&j);
    qs_reply_json(ex, 200, &out);
}

char *qs_about_owner(const struct qs_exchange *ex)
{
    const char *db = qs_store_path(ex->api->p.store);
    if (!ex->api->p.reading || !qs_store_is_owned(db))
        return NULL;
    QS_FREED char *contact = qs_store_contact(db);
    return contact ? qs_asprintf("the daemon at %s has this database: --socket %s", contact, contact)
                   : qs_strdup("another daemon has this database");
}
