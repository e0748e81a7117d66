/* Reads and writes one file of a driver after the other for the supervisor, in a process of its own: a driver
 * may never answer, and whoever waits for it can then not even be killed. The hand is forked when it is
 * needed; after its deadline it is killed and left alone. */
#ifndef QS_LINUX_HAND_H
#define QS_LINUX_HAND_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { QS_HAND_PATH_BYTES = 256, QS_HAND_TEXT_BYTES = 1024 };

enum qs_hand_end {
    QS_HAND_DONE,
    QS_HAND_FAILED,  /* errno */
    QS_HAND_MISSING, /* there is no such file; errno */
    QS_HAND_OUTSIDE, /* it is not below the root */
    QS_HAND_LATE     /* it did not answer in time: nobody knows */
};

struct qs_hand {
    const char *root; /* borrowed: files below it, and no others */
    int64_t limit_ns; /* for one file */
    int64_t tool_ns;  /* for the command of a tool (tool.h), beside that */
    pid_t pid;
    int fd; /* owned; -1: there is none now */
};

/* What came of one file. */
struct qs_hand_result {
    enum qs_hand_end end;
    int32_t error;
    uint32_t n;
    char text[QS_HAND_TEXT_BYTES + 1]; /* a read: its first bytes, and a NUL */
};

void qs_hand_init(struct qs_hand *hand, const char *root, int64_t limit_ns);
/* path: relative to the root; where links lead it must be below it, too. Or a tool. */
void qs_hand_read(struct qs_hand *hand, const char *path, struct qs_hand_result *ret);
/* text: in one write, with a line's end behind it. LATE, from a driver that cannot be interrupted: *stuck_fd
 * is what the killed hand leaves, the caller's from then on; it hangs up when the hand has come to its end,
 * and until then the text may still be written. Else it is -1. */
void qs_hand_write(struct qs_hand *hand, const char *path, const char *text, struct qs_hand_result *ret,
                   int *stuck_fd);
/* Whether the hand that has left this may still write. Waits for its end for so long. */
bool qs_hand_is_stuck(int stuck_fd, int wait_ms);
/* Ends it; the next file needs another one. Its end is still to be waited for. */
void qs_hand_close(struct qs_hand *hand);

#endif
