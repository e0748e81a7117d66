/* From a session's runs to its value. */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "report/history/history.h"
#include "stats/describe.h"
#include "stats/interval.h"

enum { CLEAN_LEAST = 3, ORDER_LEAST = 6 };

/* The interval of the run medians: order statistics, or for few runs Student's t on their logarithms. */
static void add_interval(struct qs_history_value *v, double *medians, size_t n, double level)
{
    struct qs_median_ci order;
    struct qs_ci ci = qs_ci_none(level);
    v->by_order = n >= ORDER_LEAST && qs_median_ci(medians, n, level, &order) == QS_OK;
    if (v->by_order) {
        ci = order.ci;
    } else if (n >= 2) {
        bool positive = true;
        for (size_t i = 0; i < n; i++) {
            positive = positive && medians[i] > 0;
            medians[i] = positive ? log(medians[i]) : 0;
        }
        if (positive && qs_mean_ci(medians, n, NAN, level, &ci) == QS_OK) {
            ci.lo = exp(ci.lo);
            ci.hi = exp(ci.hi);
        }
    }
    v->lo = ci.lo;
    v->hi = ci.hi;
    v->level = ci.level;
}

struct qs_history_value qs_history_value_of(const struct qs_history_session *session, double level)
{
    struct qs_history_value v = {.value = NAN, .lo = NAN, .hi = NAN, .level = NAN};
    QS_FREED double *medians = qs_calloc(session->run_count, sizeof *medians);
    size_t clean = 0, n = 0;
    for (size_t i = 0; i < session->run_count; i++)
        clean += session->runs[i].n > 0 && !session->runs[i].disturbed;
    for (size_t i = 0; i < session->run_count; i++) {
        const struct qs_history_run *run = &session->runs[i];
        v.tainted_runs += run->disturbed;
        if (run->n == 0 || isnan(run->median) || (run->disturbed && clean >= CLEAN_LEAST))
            continue;
        medians[n++] = run->median;
        v.iterations += run->n;
        v.uses_tainted = v.uses_tainted || run->disturbed;
    }
    v.runs = n;
    if (qs_median(medians, n, &v.value) != QS_OK)
        v.value = NAN;
    add_interval(&v, medians, n, level);
    return v;
}
