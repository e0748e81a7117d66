#include "report/median.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "report/job/metrics.h"
#include "stats/describe.h"

double qs_median_ns(const double *v, size_t n)
{
    double median;
    return n > 0 && qs_median(v, n, &median) == QS_OK ? median : NAN;
}

void qs_report_median(const struct qs_report_group *g, size_t arm, const struct qs_metric_run *runs,
                      struct qs_mixed_median *ret)
{
    QS_FREED double *v = qs_malloc((g->run_count + 1) * sizeof *v);
    QS_FREED bool *disturbed = qs_malloc((g->run_count + 1) * sizeof *disturbed);
    size_t n = 0;
    for (size_t i = 0; i < g->run_count; i++) {
        const struct qs_report_run *run = &g->runs[i];
        double median = runs[i].median;
        if (run->arm != arm || !g->block_complete[run->block] || isnan(median))
            continue;
        disturbed[n] = run->disturbed;
        v[n++] = median;
    }
    (void)qs_mixed_median(v, disturbed, n, 1 - g->in->spec->alpha, ret);
}

static void put_kind(struct qs_json *j, const char *key, const struct qs_median_kind *kind)
{
    qs_json_kobject(j, key);
    qs_json_kint(j, "runs", (int64_t)kind->n);
    qs_json_kdouble(j, "median", kind->median);
    qs_json_kdouble(j, "lo", kind->ci.lo);
    qs_json_kdouble(j, "hi", kind->ci.hi);
    qs_json_object_end(j);
}

void qs_put_median(struct qs_json *j, const struct qs_mixed_median *m)
{
    static const char *const keys[QS_KINDS] = {"clean", "disturbed"};
    size_t off = m->alone[QS_DISTURBED].n;
    qs_json_kdouble(j, "median", m->median);
    qs_json_kdouble(j, "median_lo", m->ci.lo);
    qs_json_kdouble(j, "median_hi", m->ci.hi);
    qs_json_kdouble(j, "median_level", isfinite(m->ci.lo) ? m->ci.level : NAN);
    qs_json_kint(j, "median_runs", (int64_t)(m->alone[QS_CLEAN].n + (m->worth <= 0 ? 0 : off)));
    for (int k = 0; k < QS_KINDS; k++) {
        if (!isnan(m->worth)) {
            put_kind(j, keys[k], &m->alone[k]);
        } else {
            qs_json_key(j, keys[k]);
            qs_json_null(j);
        }
    }
    qs_json_kdouble(j, "disturbed_worth", m->worth);
}
