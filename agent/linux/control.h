/* The agent's end of what its supervisor does for it: files that are changed for a while. */
#ifndef QS_LINUX_CONTROL_H
#define QS_LINUX_CONTROL_H

#include "linux/keeper.h"

enum { QS_CONTROL_LATE_MAX = 16 };

/* A file whose driver did not answer. */
struct qs_control_late {
    char path[QS_PORT_KNOB_BYTES];
    int64_t until_ns; /* before that nobody asks it again */
};

struct qs_control {
    int fd;       /* borrowed: to the keeper; -1: there is none */
    bool on;      /* it can keep what it changes */
    uint32_t id;  /* of the last order */
    bool waiting; /* for its answer */
    struct qs_keeper_notes notes;
    struct qs_keeper_answer early; /* news that came while something else was waited for */
    bool has_early;
    struct qs_control_late late[QS_CONTROL_LATE_MAX];
};

/* Before the split, when the keeper is open (NULL: there is none). */
void qs_control_init(struct qs_control *control, const struct qs_keeper *keeper);
void qs_control_tune(struct qs_control *control, const char *path, const char *value, uint8_t flags);
void qs_control_look(struct qs_control *control, const char *path, const char *value);
void qs_control_restore(struct qs_control *control, bool first);
void qs_control_lease(struct qs_control *control, uint32_t id, int64_t ns);
/* Reads a file now, by the supervisor's hand: LATE where its driver does not answer in half a second, and for
 * five minutes after that, or where many others have not. To be called while no answer is waited for. False:
 * there is no supervisor. */
bool qs_control_read(struct qs_control *control, const char *path, struct qs_hand_result *ret);
enum qs_control_news {
    QS_CONTROL_NOTHING,
    QS_CONTROL_ANSWER, /* the one that was waited for */
    QS_CONTROL_LEASE,  /* the one of *grant has ended, everything is put back */
    QS_CONTROL_GONE    /* the supervisor has ended */
};
/* The keeper's next packet. */
enum qs_control_news qs_control_hear(struct qs_control *control, struct qs_port_controlled *ret,
                                     uint32_t *grant);

#endif
