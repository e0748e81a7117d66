/* What the scripted port is asked to change: it is kept, and answered when the test says so. */
#ifndef QS_TESTS_AGENT_SCRIPT_KNOBS_H
#define QS_TESTS_AGENT_SCRIPT_KNOBS_H

#include "core/port.h"

struct knobs {
    char last[600]; /* "tune a=1 flags 2", "look a=1", "restore first", "restore"; "": nothing is asked */
    size_t asked;
    int64_t lease_ns; /* of the last one */
    size_t leases;
};

extern const struct qs_port_control knobs_port; /* ctx: the struct script */

#endif
