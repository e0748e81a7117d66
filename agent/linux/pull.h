/* The artifacts of a run: its files, and what the kernel logged meanwhile. */
#ifndef QS_LINUX_PULL_H
#define QS_LINUX_PULL_H

#include <time.h>

#include "core/port.h"
#include "linux/identity.h"
#include "proto/msg.h"

enum { QS_KERNEL_LOG_BYTES = 65536 };

struct qs_pull {
    int log_fd;            /* /dev/kmsg, -1: not for us */
    int log_errno;         /* why */
    struct timespec began; /* of the run, by the clock of files */
    size_t log_len;
    uint64_t log_total; /* also what did not fit */
    char log[QS_KERNEL_LOG_BYTES];
    char piece[QS_PULL_MAX_BYTES];
};

void qs_pull_init(struct qs_pull *pull);
/* A run begins: what the kernel has said so far is none of its business. */
void qs_pull_begin(struct qs_pull *pull);
/* cwd_fd: where relative paths begin, or AT_FDCWD. as: with whose rights files are opened; NULL: the agent's.
 */
void qs_pull_piece(struct qs_pull *pull, int cwd_fd, const struct qs_identity *as,
                   const struct qs_msg_pull *m, struct qs_port_piece *piece);

#endif
