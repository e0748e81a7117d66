/* A simulated device. */
#include "link/link_impl.h"

static void *sim_new_own(const struct qs_farm_device *device)
{
    (void)device;
    return NULL;
}

static void sim_free_own(void *own)
{
    (void)own;
}

static bool sim_open(struct qs_link *link, struct qs_err *err)
{
    return qs_fail(err, QS_E_CONFIG, "%s: this build has no simulated device", link->name);
}

static void sim_close(struct qs_link *link)
{
    (void)link;
}

static bool sim_send(struct qs_link *link, const uint8_t *bytes, size_t n, struct qs_err *err)
{
    (void)bytes;
    (void)n;
    return qs_fail(err, QS_E_LINK, "the link to %s is down", link->name);
}

const struct qs_link_ops qs_link_sim_ops = {
    .new_own = sim_new_own,
    .free_own = sim_free_own,
    .open = sim_open,
    .close = sim_close,
    .send = sim_send,
};
