/* What a run of harness mode adds to the messages of a run: each part stands behind the last field of its
 * message, is there only in harness mode, and only where QS_FEATURE_HARNESS is agreed. */
#ifndef QS_PROTO_MSG_HARNESS_H
#define QS_PROTO_MSG_HARNESS_H

#include "proto/limits.h"
#include "proto/wire.h"

enum qs_run_mode { QS_RUN_COMMAND = 0, QS_RUN_HARNESS = 1, QS_RUN_STREAM = 2 };

/* RUN_BEGIN: one process for the whole run, which includes quiesce/bench.h. */
struct qs_harness {
    struct qs_text benchmark; /* "": the program's only one; <= QS_NAME_MAX_BYTES */
    struct qs_list params;    /* of text "NAME=VALUE", <= QS_PARAMS_MAX */
    uint32_t capacity;        /* iterations of its longest window, 1 .. QS_ITERATIONS_MAX */
    uint64_t seed;            /* for the program's own random numbers */
    /* What its initial state is moved by, each <= QS_LAYOUT_..._MAX_BYTES; all 0: layout fixed. */
    uint32_t environment_bytes, stack_bytes, heap_bytes;
};
bool qs_harness_fits(const struct qs_harness *h);
void qs_harness_put(struct qs_writer *w, const struct qs_harness *h);
void qs_harness_get(struct qs_wire_reader *r, struct qs_harness *h);

/* RUN_READY, CLOSED: a further metric that the program declares. The k-th has the id QS_METRIC_DECLARED + k.
 */
enum qs_declared_flag {
    QS_DECLARED_LOWER_IS_BETTER = 1,
    QS_DECLARED_DETERMINISTIC = 2, /* compared exactly */
    QS_DECLARED_FLAGS = 3
};
struct qs_declared {
    struct qs_text name; /* 1 .. QS_NAME_MAX_BYTES */
    struct qs_text unit; /* 1 .. QS_NAME_MAX_BYTES */
    uint8_t flags;       /* enum qs_declared_flag; other bits are refused */
};
bool qs_list_declared(struct qs_iter *it, struct qs_declared *out);
bool qs_build_declared(struct qs_build *b, const struct qs_declared *v);
void qs_declared_put(struct qs_writer *w, const struct qs_list *declared); /* <= QS_DECLARED_MAX */
struct qs_list qs_declared_get(struct qs_wire_reader *r);

/* RUN_READY: what the agent cannot promise. */
enum qs_ready_flag {
    QS_READY_SHARED_CPU =
        1, /* no processor is left for the agent alone: its one wake-up may meet an iteration */
    QS_READY_FLAGS = 1
};

/* RUN_ENDED: how the program ended. */
enum qs_ended_how {
    QS_ENDED_COMMAND = 0, /* there was none to end */
    QS_ENDED_EXITED = 1,
    QS_ENDED_SIGNALLED = 2,
    QS_ENDED_LOST = 3 /* it did not die from SIGKILL */
};
enum qs_ended_flag {
    QS_ENDED_NO_TEARDOWN = 1,   /* it ended without its teardown */
    QS_ENDED_TIMED_OUT = 2,     /* its teardown reached the limit, and it was ended */
    QS_ENDED_LEFT_CHILDREN = 4, /* they were ended */
    QS_ENDED_FLAGS = 7
};

#endif
