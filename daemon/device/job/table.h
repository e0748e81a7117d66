/* The job run's allowed moves, as data. Private to device. */
#ifndef QS_DEVICE_JOB_TABLE_H
#define QS_DEVICE_JOB_TABLE_H

#include <stddef.h>

#include "base/buf.h"

/* S(symbol, "name", "what it waits for") */
#define QS_JOB_RUN_STATES(S)                                                                                 \
    S(IDLE, "idle", "start")                                                                                 \
    S(SETTLE, "settle", "the session's row on disk")                                                         \
    S(LOCK, "lock", "the device's conditions in place")                                                      \
    S(FILES, "files", "the job's files on the device")                                                       \
    S(SETUP, "setup", "the arms' setup commands")                                                            \
    S(RUN, "run", "the run's row on disk, the agent's RUN_READY, its evaluations")                           \
    S(GATE, "gate", "the preconditions")                                                                     \
    S(WINDOW, "window", "CLOSED, in silence")                                                                \
    S(EVIDENCE, "evidence", "iterations, then the commit")                                                   \
    S(JUDGE, "judge", "nothing: stop rule and taints decide")                                                \
    S(TRACE, "trace", "a tracer to stand")                                                                   \
    S(UNTRACE, "untrace", "the tracer to end, then what it wrote")                                           \
    S(ASK, "ask", "the stop rules that are commands of this machine")                                        \
    S(ENDING, "ending", "what the run has left, then the agent's RUN_ENDED")                                 \
    S(NEXT, "next", "nothing: the plan decides")                                                             \
    S(CLEANUP, "cleanup", "the arms' cleanup commands")                                                      \
    S(ADVANCE, "advance", "nothing: the plan decides")                                                       \
    S(TIDY, "tidy", "the job's files off the device")                                                        \
    S(RESTORE, "restore", "the session's end on disk")                                                       \
    S(LOST, "lost", "the link to come back")                                                                 \
    S(DONE, "done", "nobody")

#define QS_JOB_RUN_INPUTS(E)                                                                                 \
    E(START, "start")                                                                                        \
    E(STORED, "stored")                                                                                      \
    E(LOCKED, "locked")                                                                                      \
    E(FILES_READY, "files ready")                                                                            \
    E(HOOKS_OVER, "hooks over")                                                                              \
    E(RUN_READY, "run ready")                                                                                \
    E(EVALS, "evals known")                                                                                  \
    E(QUIET, "quiet")                                                                                        \
    E(DISARM, "disarm")                                                                                      \
    E(CLOSED, "closed")                                                                                      \
    E(COMMITTED, "committed")                                                                                \
    E(AGAIN, "again")                                                                                        \
    E(TRACE, "trace")                                                                                        \
    E(TRACED, "traced")                                                                                      \
    E(UNTRACE, "untrace")                                                                                    \
    E(ASK, "ask")                                                                                            \
    E(ANSWERED, "answered")                                                                                  \
    E(RUN_OVER, "run over")                                                                                  \
    E(RUN_ENDED, "run ended")                                                                                \
    E(NEXT_RUN, "next run")                                                                                  \
    E(POINT_OVER, "point over")                                                                              \
    E(NEXT_POINT, "next point")                                                                              \
    E(ALL_OVER, "all over")                                                                                  \
    E(TIDIED, "tidied")                                                                                      \
    E(DOWN, "link down")                                                                                     \
    E(BACK, "link back")                                                                                     \
    E(CANCEL, "cancel")                                                                                      \
    E(FAIL, "fail")                                                                                          \
    E(ABANDON, "abandon")

enum qs_job_run_state {
#define S(sym, name, waits) QS_JS_##sym,
    QS_JOB_RUN_STATES(S)
#undef S
        QS_JS_COUNT
};

enum qs_job_run_input {
#define E(sym, name) QS_JI_##sym,
    QS_JOB_RUN_INPUTS(E)
#undef E
        QS_JI_COUNT
};

struct qs_job_run;
typedef void qs_job_run_action(struct qs_job_run *job);

struct qs_job_run_row {
    enum qs_job_run_state state;
    enum qs_job_run_input input;
    enum qs_job_run_state next;
    const char *action_name;
    qs_job_run_action *action; /* may be NULL: nothing to do */
};

/* The row for (state, input), or NULL: no such move. */
const struct qs_job_run_row *qs_job_run_find(enum qs_job_run_state state, enum qs_job_run_input input);
const char *qs_job_run_state_text(enum qs_job_run_state state);
const char *qs_job_run_input_text(enum qs_job_run_input input);

/* The actions: the activities and judge.c. Each may feed one further input with qs_job_run_feed(). */
qs_job_run_action qs_job_run_do_begin_session, qs_job_run_do_lock, qs_job_run_do_setup,
    qs_job_run_do_begin_run, qs_job_run_do_send_run, qs_job_run_do_evals, qs_job_run_do_open_window,
    qs_job_run_do_silence, qs_job_run_do_unsilence, qs_job_run_do_collect, qs_job_run_do_judge,
    qs_job_run_do_end_run, qs_job_run_do_next, qs_job_run_do_cleanup, qs_job_run_do_advance,
    qs_job_run_do_restore, qs_job_run_do_lose, qs_job_run_do_cancel_wait, qs_job_run_do_finish,
    qs_job_run_do_start_trace, qs_job_run_do_stop_trace, qs_job_run_do_push, qs_job_run_do_cancel_push,
    qs_job_run_do_tidy, qs_job_run_do_ask_host, qs_job_run_do_hush_host, qs_job_run_do_decide;

#endif
