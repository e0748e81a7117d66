/* The job run's allowed moves, as data. Private to device. */
#ifndef QS_DEVICE_JOB_TABLE_H
#define QS_DEVICE_JOB_TABLE_H

/* S(symbol, "name", "what it waits for", the step that begins when it is entered from another step) */
#define QS_JOB_RUN_STATES(S)                                                                                 \
    S(IDLE, "idle", "start", none)                                                                           \
    S(SETTLE, "settle", "the session's row on disk", settle)                                                 \
    S(LOCK, "lock", "what the device has", lock)                                                             \
    S(PROBE, "probe", "what was found when the device was tried, or that it is tried", probe)                \
    S(CHECK, "check", "what the device says of the job's apps", check)                                       \
    S(CHARACTERIZE, "characterize", "sensors and load, then the stage on disk", characterize)                \
    S(FILES, "files", "the job's files on the device", push)                                                 \
    S(BEFORE, "before", "the actions before the job and the session", before)                                \
    S(SETUP, "setup", "the arms' setup commands", setup)                                                     \
    S(TURN, "turn", "the run's row on disk, and what its conditions hold", turn)                             \
    S(INSTALL, "install", "the app of mode app on the device, as the run needs it", install)                 \
    S(BEFORE_RUN, "before_run", "the actions before the run", before_run)                                    \
    S(RUN, "run", "the agent's RUN_READY, its evaluations", run)                                             \
    S(HOLD, "hold", "what was held and has slipped to be written again", pin)                                \
    S(BEFORE_WINDOW, "before_window", "the actions before the window", before_window)                        \
    S(GATE, "gate", "the preconditions", window)                                                             \
    S(WINDOW, "window", "CLOSED, in silence", window)                                                        \
    S(EVIDENCE, "evidence", "iterations, then the commit", window)                                           \
    S(AFTER_WINDOW, "after_window", "the actions after the window", after_window)                            \
    S(JUDGE, "judge", "nothing: stop rule and taints decide", judge)                                         \
    S(TRACE, "trace", "a tracer to stand", trace)                                                            \
    S(UNTRACE, "untrace", "the tracer to end, then what it wrote", untrace)                                  \
    S(ASK, "ask", "the stop rules that are commands of this machine", ask)                                   \
    S(ENDING, "ending", "the run's artifacts, then the agent's RUN_ENDED", ending)                           \
    S(AFTER_RUN, "after_run", "the actions after the run", after_run)                                        \
    S(NEXT, "next", "nothing: the schedule decides", next)                                                   \
    S(CLEANUP, "cleanup", "the arms' cleanup commands", cleanup)                                             \
    S(ADVANCE, "advance", "nothing: the schedule decides", advance)                                          \
    S(AFTER, "after", "the actions after the session and the job", after)                                    \
    S(UNINSTALL, "uninstall", "what the job installed off the device", uninstall)                            \
    S(TIDY, "tidy", "the job's files off the device", tidy)                                                  \
    S(UNLOCK, "unlock", "what was changed on the device to be put back", unlock)                             \
    S(RESTORE, "restore", "the session's end on disk", restore)                                              \
    S(LOST, "lost", "the link to come back", lost)                                                           \
    S(DONE, "done", "nobody", finish)

/* done: a step is over and all is well. */
#define QS_JOB_RUN_INPUTS(E)                                                                                 \
    E(START, "start")                                                                                        \
    E(DONE, "done")                                                                                          \
    E(PROBE, "probe")                                                                                        \
    E(CHARACTERIZE, "characterize")                                                                          \
    E(QUIET, "quiet")                                                                                        \
    E(DISARM, "disarm")                                                                                      \
    E(CLOSED, "closed")                                                                                      \
    E(AGAIN, "again")                                                                                        \
    E(SLIPPED, "slipped")                                                                                    \
    E(TRACE, "trace")                                                                                        \
    E(UNTRACE, "untrace")                                                                                    \
    E(ASK, "ask")                                                                                            \
    E(RUN_OVER, "run over")                                                                                  \
    E(NEXT_RUN, "next run")                                                                                  \
    E(POINT_OVER, "point over")                                                                              \
    E(NEXT_POINT, "next point")                                                                              \
    E(ALL_OVER, "all over")                                                                                  \
    E(DOWN, "link down")                                                                                     \
    E(BACK, "link back")                                                                                     \
    E(CANCEL, "cancel")                                                                                      \
    E(FAIL, "fail")                                                                                          \
    E(ABANDON, "abandon")

enum qs_job_run_state {
#define S(symbol, name, waits, step) QS_JS_##symbol,
    QS_JOB_RUN_STATES(S)
#undef S
        QS_JS_COUNT
};

enum qs_job_run_input {
#define E(symbol, name) QS_JI_##symbol,
    QS_JOB_RUN_INPUTS(E)
#undef E
        QS_JI_COUNT
};

struct qs_job_run_row {
    enum qs_job_run_state state;
    enum qs_job_run_input input;
    enum qs_job_run_state next;
};

/* The row for (state, input), or NULL: no such move. */
const struct qs_job_run_row *qs_job_run_find(enum qs_job_run_state state, enum qs_job_run_input input);
const char *qs_job_run_state_text(enum qs_job_run_state state);
const char *qs_job_run_input_text(enum qs_job_run_input input);

#endif
