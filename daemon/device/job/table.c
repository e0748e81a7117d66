#include "device/job/table.h"

#include <stddef.h>

#include "base/buf.h"
#include "device/job/run.h"

#define ROW(s, i, n)                                                                                         \
    {                                                                                                        \
        QS_JS_##s, QS_JI_##i, QS_JS_##n                                                                      \
    }

/* Losing the link and being abandoned are possible wherever the device is in use. Being cancelled moves
 * nothing: the step that is on hears of it, and comes to its end. */
#define IN_USE(s) ROW(s, CANCEL, s), ROW(s, DOWN, LOST), ROW(s, ABANDON, DONE)

static const struct qs_job_run_row table[] = {
    ROW(IDLE, START, SETTLE),
    ROW(IDLE, CANCEL, DONE),
    ROW(IDLE, ABANDON, DONE),

    ROW(SETTLE, DONE, LOCK),
    ROW(SETTLE, FAIL, RESTORE),
    IN_USE(SETTLE),

    ROW(LOCK, DONE, CHECK),
    ROW(LOCK, PROBE, PROBE),
    ROW(LOCK, CHARACTERIZE, CHARACTERIZE),
    ROW(LOCK, FAIL, UNLOCK),
    IN_USE(LOCK),

    ROW(PROBE, DONE, CHECK),
    ROW(PROBE, FAIL, UNLOCK),
    IN_USE(PROBE),

    ROW(CHECK, DONE, FILES),
    ROW(CHECK, FAIL, UNLOCK),
    IN_USE(CHECK),

    ROW(CHARACTERIZE, DONE, UNLOCK),
    ROW(CHARACTERIZE, FAIL, UNLOCK),
    IN_USE(CHARACTERIZE),

    ROW(FILES, DONE, BEFORE),
    ROW(FILES, POINT_OVER, UNINSTALL),
    ROW(FILES, FAIL, UNINSTALL),
    IN_USE(FILES),

    ROW(BEFORE, DONE, SETUP),
    ROW(BEFORE, POINT_OVER, AFTER),
    IN_USE(BEFORE),

    ROW(SETUP, DONE, TURN),
    ROW(SETUP, POINT_OVER, CLEANUP),
    ROW(SETUP, FAIL, CLEANUP),
    IN_USE(SETUP),

    ROW(TURN, DONE, INSTALL),
    ROW(TURN, RUN_OVER, ENDING),
    ROW(TURN, FAIL, ENDING),
    IN_USE(TURN),

    ROW(INSTALL, DONE, BEFORE_RUN),
    ROW(INSTALL, RUN_OVER, ENDING),
    ROW(INSTALL, FAIL, ENDING),
    IN_USE(INSTALL),

    ROW(BEFORE_RUN, DONE, RUN),
    ROW(BEFORE_RUN, RUN_OVER, ENDING),
    IN_USE(BEFORE_RUN),

    ROW(RUN, DONE, BEFORE_WINDOW),
    ROW(RUN, FAIL, ENDING),
    IN_USE(RUN),

    ROW(HOLD, DONE, BEFORE_WINDOW),
    ROW(HOLD, FAIL, ENDING),
    IN_USE(HOLD),

    ROW(BEFORE_WINDOW, DONE, GATE),
    ROW(BEFORE_WINDOW, RUN_OVER, AFTER_WINDOW),
    IN_USE(BEFORE_WINDOW),

    ROW(GATE, QUIET, WINDOW),
    ROW(GATE, DISARM, GATE),
    ROW(GATE, CLOSED, EVIDENCE),
    ROW(GATE, FAIL, AFTER_WINDOW),
    IN_USE(GATE),

    ROW(WINDOW, DISARM, GATE),
    ROW(WINDOW, CLOSED, EVIDENCE),
    IN_USE(WINDOW),

    ROW(EVIDENCE, DONE, AFTER_WINDOW),
    ROW(EVIDENCE, FAIL, AFTER_WINDOW),
    IN_USE(EVIDENCE),

    ROW(AFTER_WINDOW, DONE, JUDGE),
    ROW(AFTER_WINDOW, RUN_OVER, ENDING),
    IN_USE(AFTER_WINDOW),

    ROW(JUDGE, AGAIN, BEFORE_WINDOW),
    ROW(JUDGE, SLIPPED, HOLD),
    ROW(JUDGE, TRACE, TRACE),
    ROW(JUDGE, UNTRACE, UNTRACE),
    ROW(JUDGE, ASK, ASK),
    ROW(JUDGE, RUN_OVER, ENDING),

    ROW(TRACE, DONE, GATE),
    ROW(TRACE, RUN_OVER, ENDING),
    ROW(TRACE, FAIL, ENDING),
    IN_USE(TRACE),

    ROW(UNTRACE, TRACE, TRACE),
    ROW(UNTRACE, RUN_OVER, ENDING),
    ROW(UNTRACE, FAIL, ENDING),
    IN_USE(UNTRACE),

    ROW(ASK, DONE, JUDGE),
    IN_USE(ASK),

    ROW(ENDING, DONE, AFTER_RUN),
    ROW(ENDING, FAIL, AFTER_RUN),
    IN_USE(ENDING),

    ROW(AFTER_RUN, DONE, NEXT),
    IN_USE(AFTER_RUN),

    ROW(NEXT, NEXT_RUN, TURN),
    ROW(NEXT, POINT_OVER, CLEANUP),

    ROW(CLEANUP, DONE, ADVANCE),
    ROW(CLEANUP, FAIL, CLEANUP),
    IN_USE(CLEANUP),

    ROW(ADVANCE, NEXT_POINT, SETUP),
    ROW(ADVANCE, ALL_OVER, AFTER),

    ROW(AFTER, DONE, UNINSTALL),
    IN_USE(AFTER),

    ROW(UNINSTALL, DONE, TIDY),
    IN_USE(UNINSTALL),

    ROW(TIDY, DONE, UNLOCK),
    ROW(TIDY, CANCEL, TIDY),
    ROW(TIDY, FAIL, TIDY),
    ROW(TIDY, DOWN, RESTORE),
    ROW(TIDY, ABANDON, DONE),

    ROW(UNLOCK, DONE, RESTORE),
    ROW(UNLOCK, CANCEL, UNLOCK),
    ROW(UNLOCK, FAIL, RESTORE),
    ROW(UNLOCK, DOWN, RESTORE),
    ROW(UNLOCK, ABANDON, DONE),

    ROW(RESTORE, DONE, DONE),
    ROW(RESTORE, FAIL, DONE),
    ROW(RESTORE, CANCEL, RESTORE),
    ROW(RESTORE, DOWN, RESTORE),
    ROW(RESTORE, ABANDON, DONE),

    ROW(LOST, BACK, SETTLE),
    ROW(LOST, FAIL, DONE),
    ROW(LOST, CANCEL, DONE),
    ROW(LOST, ABANDON, DONE),
    ROW(LOST, DOWN, LOST),
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
#define S(symbol, name, waits, step) name,
        QS_JOB_RUN_STATES(S)
#undef S
    };
    return (unsigned)state < QS_JS_COUNT ? names[state] : "?";
}

const char *qs_job_run_input_text(enum qs_job_run_input input)
{
    static const char *const names[] = {
#define E(symbol, name) name,
        QS_JOB_RUN_INPUTS(E)
#undef E
    };
    return (unsigned)input < QS_JI_COUNT ? names[input] : "?";
}

void qs_job_run_dump(struct qs_buf *out)
{
    static const char *const waits[] = {
#define S(symbol, name, text, step) text,
        QS_JOB_RUN_STATES(S)
#undef S
    };
    for (unsigned s = 0; s < QS_JS_COUNT; s++) {
        qs_buf_fmt(out, "%s  (waits for: %s)\n", qs_job_run_state_text((enum qs_job_run_state)s), waits[s]);
        for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
            if ((unsigned)table[i].state == s)
                qs_buf_fmt(out, "    %-10s -> %s\n", qs_job_run_input_text(table[i].input),
                           qs_job_run_state_text(table[i].next));
        }
    }
}
