/* The priority of the processes that a run measures, and whether the kernel draws their addresses (Linux).
 * The system calls are the kernel's own: musl's functions for them refuse. */
#ifndef QS_LINUX_PRIORITY_H
#define QS_LINUX_PRIORITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/port_state.h"
#include "proto/msg_start.h"

struct qs_commands;
struct qs_port_fault;

/* What a process has, as the kernel says it. */
struct qs_priority {
    int32_t fifo, nice; /* fifo 0: it is not SCHED_FIFO */
    bool fixed;
    bool refused_addresses; /* it was not to be had: the addresses, else the priority */
};

/* In the process itself, before it executes anything; also where its memory is that of its parent. False:
 * errno. */
bool qs_priority_take(const struct qs_start *start, struct qs_priority *ret);
/* A process of the run would get what it is to have? False: *fault says what is missing. */
bool qs_priority_try(const struct qs_commands *commands, struct qs_port_fault *fault);
/* The rows that follow: how many there are. */
size_t qs_priority_rows(const struct qs_start *start);
/* As qs_port.evidence has it: as it was asked for, and as it is. got: of the last process when it was
 * started; program: one that still runs, which is asked; 0: none. */
void qs_priority_evidence(const struct qs_start *start, const struct qs_priority *got, pid_t program,
                          bool after, struct qs_port_evidence *rows);

#endif
