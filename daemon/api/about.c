/* What is known without a read: the daemon itself, and its devices as they are now. */
#include <stdlib.h>
#include <unistd.h>

#include "api/handlers.h"
#include "api/reply.h"
#include "base/json.h"
#include "base/loop.h"
#include "base/mem.h"
#include "device/device.h"
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

static void put_device(const struct qs_device_info *d, void *user)
{
    struct qs_json *j = user;
    qs_json_object(j);
    qs_json_kstring(j, "name", d->config->name);
    qs_json_kstring(j, "link", qs_link_kind_name(d->config->link));
    qs_json_kstring(j, "state", d->state);
    qs_json_kbool(j, "local", d->config->local);
    qs_json_kbool(j, "simulated", d->simulated);
    qs_json_kstring(j, "agent", d->software);
    qs_json_kstring(j, "boot_id", d->boot);
    qs_json_karray(j, "labels");
    for (size_t i = 0; i < d->config->labels.count; i++)
        qs_json_string(j, d->config->labels.at[i]);
    qs_json_array_end(j);
    if (d->has_cache) {
        qs_json_kobject(j, "cache");
        qs_json_kcount(j, "bytes", d->cache.bytes);
        qs_json_kcount(j, "most_bytes", d->cache.most_bytes);
        qs_json_kcount(j, "free_bytes", d->cache.free_bytes);
        qs_json_object_end(j);
    } else {
        qs_json_kraw(j, "cache", "null");
    }
    qs_json_kint(j, "clock_rtt_ns", d->rtt_ns);
    qs_json_kraw(j, "facts", d->facts_json ? d->facts_json : "null");
    qs_json_kstring(j, "why", d->why);
    qs_json_object_end(j);
}

void qs_handle_devices(struct qs_exchange *ex)
{
    const char *alone = "no daemon answers: the devices are shown as configured, their state is not known";
    QS_FREED char *notice = ex->api->p.reading ? qs_about_owner(ex) : qs_store_notice(ex->api->p.store);
    QS_BUF(out);
    struct qs_json j = qs_json_to(&out);
    qs_json_object(&j);
    qs_json_karray(&j, "devices");
    qs_farm_devices(ex->api->p.farm, put_device, &j);
    qs_json_array_end(&j);
    qs_json_kstring(&j, "disk", qs_farm_waits_for_disk(ex->api->p.farm, 0));
    qs_json_kstring(&j, "notice", ex->api->p.reading && !notice ? alone : notice);
    qs_json_object_end(&j);
    qs_reply_json(ex, 200, &out);
}
