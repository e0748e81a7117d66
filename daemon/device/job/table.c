#include "device/job/table.h"

#include "device/job/run.h"

#define ROW(s, i, n, a)                                                                                      \
    {                                                                                                        \
        QS_JS_##s, QS_JI_##i, QS_JS_##n, #a, qs_job_run_do_##a                                               \
    }
#define STAY(s, i)                                                                                           \
    {                                                                                                        \
        QS_JS_##s, QS_JI_##i, QS_JS_##s, "-", NULL                                                           \
    }

/* Losing the link and being abandoned are possible wherever the device is in use. */
#define IN_USE(s) ROW(s, DOWN, LOST, lose), ROW(s, ABANDON, DONE, finish)

static const struct qs_job_run_row table[] = {
    ROW(IDLE, START, SETTLE, begin_session),
    ROW(IDLE, CANCEL, DONE, finish),
    ROW(IDLE, ABANDON, DONE, finish),

    ROW(SETTLE, STORED, LOCK, lock),
    ROW(SETTLE, FAIL, RESTORE, restore),
    STAY(SETTLE, CANCEL),
    IN_USE(SETTLE),

    ROW(LOCK, LOCKED, FILES, push),
    STAY(LOCK, CANCEL),
    IN_USE(LOCK),

    ROW(FILES, FILES_READY, SETUP, setup),
    ROW(FILES, POINT_OVER, TIDY, tidy),
    ROW(FILES, FAIL, TIDY, tidy),
    ROW(FILES, CANCEL, FILES, cancel_push),
    IN_USE(FILES),

    ROW(SETUP, HOOKS_OVER, RUN, begin_run),
    ROW(SETUP, POINT_OVER, CLEANUP, cleanup),
    ROW(SETUP, FAIL, CLEANUP, cleanup),
    ROW(SETUP, CANCEL, SETUP, cancel_wait),
    IN_USE(SETUP),

    ROW(RUN, STORED, RUN, send_run),
    ROW(RUN, RUN_READY, RUN, evals),
    ROW(RUN, EVALS, GATE, open_window),
    ROW(RUN, RUN_OVER, ENDING, end_run),
    ROW(RUN, FAIL, ENDING, end_run),
    ROW(RUN, CANCEL, RUN, cancel_wait),
    IN_USE(RUN),

    ROW(GATE, QUIET, WINDOW, silence),
    STAY(GATE, DISARM),
    ROW(GATE, CLOSED, EVIDENCE, collect),
    ROW(GATE, FAIL, ENDING, end_run),
    ROW(GATE, CANCEL, GATE, cancel_wait),
    IN_USE(GATE),

    ROW(WINDOW, DISARM, GATE, unsilence),
    ROW(WINDOW, CLOSED, EVIDENCE, collect),
    ROW(WINDOW, CANCEL, WINDOW, cancel_wait),
    IN_USE(WINDOW),

    ROW(EVIDENCE, COMMITTED, JUDGE, judge),
    ROW(EVIDENCE, FAIL, ENDING, end_run),
    STAY(EVIDENCE, CANCEL),
    IN_USE(EVIDENCE),

    ROW(JUDGE, AGAIN, GATE, open_window),
    ROW(JUDGE, TRACE, TRACE, start_trace),
    ROW(JUDGE, UNTRACE, UNTRACE, stop_trace),
    ROW(JUDGE, ASK, ASK, ask_host),
    ROW(JUDGE, RUN_OVER, ENDING, end_run),

    ROW(TRACE, TRACED, GATE, open_window),
    ROW(TRACE, RUN_OVER, ENDING, end_run),
    ROW(TRACE, FAIL, ENDING, end_run),
    ROW(TRACE, CANCEL, TRACE, cancel_wait),
    IN_USE(TRACE),

    ROW(UNTRACE, TRACE, TRACE, start_trace),
    ROW(UNTRACE, RUN_OVER, ENDING, end_run),
    ROW(UNTRACE, FAIL, ENDING, end_run),
    STAY(UNTRACE, CANCEL),
    IN_USE(UNTRACE),

    ROW(ASK, ANSWERED, JUDGE, decide),
    ROW(ASK, CANCEL, ASK, hush_host),
    IN_USE(ASK),

    ROW(ENDING, RUN_ENDED, NEXT, next),
    ROW(ENDING, FAIL, NEXT, next),
    ROW(ENDING, CANCEL, ENDING, cancel_wait),
    IN_USE(ENDING),

    ROW(NEXT, NEXT_RUN, RUN, begin_run),
    ROW(NEXT, POINT_OVER, CLEANUP, cleanup),

    ROW(CLEANUP, HOOKS_OVER, ADVANCE, advance),
    STAY(CLEANUP, CANCEL),
    STAY(CLEANUP, FAIL),
    IN_USE(CLEANUP),

    ROW(ADVANCE, NEXT_POINT, SETUP, setup),
    ROW(ADVANCE, ALL_OVER, TIDY, tidy),

    ROW(TIDY, TIDIED, RESTORE, restore),
    STAY(TIDY, CANCEL),
    STAY(TIDY, FAIL),
    ROW(TIDY, DOWN, RESTORE, restore),
    ROW(TIDY, ABANDON, DONE, finish),

    ROW(RESTORE, STORED, DONE, finish),
    ROW(RESTORE, FAIL, DONE, finish),
    STAY(RESTORE, CANCEL),
    STAY(RESTORE, DOWN),
    ROW(RESTORE, ABANDON, DONE, finish),

    ROW(LOST, BACK, SETTLE, begin_session),
    ROW(LOST, FAIL, DONE, finish),
    ROW(LOST, CANCEL, DONE, finish),
    ROW(LOST, ABANDON, DONE, finish),
    STAY(LOST, DOWN),
};

const struct qs_job_run_row *qs_job_run_find(enum qs_job_run_state state, enum qs_job_run_input input)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (table[i].state == state && table[i].input == input)
            return &table[i];
    }
    return NULL;
}

const char *qs_job_run_state_text(enum qs_job_run_state state)
{
    static const char *const names[] = {
#define S(sym, name, waits) name,
        QS_JOB_RUN_STATES(S)
#undef S
    };
    return (unsigned)state < QS_JS_COUNT ? names[state] : "?";
}

const char *qs_job_run_input_text(enum qs_job_run_input input)
{
    static const char *const names[] = {
#define E(sym, name) name,
        QS_JOB_RUN_INPUTS(E)
#undef E
    };
    return (unsigned)input < QS_JI_COUNT ? names[input] : "?";
}

void qs_job_run_dump(struct qs_buf *out)
{
    static const char *const waits[] = {
#define S(sym, name, text) text,
        QS_JOB_RUN_STATES(S)
#undef S
    };
    for (unsigned s = 0; s < QS_JS_COUNT; s++) {
        qs_buf_fmt(out, "%s  (waits for: %s)\n", qs_job_run_state_text((enum qs_job_run_state)s), waits[s]);
        for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
            if ((unsigned)table[i].state == s)
                qs_buf_fmt(out, "    %-12s -> %-9s %s\n", qs_job_run_input_text(table[i].input),
                           qs_job_run_state_text(table[i].next), table[i].action_name);
        }
    }
}
