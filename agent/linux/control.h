/* The agent's end of what its supervisor does for it: files that are changed for a while. */
#ifndef QS_LINUX_CONTROL_H
#define QS_LINUX_CONTROL_H

#include "linux/keeper.h"

struct qs_control {
    int fd;       /* borrowed: to the keeper; -1: there is none */
    bool on;      /* it can keep what it changes */
    uint32_t id;  /* of the last order */
    bool waiting; /* for its answer */
    struct qs_keeper_notes notes;
};

/* Before the split, when the keeper is open (NULL: there is none). */
void qs_control_init(struct qs_control *control, const struct qs_keeper *keeper);
void qs_control_tune(struct qs_control *control, const char *path, const char *value, uint8_t flags);
void qs_control_look(struct qs_control *control, const char *path, const char *value);
void qs_control_restore(struct qs_control *control, bool first);
void qs_control_lease(struct qs_control *control, uint32_t id, int64_t ns);
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
