/* A job run on a stage: a session and a store that are linked in place of the real ones, in virtual time.
 * Both answer a millisecond later, write down what they were asked, and refuse what the real ones would
 * refuse. */
#ifndef QS_TEST_DEVICE_STAGE_H
#define QS_TEST_DEVICE_STAGE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/loop.h"
#include "device/job/impl.h"
#include "stage_harness.h"
#include "stage_disk.h"
#include "stage_record.h"

enum { STAGE_RUNS = 512, STAGE_ITERATIONS = 64, STAGE_OUTPUT = 64 };
#define STAGE_STEP_NS INT64_C(1000000)

struct stage_run { /* a row of the store */
    uint8_t uid[16], session[16];
    uint32_t arm, point, block, pos, attempt, taint, windows, iterations, numbered; /* by the device */
    enum qs_phase phase;
    enum qs_run_state state;
    bool ended;
    uint64_t acked;
    uint32_t warmup_n, scans; /* scans: windows of TUNE */
    uint32_t evals;           /* of its last window */
    char error[QS_ERR_TEXT_BYTES], stop_reason[64];
};

struct stage_window { /* what the agent will say of one window; filled by the script */
    uint32_t iterations;
    int64_t duration_ns[STAGE_ITERATIONS];
    uint32_t flags;
    int32_t status;
    enum qs_gate_outcome gate;
    int64_t waited_ns, busy_ppm; /* for the gate; and what that read last, or 0 */
    enum qs_closed_how how;
    const char *taint; /* code of the window, or NULL */
    const char *output, *busiest, *failure;
};

enum stage_strike { STRIKE_NONE, STRIKE_DOWN, STRIKE_CANCEL, STRIKE_ABANDON, STRIKE_FEED };
enum stage_session {
    SESSION_READY,
    SESSION_OPENING,
    SESSION_OPEN,
    SESSION_WINDOW,
    SESSION_HOOK,
    SESSION_TRACING,
    SESSION_FILES,
    SESSION_PUTTING,
    SESSION_ENDING,
    SESSION_DOWN
};

struct stage {
    struct qs_loop *loop;
    struct qs_job_spec *spec;
    struct qs_job_run_parts parts;
    struct qs_job_run *job;
    /* What the test says. */
    void (*script)(struct stage *s, const struct stage_run *run,
                   struct stage_window *w); /* or NULL: 10 ms each */
    const char *strike_state; /* strikes before the answer number strike_after that comes in this state */
    enum stage_strike strike;
    enum qs_job_run_input feed;     /* of STRIKE_FEED */
    enum qs_job_run_input early;    /* CANCEL or ABANDON: before the start */
    unsigned strike_after, strikes; /* strikes: how often, 0 = once */
    enum stage_strike strike_lost;  /* DOWN, CANCEL or ABANDON: once more, while the link is away */
    int64_t away_ns;                /* how long the link stays down; < 0 for good */
    const char *fail_kind;          /* a store request that fails ("window"), the fail_nth one from 1 */
    unsigned fail_nth;
    unsigned hook_fails;      /* the number of the hook that fails, from 1 */
    unsigned refuse_windows;  /* so many windows that wait get an ERROR */
    enum qs_errc refusal;     /* of what blame it is */
    bool session_error;       /* an ERROR of the session in a window */
    unsigned unsent_nth;      /* the call on the session that fails, from 1; with QS_E_LINK */
    enum qs_errc unsent_code; /* the link breaks as well */
    bool unsent_again;        /* and all calls after it */
    bool refuse_pull;         /* an ERROR to each PULL */
    bool refuse_run;          /* the agent cannot start the executable */
    const char *(*hook_says)(const char *words, struct qs_msg_hook_done *m);
    struct stage_harness harness;
    bool long_setup, long_teardown; /* its program takes ten minutes for it, unless it is ended before */
    bool busy_store, asked_always;  /* a commit is on its way the first time, or whenever silence begins */
    unsigned full_log;              /* so often the database's log is full */
    unsigned served;                /* so often, when a window is to open, somebody is being answered */
    bool parts_streams;             /* the agent keeps standard error apart */
    const char *facts, *log, *dump; /* of the agent (NULL: {}), the kernel's, what `dumpsys package` says */
    unsigned token_refusals, window_refusals; /* so often nothing may be transferred, no window begin */
    unsigned unrest;                          /* so often the gate opens again once the host is silent */
    /* What happened. */
    struct stage_run runs[STAGE_RUNS];
    size_t run_count, hook_at; /* hook_at: in hooks, the last one */
    struct qs_buf news, hooks;
    unsigned calls, drops; /* on the session; links that the job run gave up */
    unsigned conflicts, sessions, sessions_ended, silences, holds, opens, struck, ended, kind_seen, hook_seen,
        disarms, cancels;
    struct stage_tuning kept[STAGE_KEPT];
    size_t kept_count;
    struct qs_buf left; /* what was stored of that: "kind name length total why", a line each */
    unsigned tokens;    /* held */
    bool silent;
    struct qs_job_run_result result;
    /* The agent. */
    enum stage_session session, hook_back; /* hook_back: where it is when the command has ended */
    unsigned generation, operation, answers;
    struct qs_uid run;
    uint64_t next_seq;
    uint32_t window, asked, evals, hook_id, file_id, trace_id;
    enum qs_run_mode mode;
    int64_t gate_timeout_ns; /* of the last OPEN's first expectation */
    struct stage_window now;
    struct qs_call call;     /* the last request */
    struct qs_run_events to; /* who is told of the open run */
    struct qs_msg_pull pull;
    /* Tracers. */
    bool no_tracers, dumps;                    /* the agent knows none; the hook is `dumpsys` */
    const char *no_trace_start, *no_trace_end; /* why there is none; NULL: there is one */
    unsigned trace_errors;                     /* an ERROR: 1 to TRACE, 2 to TRACE_STOP */
    bool file_is_gone, tracing;                /* nothing can be fetched of it; its tracer runs */
    unsigned traces, traced_windows;
    enum qs_phase phase; /* of the last OPEN */
    struct stage_disk disk;
    struct stage_record record;
    struct stage_control *control; /* NULL: the agent knows no files */
    struct stage_acting *acting;   /* NULL: the agent neither reads sensors nor keeps processors busy */
};
/* NULL: two arms, three to six blocks, five iterations a run after one warm-up. */
void stage_init(struct stage *s, const char *job);
/* Gives each file of the job a hash. */
void stage_bind(struct stage *s);
void stage_earlier(struct stage *s, const struct qs_measured_runs *earlier); /* borrowed */
void stage_play(struct stage *s);                                            /* to the end, whatever it is */
void stage_go(struct stage *s); /* the same; everything must be closed then, also on disk */
void stage_done(struct stage *s);
/* Runs that count: the last attempt of a block, ended well. */
size_t stage_counted(const struct stage *s, uint32_t point, uint32_t block);
/* Rows of the table that any job run of this process has taken. */
extern bool stage_taken[QS_JS_COUNT][QS_JI_COUNT];
bool stage_told(const struct stage *s, const char *text); /* somewhere in the news */

#endif
