/* Every limit of the wire in one place. A decoder refuses what is above, an encoder refuses to write it; what
 * a peer names is compared with these before it is used for anything. */
#ifndef QS_PROTO_LIMITS_H
#define QS_PROTO_LIMITS_H

#include <stdint.h>

enum {
    QS_PROTO_MIN = 1, /* the oldest message version this code speaks */
    QS_PROTO_MAX = 1, /* the newest */

    QS_FRAME_HEADER_BYTES = 16,
    QS_FRAME_MAX_BYTES = 256 * 1024,  /* payload of one frame */
    QS_FRAME_FLOOR_BYTES = 16 * 1024, /* the least max_frame_bytes that a HELLO may name */
    QS_SEAL_BYTES = 16,               /* behind the payload of a sealed frame */
    QS_FRAME_BUF_BYTES = QS_FRAME_HEADER_BYTES + QS_FRAME_MAX_BYTES + QS_SEAL_BYTES,
    QS_HELLO_MAX_BYTES = 4096,            /* payload of the first frame of a direction */
    QS_NOISE_MAX_BYTES = 4096,            /* foreign bytes tolerated before the first frame (banners) */
    QS_NOISE_SHELL_MAX_BYTES = 64 * 1024, /* the same where a shell of the other side may speak first */
    QS_NOISE_HEAD_BYTES = 160,            /* of them, kept for the error text */

    QS_NAME_MAX_BYTES = 64,      /* sensors, evidence kinds, taint codes, clocks, boot id */
    QS_NOTE_MAX_BYTES = 1024,    /* texts for people: why, note, failure, busiest, cpus, software */
    QS_PATH_MAX_BYTES = 4095,    /* cwd, stdin, resolved executable */
    QS_OUTPUT_MAX_BYTES = 65535, /* output kept of a window or a hook */

    QS_PULL_MAX_BYTES =
        8192, /* one piece of what is fetched: it fits the shortest frame that may be agreed */

    QS_TRACE_MAX_BYTES = 64 * 1024 * 1024,   /* of a tracer's file */
    QS_TRACE_SAID_MAX_BYTES = 1024,          /* of what it writes to its outputs, told to the host */
    QS_FILES_MAX = 64,                       /* named by one HAVE, or laid out by one STAGE */
    QS_FILE_NAME_MAX_BYTES = 2047,           /* below its directory */
    QS_STAGE_MAX_BYTES = 8192,               /* its list, as encoded */
    QS_PUT_MAX_BYTES = 32768,                /* of one PUT_DATA, where the agreed frame has room for it */
    QS_PUT_TOLD_BYTES = 64 * 1024,           /* PUT_AT comes at least each so many */
    QS_PUT_AHEAD_BYTES = 512 * 1024,         /* that the host sends at most beyond the last PUT_AT */
    QS_DOCUMENT_MAX_BYTES = 4 * 1024 * 1024, /* kept of what a window's process writes (stream) */

    QS_CONTROL_PATH_MAX_BYTES = 255,  /* of a file that is read or written on the device */
    QS_CONTROL_MAX_BYTES = 12 * 1024, /* a list of them, as encoded: it fits the shortest frame */
    QS_FOUND_MAX = 256,               /* files in one SURVEYED */
    QS_FOUND_MAX_BYTES = 1024,        /* of what one of them says */
    QS_BIND_MAX = 64,                 /* sensors of the host's making */
    QS_BIND_SCALE_MAX = 1000000000,
    QS_TUNE_MAX = 64, /* writes in one TUNE */
    QS_TUNE_VALUE_MAX_BYTES = 255,
    QS_TUNE_SAID_MAX_BYTES = 63, /* of what a file said, told to the host */
    QS_LEASE_MIN_MS = 1000,
    QS_LEASE_MAX_MS = 86400000,
    QS_SETTLE_MAX_MS = 10000,
    QS_LOAD_MAX_MS = 600000,
    QS_CPUS_MAX_BYTES = 255, /* a list of processors that the host names */

    QS_ARGV_MAX = 1024,
    QS_ARGV_MAX_BYTES = 128 * 1024, /* as encoded: 2 bytes of length and the text, for each item */
    QS_ENV_MAX = 2048,
    QS_ENV_MAX_BYTES = 128 * 1024, /* as encoded; argv, env and hooks together must fit one frame */
    QS_EXIT_CODES_MAX = 256,

    QS_FACTS_MAX = 512,
    QS_FACT_VALUE_MAX_BYTES = 1024,
    QS_HELD_MAX = 256, /* runs with iterations that are not acknowledged */

    QS_GATE_MAX = 64,     /* expectations of a gate */
    QS_GATE_OLD_MAX = 16, /* without QS_FEATURE_PRIORITY */
    QS_BOUNDS_MAX = 64,   /* evidence bounds of a window */
    QS_EVIDENCE_MAX = 256,
    QS_TAINTS_MAX = 1024,
    QS_ITERATIONS_MAX = 4096,                    /* of one window */
    QS_ROWS_MAX = 512,                           /* rows in one ITERATIONS message */
    QS_METRICS_MAX = 32,                         /* metrics of an iteration beside start and duration */
    QS_DECLARED_MAX = 16,                        /* of them, declared by the program itself (harness) */
    QS_PARAMS_MAX = 64,                          /* parameters of a run (harness) */
    QS_PARAMS_MAX_BYTES = 16 * 1024,             /* as encoded */
    QS_EVALS_MAX = 1 << 30,                      /* evaluations of one iteration (harness) */
    QS_LAYOUT_ENVIRONMENT_MAX_BYTES = 64 * 1024, /* by which a program's initial state is moved (harness) */
    QS_LAYOUT_STACK_MAX_BYTES = 64 * 1024,
    QS_LAYOUT_HEAP_MAX_BYTES = 1024 * 1024,
    QS_ROW_FIXED_BYTES = 24, /* start, duration, flags, status of a row; 8 more per metric */
    QS_HEARTBEAT_MIN_MS = 10,
    QS_HEARTBEAT_MAX_MS = 60000,
    QS_HEARTBEAT_LOST_AFTER = 3, /* periods of hearing nothing, outside a window */
    QS_AUTH_KEY_MIN_BYTES = 16,
    QS_AUTH_KEY_MAX_BYTES = 4096,
    QS_AGENT_MAX_RUNS_OPEN = 1, /* one measuring run per session */
};

/* Any span that one side asks of the other (limits, dwell, timeout, lease): 0 .. 30 days. So deadline = now +
 * span never overflows. Measured durations are not bounded: they are data. */
#define QS_SPAN_MAX_NS (INT64_C(30) * 24 * 3600 * 1000 * 1000 * 1000)
/* A file, so that its size plus whatever is there never overflows. */
#define QS_FILE_MAX_BYTES (UINT64_C(1) << 40)
/* Iteration numbers: below 2^48, so that seq + count never overflows and SQLite and JSON hold them exactly.
 */
#define QS_SEQ_MAX (UINT64_C(1) << 48)

#endif
