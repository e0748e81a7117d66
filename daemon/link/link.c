#include "link/link.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "link/link_impl.h"

static const struct qs_link_ops *ops_of(enum qs_link_kind kind)
{
#define OPERATIONS(end, word) [QS_LINK_##end] = &qs_link_##word##_ops,
    static const struct qs_link_ops *const kinds[QS_LINK_KIND_COUNT] = {QS_LINK_KINDS(OPERATIONS)};
#undef OPERATIONS
    return kinds[kind]; /* the configuration was checked */
}

const struct qs_link_traits *qs_link_traits(enum qs_link_kind kind)
{
    return &ops_of(kind)->traits;
}

bool qs_link_check_address(const struct qs_farm_device *device, const char **ret_key, struct qs_err *err)
{
    const struct qs_link_ops *ops = ops_of(device->link);
    if (ops->check)
        return ops->check(device, ret_key, err);
    return !device->address || !ops->check_address || ops->check_address(device->address, err);
}

struct qs_link *qs_link_new(struct qs_loop *loop, const struct qs_farm_device *device,
                            const struct qs_link_events *events)
{
    struct qs_link *link = qs_calloc(1, sizeof *link);
    link->ops = ops_of(device->link);
    link->loop = loop;
    link->events = *events;
    link->name = qs_strdup(device->name ? device->name : "device");
    link->stream.fd = -1;
    qs_buf_init(&link->stream.queue);
    link->own = link->ops->new_own(device);
    return link;
}

void qs_link_free(struct qs_link *link)
{
    if (!link)
        return;
    qs_link_close(link);
    link->ops->free_own(link->own);
    qs_buf_done(&link->stream.queue);
    explicit_bzero(link->key, sizeof link->key);
    free(link->name);
    free(link);
}

bool qs_link_open(struct qs_link *link, struct qs_err *err)
{
    if (link->state != QS_LINK_IS_CLOSED)
        return qs_fail(err, QS_E_CONFLICT, "the link to %s is already open", link->name);
    memset(&link->counters, 0, sizeof link->counters);
    link->state = QS_LINK_IS_OPENING;
    if (link->ops->deploy ? link->ops->deploy(link, err) : link->ops->open(link, err))
        return true;
    link->state = QS_LINK_IS_CLOSED;
    return false;
}

void qs_link_close(struct qs_link *link)
{
    qs_timer_stop(link->later);
    link->later = NULL;
    if (link->state == QS_LINK_IS_CLOSED)
        return;
    link->state = QS_LINK_IS_CLOSED;
    link->ops->close(link);
}

bool qs_link_send(struct qs_link *link, const uint8_t *bytes, size_t n, struct qs_err *err)
{
    if (link->state != QS_LINK_IS_UP)
        return qs_fail(err, QS_E_LINK, "the link to %s is down", link->name);
    return link->ops->send(link, bytes, n, err);
}

void qs_link_counters(const struct qs_link *link, struct qs_link_counters *ret)
{
    *ret = link->counters;
    if (link->ops->counters && link->state == QS_LINK_IS_UP)
        link->ops->counters(link, ret);
}

const uint8_t *qs_link_key(const struct qs_link *link, size_t *ret_bytes)
{
    *ret_bytes = link->key_bytes;
    return link->key_bytes > 0 ? link->key : NULL;
}

bool qs_link_is_simulated(const struct qs_link *link)
{
    return link->ops->traits.simulated;
}

static void on_up_later(void *user)
{
    struct qs_link *link = user;
    link->later = NULL;
    qs_link_up(link);
}

static void on_down_later(void *user)
{
    struct qs_link *link = user;
    link->later = NULL;
    struct qs_err why = link->later_why;
    qs_link_down(link, &why);
}

void qs_link_up_later(struct qs_link *link)
{
    qs_timer_stop(link->later);
    link->later = qs_timer_start(link->loop, 0, on_up_later, link);
}

void qs_link_down_later(struct qs_link *link, const struct qs_err *why)
{
    qs_timer_stop(link->later);
    link->later_why = *why;
    link->later = qs_timer_start(link->loop, 0, on_down_later, link);
}

void qs_link_up(struct qs_link *link)
{
    link->state = QS_LINK_IS_UP;
    link->events.on_up(link->events.user);
}

void qs_link_bytes(struct qs_link *link, const uint8_t *bytes, size_t n)
{
    link->events.on_bytes(bytes, n, link->events.user);
}

void qs_link_down(struct qs_link *link, const struct qs_err *why)
{
    qs_link_close(link);
    link->events.on_down(why, link->events.user);
}
