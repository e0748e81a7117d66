/* All comparisons of a job are one family: of a hundred at 5 % five would differ by chance alone. */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "report/report_impl.h"
#include "stats/multi.h"

/* Comparisons that have a p, in the order of the document. */
static size_t gather(const struct qs_report_group *groups, size_t count, double *p)
{
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < groups[i].pair_count; k++) {
            double one = groups[i].pairs[k].verdict.p;
            if (isnan(one))
                continue;
            if (p)
                p[n] = one;
            n++;
        }
    }
    return n;
}

void qs_report_adjust(struct qs_report_group *groups, size_t count, struct qs_report_family *ret)
{
    size_t n = gather(groups, count, NULL), at = 0;
    double *p = qs_calloc(n + 1, sizeof *p), q = count > 0 ? groups[0].in->spec->alpha : NAN;
    (void)gather(groups, count, p);
    (void)qs_adjust(p, n, QS_MULTI_BH, p);
    *ret = (struct qs_report_family){.comparisons = n, .q = q};
    for (size_t i = 0; i < count; i++) {
        groups[i].family = n;
        for (size_t k = 0; k < groups[i].pair_count; k++) {
            struct qs_report_pair *pair = &groups[i].pairs[k];
            pair->p_bh = isnan(pair->verdict.p) ? NAN : p[at++];
            ret->selected += pair->p_bh <= q;
        }
    }
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
