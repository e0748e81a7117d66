/* When a run has enough iterations: a rule (rule.h) over the accepted durations of one run, with caps that
 * end it whatever the rule says. Iterations are pushed as they come; the rule is asked where the caller
 * likes, at window ends as a rule. It sees precision, stability and time, never a comparison. Not reentrant
 * per structure; no globals. */
#ifndef QS_STATS_STOPPING_H
#define QS_STATS_STOPPING_H

#include <stdbool.h>
#include <stddef.h>

#include "stats/rule.h"
#include "stats/status.h"

struct qs_stopping;

struct qs_stopping_caps {
    double time_ns;       /* measured time that ends every run; infinite: none */
    size_t iterations;    /* accepted ones that end every run; SIZE_MAX: none */
    double resolution_ns; /* one tick of the clock, the tolerance where the median is 0; 0 takes 1 */
};
/* 300 s and 10 000 iterations. */
struct qs_stopping_caps qs_stopping_default_caps(void);

struct qs_rule_answer { /* of a rule that is asked elsewhere */
    const char *name;
    bool holds;
};

/* What the rule may know besides the durations. */
struct qs_stopping_now {
    double measured_ns; /* of this run, rejected iterations included */
    size_t planned;     /* planner: iterations that a run should have, 0 = not known, SIZE_MAX = no bound */
    const struct qs_rule_answer *answers; /* borrowed; external rules without one do not hold */
    size_t answer_count;
};

enum qs_stopping_verdict {
    QS_STOPPING_GO_ON,
    QS_STOPPING_RESTART, /* go on, and what came before kept_from does not count any more */
    QS_STOPPING_STOP,    /* the rule holds */
    QS_STOPPING_CAPPED   /* stop: a cap ended it before the rule held */
};

/* The rule is borrowed and outlives it. NULL: no memory, or a rule that is not whole (a leaf with
 * children, `not` without exactly one, an argument out of its range, deeper than 32). */
struct qs_stopping *qs_stopping_new(const struct qs_rule *rule, const struct qs_stopping_caps *caps);
void qs_stopping_free(struct qs_stopping *c); /* NULL is allowed */

/* The next accepted duration. after_gap: iterations between it and the one before were rejected, so the two
 * are no neighbours. QS_EDOM (not finite, or below 0: not taken), QS_ENOMEM. */
enum qs_status qs_stopping_push(struct qs_stopping *c, double duration_ns, bool after_gap);

enum qs_stopping_verdict qs_stopping_judge(struct qs_stopping *c, const struct qs_stopping_now *now);

/* After the last judge: which part held ("fixed(30) and stable(50)"), or which cap; "" where it goes on. */
const char *qs_stopping_reason(const struct qs_stopping *c);
/* The first pushed iteration (0-based) that counts: those before it were set aside as warm-up by the part
 * that held, or by any part where a cap stopped it. */
size_t qs_stopping_kept_from(const struct qs_stopping *c);
size_t qs_stopping_n(const struct qs_stopping *c);

/* Relative standard error with denominator n and first autocorrelation, as futhark bench has them
 * (statistics.md 4.3). r1 is 1 for fewer than 3 values and for constant ones. Breaks as in dependence.h.
 * QS_ENODATA, QS_EDOM (mean of 0, too), QS_ENOMEM. */
struct qs_futhark {
    double rse, r1;
};
enum qs_status qs_futhark_metrics(const double *x, size_t n, const size_t *breaks, size_t n_breaks, int root,
                                  struct qs_futhark *out);
/* Whether they ask for more: any of five pairs (r1 above, error above). `original` keeps the defect that no
 * pair has a correlation of 0 or below, so that it stops at any error then; corrected puts such r1 just above
 * 0. */
bool qs_futhark_wants_more(const struct qs_futhark *m, int metrics, double strictness);

#endif
