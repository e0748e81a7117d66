/* Summaries, comparisons and verdicts of one job from its stored runs: pure, doubles begin here. The document
 * is described in schema/comparison.md; it is the one source of truth that every face lays out. */
#ifndef QS_REPORT_JOB_REPORT_H
#define QS_REPORT_JOB_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "config/job/job.h"
#include "report/views.h"
#include "stats/status.h"
#include "store/read/read.h"
#include "store/read/metrics.h"

struct qs_tables;

/* What the document tells of durations, for other forms of it: an arm at a point on a device, in its order.
 * NaN where a number is not known. */
struct qs_report_told {
    const char *label, *device, *name, *build; /* borrowed from the input; build: or NULL */
    char *command;                             /* owned: as a person would type it */
    double mean_ns, sd_ns, median_ns, min_ns, max_ns, user_us, system_us;
    const struct qs_measured_run **runs; /* owned; of the input: those that mean and spread are of */
    size_t run_count;
};
struct qs_report_tolds {       /* starts from {0} */
    struct qs_report_told *at; /* owned */
    size_t count;
};
void qs_report_tolds_done(struct qs_report_tolds *told);

struct qs_report_input { /* all borrowed */
    const struct qs_job_info *job;
    const struct qs_job_spec *spec;
    const struct qs_measured_runs *measured;
    const char *taints_json;      /* qs_shown_taints, or NULL */
    const char *environment_json; /* or NULL */
    const char *db_path;
    const struct qs_job_metrics *metrics; /* of the job's runs, or NULL: the duration alone */
    unsigned opinions;            /* the second opinions that are wanted: a set as in report/job/opinion.h */
    struct qs_views views;        /* which iterations of each run are looked at */
    struct qs_progress progress;  /* hears of the whole document: its stages are names */
    struct qs_report_tolds *told; /* qs_report_compare fills it; NULL: nobody asks */
    struct qs_tables *tables;     /* the same: tables for people, which the document has too */
};

/* Appends the comparison document to out. QS_E_STOPPED: progress ended it, and what was appended is no
 * document. */
bool qs_report_compare(const struct qs_report_input *in, struct qs_buf *out, struct qs_err *err);
/* Appends [{"point","device","arm","metric","verdict"}], and to brief the
 * one of them that weighs most (nothing where no arms were compared); *ret_exit is 1 where a command
 * failed (another exit code than is accepted, a signal, a limit, prepare or conclude), else 5 where any of
 * them is a regression that stands among so many, else 0. QS_E_STOPPED as above. */
bool qs_report_verdicts(const struct qs_report_input *in, struct qs_buf *out, struct qs_buf *brief,
                        int *ret_exit, struct qs_err *err);

/* Appends one line per comparison for a log or a script's reader: "simulated sim0 blur: b takes 2.6-3.4 %
 * longer than a: regression". Nothing where progress ended it. */
void qs_report_lines(const struct qs_report_input *in, struct qs_buf *out);

#endif
