/* Follows one job from its events to its end: shows progress, survives a daemon that restarts, and hears
 * Ctrl-C. Nothing wakes it up between events: a redraw during a window would disturb it. */
#ifndef QS_CTL_FOLLOW_H
#define QS_CTL_FOLLOW_H

#include "ctl/client/api.h"
#include "ctl/progress.h"

struct qs_follow {
    struct qs_ctl *ctl;   /* borrowed */
    struct qs_http *http; /* borrowed */
    int64_t job;
    int interrupt_fd;    /* of qs_interrupt_open, or -1 */
    bool starts_daemon;  /* where the daemon is gone, a new one is started: the job goes on */
    bool cancels;        /* Ctrl-C cancels the job; else it only stops the following */
    bool events_as_json; /* each event as a line of JSON on out, no progress */
    bool fail_on_regression;
    bool silent; /* --style none: warnings only */
};

/* Returns the exit code; *ret_state gets the job's final state, "" where it is not known. What is wrong has
 * been said. */
int qs_follow_job(struct qs_follow *f, char ret_state[16]);

/* From here on SIGINT and SIGTERM are readable from a descriptor (-1: not possible). */
int qs_interrupt_open(void);
/* Whether one has come; takes it. */
bool qs_interrupt_take(int fd);
void qs_interrupt_close(int fd);

#endif
