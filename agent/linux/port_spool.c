/* The port's operations on the spool: each hands on to spool.h. */
#include "linux/port.h"

static bool op_reserve(void *ctx, struct qs_ring *ring, size_t bytes, struct qs_port_fault *fault)
{
    return qs_spool_reserve(&((struct qs_linux *)ctx)->spool, ring, bytes, fault);
}

static void op_keep(void *ctx, const struct qs_ring *ring, struct qs_ring_window *w)
{
    qs_spool_keep(&((struct qs_linux *)ctx)->spool, ring, w);
}

static void op_tidy(void *ctx, const struct qs_ring *ring)
{
    qs_spool_tidy(&((struct qs_linux *)ctx)->spool, ring);
}

static const struct qs_port_spool spool_port = {.reserve = op_reserve, .keep = op_keep, .tidy = op_tidy};

void qs_linux_open_spool(struct qs_linux *os)
{
    if (os->spool_dir) {
        qs_spool_open(&os->spool, os->spool_dir, os->supervised.state_fd, os->supervised.lock_fd,
                      &os->agent.ring);
        os->agent.port.spool = &spool_port;
    }
}
