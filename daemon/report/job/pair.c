/* Every arm against the baseline: paired blocks, the verdict, and whether both lost the same share of their
 * windows. */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "report/job/impl.h"
#include "stats/proportion.h"

void qs_report_judge(const struct qs_report_group *g, size_t base, size_t cand, struct qs_verdict *ret,
                     struct qs_mixed *ret_mixed)
{
    const struct qs_job_spec *spec = g->in->spec;
    size_t arms = spec->arm_count, n = 0;
    double *x = qs_calloc(g->block_count, sizeof *x), *y = qs_calloc(g->block_count, sizeof *y);
    bool *disturbed = qs_calloc(g->block_count, sizeof *disturbed);
    for (size_t b = 0; b < g->block_count; b++) {
        if (!g->block_complete[b])
            continue;
        disturbed[n] = g->block_soft[b];
        x[n] = g->block_medians_ns[b * arms + base];
        y[n++] = g->block_medians_ns[b * arms + cand];
    }
    struct qs_verdict_opts opts = qs_verdict_opts_default();
    opts.margin = spec->benchmarks[spec->points[g->point].benchmark].margin_ratio;
    opts.alpha = spec->alpha;
    opts.call_alpha = QS_REPORT_CALL_SHARE * spec->alpha;
    (void)qs_verdict_mixed_blocks(x, y, disturbed, n, g->block_count - n, &opts, ret, ret_mixed);
    free(x);
    free(y);
    free(disturbed);
}

/* architecture-notes E, "selective taint hides regressions": a side that lost more of its runs cannot be
 * called equal or better. */
static void compare_taints(struct qs_report_group *g, struct qs_report_pair *pair)
{
    const struct qs_report_arm *base = &g->arms[g->in->spec->baseline], *cand = &g->arms[pair->cand];
    pair->taint_p = qs_fisher_exact(base->runs_tainted + base->runs_failed, base->runs_seen,
                                    cand->runs_tainted + cand->runs_failed, cand->runs_seen);
    pair->taint_differs = pair->taint_p < g->in->spec->alpha;
    if (pair->taint_differs && qs_verdict_is_good(pair->verdict.kind)) {
        pair->verdict.kind = QS_VERDICT_INCONCLUSIVE;
        pair->forbidden = true;
    }
}

void qs_report_fill_pairs(struct qs_report_group *g)
{
    const struct qs_job_spec *spec = g->in->spec;
    g->pairs = qs_calloc(spec->arm_count, sizeof *g->pairs);
    for (size_t a = 0; a < spec->arm_count; a++) {
        if (a == spec->baseline)
            continue;
        if (!qs_report_goes_on(g, g->block_count))
            return;
        struct qs_report_pair *pair = &g->pairs[g->pair_count++];
        pair->cand = a;
        qs_report_judge(g, spec->baseline, a, &pair->verdict, &pair->mixed);
        compare_taints(g, pair);
    }
}
