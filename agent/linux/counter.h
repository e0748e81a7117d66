/* Events that the kernel or the processor counts while the processes of the agent run: sensors of the host's
 * making whose path is "perf:NAME". Inside the probe. */
#ifndef QS_LINUX_COUNTER_H
#define QS_LINUX_COUNTER_H

#include <stdbool.h>
#include <stdint.h>

/* Counts of the agent alone, and of it with whatever it starts from now on. */
struct qs_counter {
    int all_fd, own_fd; /* owned; -1 */
    int64_t lost_ns;    /* how long those others ran without being counted, when it was last read */
    int error;          /* errno of opening it */
};

/* Whether a path is one of these. */
bool qs_counter_is(const char *path);
/* False: error says why. */
bool qs_counter_open(struct qs_counter *counter, const char *path);
void qs_counter_close(struct qs_counter *counter);
/* What the others have counted, ended ones included. *whole: none of it was missed since the last reading, as
 * it is where several counters take turns on a processor or it has none of the kind. */
bool qs_counter_read(struct qs_counter *counter, int64_t *value, bool *whole);

#endif
