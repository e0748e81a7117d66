/* The agent's side of the memory that a harness program shares with it (quiesce/bench.h). Whatever the
 * program wrote there may be anything and may change at any time: each word is read once, and bounded before
 * it is used. Pure: memory goes in, values come out; mapping it and waking the program is the port's. */
#ifndef QS_AGENT_CORE_SHARED_H
#define QS_AGENT_CORE_SHARED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/port.h"
#include "proto/msg.h"

struct quiesce_bench_shared;

struct qs_shared {
    struct quiesce_bench_shared *at; /* borrowed */
    uint32_t capacity;               /* rows that there is room for */
    uint32_t seq;                    /* of the last command */
    int64_t start_at_ns;             /* of the last window */
};

struct qs_shared_setup {
    const struct qs_harness *harness; /* fits the wire's limits */
    int32_t wake_fd;                  /* as the program will see it */
    uint32_t clock;                   /* clockid_t */
};

/* The most memory that a capacity can want. */
size_t qs_shared_bytes(uint32_t capacity);
/* Writes all of it, so that no page of it is missing later: qs_shared_bytes(capacity) bytes, aligned for
 * int64_t. */
void qs_shared_fill(struct qs_shared *shared, void *memory, const struct qs_shared_setup *setup);
/* A window's command and its start; the program is woken afterwards. */
void qs_shared_go(struct qs_shared *shared, const struct qs_port_go *go);
/* Teardown and exit; the program is woken afterwards. */
void qs_shared_quit(struct qs_shared *shared);
uint32_t *qs_shared_futex(const struct qs_shared *shared);

void qs_shared_look(const struct qs_shared *shared, struct qs_port_look *look);
/* i < look.metrics, as it was when the program first parked. False: what stands there is no metric. */
bool qs_shared_metric(const struct qs_shared *shared, uint32_t i, struct qs_port_metric *metric);
/* i < capacity, metrics <= QS_DECLARED_MAX. start_ns is of the agent's clock; INT64_MIN where it overflows.
 */
void qs_shared_row(const struct qs_shared *shared, uint32_t i, uint32_t metrics, struct qs_port_row *row);

#endif
