/* Messages of one window: open, the way to silence, and what was measured. */
#ifndef QS_PROTO_MSG_WINDOW_H
#define QS_PROTO_MSG_WINDOW_H

#include "proto/limits.h"
#include "proto/uid.h"
#include "proto/wire.h"

enum qs_phase {
    QS_PHASE_WARMUP = 0,
    QS_PHASE_MEASURE = 1,
    QS_PHASE_TUNE = 2,  /* harness, QS_FEATURE_EVALS: each iteration has one more evaluation than the last */
    QS_PHASE_TRACED = 3 /* a tracer ran: never a measurement; only where QS_FEATURE_TRACE is agreed */
};
enum qs_gate_flag {
    QS_GATE_HAS_LO = 1,
    QS_GATE_HAS_HI = 2,
    QS_GATE_UNREADABLE_OK = 4,
    QS_GATE_HEAT = 8,    /* below lo (milli-degrees, whose flag stands too) the device is warmed; only where
                            QS_FEATURE_LOAD is agreed */
    QS_GATE_RETURN = 16, /* counts only once the expectation before it has been above its hi: then the reading
                            must be down at this one's hi, whose flag stands too; only where
                            QS_FEATURE_RETURN is agreed */
    QS_GATE_HOLD = 32,   /* when all others are met processors are kept busy until the window begins, and this
                            one is judged meanwhile; only where QS_FEATURE_HOLD is agreed */
    QS_GATE_FLAGS = 63
};
enum qs_gate_on_timeout {
    QS_GATE_ON_TIMEOUT_TAINT = 0,
    QS_GATE_ON_TIMEOUT_DEFER = 1,
    QS_GATE_ON_TIMEOUT_REQUEUE = 2,
    QS_GATE_ON_TIMEOUT_FAIL = 3
};
/* One expectation: lo <= value <= hi (each where its flag stands) for dwell_ns without a break, within
 * timeout_ns. */
struct qs_expectation {
    struct qs_text sensor; /* 1 .. QS_NAME_MAX_BYTES */
    uint8_t flags;         /* enum qs_gate_flag; other bits are refused */
    int64_t lo, hi;        /* unit of the sensor; lo <= hi where both stand */
    int64_t dwell_ns;      /* 0 .. QS_SPAN_MAX_NS */
    int64_t timeout_ns;    /* 0 .. QS_SPAN_MAX_NS */
    enum qs_gate_on_timeout on_timeout;
};
bool qs_list_expectation(struct qs_iter *it, struct qs_expectation *out);
bool qs_build_expectation(struct qs_build *b, const struct qs_expectation *e);

/* The difference after - before of an evidence kind that taints when it is above the bound. */
struct qs_bound {
    struct qs_text kind; /* 1 .. QS_NAME_MAX_BYTES */
    int64_t bound;       /* unit of the evidence */
};
bool qs_list_bound(struct qs_iter *it, struct qs_bound *out);
bool qs_build_bound(struct qs_build *b, const struct qs_bound *v);

struct qs_msg_open {
    struct qs_uid run; /* not zero */
    uint32_t window;   /* number within the run, rising */
    enum qs_phase phase;
    uint64_t first_seq;    /* of the window's first iteration, < QS_SEQ_MAX */
    uint32_t iterations;   /* at most so many, 1 .. QS_ITERATIONS_MAX */
    int64_t max_ns;        /* none starts later than this after the opening, 1 .. QS_SPAN_MAX_NS */
    int64_t quiet_lead_ns; /* silence before the deciding reading, 0 .. QS_SPAN_MAX_NS */
    int64_t lease_ns;      /* how long the host waits for CLOSED after QUIET, 1 .. QS_SPAN_MAX_NS */
    struct qs_list gate;   /* of struct qs_expectation, <= QS_GATE_MAX */
    struct qs_list bounds; /* of struct qs_bound, <= QS_BOUNDS_MAX */
    uint32_t evals; /* harness: evaluations of each iteration (TUNE: of the first, > 0), <= QS_EVALS_MAX; 0:
                       not said, which is one */
};
bool qs_msg_encode_open(struct qs_writer *w, const struct qs_msg_open *m);
int qs_msg_decode_open(const uint8_t *p, size_t n, struct qs_msg_open *m);

enum qs_reading_status {
    QS_READING_OK = 0,
    QS_READING_UNREADABLE = 1, /* it exists and cannot be read */
    QS_READING_STALE = 2,      /* older than its maximum age */
    QS_READING_MISSING = 3,    /* this device has no such thing */
    QS_READING_SPOILT = 4      /* somebody has put a made-up value in its place */
};
/* One state of the wait: at most one a second. */
struct qs_msg_waiting {
    struct qs_uid run;
    uint32_t window;
    int64_t elapsed_ns;   /* since OPEN */
    uint16_t expectation; /* index in the gate of the first that is not met; < QS_GATE_MAX */
    int64_t value;        /* unit of its sensor */
    enum qs_reading_status status;
    int64_t eta_ns;      /* >= 0; -1: not known */
    struct qs_text note; /* busiest process, or ""; <= QS_NOTE_MAX_BYTES */
};
bool qs_msg_encode_waiting(struct qs_writer *w, const struct qs_msg_waiting *m);
int qs_msg_decode_waiting(const uint8_t *p, size_t n, struct qs_msg_waiting *m);

/* ARM, QUIET */
struct qs_msg_window {
    struct qs_uid run; /* not zero */
    uint32_t window;
    uint32_t arming; /* ARM: 0 for the window's first one, one more for each; QUIET: of the ARM it answers */
};
bool qs_msg_encode_window(struct qs_writer *w, const struct qs_msg_window *m);
int qs_msg_decode_window(const uint8_t *p, size_t n, struct qs_msg_window *m);

/* HOLD, DISARM */
struct qs_msg_window_why {
    struct qs_uid run; /* not zero */
    uint32_t window;
    uint32_t arming;    /* of the ARM that it answers, or takes back */
    struct qs_text why; /* <= QS_NOTE_MAX_BYTES */
};
bool qs_msg_encode_window_why(struct qs_writer *w, const struct qs_msg_window_why *m);
int qs_msg_decode_window_why(const uint8_t *p, size_t n, struct qs_msg_window_why *m);

#endif
