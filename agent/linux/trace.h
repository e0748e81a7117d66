/* The tracer of a run: a process beside the measured ones, and its folder. */
#ifndef QS_LINUX_TRACE_H
#define QS_LINUX_TRACE_H

#include <sys/types.h>
#include <time.h>

#include "core/port.h"
#include "linux/command.h"
#include "linux/spawn.h"
#include "linux/trace_file.h"
#include "proto/msg.h"

struct qs_tracer {
    bool runs;
    struct qs_spawned process;
    int status;       /* of waitpid, once it has ended */
    int64_t ended_ns; /* when that was seen; 0: not yet */
    clockid_t clock;
    struct qs_trace_file file;
    char said[QS_TRACE_SAID_MAX_BYTES];
};

void qs_tracer_init(struct qs_tracer *t, clockid_t clock);
/* words: memory for its command, free afterwards. target: what {pid} stands for. */
bool qs_tracer_start(struct qs_tracer *t, const struct qs_msg_trace *m, struct qs_commands *words,
                     pid_t target, struct qs_port_fault *fault);
/* Has it ended? True once, when that is seen. */
bool qs_tracer_reap(struct qs_tracer *t);
/* SIGINT, or SIGKILL. False: it has ended already. */
bool qs_tracer_end(struct qs_tracer *t, bool hard);
/* Ends what it left behind; spare: a process of ours that stays (the program of a harness run), or 0. */
void qs_tracer_result(struct qs_tracer *t, pid_t spare, struct qs_port_traced *traced);
/* Ends it, and removes its folder. */
void qs_tracer_close(struct qs_tracer *t, pid_t spare);

#endif
