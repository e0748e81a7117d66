#include <stdint.h>
#include <stdio.h>

#include "store/rows.h"

const char *qs_job_state_name(enum qs_job_state state)
{
    switch (state) {
    case QS_JOB_QUEUED:
        return "queued";
    case QS_JOB_RUNNING:
        return "running";
    case QS_JOB_DONE:
        return "done";
    case QS_JOB_FAILED:
        return "failed";
    case QS_JOB_CANCELLED:
        return "cancelled";
    }
    return "";
}

const char *qs_run_state_name(enum qs_run_state state)
{
    switch (state) {
    case QS_RUN_RUNNING:
        return "running";
    case QS_RUN_DONE:
        return "done";
    case QS_RUN_FAILED:
        return "failed";
    case QS_RUN_INTERRUPTED:
        return "interrupted";
    case QS_RUN_CANCELLED:
        return "cancelled";
    }
    return "";
}

const char *qs_taint_names(uint32_t taint, char *out, size_t bytes)
{
    static const char *const names[] = {"gate",   "evidence", "link",        "exit",  "timeout", "children",
                                        "output", "hook",     "interrupted", "clock", "launch"};
    size_t at = 0;
    if (bytes > 0)
        out[0] = 0;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (!(taint & 1u << i))
            continue;
        int put = snprintf(out + at, bytes - at, "%s%s", at ? "," : "", names[i]);
        if (put < 0 || (size_t)put >= bytes - at)
            break;
        at += (size_t)put;
    }
    return out;
}
