/* watch.c: what is held becomes sensors of the agent. Private to device. */
#ifndef QS_DEVICE_ACTIVITY_WATCH_H
#define QS_DEVICE_ACTIVITY_WATCH_H

#include "device/board/pin.h"
#include "device/job/impl.h"

/* Elements of a BIND, the most needed first: what tells that a choice of the pins is lost, which is its
 * limits; the sensors of the board that the job names, and those that tell of throttling; where the agent can
 * (QS_FEATURE_SENSE) the time at other frequencies and the changes of them; the other sensors. False: there
 * is no room for all limits; of the rest there are as many as there is room for, and the job is told. */
bool qs_watch_add(struct qs_job_run *job, const struct qs_pins *pins, struct qs_build *list);
/* When everything is written again, item by item: what did not stand there any more. */
struct qs_moved {
    size_t files;
    bool resists;                                                               /* something does not stay */
    char path[QS_CONTROL_PATH_MAX_BYTES + 1], said[QS_TUNE_SAID_MAX_BYTES + 1]; /* of the first file */
};
struct qs_asked { /* items of a TUNE: from .. from + n */
    size_t from, n;
    bool again; /* what slips goes on to taint */
    bool own; /* they are what the job's conditions want: a limit that heat has lowered waits with the gate */
};
/* Is all of it as it was wanted? False: one is not, and why the job ends. */
bool qs_watch_check(struct qs_job_run *job, const struct qs_pins *pins, const struct qs_asked *asked,
                    const struct qs_msg_tuned *m, struct qs_err *err);
/* Adds what an answer tells. */
void qs_watch_moved(const struct qs_pins *pins, const struct qs_asked *asked, const struct qs_msg_tuned *m,
                    struct qs_moved *moved);
/* Why the job ends that put it back in so many windows in a row. False. */
bool qs_watch_keeps_moving(const struct qs_job_run *job, const struct qs_moved *moved, int windows,
                           struct qs_err *err);
/* Was a limit elsewhere, around this window? */
bool qs_watch_is_lost(const struct qs_msg_closed *m);

/* Whether the agent can do at all what is wished; board: NULL where it cannot tell what there is. */
bool qs_watch_able(const struct qs_job_run *job, const struct qs_board *board, const struct qs_wishes *wishes,
                   struct qs_err *err);
/* Why writing a file failed: "the device refused it". Of QS_TUNE_SET and SAME: NULL. */
const char *qs_watch_why(enum qs_tune_outcome outcome);

/* Whether the agent can set all of it. */
bool qs_watch_can(const struct qs_job_run *job, const struct qs_pins *pins, struct qs_err *err);
/* The processors of the run in hand, as its conditions say; "": any. Owned; NULL with why. */
char *qs_watch_cpus(const struct qs_job_run *job, struct qs_err *err);

#endif
