/* What every function of this folder answers, and the interval that many of them fill. */
#ifndef QS_STATS_STATUS_H
#define QS_STATS_STATUS_H

#include <stdbool.h>

enum qs_status {
    QS_OK,
    QS_ENODATA,     /* n = 0 */
    QS_ETOOFEW,     /* the quantity needs more values than there are; outputs are NaN */
    QS_EDOM,        /* NaN or infinite input, a log of x <= 0, an option out of range, or an overflow */
    QS_ENOMEM,      /* outputs are NaN */
    QS_EDEGENERATE, /* the values do not vary and the quantity is undefined then; outputs are NaN */
    QS_ECANCELED    /* qs_progress said no; outputs are NaN */
};

/* "ok", "no-data", "too-few", "domain", "no-memory", "degenerate", "canceled"; "unknown" for anything else.
 * Static. */
const char *qs_status_name(enum qs_status status);
extern const char *const qs_status_names[]; /* by value, NULL at the end */

/* Long work tells every 0.1 s or so (of a processor of 2020) how much of it is done, 0 to 1 and never less
 * than before, and ends with QS_ECANCELED where the answer is false. The share is that of the work: draws,
 * passes, pairs, weighted by what each costs; never that of the time. go_on NULL: nobody asks. Does not
 * change the result. */
struct qs_progress {
    bool (*go_on)(void *user, const char *stage, double done_ratio);
    void *user;
    const char *stage;    /* borrowed: what is computed, in a word; NULL: not told */
    double before, after; /* where this is a part: the shares of the whole that precede and follow it */
};

/* False: end. done_ratio is that of the part, go_on hears that of the whole. NULL: nobody asks. */
bool qs_progress_go_on(const struct qs_progress *progress, double done_ratio);
/* What a piece of the work tells, from one share of it to another; NULL: nobody asks. */
struct qs_progress qs_progress_part(const struct qs_progress *progress, double from, double to);

enum {
    QS_FLAG_EXACT = 1u << 0,      /* nothing varied: the interval is a point and p is 0 or 1 */
    QS_FLAG_TIES = 1u << 1,       /* some differences were 0 and were left out (sign test) */
    QS_FLAG_CLAMPED = 1u << 2,    /* a negative variance estimate was set to 0 */
    QS_FLAG_PERCENTILE = 1u << 3, /* BCa is not defined: the percentile interval stands in for it */
    QS_FLAG_FEW_UNITS = 1u << 4,  /* so few units were resampled that the interval is mostly too short */
};

/* lo <= hi; both NaN: not available. level is a probability in (0,1), 0.95 as a rule. */
struct qs_ci {
    double lo, hi, level;
    unsigned flags;
};

/* {NaN, NaN, level, 0} */
struct qs_ci qs_ci_none(double level);

#endif
