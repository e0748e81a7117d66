/* Fetching the artifacts of a run from the device, outside its windows; only where QS_FEATURE_PULL is agreed.
 */
#ifndef QS_PROTO_MSG_PULL_H
#define QS_PROTO_MSG_PULL_H

#include "proto/uid.h"
#include "proto/wire.h"

enum qs_pull_source {
    QS_PULL_FILE = 0,       /* a regular file */
    QS_PULL_KERNEL_LOG = 1, /* what the kernel has logged since RUN_BEGIN */
    QS_PULL_TRACE = 2       /* what the last tracer wrote; only where QS_FEATURE_TRACE is agreed */
};

/* One piece; the host asks again with the next offset. The source is read anew each time: a file that changes
 * meanwhile is told by its total. */
struct qs_msg_pull {
    struct qs_uid run; /* not zero: the open one */
    uint32_t id;       /* chosen by the host, comes back */
    enum qs_pull_source source;
    struct qs_text path; /* FILE: 1 .. QS_PATH_MAX_BYTES, relative ones from the run's cwd; else empty */
    uint64_t offset;     /* <= QS_SEQ_MAX */
    uint32_t max_bytes;  /* of the piece, 1 .. QS_PULL_MAX_BYTES */
};
bool qs_msg_encode_pull(struct qs_writer *w, const struct qs_msg_pull *m);
int qs_msg_decode_pull(const uint8_t *p, size_t n, struct qs_msg_pull *m);

enum qs_pull_status {
    QS_PULL_OK = 0,
    QS_PULL_MISSING = 1,
    QS_PULL_UNREADABLE = 2, /* it is there, but not for us */
    QS_PULL_NO_FILE = 3     /* a folder, a pipe, a device */
};

struct qs_msg_pulled {
    uint32_t id;
    enum qs_pull_status status;
    uint64_t
        total_bytes; /* of the source now; pieces may be shorter than asked for: 0 bytes only at its end */
    uint64_t offset; /* as asked */
    struct qs_text bytes; /* any bytes, <= QS_PULL_MAX_BYTES */
    struct qs_text why;   /* for people, where status is not OK */
};
bool qs_msg_encode_pulled(struct qs_writer *w, const struct qs_msg_pulled *m);
int qs_msg_decode_pulled(const uint8_t *p, size_t n, struct qs_msg_pulled *m);

#endif
