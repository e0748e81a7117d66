/* The state of the machine, as a port tells it: sensors, evidence and facts. */
#ifndef QS_AGENT_CORE_PORT_STATE_H
#define QS_AGENT_CORE_PORT_STATE_H

#include <stdbool.h>
#include <stdint.h>

enum {
    QS_PORT_KIND_BYTES = 65,  /* name of a sensor or of an evidence kind, with its NUL */
    QS_PORT_FACT_BYTES = 1025 /* value of a fact, with its NUL */
};

/* Of one sensor. status: enum qs_reading_status of the wire; value and age count when it is ok or stale. */
struct qs_port_reading {
    uint8_t status;
    int64_t value;
    int64_t age_ns;
    bool pending; /* a newer one is on its way: for that a gate waits */
};

/* One kind of evidence, before and after a window; zeros before it is filled in. */
struct qs_port_evidence {
    char kind[QS_PORT_KIND_BYTES];
    uint8_t status;
    bool held, steady; /* both within lo .. hi; both the same, unless bounded: or the window is tainted */
    int64_t before, after, lo, hi;
};

struct qs_port_fact {
    char key[QS_PORT_KIND_BYTES];
    char value[QS_PORT_FACT_BYTES];
};

#endif
