/* All comparisons of a job are one family: of a hundred at 5 % five would differ by chance alone. */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "report/job/metrics.h"
#include "stats/multi.h"

/* Calls visit for every comparison that has a p, in the order of the document. */
typedef void visit_fn(double p, double *p_bh, double **at);

static size_t each(struct qs_report_group *groups, size_t count, visit_fn *visit, double *at)
{
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        struct qs_report_group *g = &groups[i];
        for (size_t m = 0; m <= g->metric_count; m++) {
            for (size_t k = 0; k < g->pair_count; k++) {
                struct qs_sides_verdict *other = m > 0 ? &g->metrics[m - 1].pairs[k] : NULL;
                double p = other ? other->v.p : g->pairs[k].verdict.p;
                double *p_bh = other ? &other->p_bh : &g->pairs[k].p_bh;
                *p_bh = isnan(p) ? NAN : *p_bh;
                if (isnan(p))
                    continue;
                n++;
                if (visit)
                    visit(p, p_bh, &at);
            }
        }
    }
    return n;
}

static void take(double p, double *p_bh, double **at)
{
    (void)p_bh;
    *(*at)++ = p;
}

static void give(double p, double *p_bh, double **at)
{
    (void)p;
    *p_bh = *(*at)++;
}

void qs_report_adjust(struct qs_report_group *groups, size_t count, struct qs_report_family *ret)
{
    size_t n = each(groups, count, NULL, NULL);
    double *p = qs_calloc(n, sizeof *p), q = count > 0 ? groups[0].in->spec->alpha : NAN;
    (void)each(groups, count, take, p);
    (void)qs_adjust(p, n, QS_MULTI_BH, p);
    (void)each(groups, count, give, p);
    *ret = (struct qs_report_family){.comparisons = n, .q = q};
    for (size_t i = 0; i < n; i++)
        ret->selected += p[i] <= q;
    for (size_t i = 0; i < count; i++)
        groups[i].family = n;
    ret->fcr_level = qs_fcr_level(ret->selected, n, q);
    free(p);
}

bool qs_report_pair_is_doubtful(const struct qs_report_group *g, const struct qs_report_pair *pair)
{
    bool called = false;
    switch (pair->verdict.kind) {
    case QS_VERDICT_REGRESSION:
    case QS_VERDICT_IMPROVEMENT:
    case QS_VERDICT_PROBABLE_REGRESSION:
    case QS_VERDICT_PROBABLE_IMPROVEMENT:
        called = true;
        break;
    case QS_VERDICT_NEGLIGIBLE:
    case QS_VERDICT_EQUIVALENT:
    case QS_VERDICT_INCONCLUSIVE:
        break;
    }
    return called && pair->p_bh > g->in->spec->alpha;
}

bool qs_report_pair_is_regression(const struct qs_report_group *g, const struct qs_report_pair *pair)
{
    return pair->verdict.kind == QS_VERDICT_REGRESSION && !qs_report_pair_is_doubtful(g, pair);
}
