/* What a reader has to know of two sides before he believes a verdict. */
#include <math.h>
#include <string.h>

#include "report/sides/impl.h"
#include "report/put.h"

static void warn_rates(struct qs_json *j, const struct qs_sides *s, const struct qs_lost_rates *r)
{
    if (r->lost_p < s->how.alpha)
        qs_put_warning(j, "taint-rates",
                       "lost or tainted: %zu of %zu runs of the base, %zu of %zu of the candidate (p = "
                       "%.2g): the remaining runs may not be alike, so good news is withheld",
                       r->lost[0], r->runs[0], r->lost[1], r->runs[1], r->lost_p);
    if (r->timeout_p < s->how.alpha)
        qs_put_warning(j, "timeout-rates",
                       "ran out of time: %zu of %zu runs of the base, %zu of %zu of the candidate (p = "
                       "%.2g): the slowest are missing, so good news is withheld",
                       r->timed_out[0], r->runs[0], r->timed_out[1], r->runs[1], r->timeout_p);
}

/* What stands on both sides cannot tell them apart. */
static void warn_shared(struct qs_json *j, const struct qs_sides_pair *pair)
{
    const struct qs_side_series *x = pair->series[QS_BASE], *y = pair->series[QS_CAND];
    size_t shared = 0;
    for (size_t i = 0, k = 0; i < x->count && k < y->count;) {
        int order = qs_sides_by_turn(x->runs[i], y->runs[k]);
        shared += order == 0 && memcmp(x->runs[i]->uid, y->runs[k]->uid, sizeof x->runs[i]->uid) == 0;
        i += order <= 0;
        k += order >= 0;
    }
    if (shared > 0)
        qs_put_warning(j, "shared-runs",
                       "%zu of %zu runs of the base are also runs of the candidate: they pull the sides "
                       "together, and neither intervals nor verdicts allow for it",
                       shared, x->count);
}

/* False where nothing was taken off. */
static bool warn_shift(struct qs_json *j, const struct qs_mixed_fold *shift)
{
    if (shift->cells == 0)
        return false;
    qs_put_warning(j, "both-count",
                   "the machine was busy: disturbed blocks took %+.2g to %+.2g %% compared with the clean "
                   "ones of their session; they are corrected by that, and all blocks count",
                   100 * expm1(shift->ci.lo), 100 * expm1(shift->ci.hi));
    return true;
}

void qs_sides_warn(struct qs_json *j, const struct qs_sides *s, const struct qs_sides_pair *pair)
{
    const struct qs_comparison *time = &pair->metrics[0];
    const struct qs_arm_run *run = pair->series[QS_BASE]->runs[0];
    qs_json_array(j);
    warn_shared(j, pair);
    if (time->one_session)
        qs_put_warning(
            j, "one-session",
            "there are %zu and %zu sessions: what differs from one to the next is not in the interval, so "
            "a change has to pass the margin twice; measure both in one job, or each in two sessions",
            time->side[QS_BASE].sessions, time->side[QS_CAND].sessions);
    if (!warn_shift(j, &time->shift) && !qs_report_warn_mixed(j, "the candidate", "the base", &time->mixed) &&
        time->uses_tainted)
        qs_put_warning(j, "noisy", "the machine was busy: disturbed blocks count as well");
    for (int k = 0; k < 2; k++)
        if (time->side[k].dropped > 0)
            qs_put_warning(j, "left-out",
                           "%s: %zu blocks are left out: they failed, were disturbed or have no partner",
                           k == QS_BASE ? "base" : "candidate", time->side[k].dropped);
    if (run->simulated)
        qs_put_warning(j, "simulated", "these numbers come from a simulated device");
    warn_rates(j, s, &pair->rates);
    for (size_t m = 0; m < s->in->runs[QS_BASE]->metric_count; m++)
        qs_comparison_warn(j, &pair->metrics[m], s->all.tested);
    qs_json_array_end(j);
}
