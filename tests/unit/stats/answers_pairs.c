/* Two samples. */
#include "answers.h"

#include <math.h>
#include <stdint.h>

#include "stats/effect.h"
#include "stats/ks.h"
#include "stats/ranks.h"
#include "stats/ratio.h"
#include "stats/stepfit.h"
#include "stats/twosample.h"
#include "stats/variance.h"
#include "stats/verdict.h"

#define ASK(name) static void name(const double *x, size_t nx, const double *y, size_t ny, struct answer *a)

static void put_ttest(struct answer *a, const struct qs_ttest *t)
{
    answer_put(a, "diff", ANSWER_SPREAD, t->diff);
    answer_put_ci(a, ANSWER_SPREAD, &t->ci);
    answer_put(a, "se", ANSWER_SPREAD, t->se);
    answer_put(a, "t", ANSWER_SAME, t->t);
    answer_put(a, "df", ANSWER_SAME, t->df);
    answer_put_share(a, "p", ANSWER_SAME, t->p);
}

ASK(ask_welch)
{
    struct qs_ttest t;
    a->status = qs_welch(x, nx, y, ny, 0.95, &t);
    put_ttest(a, &t);
}

ASK(ask_pooled)
{
    struct qs_ttest t;
    double sd;
    a->status = qs_pooled(x, nx, y, ny, 0.95, &t, &sd);
    put_ttest(a, &t);
    answer_put(a, "sd", ANSWER_SPREAD, sd);
}

static void put_ratio_test(struct answer *a, const struct qs_ratio_test *t)
{
    answer_put(a, "ratio", ANSWER_FREE, t->ratio);
    answer_put_ci(a, ANSWER_FREE, &t->ci);
    answer_put_share(a, "p", ANSWER_FREE, t->log.p);
}

ASK(ask_log_welch)
{
    struct qs_ratio_test t;
    a->status = qs_log_welch(x, nx, y, ny, 0.95, &t);
    put_ratio_test(a, &t);
}

ASK(ask_blocks)
{
    struct qs_paired p;
    a->status = qs_paired_blocks(x, y, nx < ny ? nx : ny, 0.95, &p);
    put_ratio_test(a, &p.test);
    answer_put_share(a, "sign p", ANSWER_FREE, p.sign_p);
}

ASK(ask_mwu)
{
    struct qs_mwu m;
    a->status = qs_mwu(x, nx, y, ny, QS_RANKS_AUTO, &m);
    answer_put(a, "u", ANSWER_SAME, m.u);
    answer_put_share(a, "cles", ANSWER_SAME, m.cles);
    answer_put(a, "cliff", ANSWER_SAME, m.cliff);
    answer_put_share(a, "p", ANSWER_SAME, m.p);
}

ASK(ask_hl)
{
    struct qs_hl h;
    a->status = qs_hl(x, nx, y, ny, 0.95, QS_RANKS_AUTO, NULL, &h);
    answer_put(a, "shift", ANSWER_SPREAD, h.shift);
    answer_put_ci(a, ANSWER_SPREAD, &h.ci);
}

ASK(ask_hl_ratio)
{
    struct qs_hl h;
    a->status = qs_hl_ratio(x, nx, y, ny, 0.95, QS_RANKS_AUTO, NULL, &h);
    answer_put(a, "ratio", ANSWER_FREE, h.shift);
    answer_put_ci(a, ANSWER_FREE, &h.ci);
}

ASK(ask_ks)
{
    struct qs_ks2 k;
    a->status = qs_ks2(x, nx, y, ny, &k);
    answer_put_share(a, "d", ANSWER_SAME, k.d);
    answer_put_share(a, "p", ANSWER_SAME, k.p);
    answer_put_share(a, "p_asym", ANSWER_SAME, k.p_asym);
}

ASK(ask_effect)
{
    struct qs_effect e;
    a->status = qs_effect(x, nx, y, ny, &e);
    answer_put(a, "d", ANSWER_SAME, e.cohen_d);
    answer_put(a, "g", ANSWER_SAME, e.hedges_g);
    answer_put(a, "cliff", ANSWER_SAME, e.cliff);
}

ASK(ask_fieller)
{
    struct qs_fieller f;
    a->status = qs_fieller(x, nx, y, ny, 0.95, &f);
    answer_put(a, "ratio", ANSWER_FREE, f.ratio);
    answer_put_ci(a, ANSWER_FREE, &f.ci);
}

ASK(ask_point_ratios)
{
    struct qs_point_ratios r;
    a->status = qs_point_ratios(x, nx, y, ny, &r);
    answer_put(a, "minima", ANSWER_FREE, r.minima);
    answer_put(a, "medians", ANSWER_FREE, r.medians);
    answer_put(a, "means", ANSWER_FREE, r.means);
}

ASK(ask_variances)
{
    struct qs_var_test t;
    a->status = qs_var_test(x, nx, y, ny, 0.95, &t);
    answer_put_share(a, "p", ANSWER_SAME, t.p);
    answer_put_wide(a, "f", ANSWER_SAME, t.f);
    answer_put_wide(a, "lo", ANSWER_SAME, t.ci.lo);
    answer_put_wide(a, "hi", ANSWER_SAME, t.ci.hi);
}

ASK(ask_cohen_step)
{
    const struct qs_stepfit_opts opts = {.kind = QS_STEP_COHEN, .sd_min = 1e-300, .interesting = 1};
    struct qs_stepfit s;
    a->status = qs_stepfit_halves(x, nx, y, ny, &opts, &s);
    answer_put(a, "step", ANSWER_SAME, s.step);
    answer_put(a, "regression", ANSWER_SAME, s.regression);
}

ASK(ask_verdict)
{
    const struct qs_verdict_opts opts = qs_verdict_opts_default();
    const struct qs_side_runs base = {.v = x, .n = nx}, cand = {.v = y, .n = ny};
    struct qs_verdict v;
    a->status = qs_verdict_runs(&base, &cand, &opts, &v);
    answer_put(a, "kind", ANSWER_FREE, a->status == QS_OK ? (double)v.kind : NAN);
    answer_put(a, "ratio", ANSWER_FREE, v.ratio);
    answer_put_ci(a, ANSWER_FREE, &v.l95);
    answer_put(a, "ratio", ANSWER_FREE, v.ratio);
    answer_put_ci(a, ANSWER_FREE, &v.l90);
    answer_put_share(a, "p", ANSWER_FREE, v.p);
}

const struct method answers_pairs[] = {
    {"Welch", METHOD_TWO, 2, ask_welch},
    {"Student", METHOD_TWO, 2, ask_pooled},
    {"Welch on logs", METHOD_TWO | METHOD_POSITIVE, 2, ask_log_welch},
    {"paired blocks", METHOD_TWO | METHOD_POSITIVE | METHOD_PAIRED, 2, ask_blocks},
    {"Mann-Whitney", METHOD_TWO, 0, ask_mwu},
    {"Hodges-Lehmann", METHOD_TWO, 4, ask_hl},
    {"Hodges-Lehmann of ratios", METHOD_TWO | METHOD_POSITIVE, 4, ask_hl_ratio},
    {"Kolmogorov-Smirnov", METHOD_TWO, 0, ask_ks},
    {"effect sizes", METHOD_TWO, 2, ask_effect},
    {"Fieller", METHOD_TWO, 2, ask_fieller},
    {"ratios of statistics", METHOD_TWO, 0, ask_point_ratios},
    {"variances", METHOD_TWO, 2, ask_variances},
    {"Cohen's step", METHOD_TWO, 2, ask_cohen_step},
    {"verdict", METHOD_TWO | METHOD_POSITIVE, 0, ask_verdict},
    {NULL, 0, 0, NULL}};
