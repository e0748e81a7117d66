/* The board behind a simulated device, and what happens to it. The model is agent/sim/board; here is what a
 * kernel, a supervisor and a processor make of it for the agent: files that are found, read, changed for a
 * while and put back (found.c, knobs.c), and work that takes as long as the model's clock says (work.c). */
#ifndef QS_SIM_BED_H
#define QS_SIM_BED_H

#include "core/port.h"
#include "sim/board/calls.h"

enum {
    QS_SIM_EVENTS_MAX = 64,
    QS_SIM_WORDS_BYTES = 384, /* of an event, with the NUL: as long as a line for the board may be */
    QS_SIM_KNOBS_MAX = 128,   /* that are changed at once */
    QS_SIM_NOTE_BYTES = QS_PORT_FACT_BYTES
};

/* What somebody does to the device: a line for the board (tests/beds/board/README.md), or
 *   unplug MS   nobody reaches it for so long
 *   reboot MS   it starts anew, which takes so long */
struct qs_sim_event {
    uint32_t
        window; /* 0: at_ns after it was made; else after the begin of its window of this number, from 1 */
    int64_t at_ns;
    const char *words; /* borrowed */
};

struct qs_sim_bound { /* a sensor of the host's making */
    char name[QS_PORT_KIND_BYTES], path[QS_PORT_KNOB_BYTES];
    int64_t mul, div, lo, hi;
    uint8_t flags;
};

struct qs_sim_knob { /* what stood in a file before it was changed: the journal */
    char path[QS_PORT_KNOB_BYTES], value[QS_PORT_KNOB_BYTES];
    uint8_t flags, turn;
};

struct qs_sim_question { /* of the agent's core, to be answered */
    enum qs_sim_asked { QS_SIM_TUNE, QS_SIM_LOOK, QS_SIM_RESTORE } what;
    int64_t due_ns; /* INT64_MAX: there is none */
    char path[QS_PORT_KNOB_BYTES], value[QS_PORT_KNOB_BYTES];
    uint8_t flags;
    bool first;
};

struct qs_sim_work { /* what a processor is at */
    bool on;
    size_t clock;  /* of the board, where it runs */
    int64_t left;  /* in nanoseconds of a kilohertz */
    int64_t at_ns; /* up to when it is done so far */
    int64_t began_ns, until_ns;
    uint32_t rows, wanted, evals_first, evals_more; /* of a harness program's window */
};

/* All times are the driver's. */
struct qs_sim_bed {
    struct qs_vboard board, at_boot; /* at_boot is only good for being copied back */
    const struct qs_sim_event *events;
    int64_t due_ns[QS_SIM_EVENTS_MAX]; /* INT64_MAX: not yet known, or over */
    size_t event_count;
    int64_t start_ns, away_until_ns;
    uint32_t windows; /* that have begun */
    uint32_t cpus;    /* where the run may go, a bit each */
    struct qs_sim_bound bound[QS_BIND_MAX];
    size_t bound_count;
    struct qs_sim_knob knobs[QS_SIM_KNOBS_MAX]; /* by their first change */
    size_t knob_count;
    struct qs_sim_knob same[QS_SIM_KNOBS_MAX]; /* what said so already, as long as something is held */
    size_t same_count;
    struct qs_sim_question question;
    struct qs_port_controlled answer;
    uint32_t grant;       /* the number of the lease */
    int64_t lease_end_ns; /* INT64_MAX: there is none */
    struct qs_sim_work work;
    char restored[QS_SIM_NOTE_BYTES]; /* what was put back unasked */
    char why[256];                    /* of a refusal to open */
};

/* Reads the tree, and tries each event out. Tree and events are borrowed: the path for the call, the events
 * as long as the bed is used. False: why says what is wrong. */
bool qs_sim_bed_open(struct qs_sim_bed *bed, const char *tree, const struct qs_sim_event *events, size_t n);

#endif
