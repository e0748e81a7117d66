/* A real quiesce-agent as a child of a benchmark, spoken to over its standard input and output with the real
 * codec: what the daemon does in command mode, without the daemon. Whatever fails ends the program with a
 * sentence. */
#ifndef QS_TESTS_BENCH_AGENT_PIPE_H
#define QS_TESTS_BENCH_AGENT_PIPE_H

#include <stdint.h>
#include <sys/types.h>

#include "proto/frame.h"
#include "proto/msg.h"

struct agent_pipe {
    pid_t pid;
    int in_fd, out_fd; /* ours: to the agent, from the agent */
    struct qs_framer framer;
    uint8_t *rx, *tx; /* owned */
    uint32_t seq;
    struct qs_uid run;
    uint32_t window;
    uint64_t next_seq;
    uint8_t bytes[65536]; /* read and not yet framed */
    size_t at, len;
    struct qs_list gate; /* of the windows from now on; zeros: none */
    int64_t decided_ns;  /* of the last window: from the deciding reading to its first iteration */
};

/* Starts `path --stdio` and agrees on a session. sysfs: a folder that stands for /sys; NULL: it is that. */
void agent_pipe_start(struct agent_pipe *a, const char *path, const char *sysfs);
/* Begins a new run of argv with the whole environment env (both NULL-terminated), output discarded. */
void agent_pipe_begin(struct agent_pipe *a, char *const *argv, char *const *env);
/* One window of n <= QS_ITERATIONS_MAX iterations; their durations go to out_ns[n]. */
void agent_pipe_window(struct agent_pipe *a, uint32_t n, int64_t *out_ns);
void agent_pipe_end(struct agent_pipe *a);
void agent_pipe_stop(struct agent_pipe *a);

#endif
