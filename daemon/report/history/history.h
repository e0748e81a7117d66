/* One series of the store as a document: its points (one a session), where its environment changed, and
 * inside each stretch of equal environment the steps and drifts. Pure. The rows that write it
 * print schema/history.schema.json. */
#ifndef QS_REPORT_HISTORY_HISTORY_H
#define QS_REPORT_HISTORY_HISTORY_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "stats/status.h"
#include "store/read/history.h"

struct qs_history_opts {
    double level;        /* of intervals, in (0,1) */
    double margin_ratio; /* the smallest change that matters */
    double p_max;        /* of a step or drift */
    size_t window;       /* of Hunter, 2 .. 10000 points */
};
/* 95 %, 2 %, 0.001, 50. */
struct qs_history_opts qs_history_opts_default(void);

struct qs_history_input { /* all borrowed */
    const struct qs_series_info *series;
    const struct qs_history_metric *metric;
    const struct qs_history_metrics *metrics; /* all of the series */
    const struct qs_history_data *data;
    const char *build; /* only sessions whose build has this in its label; NULL: all */
    const struct qs_farm_variables *variables; /* the farm's lists, or NULL */
    struct qs_history_opts opts;
    struct qs_progress progress; /* hears of the whole document: "changes", "trend" */
};

/* The identity of a series: SHA-256 over benchmark, parameters, controls, device and arm, 64 hex digits. It
 * is the same in every database. */
void qs_history_id(const struct qs_series_info *series, char id[65]);

/* What lists and documents have in common, as members of the open object: id, benchmark, params, conditions,
 * device, simulated, arm. */
void qs_history_put_series(struct qs_json *j, const struct qs_series_info *series);

/* The value of one session: the median of its runs' medians, of the clean ones where there are at least
 * three. Units of the metric, for times of one evaluation. */
struct qs_history_value {
    double value;         /* NaN: no run has a value */
    double lo, hi, level; /* NaN where there are too few runs */
    bool by_order;        /* the interval: order statistics of the run medians (6 and more), else t on logs */
    size_t runs, tainted_runs, iterations;
    bool uses_tainted; /* softly tainted runs are among those used */
};
struct qs_history_value qs_history_value_of(const struct qs_history_session *session, double level);

/* Whether its build has this in its label; an arm without a build has "exe " and the beginning of its
 * executable's hash for one. NULL: any. */
bool qs_history_has_build(const struct qs_history_session *session, const char *text);

/* Appends the document. QS_E_DATA where a stored environment cannot be read; QS_E_STOPPED where progress
 * ended it, and what was appended is no document. */
bool qs_history_document(const struct qs_history_input *in, struct qs_buf *out, struct qs_err *err);

/* schema/history.schema.json: what that document is. */
void qs_history_schema(struct qs_buf *out);

#endif
