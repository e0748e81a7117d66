/* The agent's part of quiesce/bench.h, as small as a test needs it. */
#ifndef QS_TEST_BENCH_PARENT_H
#define QS_TEST_BENCH_PARENT_H

#define QUIESCE_BENCH_LAYOUT_ONLY
#include "quiesce/bench.h"

#include <stdbool.h>
#include <sys/types.h>

enum { PARENT_CAPACITY = 64, PARENT_METRICS = 8, PARENT_ARGS_MAX = 8 };

struct parent {
    struct quiesce_bench_shared *shared; /* owned mapping */
    size_t bytes;
    int memory_fd, wake_fd, stderr_fd;
    pid_t pid;
    int status;      /* of waitpid, once over */
    char said[4096]; /* standard error, once over */
};

/* Makes the memory as an agent would; a test may spoil it before the start. */
void parent_open(struct parent *p);
/* Starts QS_PROBE with up to PARENT_ARGS_MAX arguments, ended by NULL; fd_text NULL: the right descriptor. */
void parent_start(struct parent *p, const char *fd_text, const char *const *args);
void parent_add_param(struct parent *p, const char *text);
/* Blocks until the program wakes us; fails the test where it ends instead, or says nothing for a minute. */
void parent_await(struct parent *p);
/* Gives a command without a start. */
void parent_command(struct parent *p, enum quiesce_bench_command command);
void parent_publish(struct parent *p);
/* A window of so many iterations, started now, and awaited. */
void parent_window(struct parent *p, enum quiesce_bench_command command, uint32_t iterations);
/* Waits for the end; fills in status and said. */
void parent_over(struct parent *p);
void parent_close(struct parent *p);
int64_t parent_now_ns(void);
int64_t parent_value(const struct parent *p, const char *metric, uint32_t iteration);

#endif
