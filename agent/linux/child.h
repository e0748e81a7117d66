/* The one child that runs at a time, and what it writes. */
#ifndef QS_LINUX_CHILD_H
#define QS_LINUX_CHILD_H

#include <time.h>

#include "core/port.h"
#include "linux/command.h"
#include "linux/spawn.h"

enum { QS_CAPTURE_BYTES = 2 * 65536 };

/* Output of all processes of a window, or of a hook: one pipe, its first or its last bytes kept. */
struct qs_capture {
    int read_fd, write_fd; /* owned; -1: output is discarded */
    bool tail;             /* keep the last bytes, not the first */
    size_t max, len;
    uint64_t total;
    char bytes[QS_CAPTURE_BYTES];
};

struct qs_linux_child {
    bool runs;
    enum qs_port_job job;
    struct qs_spawned process;
    int64_t start_ns;
    uint64_t written_before;      /* total of the capture when it began */
    uint64_t errors_before;       /* the same of standard error */
    bool lost;                    /* given up */
    pid_t spare;                  /* a tracer beside it, which is none of its own; 0: none */
    const struct qs_commands *of; /* borrowed */
    int memory_fd, wake_fd;       /* borrowed: of a harness program's start */
    int document_fd;         /* borrowed: standard output of an iteration of stream mode; -1: as errors */
    struct qs_places places; /* of what runs; without input null_in_fd */
    int null_in_fd, null_fd; /* owned: /dev/null for reading, for writing */
    clockid_t clock;         /* the agent's */
    struct qs_capture capture;
    struct qs_capture errors; /* standard error, where it is apart: else closed, and capture has both */
};

void qs_child_init(struct qs_linux_child *child, clockid_t clock);
/* Ends what runs. */
void qs_child_done(struct qs_linux_child *child);

/* An empty pipe, or none where the output is discarded. False: errno. */
bool qs_capture_open(struct qs_capture *capture, bool wanted, bool tail, size_t max);
void qs_capture_close(struct qs_capture *capture);
/* Begins the count of a new window in the same pipe. */
void qs_capture_restart(struct qs_capture *capture);
/* Takes what is in the pipe; at most `rounds` buffers. */
void qs_capture_drain(struct qs_capture *capture, int rounds);
void qs_capture_result(const struct qs_capture *capture, struct qs_port_output *out);

/* Pipes for what the processes of a run write; apart: one each for standard output and standard error. False:
 * errno. */
bool qs_child_hear(struct qs_linux_child *child, bool wanted, bool apart, size_t max);
/* What came so far, after at most `rounds` more buffers of each. */
void qs_child_output(struct qs_linux_child *child, int rounds, struct qs_port_output *out);

bool qs_child_start(struct qs_linux_child *child, enum qs_port_job job, const struct qs_commands *of,
                    struct qs_port_fault *fault);
void qs_child_end(struct qs_linux_child *child, bool hard);
/* Was it stopped, or did it go on after that, since it was asked last? It still runs. */
bool qs_child_was_stopped(const struct qs_linux_child *child);
/* Has it ended? Then *end is how, and what it left behind is gone. */
bool qs_child_reap(struct qs_linux_child *child, struct qs_port_child *end);

#endif
