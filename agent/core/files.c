/* Files that the host pushes: what is there, what is taken, where it lies for the runs of a session. */
#include "core/actions.h"

#include "core/print.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static const struct qs_port_files *port_of(const struct qs_agent *agent)
{
    return agent->port.files;
}

static struct qs_cache_room room_of(const struct qs_agent *agent)
{
    uint64_t free_bytes = 0;
    uint64_t total_bytes = 0;
    if (!port_of(agent)->space(agent->port.ctx, &free_bytes, &total_bytes)) {
        free_bytes = total_bytes = 0;
    }
    return qs_cache_room_of(free_bytes, total_bytes, agent->options.cache_most_bytes);
}

static void drop(struct qs_agent *agent, struct qs_cache_item *item)
{
    port_of(agent)->remove(agent->port.ctx, &item->key);
    qs_cache_remove(&agent->files.cache, item);
}

static bool is_untouched(const struct qs_agent *agent, const struct qs_cache_item *item, int64_t *stamp)
{
    uint64_t bytes;
    return port_of(agent)->look(agent->port.ctx, &item->key, &bytes, stamp) && bytes == item->bytes &&
           item->verified && *stamp == item->stamp;
}

/* What an earlier life has left, or somebody has written into since, is summed up again. */
static bool is_right(const struct qs_agent *agent, struct qs_cache_item *item)
{
    uint8_t sum[QS_SHA256_BYTES];
    uint64_t bytes;
    int64_t stamp = 0;
    if (is_untouched(agent, item, &stamp)) {
        return true;
    }
    item->verified = port_of(agent)->look(agent->port.ctx, &item->key, &bytes, &stamp) &&
                     bytes == item->bytes && port_of(agent)->sum(agent->port.ctx, &item->key, sum) &&
                     memcmp(sum, item->key.sha256, sizeof sum) == 0;
    item->stamp = stamp;
    return item->verified;
}

static struct qs_port_key key_of(const struct qs_content *content)
{
    struct qs_port_key key = {.executable = (content->flags & QS_FILE_EXECUTABLE) != 0};
    memcpy(key.sha256, content->sha256, sizeof key.sha256);
    return key;
}

/* It is held from here on. */
static bool is_there(struct qs_agent *agent, const struct qs_content *content)
{
    const struct qs_port_key key = key_of(content);
    struct qs_cache_item *item = qs_cache_find(&agent->files.cache, &key);
    if (!item || item->bytes != content->bytes) {
        return false;
    }
    if (!is_right(agent, item)) {
        drop(agent, item);
        return false;
    }
    qs_cache_hold(&agent->files.cache, item);
    port_of(agent)->used(agent->port.ctx, &key);
    return true;
}

static void stop_taking(struct qs_agent *agent)
{
    if (agent->files.taking) {
        port_of(agent)->discard(agent->port.ctx);
    }
    agent->files.taking = false;
}

void qs_files_begin(struct qs_agent *agent)
{
    struct qs_port_item item;
    qs_cache_init(&agent->files.cache);
    agent->files.taking = false;
    while (port_of(agent) && port_of(agent)->next(agent->port.ctx, &item)) {
        if (!qs_cache_recall(&agent->files.cache, &item)) {
            port_of(agent)->remove(agent->port.ctx, &item.key);
        }
    }
}

/* Ends what the session had: directories, files that stay. Returns how many files were written into. */
static uint32_t release(struct qs_agent *agent, uint64_t *freed_bytes)
{
    struct qs_cache *cache = &agent->files.cache;
    uint32_t changed = 0;
    int64_t stamp;
    *freed_bytes = port_of(agent)->clear(agent->port.ctx);
    for (size_t i = cache->count; i-- > 0;) {
        struct qs_cache_item *item = &cache->items[i];
        if (item->held && !is_untouched(agent, item, &stamp)) {
            *freed_bytes += item->bytes;
            drop(agent, item);
            changed++;
        }
    }
    qs_cache_release(cache);
    return changed;
}

void qs_files_release(struct qs_agent *agent)
{
    uint64_t freed_bytes;
    if (!port_of(agent)) {
        return;
    }
    stop_taking(agent);
    release(agent, &freed_bytes);
}

enum qs_agent_event qs_act_have(struct qs_agent *agent)
{
    const struct qs_msg_have *m = &agent->msg->have;
    struct qs_content content;
    struct qs_build missing;
    uint8_t memory[2 * QS_FILES_MAX];
    if ((agent->features & QS_FEATURE_FILES) == 0) {
        return qs_talk_malformed(agent, QS_WIRE_E_TYPE);
    }
    stop_taking(agent);
    qs_build_init(&missing, memory, sizeof memory);
    struct qs_iter it = qs_list_iter(&m->files);
    for (uint16_t i = 0; qs_list_content(&it, &content); i++) {
        if (!is_there(agent, &content)) {
            qs_build_u16(&missing, i);
        }
    }
    const struct qs_cache_room room = room_of(agent);
    const struct qs_msg_having answer = {.id = m->id,
                                         .missing = qs_build_list(&missing),
                                         .cache_bytes = agent->files.cache.bytes,
                                         .free_bytes = room.free_bytes,
                                         .most_bytes = room.most_bytes};
    qs_talk_send(agent, QS_MSG_HAVING, &answer);
    return QS_EV_NONE;
}

static void tell_put(struct qs_agent *agent, uint32_t id, enum qs_put_status status, const char *why)
{
    const struct qs_msg_put_at m = {
        .id = id, .status = status, .offset = agent->files.taken, .why = qs_text_of(why)};
    agent->files.told = agent->files.taken;
    qs_talk_send(agent, QS_MSG_PUT_AT, &m);
}

static void fail_put(struct qs_agent *agent, enum qs_put_status status, const char *why)
{
    stop_taking(agent);
    tell_put(agent, agent->files.id, status, why);
}

static void fault_put(struct qs_agent *agent, const struct qs_port_fault *fault)
{
    fail_put(agent, fault->code == ENOSPC ? QS_PUT_NO_SPACE : QS_PUT_FAILED, fault->text);
}

/* Makes room; where it cannot be made nothing goes. */
static bool make_room(struct qs_agent *agent, uint64_t bytes, char *why, size_t cap)
{
    struct qs_cache *cache = &agent->files.cache;
    struct qs_cache_room room = room_of(agent);
    if (!qs_cache_could_fit(cache, &room, bytes)) {
        qs_print(why, cap,
                 "the file needs %" PRIu64 " bytes; %" PRIu64 " are free, of which %" PRIu64
                 " stay so; the cache has %" PRIu64 " of at most %" PRIu64 ", and %" PRIu64
                 " of these are in use",
                 bytes, room.free_bytes, room.reserve_bytes, cache->bytes, room.most_bytes,
                 cache->bytes - qs_cache_loose_bytes(cache));
        return false;
    }
    while (!qs_cache_fits(cache, &room, bytes)) {
        struct qs_cache_item *victim = qs_cache_victim(cache);
        if (!victim) {
            qs_print(why, cap, "removing files from the cache freed less space than their size");
            return false;
        }
        drop(agent, victim);
        room = room_of(agent);
    }
    return true;
}

static void finish_put(struct qs_agent *agent)
{
    struct qs_agent_files *files = &agent->files;
    const struct qs_port_key key = key_of(&files->put);
    struct qs_port_fault fault = {.code = 0};
    uint8_t sum[QS_SHA256_BYTES];
    int64_t stamp = 0;
    uint64_t bytes;
    qs_sha256_final(&files->sum, sum);
    if (memcmp(sum, key.sha256, sizeof sum) != 0) {
        fail_put(agent, QS_PUT_WRONG, "the content's SHA-256 is not the one that was announced");
        return;
    }
    if (!port_of(agent)->keep(agent->port.ctx, &key, &fault)) {
        fault_put(agent, &fault);
        return;
    }
    files->taking = false;
    struct qs_cache_item *item = qs_cache_find(&files->cache, &key); /* told with another size */
    if (item) {
        qs_cache_remove(&files->cache, item);
    }
    item = qs_cache_add(&files->cache, &key, files->put.bytes);
    item->verified = port_of(agent)->look(agent->port.ctx, &key, &bytes, &stamp);
    item->stamp = stamp;
    qs_cache_hold(&files->cache, item);
    tell_put(agent, files->id, QS_PUT_KEPT, "");
}

enum qs_agent_event qs_act_put(struct qs_agent *agent)
{
    struct qs_agent_files *files = &agent->files;
    const struct qs_msg_put *m = &agent->msg->put;
    struct qs_port_fault fault = {.code = 0};
    if ((agent->features & QS_FEATURE_FILES) == 0) {
        return qs_talk_malformed(agent, QS_WIRE_E_TYPE);
    }
    stop_taking(agent);
    files->id = m->id;
    files->put = m->file;
    files->taken = 0;
    if (is_there(agent, &m->file)) {
        files->taken = m->file.bytes;
        tell_put(agent, m->id, QS_PUT_KEPT, "");
    } else if (!make_room(agent, m->file.bytes, fault.text, sizeof fault.text)) {
        fail_put(agent, QS_PUT_NO_SPACE, fault.text);
    } else if (!port_of(agent)->create(agent->port.ctx, &fault)) {
        fault_put(agent, &fault);
    } else {
        files->taking = true;
        qs_sha256_init(&files->sum);
        if (m->file.bytes == 0) {
            finish_put(agent);
        } else {
            tell_put(agent, m->id, QS_PUT_MORE, "");
        }
    }
    return QS_EV_NONE;
}

enum qs_agent_event qs_act_put_data(struct qs_agent *agent)
{
    struct qs_agent_files *files = &agent->files;
    const struct qs_msg_put_data *m = &agent->msg->put_data;
    struct qs_port_fault fault = {.code = 0};
    if (!files->taking || m->id != files->id) {
        return QS_EV_NONE; /* it was on its way when its PUT ended */
    }
    if (m->offset != files->taken || m->data.n > files->put.bytes - files->taken) {
        return qs_talk_malformed(agent, QS_WIRE_E_VALUE);
    }
    if (!port_of(agent)->write(agent->port.ctx, m->data.p, m->data.n, &fault)) {
        fault_put(agent, &fault);
        return QS_EV_NONE;
    }
    qs_sha256_add(&files->sum, m->data.p, m->data.n);
    files->taken += m->data.n;
    if (files->taken == files->put.bytes) {
        finish_put(agent);
    } else if (files->taken - files->told >= QS_PUT_TOLD_BYTES) {
        tell_put(agent, m->id, QS_PUT_MORE, "");
    }
    return QS_EV_NONE;
}

static enum qs_staged_status lay_out(struct qs_agent *agent, uint16_t dir, const struct qs_place *place,
                                     struct qs_port_fault *fault)
{
    char name[QS_FILE_NAME_MAX_BYTES + 1];
    const struct qs_content content = {.flags = place->flags};
    struct qs_port_key key = key_of(&content);
    memcpy(key.sha256, place->sha256, sizeof key.sha256);
    qs_text_copy(place->name, name, sizeof name);
    struct qs_cache_item *item = qs_cache_find(&agent->files.cache, &key);
    if (!item || !item->held) {
        qs_print(fault->text, sizeof fault->text, "the content of '%.200s' was not asked for", name);
        return QS_STAGED_MISSING;
    }
    if (port_of(agent)->place(agent->port.ctx, dir, name, &key, fault)) {
        return QS_STAGED_OK;
    }
    return fault->code == ENOSPC ? QS_STAGED_NO_SPACE : QS_STAGED_FAILED;
}

enum qs_agent_event qs_act_stage(struct qs_agent *agent)
{
    const struct qs_msg_stage *m = &agent->msg->stage;
    struct qs_place place;
    struct qs_port_fault fault = {.code = 0};
    char path[QS_PORT_PATH_BYTES] = "";
    if ((agent->features & QS_FEATURE_FILES) == 0) {
        return qs_talk_malformed(agent, QS_WIRE_E_TYPE);
    }
    stop_taking(agent);
    struct qs_msg_staged answer = {.id = m->id, .status = QS_STAGED_OK};
    struct qs_iter it = qs_list_iter(&m->places);
    while (answer.status == QS_STAGED_OK && qs_list_place(&it, &place)) {
        answer.status = lay_out(agent, m->dir, &place, &fault);
    }
    if (answer.status == QS_STAGED_OK) {
        port_of(agent)->path(agent->port.ctx, m->dir, path, sizeof path);
    }
    answer.path = qs_text_of(path);
    answer.why = qs_text_of(answer.status == QS_STAGED_OK ? "" : fault.text);
    qs_talk_send(agent, QS_MSG_STAGED, &answer);
    return QS_EV_NONE;
}

enum qs_agent_event qs_act_clean(struct qs_agent *agent)
{
    const struct qs_msg_clean *m = &agent->msg->clean;
    struct qs_msg_cleaned answer;
    if ((agent->features & QS_FEATURE_FILES) == 0) {
        return qs_talk_malformed(agent, QS_WIRE_E_TYPE);
    }
    stop_taking(agent);
    answer.id = m->id;
    answer.changed = release(agent, &answer.freed_bytes);
    while (m->what == QS_CLEAN_ALL && agent->files.cache.count > 0) {
        struct qs_cache_item *item = &agent->files.cache.items[0];
        answer.freed_bytes += item->bytes;
        drop(agent, item);
    }
    answer.cache_bytes = agent->files.cache.bytes;
    qs_talk_send(agent, QS_MSG_CLEANED, &answer);
    return QS_EV_NONE;
}

enum qs_agent_event qs_act_leave(struct qs_agent *agent)
{
    qs_files_release(agent);
    return QS_EV_NONE;
}
