#include "sim_device.h"

#include <stdlib.h>
#include <string.h>

static bool on_send(void *ctx, const uint8_t *bytes, size_t n)
{
    struct device *d = ctx;
    (void)bytes;
    d->sent_bytes += n;
    return d->alive;
}

static void on_close(void *ctx)
{
    ((struct device *)ctx)->closed++;
}

const struct qs_sim_options cold = {
    .seed = 1234567, .clock_offset_ns = 5000, .busy_ppm = 123, .ambient_mc = 30000};

void device_init(struct device *d, const struct qs_sim_options *options)
{
    *d = (struct device){.sim = malloc(sizeof *d->sim), .alive = true};
    memset(d->sim, 0xa5, sizeof *d->sim);
    qs_sim_init(d->sim, options, BEGAN_NS, on_send, on_close, d);
    d->port = &d->sim->agent.port;
}

void device_done(struct device *d)
{
    free(d->sim);
}
