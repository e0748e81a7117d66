/* Commands of this machine that a job names: stop rules, asked between windows, and metrics, read after each
 * window. Never in a window: like a transfer they need the farm's token. Private to device. */
#ifndef QS_DEVICE_ACTIVITY_HOST_H
#define QS_DEVICE_ACTIVITY_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/job/plan.h"
#include "stats/controller.h"
#include "store/rows_window.h"

struct qs_job_run;
struct qs_command_run;
struct qs_timer;

struct qs_job_run_host_run { /* of the run in hand */
    char failure[160];       /* of the first rule that failed; "": none has */
    uint32_t told;           /* bits of the rules, then the metrics, whose failure was told */
};

struct qs_job_run_host {
    bool on, metrics; /* something is asked; the metrics of a window, or the rules */
    size_t next;
    struct qs_command_run *running;                  /* owned */
    struct qs_timer *again;                          /* owned: asks for the token again */
    struct qs_rule_answer answers[QS_JOB_HOOKS_MAX]; /* of each external rule of the job */
    char why[QS_JOB_HOOKS_MAX][96];                  /* the reason that it gave; "": none */
    size_t rule_count;
    char kind[QS_JOB_HOOKS_MAX][64]; /* "metric:power_mW" */
    bool higher_is_better[QS_JOB_HOOKS_MAX];
    int64_t value[QS_JOB_HOOKS_MAX]; /* INT64_MIN: it failed */
    size_t metric_count;             /* of the window in hand */
};

void qs_job_run_host_init(struct qs_job_run *job);
bool qs_job_run_host_has_rules(const struct qs_job_run *job); /* and the run in hand has a stop rule */
/* Asks all metrics, then stores the window; or all rules, then feeds ANSWERED. */
void qs_job_run_host_begin(struct qs_job_run *job, bool metrics);
/* Ends what is under way; nothing follows. */
void qs_job_run_host_stop(struct qs_job_run *job);
/* The window's metrics as rows; texts are borrowed. */
size_t qs_job_run_host_evidence(const struct qs_job_run *job, struct qs_evidence_row *rows);
/* activity/window.c: what follows when the metrics are there. */
void qs_job_run_window_store(struct qs_job_run *job);
/* Adds to the run's stop reason what a rule said that held, and what failed where none did. */
void qs_job_run_host_explain(struct qs_job_run *job, bool held);

#endif
