/* What a device did last: its last session, and what its sensors said in its last windows. Inside a
 * qs_store_read function like store/read/read.h. */
#ifndef QS_STORE_READ_RECENT_H
#define QS_STORE_READ_RECENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct qs_store_reader;

enum { QS_RECENT_WINDOWS = 128, QS_RECENT_SESSIONS = 4 };

struct qs_last_session {
    uint8_t uid[16];
    const char *job_name, *job_state;            /* borrowed for the call, as the next one */
    const char *end_reason;                      /* or NULL */
    int64_t job, started_wall_ns, ended_wall_ns; /* ended 0: it has not */
    int64_t runs, windows, tainted, iterations;  /* of measured windows */
};
typedef void qs_last_session_fn(const struct qs_last_session *session, void *user);
/* Not called where the device has none. */
bool qs_read_last_session(struct qs_store_reader *r, const char *device, qs_last_session_fn *fn, void *user,
                          struct qs_err *err);

/* How many windows of a session have a taint of this code, the most frequent code first. */
typedef void qs_taint_count_fn(const char *code, int64_t windows, void *user);
bool qs_read_session_taints(struct qs_store_reader *r, const uint8_t session_uid[16], qs_taint_count_fn *fn,
                            void *user, struct qs_err *err);

/* What temperatures (thermal:) and clocks (freq:) said before and after the last windows of the device's last
 * sessions, and while their gates waited; by sensor, then by time. Wall time by the last mapping of the
 * boot's clock. */
struct qs_recent_reading {
    const char *sensor; /* borrowed for the call */
    int64_t wall_ns, value;
};
typedef void qs_recent_reading_fn(const struct qs_recent_reading *reading, void *user);
bool qs_read_recent(struct qs_store_reader *r, const char *device, qs_recent_reading_fn *fn, void *user,
                    struct qs_err *err);

#endif
