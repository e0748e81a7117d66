/* actions.c: what a job does beside measuring, at its stages; act.c and act_sensor.c do a single
 * step, acted.c tells of it.
 * Private to device. */
#ifndef QS_DEVICE_ACTIVITY_ACTIONS_H
#define QS_DEVICE_ACTIVITY_ACTIONS_H

#include "config/job/actions.h"
#include "device/board/pin.h"
#include "device/job/impl.h"
#include "device/job/steps.h"

/* What actions have written is written again, since all was put back in between: then(job) follows, once,
 * unless the job fails (which is told to step turn) or the link is lost. */
void qs_activity_actions_again(struct qs_job_run *job, qs_job_run_then *then);
/* Something of the device may be as an action has set it. */
bool qs_activity_actions_wrote(const struct qs_job_run *job);
/* What the step in hand waits for; NULL: it does not wait. Valid until the loop's next turn. */
const char *qs_activity_actions_wait(const struct qs_job_run *job);

/* What follows is shared by the files of actions. */

enum qs_acts_ending {
    QS_ACT_MET,
    QS_ACT_LATE,
    QS_ACT_WRONG,
    QS_ACT_CUT
}; /* of a step that goes by a sensor */

struct qs_acts {
    enum qs_stage last;         /* of the stages that are done in this state */
    struct qs_steps steps;      /* of the stage in hand */
    bool on, asking;            /* a stage is in hand; a question is out */
    bool begun[QS_STAGE_COUNT]; /* what comes after it is due */
    bool prepared;              /* before_job was done, in this session or one before */
    bool wrote;                 /* since everything was put back */
    bool failed, cut;           /* the stage in hand: a step has failed, has been cut short */
    uint32_t id;                /* of the last question */
    struct qs_timer *timer;     /* owned; NULL: nothing is waited for by the clock */
    int64_t began_ns, step_ns;  /* the stage, the step */
    /* The step in hand. */
    bool loaded, has_first; /* processors are kept busy; its sensor was read */
    enum qs_acts_ending ending;
    int64_t first, value; /* what it said first, and last */
    char waits_for[200];  /* "": nothing */
    struct qs_pins write; /* the file that is being written */
    /* Files that stand as they were written, and how many of them stand again. */
    struct qs_pins kept;
    size_t again, asked;
    qs_job_run_then *then; /* when all do */
    /* What people were told: owned. */
    const struct qs_action **told, **warned;
    size_t told_count, warned_count;
    struct qs_strings did; /* by the stage */
    size_t did_count;
};
struct qs_acts *qs_acts_of(const struct qs_job_run *job);
const struct qs_action *qs_acts_step(struct qs_job_run *job); /* the one in hand; NULL: none */
int64_t qs_acts_elapsed_ns(const struct qs_job_run *job);     /* since the step began */
/* Nothing is waited for: the job is over, and the stage comes before something; or it was cancelled. */
bool qs_acts_is_cut(const struct qs_job_run *job);
/* The step in hand is over: well; in the middle; it fails the job, as `what` says of its place, or as err. */
void qs_acts_over(struct qs_job_run *job);
void qs_acts_cut(struct qs_job_run *job);
void qs_acts_wrong(struct qs_job_run *job, enum qs_errc code, const char *what);
void qs_acts_fail(struct qs_job_run *job, const struct qs_err *err);
void qs_acts_go_on(struct qs_job_run *job); /* a branch was chosen: with its first step */
/* Whose parameters, environment and limits a step has that is in hand: in stages of no run the first ones. */
size_t qs_acts_arm(const struct qs_job_run *job);
size_t qs_acts_point(const struct qs_job_run *job);
/* A request about the step in hand; what cannot be sent fails the step or the link. */
void qs_acts_ask(struct qs_job_run *job, enum qs_msg_type type, const void *m, qs_session_reply *on_reply);
void qs_acts_unsent(struct qs_job_run *job, const struct qs_err *err);

/* act.c: begins the step; true: it is over already, false: one of the above follows. */
bool qs_acts_begin(struct qs_job_run *job, const struct qs_action *action);
void qs_acts_cancel(struct qs_job_run *job); /* the job was cancelled while it is on */
/* Can the device do all of the job's steps? */
bool qs_acts_can(const struct qs_job_run *job, struct qs_err *err);

/* act_sensor.c: the same as qs_acts_begin, of one kind each. */
bool qs_acts_cool_down(struct qs_job_run *job, const struct qs_action *action);
bool qs_acts_warm_up(struct qs_job_run *job, const struct qs_action *action);
bool qs_acts_if(struct qs_job_run *job, const struct qs_action *action);
void qs_acts_end_wait(struct qs_job_run *job); /* of any kind, in the middle; the load is ended first */

/* acted.c: for people and the record. */
void qs_acted_begin(struct qs_job_run *job, const struct qs_action *action); /* one that takes its time */
void qs_acted_print(struct qs_job_run *job, const char *text);
/* One thing that the stage has done. */
void qs_acted_did(struct qs_job_run *job, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void qs_acted_stage(struct qs_job_run *job, const char *outcome, int64_t elapsed_ns);
/* Is it the first warning about this step? */
bool qs_acted_first(struct qs_job_run *job, const struct qs_action *action);

#endif
