/* The one reader of values: what counts of a run is decided here, for comparisons, reports, exports, second
 * opinions, histories and metrics, so that no two of them can disagree. Which runs of a block count the view
 * v_superseded says. Another engine gives the rows of a
 * run in order, as read/values.c does; what they are worth is said for all of them in values.c. */
#ifndef QS_STORE_VALUES_H
#define QS_STORE_VALUES_H

#include "store/rows.h"
#include "store/store.h"

/* What a measured iteration is worth, or of a metric that windows have, a window. A run stands on those that
 * count, or where it has none on its disturbed ones; never on both. */
enum qs_worth {
    QS_WORTH_COUNTS,    /* clean, as its window, and behind the run's warm-up */
    QS_WORTH_WARMUP,    /* of the first clean ones, which the stop rule set aside */
    QS_WORTH_DISTURBED, /* it ran to its end: its only taints are GATE, EVIDENCE or LINK */
    QS_WORTH_LOST
};

/* Of a run's next one. taint: its own and its window's; clean: how many clean iterations it has, or is;
 * *warmup_left begins as the run's warmup_n. */
enum qs_worth qs_worth_next(uint32_t taint, size_t clean, size_t *warmup_left);

/* The same as the SQL function qs_counts(taint, nth, warmup_n) of a connection: does an iteration count? nth:
 * how many clean ones its run has up to it. */
struct qs_db;
bool qs_worth_in_sql(struct qs_db *db, struct qs_err *err);

/* What a run stands on, by whether it is disturbed ones. */
enum qs_worth qs_worth_taken(bool disturbed);

struct qs_value {
    enum qs_worth worth;
    uint32_t taint;      /* its own and its window's */
    uint32_t i;          /* its place in the window */
    uint32_t evals;      /* evaluations in it; 1 and more */
    int64_t window;      /* number of its window */
    double value;        /* a duration is of one evaluation; NaN: missing */
    int64_t total_ns;    /* of a duration: of all evaluations */
    const double *usage; /* of a metric of rusage and of QS_VALUES_USED: all of them (store/metrics.h), NaN:
                            missing; else NULL */
};
typedef void qs_value_fn(void *user, const struct qs_value *value);

/* Beside the numbers of metrics (0: the duration; less: of a sensor, negative): exit codes, and signals
 * negative; durations with the usage of each. */
#define QS_VALUES_STATUS INT64_MIN
#define QS_VALUES_USED   (INT64_MIN + 1)

/* Every measured iteration (or window) of the run with this number, in the order of time. */
bool qs_read_values(struct qs_store_reader *r, int64_t run, int64_t metric, qs_value_fn *fn, void *user,
                    struct qs_err *err);

struct qs_values { /* what a run stands on, in one metric */
    double *at;    /* owned, in the order of time, without those that are missing */
    size_t n;
    bool counts;     /* some iteration (or window) does, its value may be missing */
    bool disturbed;  /* nothing counts: these are the disturbed ones */
    size_t seen;     /* iterations (or windows), whatever became of them, those of the warm-up apart */
    size_t tainted;  /* iterations (or windows) with any taint, the disturbed ones too */
    size_t warm;     /* clean ones of the warm-up */
    uint32_t taints; /* or of all bits met */
};

/* The run's next one, of which at keeps what the run stands on so far. ret begins empty. */
void qs_values_take(struct qs_values *ret, const struct qs_value *value);

/* Only a run that is done gives values: of one that failed, was cut short or is under way nothing is kept,
 * while what was seen of it is told as of any. To be asked of a run's values once all are taken. */
void qs_values_of_state(struct qs_values *values, enum qs_run_state state);

bool qs_read_run_values(struct qs_store_reader *r, int64_t run, enum qs_run_state state, int64_t metric,
                        struct qs_values *ret, struct qs_err *err);

#endif
