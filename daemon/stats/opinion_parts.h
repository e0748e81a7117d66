/* What the rules of opinion.h share; nobody else includes this. */
#ifndef QS_STATS_OPINION_PARTS_H
#define QS_STATS_OPINION_PARTS_H

#include "stats/opinion.h"

/* One side, looked at in both ways. */
struct qs_opinion_side {
    const struct qs_nested *runs;
    const double *v; /* all iterations */
    size_t n;
    const double *medians; /* of the runs, runs->k of them */
};

struct qs_opinion_case {
    struct qs_opinion_side base, cand;
    const struct qs_opinion_opts *opts;
};

/* A rule: fills numbers, thresholds, checks and the answer. QS_ETOOFEW and QS_EDEGENERATE leave it undecided.
 */
typedef enum qs_status qs_opinion_form(const struct qs_opinion_case *c, struct qs_opinion *out);

qs_opinion_form qs_opinion_judge, qs_opinion_android, qs_opinion_kalibera2005, qs_opinion_futhark,
    qs_opinion_rancid, qs_opinion_perfherder, qs_opinion_skia;

void qs_opinion_number(struct qs_opinion *out, const char *name, enum qs_opinion_unit unit, double value);
void qs_opinion_threshold(struct qs_opinion *out, const char *name, enum qs_opinion_unit unit, double value);
void qs_opinion_at_least(struct qs_opinion *out, const char *name, double value, double bound);
void qs_opinion_at_most(struct qs_opinion *out, const char *name, double value, double bound);

/* up > 0: the candidate's values are higher, < 0: lower, 0: no change that the rule reports. */
void qs_opinion_decide(struct qs_opinion *out, const struct qs_opinion_opts *opts, int up);

#endif
