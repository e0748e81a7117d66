/* Messages with what was measured: how a window closed, and its iterations. */
#ifndef QS_PROTO_MSG_RESULT_H
#define QS_PROTO_MSG_RESULT_H

#include "proto/limits.h"
#include "proto/msg_harness.h"
#include "proto/msg_window.h"
#include "proto/uid.h"
#include "proto/wire.h"

enum qs_closed_how {
    QS_CLOSED_DONE = 0,    /* all iterations */
    QS_CLOSED_TIME_UP = 1, /* max_ns ended it; those that ran are valid */
    QS_CLOSED_CANCELLED = 2,
    QS_CLOSED_FAILED = 3,      /* see `failure`; what ran before is in the rows */
    QS_CLOSED_GATE_TIMEOUT = 4 /* never opened; the gate's outcome says what to do */
};
enum qs_gate_outcome {
    QS_GATE_OPEN = 0,
    QS_GATE_TAINTED = 1, /* timed out with on_timeout taint, and ran */
    QS_GATE_DEFER = 2,
    QS_GATE_REQUEUE = 3,
    QS_GATE_FAIL = 4
};

/* One sensor as the gate read it when it decided. */
struct qs_reading {
    struct qs_text sensor; /* 1 .. QS_NAME_MAX_BYTES */
    enum qs_reading_status status;
    int64_t value;  /* unit of the sensor; 0 unless OK or STALE */
    int64_t age_ns; /* >= 0, at the decision */
};
bool qs_list_reading(struct qs_iter *it, struct qs_reading *out);
bool qs_build_reading(struct qs_build *b, const struct qs_reading *v);

/* One kind of evidence, read just before and just after the window. */
struct qs_evidence {
    struct qs_text kind; /* 1 .. QS_NAME_MAX_BYTES */
    enum qs_reading_status status;
    int64_t before, after; /* unit of the kind; 0 unless OK */
};
bool qs_list_evidence(struct qs_iter *it, struct qs_evidence *out);
bool qs_build_evidence(struct qs_build *b, const struct qs_evidence *v);

struct qs_taint {
    int32_t iteration;   /* index in the window; -1: the whole window */
    struct qs_text code; /* 1 .. QS_NAME_MAX_BYTES */
    int64_t value, bound;
};
bool qs_list_taint(struct qs_iter *it, struct qs_taint *out);
bool qs_build_taint(struct qs_build *b, const struct qs_taint *v);

struct qs_gate_record {
    int64_t began_ns, decided_ns; /* device clock */
    enum qs_gate_outcome outcome;
    uint32_t polls;
    struct qs_list readings; /* of struct qs_reading, <= QS_GATE_MAX: the deciding batch */
    struct qs_text busiest;  /* process, where the gate had to wait for it; <= QS_NOTE_MAX_BYTES */
};

struct qs_msg_closed {
    struct qs_uid run;
    uint32_t window;
    enum qs_phase phase;
    enum qs_closed_how how;
    uint32_t iterations; /* that ran: rows to come, <= QS_ITERATIONS_MAX */
    int64_t opened_ns;   /* device clock; both 0 where it never opened */
    int64_t closed_ns;
    struct qs_gate_record gate;
    struct qs_list evidence;   /* of struct qs_evidence, <= QS_EVIDENCE_MAX */
    struct qs_list taints;     /* of struct qs_taint, <= QS_TAINTS_MAX */
    uint64_t output_bytes;     /* all that the processes wrote */
    struct qs_text output;     /* kept of it: any bytes (NUL too), <= QS_OUTPUT_MAX_BYTES */
    struct qs_text failure;    /* "" unless how is FAILED; <= QS_NOTE_MAX_BYTES */
    uint32_t frames_in_window; /* frames that arrived between QUIET and the close: 0 when silent */
    uint32_t unread_bytes_at_close;
    uint32_t evals; /* of each iteration, <= QS_EVALS_MAX; 0: not harness mode, and nothing follows */
    struct qs_list
        declared; /* of struct qs_declared, <= QS_DECLARED_MAX: the rows' metrics, for who missed RUN_READY */
    bool apart;   /* the run's output is QS_OUTPUT_KIND_APART: `output` is standard output alone, and these
                     follow */
    uint64_t errors_bytes; /* standard error: all that was written */
    struct qs_text errors; /* and what was kept, <= QS_OUTPUT_MAX_BYTES */
};
bool qs_msg_encode_closed(struct qs_writer *w, const struct qs_msg_closed *m);
int qs_msg_decode_closed(const uint8_t *p, size_t n, struct qs_msg_closed *m);

/* Bits of an iteration; other bits are kept as they are. */
enum qs_iteration_flag {
    QS_ITERATION_TIMED_OUT = 1, /* ended at its limit */
    QS_ITERATION_UNEXPECTED_EXIT = 2,
    QS_ITERATION_SIGNALLED = 4,
    QS_ITERATION_LEFT_CHILDREN = 8, /* they were ended */
    QS_ITERATION_OUTPUT_CUT = 16,
    QS_ITERATION_PREPARE_FAILED = 32,
    QS_ITERATION_CONCLUDE_FAILED = 64,
    QS_ITERATION_CLOCK = 128,      /* its times cannot be: they go backwards, or lie outside of the window */
    QS_ITERATION_CORE_DUMPED = 256 /* the signal left a core dump */
};
/* One iteration. All four integers and the values are data: any i64 crosses unchanged. */
struct qs_row {
    int64_t start_off_ns; /* since opened_ns */
    int64_t duration_ns;
    uint32_t flags;
    int32_t status;                 /* exit code, or -signal */
    int64_t values[QS_METRICS_MAX]; /* the first `metrics` of them, in the order of the ids */
};
struct qs_msg_iterations {
    struct qs_uid run; /* not zero */
    uint32_t window;
    uint64_t first_seq;   /* of row 0; <= QS_SEQ_MAX - rows */
    uint32_t first_index; /* of row 0 in the window; <= QS_ITERATIONS_MAX - rows */
    struct qs_list
        metrics;         /* of u16: enum qs_metric, or QS_METRIC_DECLARED + k; <= QS_METRICS_MAX, each once */
    struct qs_list rows; /* of struct qs_row, <= QS_ROWS_MAX; each 24 + 8 * metrics.count bytes */
};
/* metrics = the message's metrics.count. */
bool qs_list_row(struct qs_iter *it, uint16_t metrics, struct qs_row *out);
bool qs_build_row(struct qs_build *b, uint16_t metrics, const struct qs_row *v);
bool qs_msg_encode_iterations(struct qs_writer *w, const struct qs_msg_iterations *m);
int qs_msg_decode_iterations(const uint8_t *p, size_t n, struct qs_msg_iterations *m);

/* READ: what do the device's sensors say now? */
struct qs_msg_read {
    uint32_t id;
};
bool qs_msg_encode_read(struct qs_writer *w, const struct qs_msg_read *m);
int qs_msg_decode_read(const uint8_t *p, size_t n, struct qs_msg_read *m);

struct qs_msg_readings {
    uint32_t id;
    struct qs_list readings; /* of struct qs_reading, <= QS_EVIDENCE_MAX */
};
bool qs_msg_encode_readings(struct qs_writer *w, const struct qs_msg_readings *m);
int qs_msg_decode_readings(const uint8_t *p, size_t n, struct qs_msg_readings *m);

#endif
