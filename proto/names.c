#include "proto/names.h"

#include <stddef.h>
#include <string.h>

static const char *const metrics[] = {
    [QS_METRIC_USER_TIME_US] = "user_time_us",
    [QS_METRIC_SYSTEM_TIME_US] = "system_time_us",
    [QS_METRIC_MAX_RSS_BYTES] = "max_rss_bytes",
    [QS_METRIC_MINOR_FAULTS] = "minor_faults",
    [QS_METRIC_MAJOR_FAULTS] = "major_faults",
    [QS_METRIC_VOLUNTARY_SWITCHES] = "voluntary_switches",
    [QS_METRIC_INVOLUNTARY_SWITCHES] = "involuntary_switches",
    [QS_METRIC_BLOCK_IN] = "block_in",
    [QS_METRIC_BLOCK_OUT] = "block_out",
};

const char *qs_metric_name(uint16_t id)
{
    return id >= 1 && id <= QS_METRIC_LAST ? metrics[id] : NULL;
}

#define COUNT(words) (sizeof(words) / sizeof((words)[0]))

static const char *word(const char *const *words, size_t count, unsigned v)
{
    return v < count && words[v] != NULL ? words[v] : "unknown";
}

const char *qs_phase_name(enum qs_phase v)
{
    static const char *const words[] = {"warmup", "measure", "tune", "traced"};
    return word(words, COUNT(words), (unsigned)v);
}

const char *qs_gate_outcome_name(enum qs_gate_outcome v)
{
    static const char *const words[] = {"open", "tainted", "defer", "requeue", "fail"};
    return word(words, COUNT(words), (unsigned)v);
}

const char *qs_gate_on_timeout_name(enum qs_gate_on_timeout v)
{
    static const char *const words[] = {"taint", "defer", "requeue", "fail"};
    return word(words, COUNT(words), (unsigned)v);
}

const char *qs_reading_status_name(enum qs_reading_status v)
{
    static const char *const words[] = {"ok", "unreadable", "stale", "missing", "spoilt"};
    return word(words, COUNT(words), (unsigned)v);
}

const char *qs_tune_outcome_name(enum qs_tune_outcome v)
{
    static const char *const words[] = {
        [QS_TUNE_SET] = "set",
        [QS_TUNE_SAME] = "same",
        [QS_TUNE_SLIPPED] = "slipped",
        [QS_TUNE_REFUSED] = "refused",
        [QS_TUNE_TIMEOUT] = "timeout",
        [QS_TUNE_UNREADABLE] = "unreadable",
        [QS_TUNE_MISSING] = "missing",
        [QS_TUNE_FORBIDDEN] = "forbidden",
        [QS_TUNE_UNJOURNALLED] = "unjournalled",
    };
    return word(words, COUNT(words), (unsigned)v);
}

const char *qs_wire_code_name(uint16_t code)
{
    static const char *const words[] = {
        [QS_CODE_PROTOCOL] = "protocol",
        [QS_CODE_VERSION] = "version",
        [QS_CODE_AUTH] = "auth",
        [QS_CODE_STATE] = "state",
        [QS_CODE_UNKNOWN_RUN] = "unknown-run",
        [QS_CODE_EXECUTABLE] = "executable",
        [QS_CODE_UNSUPPORTED] = "unsupported",
        [QS_CODE_RESOURCE] = "resource",
        [QS_CODE_INTERNAL] = "internal",
    };
    return word(words, COUNT(words), code);
}

const char *qs_iteration_flag_name(uint32_t bit)
{
    static const char *const words[] = {"timed-out",       "unexpected-exit", "signalled",
                                        "left-children",   "output-cut",      "prepare-failed",
                                        "conclude-failed", "clock",           "core-dumped"};
    for (unsigned i = 0; i < COUNT(words); i++) {
        if (bit == UINT32_C(1) << i)
            return words[i];
    }
    return "unknown";
}
