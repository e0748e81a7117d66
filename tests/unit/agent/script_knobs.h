/* What the scripted port is asked to change: it is kept, and answered when the test says so. */
#ifndef QS_TESTS_AGENT_SCRIPT_KNOBS_H
#define QS_TESTS_AGENT_SCRIPT_KNOBS_H

#include "core/port.h"

struct knobs {
    char last[600]; /* "tune a=1 flags 2", "look a=1", "restore first", "restore"; "": nothing is asked */
    size_t asked;
    uint32_t grant;
    int64_t lease_ns; /* of the last one */
    size_t leases;
    bool unsettled; /* evidence is being read */
};

/* Processors that it is asked to keep busy. */
struct burden {
    bool on;
    char cpus[QS_PORT_CPUS_BYTES];
    uint8_t answer;       /* 0: QS_LOAD_ON */
    size_t stops, linger; /* linger: so many times they have not ended */
};

extern const struct qs_port_load burden_port;
bool knobs_settled(void *ctx);                  /* so */
extern const struct qs_port_control knobs_port; /* ctx: the struct script */

#endif
