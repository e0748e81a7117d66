/* The artifacts of a run, as the port hands them to the core. */
#ifndef QS_AGENT_CORE_PORT_ARTIFACTS_H
#define QS_AGENT_CORE_PORT_ARTIFACTS_H

#include <stddef.h>
#include <stdint.h>

struct qs_msg_pull;

enum { QS_PORT_WHY_BYTES = 160 }; /* a reason for people, with its NUL */

/* Output of a window or of a hook. kept points into the port and is valid until the next start. */
struct qs_port_output {
    const char *kept;
    size_t kept_bytes;
    uint64_t total_bytes;
    const char *errors; /* of a run whose streams are kept apart: standard error; else nothing */
    size_t errors_bytes;
    uint64_t errors_total_bytes;
};

/* What the process of a window of stream mode wrote (of a run that run_begin took in that mode): the port
 * copies it from its beginning, at most as many bytes as there is room for; it is asked once, after the
 * window. status is enum qs_pull_status of the wire. */
struct qs_port_document {
    uint8_t status;
    uint64_t total_bytes; /* that it wrote */
    size_t n;             /* that were copied */
    char why[QS_PORT_WHY_BYTES];
};

/* One piece of an artifact. status is enum qs_pull_status of the wire. */
struct qs_port_piece {
    uint8_t status;
    uint64_t total_bytes; /* of the source, now */
    const char *bytes;    /* in the port, valid until the next call; at most as many as were asked for */
    size_t n;
    char why[QS_PORT_WHY_BYTES];
};

#endif
