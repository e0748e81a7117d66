/* What the core asks of a port that keeps closed windows on a disk, too, until they are acknowledged: they
 * outlive the agent and a restart of the device. Included by port.h, whose rules hold. Never asked of it in a
 * window. */
#ifndef QS_AGENT_CORE_PORT_SPOOL_H
#define QS_AGENT_CORE_PORT_SPOOL_H

#include <stdbool.h>
#include <stddef.h>

struct qs_port_fault;
struct qs_ring;
struct qs_ring_window;

/* All mandatory; ctx is the port's. */
struct qs_port_spool {
    /* Before a window opens: makes sure of room for one with so many bytes in the ring, and that all that the
     * ring keeps is on the disk. False: `fault` says why, and the window is not opened. */
    bool (*reserve)(void *ctx, struct qs_ring *ring, size_t bytes, struct qs_port_fault *fault);
    /* After it: *w, which was just closed, is on the disk when this returns. Where that failed w->slot is 0,
     * and the next reserve tries again. */
    void (*keep)(void *ctx, const struct qs_ring *ring, struct qs_ring_window *w);
    /* Erases what is not in the ring any more. */
    void (*tidy)(void *ctx, const struct qs_ring *ring);
};

#endif
