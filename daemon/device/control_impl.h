/* What the files of the controller share. Private to device. */
#ifndef QS_DEVICE_CONTROL_IMPL_H
#define QS_DEVICE_CONTROL_IMPL_H

#include "device/control.h"
#include "device/control_evals.h"
#include "device/control_fetch.h"
#include "device/control_harness.h"
#include "device/control_host.h"
#include "device/control_left.h"
#include "device/control_parts.h"
#include "device/control_patience.h"
#include "device/control_push.h"
#include "device/control_silence.h"
#include "device/control_stop.h"
#include "device/control_stream.h"
#include "device/control_table.h"
#include "device/control_trace.h"
#include "device/plan.h"
#include "device/planner.h"
#include "base/json.h"
#include "stats/controller.h"

enum {
    QS_CONTROL_FEED_MAX = 8,       /* inputs waiting while one is handled */
    QS_CONTROL_REPEATS_MAX = 5,    /* a block that is interrupted so often in a row ends the job */
    QS_CONTROL_WINDOWS_MAX = 1000, /* of one run, whatever its stop rule says */
    QS_CONTROL_LOST_S = 120        /* a device that does not come back for so long ends the job */
};

struct qs_control {
    struct qs_control_parts p;
    struct qs_control_events events;
    enum qs_control_state state;
    enum qs_control_input feed[QS_CONTROL_FEED_MAX];
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
    bool cancelled, failed, silence_on, has_token, started_news, told_shared_cpu;
    char *cancel_why;        /* owned */
    enum qs_control_end end; /* DEFER, REQUEUE where a gate said so */
    struct qs_err err;
    enum qs_plan_stop stop;
    struct qs_timer *lost_timer; /* owned */
    struct qs_planner *planner;  /* owned: of the point in hand; NULL: nobody asks, or it has answered */
    size_t planner_points;       /* points whose planner was begun */
    size_t planned_iterations;   /* 0: not known */
    struct qs_control_evals evals;
    struct qs_control_run run;
    struct qs_control_window win;
    struct qs_control_left left;
    struct qs_control_fetch fetch;
    struct qs_control_trace trace;
    struct qs_control_push push;
    struct qs_control_patience patience;
    struct qs_control_host host;
};

/* Queues an input; it is handled before the outermost call returns. */
void qs_control_feed(struct qs_control *c, enum qs_control_input input);
/* Marks the job as failed with this error (the first one stays). */
void qs_control_fail(struct qs_control *c, const struct qs_err *err);
/* How much of what a program wrote is quoted in a reason: its beginning, without line ends behind it. */
int qs_control_quoted(struct qs_text output);
/* Can its operator alone change it? What the session's state has no place for (QS_E_CONFLICT) is no fault of
 * theirs. */
bool qs_control_is_operators(const struct qs_err *err);
/* Something could not be sent. What its operator alone can change fails the job; for all else the link is
 * given up, and the block comes again with the next one. A link that is down tells of itself. */
void qs_control_unsent(struct qs_control *c, const struct qs_err *err);
bool qs_control_over(const struct qs_control *c); /* cancelled, failed, deferred: no new run begins */

/* Stores that this run belongs to a block that was not completed. */
void qs_control_mark_interrupted(struct qs_control *c, const struct qs_uid *uid, const struct qs_err *err);

/* An answer from the pool or the store has come (counted in `outstanding`): true where it is still of use. A
 * controller that was freed meanwhile goes with its last one. */
bool qs_control_answered(struct qs_control *c, uint64_t epoch);
/* A store callback that feeds `good` after a commit, or records the error and feeds FAIL; stale ones do
 * nothing. */
void qs_control_store_request(struct qs_control *c, enum qs_control_input good, qs_store_done_fn **ret_fn,
                              void **ret_user);
/* For requests whose outcome nobody waits for: an error ends the job, a wait or a window in hand is cut
 * short. */
void qs_control_store_quiet(struct qs_control *c, qs_store_done_fn **ret_fn, void **ret_user);

/* A request to the agent; on_reply gets the controller. */
bool qs_control_call(struct qs_control *c, enum qs_msg_type type, const void *m, int64_t allow_ns,
                     qs_session_reply *on_reply, struct qs_err *err);
/* The agent's ERROR about the run in hand. */
void qs_control_refused(struct qs_control *c, const struct qs_err *why);

/* control_send.c: messages out of the spec. */
/* The environment of a session: the agent's facts, a JSON object, and the `variables` that the job's
 * processes inherit, where they do. Owned by the caller. */
char *qs_control_environment(const struct qs_control *c, const char *facts_json);
bool qs_control_send_run_begin(struct qs_control *c, qs_session_reply *on_reply, struct qs_err *err);
bool qs_control_send_open(struct qs_control *c, struct qs_err *err);
bool qs_control_send_trace(struct qs_control *c, qs_session_reply *on_reply, struct qs_err *err);
bool qs_control_send_hook(struct qs_control *c, const struct qs_strings *argv, qs_session_reply *on_reply,
                          struct qs_err *err);
/* What a program of the point in hand may take to set itself up, or to tear down; 0: it is none. */
int64_t qs_control_step_limit_ns(const struct qs_control *c);

/* control_window.c: from messages to rows. */
void qs_control_window_reset(struct qs_control *c);
void qs_control_window_whole(struct qs_control *c); /* all rows are here: metrics first, then the store */
void qs_control_window_count(struct qs_control *c); /* the committed iterations go to the run in hand */
double qs_control_run_median(const struct qs_control *c);

/* control_planner.c: iterations and blocks for the wanted precision. */
void qs_control_planner_begin(struct qs_control *c); /* of a point */
void qs_control_planner_run(struct qs_control *c);   /* a counted run is over */
void qs_control_planner_block(struct qs_control *c); /* a counted block is over */

#endif
