/* Two samples: x is the baseline, y the candidate. */
#include "whole.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "stats/effect.h"
#include "stats/android.h"
#include "stats/edivisive.h"
#include "stats/ks.h"
#include "stats/mixed.h"
#include "stats/rancid.h"
#include "stats/ranks.h"
#include "stats/ratio.h"
#include "stats/dependence.h"
#include "stats/twosample.h"
#include "stats/variance.h"
#include "stats/verdict.h"

static size_t shorter(const struct whole_sample *s)
{
    return s->nx < s->ny ? s->nx : s->ny;
}

static void put_means(FILE *out, const struct whole_sample *s)
{
    struct qs_ttest t;
    double sd;
    whole_status(out, qs_welch(s->x, s->nx, s->y, s->ny, 0.9, &t));
    whole_ttest(out, &t, 2);
    struct qs_ci other = qs_ttest_ci(&t, 0.99);
    PUT_CI(other);
    whole_status(out, qs_pooled(s->x, s->nx, s->y, s->ny, 0.8, &t, &sd));
    whole_ttest(out, &t, 2);
    PUT(sd);
    struct qs_fieller f;
    whole_status(out, qs_fieller(s->x, s->nx, s->y, s->ny, 0.8, &f));
    PUT(f.ratio);
    PUT_CI(f.ci);
    struct qs_var_test v;
    whole_status(out, qs_var_test(s->x, s->nx, s->y, s->ny, 0.8, &v));
    PUT(v.f);
    PUT(v.p);
    PUT_CI(v.ci);
    PUT(v.larger_over_less);
    struct qs_effect e;
    whole_status(out, qs_effect(s->x, s->nx, s->y, s->ny, &e));
    PUT(e.cohen_d);
    PUT(e.hedges_g);
    PUT(e.cles);
    fprintf(out, " %s", qs_cliff_band(e.cliff));
}

static void put_android(FILE *out, const struct whole_sample *s)
{
    struct qs_android a;
    whole_status(out, qs_android(s->x, s->nx, s->y, s->ny, 0.9, &a));
    for (size_t k = 0; k < 2; k++) {
        PUT(a.w[k]);
        PUT(a.normal_p[k]);
        PUT(a.cov[k]);
    }
    PUT(a.var_ratio);
    PUT(a.enough + 2 * a.normal + 4 * a.alike + 8 * a.steady + 16 * a.holds);
    whole_ttest(out, &a.t, 2);
    PUT_CI(a.ci_z);
    PUT(a.sp);
}

static void put_ranks(FILE *out, const struct whole_sample *s)
{
    static const enum qs_ranks_method methods[] = {QS_RANKS_AUTO, QS_RANKS_EXACT, QS_RANKS_NORMAL,
                                                   QS_RANKS_NORMAL_UNCORRECTED};
    for (size_t k = 0; k < 4; k++) {
        struct qs_mwu m;
        struct qs_hl h;
        whole_status(out, qs_mwu(s->x, s->nx, s->y, s->ny, methods[k], &m));
        PUT(m.u);
        PUT(m.p);
        PUT(m.p_min);
        PUT(m.exact);
        PUT(m.flags);
        for (size_t ratio = 0; ratio < 2; ratio++) {
            whole_status(out, (ratio ? qs_hl_ratio : qs_hl)(s->x, s->nx, s->y, s->ny, k == 0 ? 0.95 : 0.7,
                                                            methods[k], NULL, &h));
            PUT(h.shift);
            PUT_CI(h.ci);
            PUT(h.lo_rank);
            PUT(h.hi_rank);
            PUT(h.n_needed);
            PUT(h.exact);
            PUT(h.flags);
        }
    }
    struct qs_ks2 d;
    whole_status(out, qs_ks2(s->x, s->nx, s->y, s->ny, &d));
    PUT(d.d);
    PUT(d.p);
    PUT(d.p_asym);
    PUT(d.exact);
    PUT(d.flags);
    struct qs_spearman r;
    whole_status(out, qs_spearman(s->x, s->y, shorter(s), &r));
    PUT(r.rho);
    PUT(r.p);
    PUT(r.flags);
}

static void put_paired(FILE *out, const struct qs_paired *p)
{
    PUT(p->test.ratio);
    PUT_CI(p->test.ci);
    whole_ttest(out, &p->test.log, 2);
    PUT(p->n_up);
    PUT(p->n_down);
    PUT(p->sign_p);
    PUT(p->drift);
    PUT(p->flags);
}

static void put_mixed(FILE *out, const struct qs_mixed *m)
{
    whole_ttest(out, &m->test, 2);
    whole_ttest(out, &m->alone[QS_CLEAN], 2);
    whole_ttest(out, &m->alone[QS_DISTURBED], 2);
    PUT(m->worth);
    PUT(m->agree_p);
    PUT(m->contradict);
}

static void put_two_kinds(FILE *out, const struct whole_sample *s)
{
    struct qs_mixed m;
    const struct qs_mixed_side x = {s->x, s->dx, s->nx}, y = {s->y, s->dy, s->ny},
                               plain = {s->y, NULL, s->ny};
    whole_status(out, qs_mixed_two(&x, &y, 0.9, &m));
    put_mixed(out, &m);
    whole_status(out, qs_mixed_two(&x, &plain, 0.9, &m));
    put_mixed(out, &m);
}

static void put_blocks(FILE *out, const struct whole_sample *s)
{
    struct qs_paired p;
    struct qs_mixed m;
    whole_status(out, qs_paired_blocks(s->x, s->y, shorter(s), 0.9, &p));
    put_paired(out, &p);
    whole_status(out, qs_mixed_blocks(s->x, s->y, s->dx, shorter(s), 0.9, &p, &m));
    put_paired(out, &p);
    put_mixed(out, &m);
}

/* Sessions of four values, two of which are a group. */
static void put_fold(FILE *out, const struct whole_sample *s)
{
    struct qs_fold_value v[2 * WHOLE_MOST];
    struct qs_mixed_fold f;
    size_t n = 0;
    for (size_t i = 0; i < s->nx; i++)
        v[n++] = (struct qs_fold_value){s->x[i], s->dx[i], i / 4, i / 8, 0};
    size_t cells = s->nx / 4 + 1, groups = s->nx / 8 + 1;
    for (size_t i = 0; i < s->ny; i++)
        v[n++] = (struct qs_fold_value){s->y[i], s->dy[i], cells + i / 4, groups + i / 8, 1};
    whole_status(out, qs_mixed_fold(v, n, 0.9, &f));
    PUT(f.cells);
    PUT(f.shift);
    PUT(f.shift_se);
    PUT(f.df);
    PUT(f.worth);
    PUT(f.share[0]);
    PUT(f.share[1]);
    PUT(f.extra_se);
    PUT_CI(f.ci);
}

static void put_verdict(FILE *out, enum qs_status status, const struct qs_verdict *v)
{
    whole_status(out, status);
    fprintf(out, " %s %s %s", qs_verdict_name(v->kind), qs_verdict_reason_name(v->reason), v->method);
    PUT(v->direction);
    PUT(v->ratio);
    PUT_CI(v->l95);
    PUT_CI(v->l90);
    PUT(v->p);
    PUT(v->df);
    PUT(v->mde_ratio);
    PUT(v->needed);
    PUT(v->sd_log);
    PUT(v->n_used[0]);
    PUT(v->n_used[1]);
    PUT(v->n_dropped[0]);
    PUT(v->n_dropped[1]);
    PUT(v->sign_p);
    PUT(v->drift);
    PUT(v->flags);
    PUT_CI(*qs_verdict_interval(v));
}

static void put_verdicts(FILE *out, const struct whole_sample *s)
{
    for (size_t k = 0; k < 4; k++) {
        struct qs_verdict_opts opts = qs_verdict_opts_default();
        struct qs_side_runs base = {s->x, s->nx, 2, NULL}, cand = {s->y, s->ny, 3, NULL};
        struct qs_verdict v;
        struct qs_mixed m;
        opts.margin = k == 0 ? 0.02 : k == 1 ? 0.3 : 0;
        opts.alpha = k == 3 ? 0.2 : 0.05;
        opts.call_alpha = k == 2 ? 1e-4 : opts.alpha;
        opts.lower_is_better = k % 2 == 0;
        opts.extra_se = k > 1 ? 0.01 * (double)k : 0;
        opts.extra_df = k > 1 ? 3 : 0;
        opts.resolution_ratio = k == 2 ? 0.001 : 0;
        put_verdict(out, qs_verdict_runs(&base, &cand, &opts, &v), &v);
        base.disturbed = s->dx;
        cand.disturbed = s->dy;
        put_verdict(out, qs_verdict_mixed_runs(&base, &cand, &opts, &v, &m), &v);
        opts.extra_se = opts.extra_df = 0;
        put_verdict(out, qs_verdict_mixed_blocks(s->x, s->y, NULL, shorter(s), 1, &opts, &v, &m), &v);
        put_verdict(out, qs_verdict_mixed_blocks(s->x, s->y, s->dx, shorter(s), 1, &opts, &v, &m), &v);
    }
}

/* Its interval costs much. */
static void put_rancid(FILE *out, const struct whole_sample *s)
{
    struct qs_rancid r;
    size_t nx = s->nx < 9 ? s->nx : 9, ny = s->ny < 8 ? s->ny : 8;
    whole_status(out, qs_rancid(s->x, nx, s->y, ny, 0.9, 3, NULL, &r));
    PUT(r.median[0]);
    PUT(r.median[1]);
    PUT(r.sd[0]);
    PUT(r.performance);
    PUT(r.performance_ratio);
    PUT(r.precision);
    PUT(r.precision_ratio);
    PUT(r.sd_ratio);
    PUT_CI(r.sd_ratio_ci);
}

const struct whole_page whole_two[] = {
    {"means", put_means},         {"android", put_android}, {"ranks", put_ranks},
    {"two-kinds", put_two_kinds}, {"blocks", put_blocks},   {"fold", put_fold},
    {"verdicts", put_verdicts},   {"rancid", put_rancid},   {NULL, NULL}};
