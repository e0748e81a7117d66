/* A real quiesce-agent as a child of the test, spoken to over pipes or a socket. */
#ifndef QS_TESTS_AGENT_DEVICE_H
#define QS_TESTS_AGENT_DEVICE_H

#include <sys/types.h>

#include "peer.h"

enum { DEVICE_WAIT_MS = 60000, DEVICE_ROWS = 512 };

struct device {
    struct peer peer;
    pid_t pid;         /* what the test has started: the supervisor */
    pid_t agent;       /* its only child */
    char said[256];    /* on standard error, by a listening agent */
    int in_fd, out_fd; /* ours: to the agent, from the agent */
};

/* A closed window with everything that belongs to it; texts point into the peer's inbox. */
struct closed {
    struct qs_msg_closed m;
    size_t rows;
    struct qs_row row[DEVICE_ROWS];
};

/* "--stdio", a session up to HELD. */
void device_start(struct device *d);
/* With more options, NULL behind them; they may be NULL. */
void device_start_with(struct device *d, const char *const *options);
/* Any program with these arguments (the first is its name) and what it says on standard error, up to its end.
 * Returns its exit code. */
int device_say(const char *const *argv, char *text, size_t cap);
/* An agent that listens; ready when its door is there. No session yet: device_connect. */
void device_listen(struct device *d, const char *address, const char *key_file);
void device_listen_with(struct device *d, const char *address, const char *const *options);
/* A connection to "unix:PATH", "localabstract:NAME" or "tcp:PORT". False: nobody there. */
bool device_connect(struct device *d, const char *address);
void device_hang_up(struct device *d);
/* SIGTERM; asserts a clean exit. */
void device_terminate(struct device *d);
/* Ends it by closing the link; asserts a clean exit. */
void device_stop(struct device *d);
/* The next frame, which must be of this type; fails the test after DEVICE_WAIT_MS. */
const struct letter *device_expect(struct device *d, uint8_t type);
/* The next frame of any type; NULL: the agent hung up. */
const struct letter *device_next(struct device *d);
/* RUN_BEGIN and its answer. */
void device_begin(struct device *d, const struct run_spec *spec);
/* A whole window of n iterations without a gate: OPEN, ARM, QUIET, CLOSED, ITERATIONS, ACK. */
void device_window(struct device *d, uint32_t n, struct closed *out);
void device_open(struct device *d, const struct open_spec *spec, struct closed *out);
/* CLOSED and its rows. */
void device_collect(struct device *d, struct closed *out);
/* run_spec, one window, RUN_END. */
void device_measure(struct device *d, const struct run_spec *spec, uint32_t n, struct closed *out);

#endif
