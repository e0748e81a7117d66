/* What the agent keeps of a run outside its windows, and of the files that are pushed to it. Included by
 * agent.h. */
#ifndef QS_AGENT_CORE_AGENT_PARTS_H
#define QS_AGENT_CORE_AGENT_PARTS_H

#include "core/cache.h"
#include "core/port.h"
#include "proto/msg.h"

/* The program of a run in harness mode. */
struct qs_agent_harness {
    bool on;    /* the run is of that mode */
    bool alive; /* its program has not ended */
    uint32_t capacity, layout, evals_max;
    struct qs_port_metric metrics[QS_DECLARED_MAX];
    uint16_t metric_count;
    enum qs_ended_how how; /* where it is not alive: these four */
    int32_t code;
    uint32_t flags;
    char why[QS_PORT_FAULT_BYTES];
};

/* What is kept of RUN_BEGIN; commands are the port's. */
struct qs_agent_run {
    struct qs_uid uid;
    int64_t iteration_limit_ns, hook_limit_ns;
    uint32_t output_max_bytes, document_max_bytes; /* document: stream mode, of each window; else 0 */
    bool prepare, conclude, apart;
    enum qs_exit_rule exit_rule;
    int32_t exit_codes[QS_EXIT_CODES_MAX];
    size_t exit_count;
    bool counting; /* next_seq is known: a window was opened, or iterations of this run are held */
    uint64_t next_seq;
    struct qs_agent_harness harness;
    struct qs_port_ready ready; /* for RUN_READY, which a program's setup delays */
};

/* Files that the host pushes, and the one that is coming. */
struct qs_agent_files {
    struct qs_cache cache;
    bool taking;
    uint32_t id; /* of its PUT */
    struct qs_content put;
    uint64_t taken, told; /* bytes; those that the host knows of */
    struct qs_sha256 sum;
};

/* What became of a write of a TUNE. */
struct qs_agent_tuned {
    uint8_t outcome;
    int32_t error;
    char before[QS_PORT_SAID_BYTES], after[QS_PORT_SAID_BYTES];
};

/* Files that are changed for a while. */
struct qs_agent_control {
    uint32_t grant;            /* each TUNE begins another one; from 1 on */
    int64_t lease_ns, told_ns; /* lease 0: nothing is changed. told: when it was last extended */
    int64_t settle_ns;
    bool looking;                        /* the files are read back */
    bool more;                           /* the next RESTORE goes on with the last one */
    uint8_t bytes[QS_CONTROL_MAX_BYTES]; /* the list of the TUNE in hand */
    uint32_t len;
    uint16_t count;
    struct qs_iter it;
    size_t at; /* the write in hand */
    struct qs_agent_tuned rows[QS_TUNE_MAX];
    struct qs_build list; /* of the RESTORE in hand */
};

/* Sensors of the host's making, whose first readings it has asked for. */
struct qs_agent_bound {
    char names[QS_BIND_MAX][QS_NAME_MAX_BYTES + 1];
    size_t count;
    int64_t since_ns;
};

#endif
