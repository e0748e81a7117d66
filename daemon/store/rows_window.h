/* The rows of a window: gate, evidence, taints, iterations. Included by rows.h, whose words on text and times
 * hold here too. */
#ifndef QS_STORE_ROWS_WINDOW_H
#define QS_STORE_ROWS_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/msg_window.h" /* enum qs_phase */

enum qs_silence { QS_SILENCE_NONE, QS_SILENCE_CLAIMED, QS_SILENCE_OBSERVED, QS_SILENCE_PROVEN, QS_SILENCES };

/* Why nothing is claimed of a window of mode stream or app, for people. */
#define QS_SILENCE_WHY_STREAM "the program writes while it measures"

struct qs_reading_row {
    const char *sensor;
    uint8_t status; /* proto: ok, unreadable, stale, missing, spoilt */
    int64_t value, age_ns;
    const char *trace; /* read back alone: "[[ms, value], ...]" while the gate waited for it; NULL: none */
};

struct qs_gate_row {
    int64_t began_ns, decided_ns; /* device clock */
    const char *outcome;          /* "open", "tainted", "defer", "requeue", "fail", "none" */
    uint32_t polls;
    const struct qs_reading_row *deciding;
    size_t deciding_count;
    const char *busiest; /* process named while waiting, or "" */
    const char *trace;   /* "[[ms, place in deciding, value], ...]" of the wait; "", NULL: none */
};

struct qs_evidence_row {
    const char *kind;
    bool present;
    int64_t before, after;
    bool is_metric, higher_is_better; /* a metric of the windows, and which way is better */
    bool deterministic;               /* so: the same in every window, compared exactly */
};

struct qs_taint_row {
    int32_t i; /* iteration in the window, -1: the window */
    const char *code;
    int64_t value, bound;
};

enum { QS_ROW_METRICS_MAX = 16 }; /* metrics that the store keeps of an iteration */

struct qs_metric_kind { /* of a metric that a program declares */
    const char *unit;
    bool higher_is_better;
    bool deterministic; /* the same at every execution: compared exactly */
};

struct qs_files;
struct qs_document_row { /* what a window of mode stream wrote: an artifact of its run, in the same commit */
    const char *name;    /* of the file, NULL: its standard output */
    struct qs_files *files; /* borrowed until done: where the content goes */
    const void *bytes;
    size_t n;            /* kept; 0: nothing is, and why says so */
    int64_t total_bytes; /* that it had */
    const char *why;     /* or NULL */
};

struct qs_iteration_row {
    int64_t start_off_ns; /* -1: not known */
    int64_t duration_ns;
    uint32_t taint; /* enum qs_taint_bit */
    int32_t status; /* exit code, or -signal */
    int64_t values[QS_ROW_METRICS_MAX];
};

struct qs_window_row {
    uint8_t run_uid[16];
    uint32_t ord, attempt;
    enum qs_phase phase; /* TUNE is kept as a warm-up whose evaluations rise */
    uint64_t first_seq;
    int64_t opened_ns, closed_ns; /* device clock */
    uint32_t evals;               /* of each iteration; TUNE: of the first */
    enum qs_silence silence;
    uint32_t taint;
    const char *how;     /* "done", "time", "cancelled", "failed", "gate" */
    const char *failure; /* or NULL */
    const char *output;  /* kept output of the window, or NULL */
    uint64_t output_bytes;
    const struct qs_gate_row *gate; /* or NULL */
    const struct qs_evidence_row *evidence;
    size_t evidence_count;
    const struct qs_taint_row *taints;
    size_t taint_count;
    const char *const *metrics; /* names in order of values[]: "user_time_us" ... */
    size_t metric_count;
    const struct qs_metric_kind *kinds; /* of each metric, or NULL: by their names */
    const struct qs_iteration_row *iterations;
    size_t n;
    uint32_t device_n; /* how many the device has numbered, where that is not n; else 0 */
    const struct qs_document_row *document; /* or NULL */
};

#endif
