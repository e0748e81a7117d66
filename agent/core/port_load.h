/* What the core asks of a port so that the device becomes warm. Included by port.h, whose rules hold. */
#ifndef QS_AGENT_CORE_PORT_LOAD_H
#define QS_AGENT_CORE_PORT_LOAD_H

#include <stdbool.h>
#include <stdint.h>

/* Both or none. What is started runs beside the agent; no job of a run is started before it is stopped. */
struct qs_port_load {
    /* Keeps these processors busy, instead of others; "": those of the run's commands, without a run all that
     * the agent may use. Returns enum qs_load_outcome of the wire. */
    uint8_t (*start)(void *ctx, const char *cpus);
    /* False: it has not ended yet; to be asked for again. */
    bool (*stop)(void *ctx);
};

#endif
