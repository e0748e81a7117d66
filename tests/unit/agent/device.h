/* A real quiesce-agent as a child of the test, spoken to over pipes or a socket. */
#ifndef QS_TESTS_AGENT_DEVICE_H
#define QS_TESTS_AGENT_DEVICE_H

#include <sys/types.h>

#include "peer.h"

enum { DEVICE_WAIT_MS = 60000, DEVICE_ROWS = 512 };

struct device {
    struct peer peer;
    pid_t pid;
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
