/* The messages: their types, and who may send them. Structures and codecs are in headers by theme. Shared
 * rules of all codecs: bool qs_msg_encode_x(w, &m)  appends the payload; false (and w->ok false) where it
 * does not fit or a value is refused. int qs_msg_decode_x(payload, n, &m)  0, or a negative enum qs_wire_err,
 * and then *m must not be used. Texts and lists of *m point into the payload. Bytes after the last known
 * field are ignored. Both refuse the same. Messages of the same shape share a structure. */
#ifndef QS_PROTO_MSG_H
#define QS_PROTO_MSG_H

#include "proto/limits.h"
#include "proto/msg_control.h"
#include "proto/msg_files.h"
#include "proto/msg_load.h"
#include "proto/msg_pull.h"
#include "proto/msg_result.h"
#include "proto/msg_run.h"
#include "proto/msg_session.h"
#include "proto/msg_stream.h"
#include "proto/msg_trace.h"
#include "proto/msg_window.h"
#include "proto/wire.h"

enum qs_side { QS_SIDE_HOST = 1, QS_SIDE_AGENT = 2, QS_SIDE_BOTH = QS_SIDE_HOST | QS_SIDE_AGENT };

/* M(number on the wire, symbol and name, who may send it, shape: its member of union qs_msg, its structure
 * and codec); N where an earlier one has the same shape. A new one is a row at the end; the others keep their
 * numbers. */
#define QS_MESSAGES(M, N)                                                                                    \
    M(1, HELLO_HOST, HOST, hello_host)                                                                       \
    M(2, HELLO_AGENT, AGENT, hello_agent)                                                                    \
    M(3, AUTH, BOTH, auth)                                                                                   \
    M(4, PING, BOTH, ping)                                                                                   \
    M(5, PONG, BOTH, pong)                                                                                   \
    M(6, FACTS_GET, HOST, none) /* no payload */                                                             \
    M(7, FACTS, AGENT, facts)                                                                                \
    M(8, HELD, AGENT, held)                                                                                  \
    M(9, RESEND, HOST, run_seq) /* seq: the first one wanted */                                              \
    M(10, RUN_BEGIN, HOST, run_begin)                                                                        \
    M(11, RUN_READY, AGENT, run_ready)                                                                       \
    M(12, HOOK, HOST, hook)                                                                                  \
    M(13, HOOK_DONE, AGENT, hook_done)                                                                       \
    M(14, OPEN, HOST, open)                                                                                  \
    M(15, WAITING, AGENT, waiting)                                                                           \
    M(16, ARM, AGENT, window)                                                                                \
    N(17, QUIET, HOST, window)                                                                               \
    M(18, HOLD, HOST, window_why)                                                                            \
    N(19, DISARM, AGENT, window_why)                                                                         \
    M(20, CLOSED, AGENT, closed)                                                                             \
    M(21, ITERATIONS, AGENT, iterations)                                                                     \
    N(22, ACK, HOST, run_seq) /* seq: the first one not yet on disk */                                       \
    M(23, RUN_END, HOST, run)                                                                                \
    M(24, RUN_ENDED, AGENT, run_ended)                                                                       \
    M(25, CANCEL, HOST, run_why)                                                                             \
    M(26, ERROR, BOTH, error)                                                                                \
    M(27, BYE, BOTH, bye)                                                                                    \
    M(28, PULL, HOST, pull)                                                                                  \
    M(29, PULLED, AGENT, pulled)                                                                             \
    M(30, TRACE, HOST, trace)                                                                                \
    M(31, TRACE_STOP, HOST, trace_stop)                                                                      \
    M(32, TRACED, AGENT, traced)                                                                             \
    M(33, HAVE, HOST, have)                                                                                  \
    M(34, HAVING, AGENT, having)                                                                             \
    M(35, PUT, HOST, put)                                                                                    \
    M(36, PUT_DATA, HOST, put_data)                                                                          \
    M(37, PUT_AT, AGENT, put_at)                                                                             \
    M(38, STAGE, HOST, stage)                                                                                \
    M(39, STAGED, AGENT, staged)                                                                             \
    M(40, CLEAN, HOST, clean)                                                                                \
    M(41, CLEANED, AGENT, cleaned)                                                                           \
    M(42, DOCUMENT, AGENT, document)                                                                         \
    M(43, READ, HOST, read)                                                                                  \
    M(44, READINGS, AGENT, readings)                                                                         \
    M(45, SURVEY, HOST, survey)                                                                              \
    M(46, SURVEYED, AGENT, surveyed)                                                                         \
    M(47, BIND, HOST, bind)                                                                                  \
    N(48, BOUND, AGENT, readings)                                                                            \
    M(49, TUNE, HOST, tune)                                                                                  \
    M(50, TUNED, AGENT, tuned)                                                                               \
    M(51, RESTORE, HOST, restore)                                                                            \
    M(52, RESTORED, AGENT, restored)                                                                         \
    M(53, LOAD, HOST, load)                                                                                  \
    M(54, LOADED, AGENT, loaded)

enum qs_msg_type {
#define M(number, symbol, side, shape) QS_MSG_##symbol = (number),
    QS_MESSAGES(M, M)
#undef M
#define M(number, symbol, side, shape) +1
        QS_MSG_LAST = 0 QS_MESSAGES(M, M),
#undef M
    QS_MSG_OPTIONAL = 0x80 /* unknown types with this bit are ignored, others are an error */
};

/* What a side can do beyond the base of its version. In force is what both name; unknown bits mean nothing.
 */
enum qs_feature {
    QS_FEATURE_COMMAND = 1,       /* windows of command mode: one process per iteration */
    QS_FEATURE_HARNESS = 2,       /* runs of harness mode: one process per run */
    QS_FEATURE_PULL = 4,          /* files and the kernel's log can be fetched */
    QS_FEATURE_EVALS = 8,         /* windows of QS_PHASE_TUNE */
    QS_FEATURE_STREAM = 16,       /* runs of stream mode: one process per window, which writes a document */
    QS_FEATURE_TRACE = 32,        /* tracers, their files, and windows of phase traced */
    QS_FEATURE_FILES = 64,        /* files can be pushed: HAVE to CLEANED */
    QS_FEATURE_APART = 128,       /* standard output and standard error are kept apart */
    QS_FEATURE_OUTPUT_FILE = 256, /* standard output goes to a file */
    QS_FEATURE_READ = 512,        /* sensors are read on request */
    QS_FEATURE_SURVEY = 1024,     /* files are found and read, and become sensors: SURVEY, BIND */
    QS_FEATURE_CONTROL = 2048,    /* files are written and put back: TUNE, RESTORE */
    QS_FEATURE_LOAD = 4096,       /* processors are kept busy on request: LOAD */
    QS_FEATURE_SENSE = 8192,      /* BIND has tables, bits and what is steady; TUNE in a run, too */
    QS_FEATURE_SLOW = 16384,      /* BIND has commands */
    QS_FEATURE_SWITCH = 32768,    /* TUNE sets by commands, too */
    QS_FEATURE_AMID = 65536,      /* READ and LOAD between the windows of a run, too */
    QS_FEATURE_COUNTERS = 131072, /* BIND has events, words and fractions */
    QS_FEATURE_PRIORITY = 262144, /* RUN_BEGIN says how its processes start (msg_start.h); QS_GATE_MAX */
    QS_FEATURE_RETURN = 524288,   /* a gate has QS_GATE_RETURN */
    QS_FEATURE_HOLD = 1048576,    /* a gate has QS_GATE_HOLD */
    QS_FEATURE_ALL = 2097151      /* what this version knows */
};

/* "HELLO_HOST", ...; "unknown" for what is no message. */
const char *qs_msg_name(uint8_t type);
/* May `from` send this type? 1: yes, decode it. 0: unknown and optional, ignore it. QS_WIRE_E_TYPE: a
 * protocol error. */
int qs_msg_accept(uint8_t type, enum qs_side from);

/* A decoded message of any type, by the name of its structure. */
union qs_msg {
#define M(number, symbol, side, shape) struct qs_msg_##shape shape;
#define N(number, symbol, side, shape)
    QS_MESSAGES(M, N)
#undef M
#undef N
};
/* The codec of a type: 0 or the decoder's error; QS_WIRE_E_TYPE for unknown types. m of encode: the type's
 * structure, or NULL where it has no fields. */
int qs_msg_decode(uint8_t type, const uint8_t *payload, size_t n, union qs_msg *m);
bool qs_msg_encode(uint8_t type, struct qs_writer *w, const void *m);

#endif
