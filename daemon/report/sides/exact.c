/* Metrics that a program declares deterministic: one value, compared as it is. Any difference is a change,
 * and no sample of it is needed. One that varies within an arm is not deterministic: it is judged like a
 * time. */
#include <math.h>

#include "report/sides/impl.h"

void qs_sides_look(const struct qs_values *values, bool *constant, double *value)
{
    for (size_t n = 0; n < values->n; n++) {
        if (isnan(*value))
            *value = values->at[n];
        *constant = *constant && values->at[n] == *value;
    }
}

bool qs_sides_is_exact(const struct qs_sides_verdict *v)
{
    return v->exact.declared && v->exact.constant[QS_BASE] && v->exact.constant[QS_CAND];
}

void qs_sides_judge_exact(const struct qs_arm_metric *metric, struct qs_sides_verdict *ret)
{
    for (int k = 0; k < 2; k++) {
        bool one = ret->exact.constant[k] && !isnan(ret->exact.value[k]);
        ret->exact.constant[k] = one;
        ret->exact.value[k] = one ? ret->exact.value[k] : NAN;
    }
    double x = ret->exact.value[QS_BASE], y = ret->exact.value[QS_CAND];
    if (!qs_sides_is_exact(ret))
        return;
    bool worse = metric->higher_is_better ? y < x : y > x;
    ret->v.kind = y == x ? QS_VERDICT_EQUIVALENT : worse ? QS_VERDICT_REGRESSION : QS_VERDICT_IMPROVEMENT;
    ret->v.ratio = x != 0 ? y / x : y == x ? 1 : NAN;
    ret->v.p = NAN; /* nothing was drawn: there is no chance to weigh */
    ret->reason = "exact";
}

void qs_sides_exact(const struct qs_sides *s, const struct qs_sides_pair *pair, size_t metric,
                    struct qs_sides_verdict *ret)
{
    const struct qs_arm_metric *m = &s->in->runs[QS_BASE]->metrics[metric];
    if (!m->deterministic)
        return;
    ret->exact = (struct qs_sides_exact){.declared = true, .constant = {true, true}, .value = {NAN, NAN}};
    for (int k = 0; k < 2; k++) {
        const struct qs_side_series *series = pair->series[k];
        for (size_t i = 0; i < series->count; i++)
            qs_sides_look(&series->runs[i]->values[metric], &ret->exact.constant[k], &ret->exact.value[k]);
    }
    qs_sides_judge_exact(m, ret);
}
