/* Metrics that a program declares deterministic: one value, compared as it is. Any difference is a change,
 * and no sample of it is needed. One that varies within an arm is not deterministic: it is judged like a
 * time. */
#include <math.h>

#include "report/sides_impl.h"

static void look(const struct qs_side_series *series, size_t metric, bool *ret_constant, double *ret_value)
{
    *ret_value = NAN;
    *ret_constant = true;
    for (size_t i = 0; i < series->count; i++) {
        const struct qs_arm_values *const lists[] = {&series->runs[i]->clean[metric],
                                                     &series->runs[i]->soft[metric]};
        for (int k = 0; k < 2; k++) {
            for (size_t n = 0; n < lists[k]->n; n++) {
                if (isnan(*ret_value))
                    *ret_value = lists[k]->at[n];
                *ret_constant = *ret_constant && lists[k]->at[n] == *ret_value;
            }
        }
    }
    if (!*ret_constant || isnan(*ret_value)) {
        *ret_value = NAN;
        *ret_constant = false;
    }
}

bool qs_sides_is_exact(const struct qs_sides_verdict *v)
{
    return v->exact.declared && v->exact.constant[QS_BASE] && v->exact.constant[QS_CAND];
}

void qs_sides_exact(const struct qs_sides *s, const struct qs_sides_pair *pair, size_t metric,
                    struct qs_sides_verdict *ret)
{
    const struct qs_arm_metric *m = &s->in->runs[QS_BASE]->metrics[metric];
    if (!m->deterministic)
        return;
    ret->exact.declared = true;
    for (int k = 0; k < 2; k++)
        look(pair->series[k], metric, &ret->exact.constant[k], &ret->exact.value[k]);
    double x = ret->exact.value[QS_BASE], y = ret->exact.value[QS_CAND];
    if (!qs_sides_is_exact(ret))
        return;
    bool worse = m->higher_is_better ? y < x : y > x;
    ret->v.kind = y == x ? QS_VERDICT_EQUIVALENT : worse ? QS_VERDICT_REGRESSION : QS_VERDICT_IMPROVEMENT;
    ret->v.ratio = x != 0 ? y / x : y == x ? 1 : NAN;
    ret->v.p = NAN; /* nothing was drawn: there is no chance to weigh */
    ret->reason = "exact";
}
