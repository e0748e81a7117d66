/* What the core and a port tell each other about the program of a harness run. Included by port.h, whose
 * rules hold. */
#ifndef QS_AGENT_CORE_PORT_PROGRAM_H
#define QS_AGENT_CORE_PORT_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/limits.h"
#include "proto/msg_window.h"

enum { QS_PORT_FAULT_BYTES = 320 }; /* text of a fault, with its NUL */

/* Why an operation failed: for a person. blame is enum qs_wire_blame, wire_code enum qs_wire_code. */
struct qs_port_fault {
    uint8_t blame;
    uint16_t wire_code;
    int32_t code; /* errno, or 0 */
    char text[QS_PORT_FAULT_BYTES];
};

/* A harness program, as the last look found it. CORRUPT: it wrote what it may not. */
enum qs_port_program {
    QS_PROGRAM_SETTING_UP,
    QS_PROGRAM_PARKED,
    QS_PROGRAM_BUSY,
    QS_PROGRAM_FAILED,
    QS_PROGRAM_OVER,
    QS_PROGRAM_CORRUPT
};

struct qs_port_look {
    enum qs_port_program state;
    bool done;                      /* the last command is carried out */
    bool time_up, broke;            /* how its window ended; neither: every iteration ran */
    uint32_t count;                 /* rows that it calls valid */
    uint32_t metrics, layout;       /* that it declares; of its bench.h */
    uint32_t evals_max;             /* evaluations that one iteration may have; 0: any number */
    bool in_step;                   /* it is, or was, in one of its steps */
    const char *phase;              /* static: which one */
    char text[QS_PORT_FAULT_BYTES]; /* FAILED, CORRUPT: why */
};

struct qs_port_metric {
    char name[QS_NAME_MAX_BYTES + 1], unit[QS_NAME_MAX_BYTES + 1];
    bool lower_is_better, deterministic;
};

/* One window of a harness program. Times of the agent's clock. */
struct qs_port_go {
    uint32_t window, iterations, evals;
    enum qs_phase phase; /* TUNE: evals are those of the first iteration, each further one has one more */
    int64_t start_at_ns; /* no iteration starts before */
    int64_t max_ns;      /* none starts later than this after it */
};

struct qs_port_clock {    /* the program's clock, on its processors; core/clock.h. 0: not known */
    int64_t precision_ns; /* the shortest interval above 0 that it shows */
    int64_t accuracy_ns;  /* what 99.9 % of empty sections do not exceed */
};

struct qs_port_row { /* as the program wrote it: not judged */
    int64_t start_ns, duration_ns;
    int64_t values[QS_DECLARED_MAX];
};

#endif
