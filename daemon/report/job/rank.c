/* Which arm is the fastest, and how far behind the others are. The order is that of the paired ratios to the
 * baseline, so that no block of one arm stands against a block of another. */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "report/job/metrics.h"

struct ranked {
    size_t arm;
    double ratio; /* to the baseline; NaN unknown */
};

static int by_ratio(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (isnan(x->ratio) != isnan(y->ratio))
        return isnan(x->ratio) ? 1 : -1;
    if (x->ratio < y->ratio || x->ratio > y->ratio)
        return x->ratio < y->ratio ? -1 : 1;
    return (int)x->arm - (int)y->arm;
}

static void put_place(struct qs_json *j, const struct qs_report_group *g, size_t fastest, size_t arm)
{
    struct qs_comparison c = {.v = {.ratio = 1, .l95 = qs_ci_none(1 - g->in->spec->alpha)}};
    QS_BUF(sentence);
    if (arm != fastest) {
        c = qs_report_judge(g, &g->metrics[0], fastest, arm);
        qs_report_sentence(&sentence, c.names[QS_BASE], c.names[QS_CAND], c.v.l95.lo, c.v.l95.hi);
    }
    qs_json_object(j);
    qs_json_kstring(j, "arm", g->in->spec->arms[arm].name);
    qs_json_kdouble(j, "ratio", c.v.ratio);
    qs_json_kdouble(j, "lo", c.v.l95.lo);
    qs_json_kdouble(j, "hi", c.v.l95.hi);
    qs_json_kstring(j, "sentence", sentence.data);
    qs_json_object_end(j);
    qs_comparison_done(&c);
}

void qs_report_put_ranking(struct qs_json *j, const struct qs_report_group *g)
{
    const struct qs_job_spec *spec = g->in->spec;
    struct ranked *order = qs_calloc(spec->arm_count, sizeof *order);
    size_t n = 0;
    bool known = false;
    order[n++] = (struct ranked){.arm = spec->baseline, .ratio = 1};
    for (size_t i = 0; i < g->pair_count; i++) {
        order[n++] = (struct ranked){.arm = g->pairs[i].cand, .ratio = g->metrics[0].pairs[i].v.ratio};
        known = known || isfinite(g->metrics[0].pairs[i].v.ratio);
    }
    qsort(order, n, sizeof *order, by_ratio);
    qs_json_karray(j, "ranking");
    for (size_t i = 0; known && i < n && qs_report_goes_on(g, g->block_count); i++)
        put_place(j, g, order[0].arm, order[i].arm);
    qs_json_array_end(j);
    free(order);
}
