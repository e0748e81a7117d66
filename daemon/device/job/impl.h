/* What the job run shares with its activities. Private to device. */
#ifndef QS_DEVICE_JOB_IMPL_H
#define QS_DEVICE_JOB_IMPL_H

#include "base/json.h"
#include "base/loop.h"
#include "device/activity/activity.h"
#include "device/job/hand.h"
#include "device/job/patience.h"
#include "device/job/schedule.h"
#include "device/job/planner.h"
#include "device/job/run.h"
#include "device/job/table.h"

enum {
    QS_JOB_RUN_FEED_MAX = 8,       /* inputs waiting while one is handled */
    QS_JOB_RUN_REPEATS_MAX = 5,    /* a block that is interrupted so often in a row ends the job */
    QS_JOB_RUN_WINDOWS_MAX = 1000, /* of one run, whatever its stop rule says */
    QS_JOB_RUN_LOST_S = 600        /* a device that does not come back for so long ends the job */
};

struct qs_cools;
struct qs_headroom;

struct qs_job_run {
    struct qs_job_run_parts p;
    struct qs_job_run_events events;
    /* Where it stands in its table. */
    enum qs_job_run_state state;
    enum qs_job_run_input feed[QS_JOB_RUN_FEED_MAX];
    size_t feed_n;
    bool stepping;
    void *activities[QS_ACTIVITY_COUNT]; /* owned: each one's state */
    /* What is on its way outlives the link, even the job run. */
    bool dead;                    /* freed by its owner; memory goes with the last callback */
    size_t outstanding;           /* requests of the store and the pool */
    uint64_t epoch;               /* of the link: answers of an older one are stale */
    char *boot_uuid, *facts_json; /* owned */
    struct qs_timer *lost_timer;  /* owned */
    struct qs_quiet_in_hand quiet;
    /* How it ends. */
    bool cancelled, failed;
    char *cancel_why;        /* owned */
    enum qs_job_run_end end; /* DEFER, REQUEUE where a gate said so */
    struct qs_err err;
    enum qs_schedule_stop stop;
    /* What it decides with. */
    struct qs_schedule schedule;
    int64_t began_ns;
    struct qs_patience *patience; /* owned; one for each conditions of the spec */
    struct qs_planning planning;
    struct qs_cools *cools;       /* owned; NULL: nothing is known */
    struct qs_headroom *headroom; /* owned; NULL: no window has such a limit */
    struct qs_point_in_hand point;
    struct qs_block_in_hand block;
    struct qs_run_in_hand run;
    struct qs_window_in_hand win;
};

/* Queues an input; it is handled before the outermost call returns. */
void qs_job_run_feed(struct qs_job_run *job, enum qs_job_run_input input);
/* The outcome of a step. Nothing happens where the job is elsewhere by now. */
void qs_job_run_tell(struct qs_job_run *job, const struct qs_step *step, enum qs_job_run_input input);
/* Marks the job as failed with this error (the first one stays). */
void qs_job_run_fail(struct qs_job_run *job, const struct qs_err *err);
/* Can its operator alone change it? What the session's state has no place for (QS_E_CONFLICT) is no fault of
 * theirs. */
bool qs_job_run_is_operators(const struct qs_err *err);
/* Something could not be sent. What its operator alone can change fails the job; for all else the link is
 * given up, and the block comes again with the next one. A link that is down tells of itself. */
void qs_job_run_unsent(struct qs_job_run *job, const struct qs_err *err);
/* The agent's ERROR about the run in hand. */
void qs_job_run_refused(struct qs_job_run *job, const struct qs_err *why);
bool qs_job_run_over(const struct qs_job_run *job); /* cancelled, failed, deferred: no new run begins */
/* A run is in hand, with a new identity; all activities forget the last one. */
void qs_job_run_new_run(struct qs_job_run *job);
/* What the agent is at is to end now: a wait, a command, a window. */
void qs_job_run_cut_short(struct qs_job_run *job);

/* A request to the agent; on_reply gets the job run. */
bool qs_job_run_call(struct qs_job_run *job, enum qs_msg_type type, const void *m, int64_t allow_ns,
                     qs_session_reply *on_reply, struct qs_err *err);
/* An answer from the pool or the store has come (counted in `outstanding`): true where it is still of use. A
 * job run that was freed meanwhile goes with its last one. */
bool qs_job_run_answered(struct qs_job_run *job, uint64_t epoch);
/* What a request of the store is told by, with what one of the two that follow gives as its user. */
qs_store_done_fn qs_job_run_stored;
/* The step that is on waits for it: then(job) follows the commit (NULL: the step is done); an error fails the
 * job and the step. Stale answers do nothing. */
typedef void qs_job_run_then(struct qs_job_run *job);
void *qs_job_run_awaits(struct qs_job_run *job, qs_job_run_then *then);
/* Nobody waits for its outcome: an error ends the job, a wait or a window in hand is cut short. */
void *qs_job_run_asks(struct qs_job_run *job);

/* quiet.c: the farm's token, and what this machine holds back while a window is open. Whether it may
 * transfer, by the farm's token where there is one. False: go_on(job) is called after a while, once, unless
 * the token is given back before. */
bool qs_job_run_has_token(struct qs_job_run *job, qs_job_run_then *go_on);
void qs_job_run_give_token(struct qs_job_run *job);
/* While it is on, nobody begins anything on a host that shares the machine but who must be heard. */
void qs_job_run_set_silence(struct qs_job_run *job, bool on);
/* Has such a host nothing left to do? To be asked until it is true (at once elsewhere): from the first time
 * on silence is on. Whoever asked before is answered; then no commit and no read begins, and those under way
 * end. */
bool qs_job_run_is_host_idle(struct qs_job_run *job, const char **why);

/* send.c: messages out of the spec. */
const struct qs_job_benchmark *qs_job_run_benchmark(const struct qs_job_run *job); /* of the point in hand */
/* The environment of a session: the agent's facts, a JSON object, and the `variables` that the job's
 * processes inherit, where they do. Owned by the caller. */
char *qs_job_run_environment(const struct qs_job_run *job, const char *facts_json);
bool qs_job_run_send_run_begin(struct qs_job_run *job, qs_session_reply *on_reply, struct qs_err *err);
bool qs_job_run_send_open(struct qs_job_run *job, struct qs_err *err);
bool qs_job_run_send_trace(struct qs_job_run *job, uint32_t id, qs_session_reply *on_reply,
                           struct qs_err *err);
struct qs_hook {       /* a command between windows */
    size_t arm, point; /* whose environment, folder, user and limits it has */
    uint32_t id;
    const struct qs_strings *argv; /* filled in */
    int64_t limit_ns;              /* 0: the benchmark's */
};
bool qs_job_run_send_hook(struct qs_job_run *job, const struct qs_hook *hook, qs_session_reply *on_reply,
                          struct qs_err *err);
/* A command that looks at the device or installs something, as the agent's own user and below no benchmark's
 * environment. */
enum { QS_LOOK_LIMIT_S = 30 };
bool qs_job_run_send_look(struct qs_job_run *job, uint32_t id, int64_t limit_ns, char *const *argv,
                          size_t words, qs_session_reply *on_reply, struct qs_err *err);
/* What a program of the point in hand may take to set itself up, or to tear down; 0: it is none. */
int64_t qs_job_run_step_limit_ns(const struct qs_job_run *job);

/* point.c: a point begins, for the first time or again; what an earlier life of the daemon stored counts. */
void qs_job_run_point_begins(struct qs_job_run *job);
/* block.c */
void qs_job_run_block_begins(struct qs_job_run *job);
/* Stores that this run belongs to a block that was not completed. */
void qs_job_run_mark_interrupted(struct qs_job_run *job, const struct qs_uid *uid, const struct qs_err *err);
void qs_job_run_interrupt_block(struct qs_job_run *job, const struct qs_err *err);
/* judge.c: how much of what a program wrote is quoted in a reason: its beginning, without line ends. */
int qs_job_run_quoted(struct qs_text output);

/* ask_planner.c: the planner hears of every counted run until the least number of blocks is done, and is
 * asked once a point. */
void qs_planning_begin(struct qs_job_run *job); /* of a point */
void qs_planning_run(struct qs_job_run *job);   /* a counted run is over */
void qs_planning_block(struct qs_job_run *job); /* a counted block is over */

#endif
