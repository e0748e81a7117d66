/* How the processes that a run measures are started: a part of RUN_BEGIN, behind all others, and only where
 * QS_FEATURE_PRIORITY is agreed. Prepare, conclude and hooks are started as ever. */
#ifndef QS_PROTO_MSG_START_H
#define QS_PROTO_MSG_START_H

#include "proto/wire.h"

enum qs_sched { QS_SCHED_KEPT = 0, QS_SCHED_FIFO = 1, QS_SCHED_NICE = 2 };
enum qs_start_flag {
    QS_START_FIXED_ADDRESSES = 1, /* the kernel draws no addresses for them (ASLR) */
    QS_START_FLAGS = 1
};

enum { QS_FIFO_MIN = 1, QS_FIFO_MAX = 99, QS_NICE_MIN = -20, QS_NICE_MAX = 19 };

struct qs_start {        /* zeroed: as the agent itself is */
    enum qs_sched sched; /* what they start inherits it */
    int32_t value;       /* FIFO: the priority, QS_FIFO_MIN .. _MAX; NICE: QS_NICE_MIN .. _MAX; else 0 */
    uint8_t flags;       /* enum qs_start_flag; others are refused */
};
bool qs_start_given(const struct qs_start *s);
bool qs_start_fits(const struct qs_start *s);
void qs_start_put(struct qs_writer *w, const struct qs_start *s);
void qs_start_get(struct qs_wire_reader *r, struct qs_start *s);

#endif
