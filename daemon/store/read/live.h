/* What a daemon that starts takes over from the one before. */
#ifndef QS_STORE_READ_LIVE_H
#define QS_STORE_READ_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct qs_store_reader;

struct qs_live_job {
    int64_t id;
    bool running; /* else queued */
};
struct qs_live_jobs {
    struct qs_live_job *at;
    size_t count;
};
/* All that are queued or running, oldest first. */
bool qs_read_live_jobs(struct qs_store_reader *r, struct qs_live_jobs *ret, struct qs_err *err);
/* Has a daemon that died left runs or sessions open? Before this one begins any. */
bool qs_read_left_open(struct qs_store_reader *r, bool *ret_open, struct qs_err *err);
void qs_live_jobs_free(struct qs_live_jobs *jobs);

#endif
