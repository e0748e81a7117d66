/* What the core and a port tell each other about a tracer. Included by port.h, whose rules hold. */
#ifndef QS_AGENT_CORE_PORT_TRACE_H
#define QS_AGENT_CORE_PORT_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/port_program.h"
#include "proto/limits.h"

struct qs_msg_trace;
struct qs_port_fault;

/* A tracer that has ended, or was given up. */
struct qs_port_traced {
    bool there;                    /* it has left a file; else why says why not */
    int64_t ended_ns;              /* when its end was seen */
    uint32_t flags;                /* enum qs_trace_flag of the wire: CUT, LEFT_CHILDREN */
    uint64_t total_bytes;          /* of the file */
    const char *said;              /* in the port, valid until the next tracer: the end of what it wrote */
    size_t said_bytes;             /* <= QS_TRACE_SAID_MAX_BYTES */
    char why[QS_PORT_FAULT_BYTES]; /* also where it is there: how it ended */
};

/* A tracer beside the children, one at a time. start copies what it needs of *trace; false: nothing was
 * started. qs_agent_on_tracer() follows when it has ended. end asks (SIGINT) or forces (SIGKILL) it to end;
 * false: it has ended already. result ends what it left behind (itself too where it still runs) and looks at
 * its file; from then on pull serves that file, until the next tracer or run_end, which ends a tracer as
 * well. */
struct qs_port_tracer {
    bool (*start)(void *ctx, const struct qs_msg_trace *trace, struct qs_port_fault *fault);
    bool (*end)(void *ctx, bool hard);
    void (*result)(void *ctx, struct qs_port_traced *traced);
};

#endif
