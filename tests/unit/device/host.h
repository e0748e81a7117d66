/* The owner of a session under test: writes down what it is told, and stops the loop at what a test waits
 * for. */
#ifndef QS_TESTS_UNIT_DEVICE_HOST_H
#define QS_TESTS_UNIT_DEVICE_HOST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/loop.h"
#include "device/session/session.h"
#include "device/session/table.h"

enum { HOST_HEARTBEAT_MS = 40 };

struct host {
    struct qs_loop *loop;
    struct qs_session *session;
    struct qs_buf log;      /* "ready\nrun_ready\n..." */
    const char *awaited;    /* stop the loop when this line is written */
    struct qs_timer *guard; /* a test that hangs fails instead */
    bool guarded;

    struct qs_err why; /* of the last down or error */
    int downs;
    char note[256]; /* the last one */
    int64_t clock_offset_ns, rtt_ns;
    uint64_t rows; /* in all */
    char facts[256];
    bool silent, proven;
    struct qs_session_quiet quiet; /* of the last CLOSED */
    uint8_t asked;                 /* the last request */
    /* what it does inside callbacks */
    bool refuse_quiet;                            /* once */
    void (*at)(struct host *h, const char *line); /* after a line was written */
    void *user;
};

void host_init(struct host *h, struct qs_loop *loop, const struct qs_farm_device *device);
/* Frees the session and adds the rows that it took to those seen in this program. */
void host_done(struct host *h);
/* Runs the loop until `line` was told (from now on). */
void host_wait(struct host *h, const char *line);
/* Runs the loop for so long. */
void host_idle(struct host *h, int64_t ns);
void host_assert_why(const struct host *h, enum qs_errc code, const char *part);

extern const struct qs_uid host_run;
extern const char *host_program; /* what host_begin runs */
/* Requests; a failure is left in h->why, an answer is told. */
bool host_call(struct host *h, enum qs_msg_type type, const void *m, int64_t allow_ns);
bool host_begin(struct host *h);
bool host_open(struct host *h, uint32_t window, uint64_t first_seq, int64_t lead_ns);
extern int64_t host_gate_ns;  /* the timeout of its one line; 0 unless a test wants another */
extern int64_t host_lease_ns; /* beyond the lead; a minute unless a test wants its end */
bool host_hook(struct host *h, uint32_t id);
bool host_end(struct host *h);
bool host_resend(struct host *h, const struct qs_uid *run, uint64_t from_seq);

/* Rows of the table that no session of this program has taken; each is printed. */
size_t host_rows_not_seen(void);

#endif
