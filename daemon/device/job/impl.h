/* What the files of the job run share. Private to device. */
#ifndef QS_DEVICE_JOB_IMPL_H
#define QS_DEVICE_JOB_IMPL_H

#include "device/job/run.h"
#include "device/activity/tune.h"
#include "device/activity/fetch.h"
#include "device/activity/harness.h"
#include "device/activity/host.h"
#include "device/activity/artifacts.h"
#include "device/job/hand.h"
#include "device/job/patience.h"
#include "device/activity/files.h"
#include "device/activity/silence.h"
#include "device/job/stop_rule.h"
#include "device/activity/stream.h"
#include "device/job/table.h"
#include "device/activity/trace.h"
#include "device/job/plan.h"
#include "device/job/planner.h"
#include "base/json.h"
#include "stats/controller.h"

enum {
    QS_JOB_RUN_FEED_MAX = 8,       /* inputs waiting while one is handled */
    QS_JOB_RUN_REPEATS_MAX = 5,    /* a block that is interrupted so often in a row ends the job */
    QS_JOB_RUN_WINDOWS_MAX = 1000, /* of one run, whatever its stop rule says */
    QS_JOB_RUN_LOST_S = 120        /* a device that does not come back for so long ends the job */
};

struct qs_job_run {
    struct qs_job_run_parts p;
    struct qs_job_run_events events;
    enum qs_job_run_state state;
    enum qs_job_run_input feed[QS_JOB_RUN_FEED_MAX];
    size_t feed_n;
    bool stepping;
    bool dead;                    /* freed by its owner; memory goes with the last callback */
    size_t outstanding;           /* store requests on their way */
    uint64_t epoch;               /* of the link: answers of an older one are stale */
    char *boot_uuid, *facts_json; /* owned */
    struct qs_plan plan;
    uint8_t session_uid[16];
    bool session_open;
    size_t hook_arm; /* SETUP, CLEANUP: the arm whose turn it is */
    bool in_hooks;
    uint32_t hook_id;
    bool point_over;           /* the point in hand is done: only its clean-up is left */
    size_t restored_points;    /* points whose earlier blocks have been taken over */
    struct qs_uid *block_uids; /* owned: runs of the block in hand, 2 * arms */
    bool *block_spoiled;       /* owned: which of them gave nothing */
    size_t block_runs;
    int64_t block_began_ns, began_ns;
    uint32_t failed_blocks; /* in a row */
    bool cancelled, failed, silence_on, has_token, told_start, told_shared_cpu;
    char *cancel_why;        /* owned */
    enum qs_job_run_end end; /* DEFER, REQUEUE where a gate said so */
    struct qs_err err;
    enum qs_plan_stop stop;
    struct qs_timer *lost_timer; /* owned */
    struct qs_planner *planner;  /* owned: of the point in hand; NULL: nobody asks, or it has answered */
    size_t planner_points;       /* points whose planner was begun */
    size_t planned_iterations;   /* 0: not known */
    struct qs_job_run_evals evals;
    struct qs_run_in_hand run;
    struct qs_window_in_hand win;
    struct qs_job_run_artifacts artifacts;
    struct qs_job_run_fetch fetch;
    struct qs_job_run_trace trace;
    struct qs_job_run_push push;
    struct qs_job_run_patience *patience; /* owned; one for each conditions of the spec */
    struct qs_job_run_host host;
};

/* Queues an input; it is handled before the outermost call returns. */
void qs_job_run_feed(struct qs_job_run *job, enum qs_job_run_input input);
/* Marks the job as failed with this error (the first one stays). */
void qs_job_run_fail(struct qs_job_run *job, const struct qs_err *err);
/* How much of what a program wrote is quoted in a reason: its beginning, without line ends behind it. */
int qs_job_run_quoted(struct qs_text output);
/* Can its operator alone change it? What the session's state has no place for (QS_E_CONFLICT) is no fault of
 * theirs. */
bool qs_job_run_is_operators(const struct qs_err *err);
/* Something could not be sent. What its operator alone can change fails the job; for all else the link is
 * given up, and the block comes again with the next one. A link that is down tells of itself. */
void qs_job_run_unsent(struct qs_job_run *job, const struct qs_err *err);
bool qs_job_run_over(const struct qs_job_run *job); /* cancelled, failed, deferred: no new run begins */

/* Stores that this run belongs to a block that was not completed. */
void qs_job_run_mark_interrupted(struct qs_job_run *job, const struct qs_uid *uid, const struct qs_err *err);

/* An answer from the pool or the store has come (counted in `outstanding`): true where it is still of use. A
 * job run that was freed meanwhile goes with its last one. */
bool qs_job_run_answered(struct qs_job_run *job, uint64_t epoch);
/* A store callback that feeds `good` after a commit, or records the error and feeds FAIL; stale ones do
 * nothing. */
void qs_job_run_store_request(struct qs_job_run *job, enum qs_job_run_input good, qs_store_done_fn **ret_fn,
                              void **ret_user);
/* For requests whose outcome nobody waits for: an error ends the job, a wait or a window in hand is cut
 * short. */
void qs_job_run_store_quiet(struct qs_job_run *job, qs_store_done_fn **ret_fn, void **ret_user);

/* A request to the agent; on_reply gets the job run. */
bool qs_job_run_call(struct qs_job_run *job, enum qs_msg_type type, const void *m, int64_t allow_ns,
                     qs_session_reply *on_reply, struct qs_err *err);
/* The agent's ERROR about the run in hand. */
void qs_job_run_refused(struct qs_job_run *job, const struct qs_err *why);

/* send.c: messages out of the spec. */
/* The environment of a session: the agent's facts, a JSON object, and the `variables` that the job's
 * processes inherit, where they do. Owned by the caller. */
char *qs_job_run_environment(const struct qs_job_run *job, const char *facts_json);
bool qs_job_run_send_run_begin(struct qs_job_run *job, qs_session_reply *on_reply, struct qs_err *err);
bool qs_job_run_send_open(struct qs_job_run *job, struct qs_err *err);
bool qs_job_run_send_trace(struct qs_job_run *job, qs_session_reply *on_reply, struct qs_err *err);
bool qs_job_run_send_hook(struct qs_job_run *job, const struct qs_strings *argv, qs_session_reply *on_reply,
                          struct qs_err *err);
/* What a program of the point in hand may take to set itself up, or to tear down; 0: it is none. */
int64_t qs_job_run_step_limit_ns(const struct qs_job_run *job);

/* activity/window.c: from messages to rows. */
/* What the session tells of them, from RUN_BEGIN to the run's end. */
struct qs_run_events qs_job_run_window_events(struct qs_job_run *job);
void qs_job_run_window_reset(struct qs_job_run *job);
void qs_job_run_window_whole(struct qs_job_run *job); /* all rows are here: metrics first, then the store */
void qs_job_run_window_count(struct qs_job_run *job); /* the committed iterations go to the run in hand */
double qs_job_run_run_median(const struct qs_job_run *job);

/* ask_planner.c: iterations and blocks for the wanted precision. */
void qs_job_run_planner_begin(struct qs_job_run *job); /* of a point */
void qs_job_run_planner_run(struct qs_job_run *job);   /* a counted run is over */
void qs_job_run_planner_block(struct qs_job_run *job); /* a counted block is over */

#endif
