/* The farm's devices: declared or found, and what they share. */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "farm/farm_impl.h"
#include "farm/say.h"
#include "link/link.h"

void qs_farm_device_changed(struct qs_inventory_item *item)
{
    struct qs_farm *farm = item->farm;
    qs_queue_set(farm->queue, &item->queue, qs_device_state(item->device) == QS_DEVICE_READY,
                 item->run != NULL);
    if (!farm->stopping)
        qs_farm_dispatch_soon(farm);
}

static void on_change(struct qs_device *device, void *user)
{
    struct qs_inventory_item *item = user;
    qs_log(item->farm->p.log, QS_LOG_DEBUG, "farm", "device=%s state=%s", item->config->name,
           qs_device_state_name(qs_device_state(device)));
    qs_farm_device_changed(item);
}

static void on_note(struct qs_device *device, bool warning, const char *text, void *user)
{
    const struct qs_inventory_item *item = user;
    (void)device;
    qs_log(item->farm->p.log, warning ? QS_LOG_WARN : QS_LOG_INFO, "device", "device=%s %s%s",
           item->config->name, text, warning ? ", going on" : "");
}

static bool may_transfer(struct qs_device *device, void *user)
{
    struct qs_inventory_item *item = user;
    const char *why;
    (void)device;
    return qs_hub_take(item->farm->hub, &item->hub, QS_HUB_TRANSFER, qs_loop_now_ns(item->farm->p.loop),
                       &why);
}

static void transfer_over(struct qs_device *device, void *user)
{
    struct qs_inventory_item *item = user;
    (void)device;
    qs_hub_give(item->farm->hub, &item->hub);
}

struct qs_inventory_item *qs_farm_add_device(struct qs_farm *farm, const struct qs_farm_device *config,
                                             struct qs_err *err)
{
    struct qs_inventory_item *item = qs_inventory_add(farm->inventory, config->name, "", err);
    if (!item)
        return NULL;
    struct qs_device_parts parts = {.loop = farm->p.loop,
                                    .store = farm->p.store,
                                    .files = farm->p.files,
                                    .config = config,
                                    .host_json = farm->host_json,
                                    .heartbeat_ns = farm->p.config->heartbeat_ns};
    qs_store_farm_uid(farm->p.store, parts.farm_uid);
    const struct qs_device_events events = {.on_change = on_change,
                                            .on_note = on_note,
                                            .may_transfer = may_transfer,
                                            .transfer_over = transfer_over,
                                            .user = item};
    item->farm = farm;
    item->config = config;
    item->hub.device = config;
    item->queue.owner = item;
    qs_queue_add_device(farm->queue, &item->queue, config->local);
    qs_queue_hold(farm->queue, &item->queue, qs_farm_hold(farm, config->name) != NULL);
    item->device = qs_device_new(&parts, &events);
    return item;
}

/* ---- devices that come and go ---- */

/* Under whatever name: the device of this link and address. */
static bool is_declared(const struct qs_farm_config *farm, const struct qs_farm_device *device)
{
    bool found = false;
    for (size_t i = 0; i < farm->device_count && !found; i++) {
        const struct qs_farm_device *d = &farm->devices[i];
        found = d->link == device->link && d->address && device->address &&
                (strcmp(d->address, device->address) == 0 ||
                 (device->other_address && strcmp(d->address, device->other_address) == 0));
    }
    return found;
}

void qs_farm_found(const struct qs_farm_device *device, void *user)
{
    struct qs_farm *farm = user;
    struct qs_err err = QS_ERR_INIT;
    struct qs_inventory_item *item = qs_inventory_find(farm->inventory, device->name, NULL);
    if (farm->stopping || is_declared(farm->p.config, device))
        return;
    if (item && item->config == device) {
        item->leaves = false; /* its session tries to reach it all the time */
        return;
    }
    item = qs_farm_add_device(farm, device, &err);
    if (item)
        qs_device_start(item->device);
    else
        qs_log(farm->p.log, QS_LOG_WARN, "farm", "%s; the one that was found is left alone", err.text);
}

void qs_farm_lost(const struct qs_farm_device *device, void *user)
{
    struct qs_farm *farm = user;
    struct qs_inventory_item *item = qs_inventory_find(farm->inventory, device->name, NULL);
    if (!item || item->config != device)
        return;
    item->leaves = true;
    farm->leaves = true;
    qs_farm_dispatch_soon(farm);
}

void qs_farm_let_go(struct qs_farm *farm)
{
    struct qs_inventory_item *next;
    bool left = false;
    for (struct qs_inventory_item *item = farm->leaves ? qs_inventory_first(farm->inventory) : NULL; item;
         item = next) {
        next = item->next;
        bool wanted = item->run || item->queue.claims;
        left = left || (item->leaves && wanted);
        if (!item->leaves || wanted)
            continue;
        qs_device_stop(item->device); /* gives its token back, too */
        qs_device_free(item->device);
        qs_queue_remove_device(farm->queue, &item->queue);
        qs_inventory_remove(farm->inventory, item);
    }
    farm->leaves = left;
}

bool qs_farm_look_for(struct qs_farm *farm, enum qs_link_kind kind, struct qs_err *err)
{
    const struct qs_link_finds finds = {.on_found = qs_farm_found,
                                        .on_lost = qs_farm_lost,
                                        .user = farm,
                                        .agents = farm->p.config->agents_folder};
    const struct qs_link_traits *traits = qs_link_traits(kind);
    if (!traits->discover)
        return qs_fail(err, QS_E_USAGE, "devices of link `%s` cannot be looked for", qs_link_kind_name(kind));
    if (!farm->discoveries[kind] && !farm->stopping)
        farm->discoveries[kind] = traits->discover(farm->p.loop, &finds);
    return true;
}

void qs_farm_discover(struct qs_farm *farm)
{
    for (size_t k = 0; k < QS_LINK_KIND_COUNT; k++) {
        if (qs_farm_discovers(farm->p.config, (enum qs_link_kind)k))
            (void)qs_farm_look_for(farm, (enum qs_link_kind)k, NULL); /* the configuration was checked */
    }
}

static void on_rested(void *user)
{
    struct qs_farm *farm = user;
    farm->outstanding--;
    qs_farm_answered(farm);
}

void qs_farm_discover_rest(struct qs_farm *farm)
{
    for (size_t k = 0; k < QS_LINK_KIND_COUNT; k++) {
        const struct qs_link_traits *traits = qs_link_traits((enum qs_link_kind)k);
        if (!farm->discoveries[k] || !traits->discover_rest)
            continue;
        farm->outstanding++;
        traits->discover_rest(farm->discoveries[k], on_rested, farm);
    }
}

void qs_farm_discover_end(struct qs_farm *farm)
{
    for (size_t k = 0; k < QS_LINK_KIND_COUNT; k++) {
        if (farm->discoveries[k])
            qs_link_traits((enum qs_link_kind)k)->discover_end(farm->discoveries[k]);
    }
}

/* ---- what a job wants of them ---- */

/* A tag of somebody's, else a label of the farm file. */
static const char *label_of(const struct qs_inventory_item *item, const char *key)
{
    const struct qs_word *tag = qs_words_find(&item->farm->words, item->config->name, QS_WORD_TAG, key);
    if (tag)
        return tag->value;
    for (size_t i = 0; i < item->config->labels.count; i++) {
        const char *label = item->config->labels.at[i];
        size_t n = strcspn(label, "=");
        if (strlen(key) == n && strncmp(label, key, n) == 0)
            return label[n] ? label + n + 1 : "true";
    }
    return NULL;
}

const char *qs_farm_device_fact(const char *fact, void *user)
{
    const struct qs_farm_device *config = ((const struct qs_inventory_item *)user)->config;
    if (strcmp(fact, "name") == 0)
        return config->name;
    if (strcmp(fact, "link") == 0)
        return qs_link_kind_name(config->link);
    if (strcmp(fact, "local") == 0)
        return config->local ? "true" : "false";
    return strncmp(fact, "label.", strlen("label.")) == 0 ? label_of(user, fact + strlen("label.")) : NULL;
}

struct qs_inventory_item **qs_farm_match(const struct qs_farm *farm, const struct qs_job_spec *spec,
                                         size_t *ret_count)
{
    struct qs_selector *selector = NULL;
    struct qs_selector_why why;
    struct qs_inventory_item **fits =
        qs_calloc(qs_inventory_count(farm->inventory) + 1, sizeof(struct qs_inventory_item *));
    *ret_count = 0;
    if (spec->where && !qs_selector_parse(spec->where, &selector, &why))
        return fits;
    for (struct qs_inventory_item *item = qs_inventory_first(farm->inventory); item; item = item->next) {
        if (!selector || qs_selector_match(selector, qs_farm_device_fact, item))
            fits[(*ret_count)++] = item;
    }
    qs_selector_free(selector);
    return fits;
}

bool qs_farm_ask(struct qs_farm *farm, const char *device, enum qs_msg_type type, union qs_msg *m,
                 qs_device_reply_fn *done, void *user, struct qs_err *err)
{
    struct qs_inventory_item *item = qs_inventory_find(farm->inventory, device, NULL);
    if (!item)
        return qs_fail(err, QS_E_NOT_FOUND, "this farm has no device `%s`", device);
    bool ok = qs_device_ask(item->device, type, m, done, user, err);
    qs_farm_device_changed(item); /* no job begins meanwhile */
    return ok;
}
