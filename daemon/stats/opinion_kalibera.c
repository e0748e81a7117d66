/* Kalibera, Bulej & Tuma 2005: an interval for each build. */
#include "stats/opinion_parts.h"

#include "stats/pick.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static size_t shortest(const struct qs_nested *runs)
{
    size_t least = runs->off[1] - runs->off[0];
    for (size_t j = 1; j < runs->k; j++)
        least = qs_less(least, runs->off[j + 1] - runs->off[j]);
    return least;
}

/* Equation 5 is for runs of one length: the first n iterations of each. */
static enum qs_status interval_of(const struct qs_nested *runs, double level, struct qs_kalibera2005 *out)
{
    size_t n = shortest(runs);
    double *v = malloc(runs->k * n * sizeof *v);
    size_t *off = malloc((runs->k + 1) * sizeof *off);
    enum qs_status status = QS_ENOMEM;
    if (v && off) {
        for (size_t j = 0; j < runs->k; j++) {
            memcpy(v + j * n, runs->v + runs->off[j], n * sizeof *v);
            off[j] = j * n;
        }
        off[runs->k] = runs->k * n;
        struct qs_nested equal = {.v = v, .off = off, .k = runs->k};
        status = qs_hier_kalibera2005(&equal, level, out);
    }
    free(v);
    free(off);
    return status;
}

enum qs_status qs_opinion_kalibera2005(const struct qs_opinion_case *c, struct qs_opinion *out)
{
    struct qs_kalibera2005 base, cand;
    enum qs_status sx = interval_of(c->base.runs, c->opts->level, &base);
    enum qs_status sy = interval_of(c->cand.runs, c->opts->level, &cand);
    if (sx == QS_ENOMEM || sy == QS_ENOMEM)
        return QS_ENOMEM;
    qs_opinion_threshold(out, "level", QS_OPINION_PLAIN, c->opts->level);
    qs_opinion_number(out, "baseline_mean", QS_OPINION_VALUE, base.mean);
    qs_opinion_number(out, "baseline_lo", QS_OPINION_VALUE, base.ci.lo);
    qs_opinion_number(out, "baseline_hi", QS_OPINION_VALUE, base.ci.hi);
    qs_opinion_number(out, "candidate_mean", QS_OPINION_VALUE, cand.mean);
    qs_opinion_number(out, "candidate_lo", QS_OPINION_VALUE, cand.ci.lo);
    qs_opinion_number(out, "candidate_hi", QS_OPINION_VALUE, cand.ci.hi);
    qs_opinion_number(out, "baseline_iterations_per_run", QS_OPINION_PLAIN, (double)shortest(c->base.runs));
    qs_opinion_number(out, "candidate_iterations_per_run", QS_OPINION_PLAIN, (double)shortest(c->cand.runs));
    if (sx != QS_OK || sy != QS_OK)
        return sx != QS_OK ? sx : sy;
    qs_opinion_decide(out, c->opts, cand.ci.lo > base.ci.hi ? 1 : cand.ci.hi < base.ci.lo ? -1 : 0);
    return QS_OK;
}
