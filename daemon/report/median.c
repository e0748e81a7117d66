#include "report/median.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "report/job/impl.h"
#include "stats/describe.h"

double qs_median_ns(const double *v, size_t n)
{
    double median;
    return n > 0 && qs_median(v, n, &median) == QS_OK ? median : NAN;
}

void qs_report_median(const struct qs_report_group *g, size_t arm, const double *of,
                      struct qs_mixed_median *ret)
{
    QS_FREED double *v = qs_malloc((g->run_count + 1) * sizeof *v);
    QS_FREED bool *disturbed = qs_malloc((g->run_count + 1) * sizeof *disturbed);
    size_t n = 0;
    for (size_t i = 0; i < g->run_count; i++) {
        const struct qs_report_run *run = &g->runs[i];
        double median = of ? of[i] : run->median_ns;
        if (run->arm != arm || !g->block_complete[run->block] || isnan(median))
            continue;
        disturbed[n] = run->soft;
        v[n++] = median;
    }
    (void)qs_mixed_median(v, disturbed, n, 1 - g->in->spec->alpha, ret);
}

static void put_number(struct qs_json *j, const char *key, const char *unit, double v)
{
    QS_FREED char *name = qs_asprintf("%s%s", key, unit);
    qs_json_kdouble(j, name, v);
}

static void put_kind(struct qs_json *j, const char *key, const struct qs_median_kind *kind, const char *unit)
{
    qs_json_key(j, key);
    qs_json_object(j);
    qs_json_kint(j, "runs", (int64_t)kind->n);
    put_number(j, "median", unit, kind->median);
    put_number(j, "lo", unit, kind->ci.lo);
    put_number(j, "hi", unit, kind->ci.hi);
    qs_json_object_end(j);
}

void qs_put_median(struct qs_json *j, const struct qs_mixed_median *m, const char *unit)
{
    static const char *const keys[QS_KINDS] = {"clean", "disturbed"};
    size_t off = m->alone[QS_DISTURBED].n;
    put_number(j, "median", unit, m->median);
    put_number(j, "median_lo", unit, m->ci.lo);
    put_number(j, "median_hi", unit, m->ci.hi);
    qs_json_kdouble(j, "median_confidence", isfinite(m->ci.lo) ? m->ci.level : NAN);
    qs_json_kint(j, "median_runs", (int64_t)(m->alone[QS_CLEAN].n + (m->worth <= 0 ? 0 : off)));
    for (int k = 0; k < QS_KINDS; k++) {
        if (!isnan(m->worth)) {
            put_kind(j, keys[k], &m->alone[k], unit);
        } else {
            qs_json_key(j, keys[k]);
            qs_json_null(j);
        }
    }
    qs_json_kdouble(j, "disturbed_worth", m->worth);
}
