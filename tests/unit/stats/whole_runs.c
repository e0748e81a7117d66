/* Values in runs of five, and these in sessions of three; what is planned from them. */
#include "whole.h"

#include <math.h>
#include <stdint.h>

#include "stats/hier.h"
#include "stats/impact.h"
#include "stats/opinion.h"
#include "stats/design.h"
#include "stats/power.h"
#include "stats/variance.h"
#include "stats/tree.h"

enum { RUN = 5, SESSION = 3 };

struct runs {
    size_t off[WHOLE_MOST + 1], sessions[WHOLE_MOST + 1];
    struct qs_nested nested;
    struct qs_tree tree;
};

/* The last run has what is left as well, unless they shall be alike; so has the last session. */
static void cut(struct runs *r, const double *v, size_t n, bool alike)
{
    size_t k = n < RUN ? 1 : n / RUN, most = k < SESSION ? 1 : k / SESSION;
    for (size_t i = 0; i < k; i++)
        r->off[i] = i * RUN;
    r->off[k] = alike && n >= RUN ? k * RUN : n;
    for (size_t i = 0; i < most; i++)
        r->sessions[i] = i * SESSION;
    r->sessions[most] = k;
    r->nested = (struct qs_nested){.v = v, .off = r->off, .k = k};
    r->tree = (struct qs_tree){.v = v, .depth = 2, .off = {r->off, r->sessions}, .count = {k, most}};
}

static void put_components(FILE *out, const struct whole_sample *s)
{
    struct runs r;
    struct qs_components c;
    struct qs_ci ci;
    cut(&r, s->x, s->nx, false);
    for (size_t depth = 1; depth <= 2; depth++) {
        r.tree.depth = depth;
        whole_status(out, qs_tree_components(&r.tree, &c));
        for (size_t i = 0; i <= depth; i++) {
            PUT(c.level[i].units);
            PUT(c.level[i].df);
            PUT(c.level[i].ms);
            PUT(c.level[i].size);
            PUT(c.level[i].var_raw);
            PUT(c.level[i].var);
            PUT(c.level[i].share);
            PUT(c.level[i].f);
            PUT(c.level[i].flags);
        }
        PUT(c.grand_mean);
        PUT(c.mean);
        PUT(c.s2_top);
        PUT(c.balanced);
        PUT(qs_tree_mean(&r.tree));
        whole_status(out, qs_tree_ci(&r.tree, 0.9, &ci));
        PUT_CI(ci);
    }
}

static void put_runs(FILE *out, const struct whole_sample *s)
{
    struct runs r;
    struct qs_varcomp c;
    struct qs_kalibera2005 k;
    struct qs_reml reml;
    struct qs_ci ci;
    for (int alike = 0; alike < 2; alike++) {
        cut(&r, s->x, s->nx, alike);
        whole_status(out, qs_varcomp(&r.nested, &c));
        PUT(c.n0);
        PUT(c.ms_between);
        PUT(c.ms_within);
        PUT(c.f);
        PUT(c.t1);
        PUT(c.t2);
        PUT(c.icc);
        PUT(c.grand_mean);
        PUT(c.mean_of_means);
        PUT(c.s2_means);
        PUT(c.flags);
        whole_status(out, qs_hier_ci(&r.nested, 0.8, &ci));
        PUT_CI(ci);
        whole_status(out, qs_hier_kalibera2005(&r.nested, 0.8, &k));
        PUT(k.mean);
        PUT(k.s2_x);
        PUT(k.s2_a);
        PUT(k.se);
        PUT(k.df);
        PUT_CI(k.ci);
        PUT_CI(k.ci_t);
        PUT(qs_kalibera2005_samples(k.s2_x, k.s2_a, 7));
        whole_status(out, qs_reml(&r.nested, &reml));
        PUT(reml.between);
        PUT(reml.within);
        PUT(reml.mean);
        PUT(reml.se);
    }
}

static void put_resampled(FILE *out, const struct whole_sample *s)
{
    const struct qs_impact_opts impact_opts = {.seed = 5, .rounds = 60};
    const struct qs_hier_boot_opts opts = {.seed = 6, .resamples = 150, .level = 0.8};
    struct runs x, y;
    struct qs_impact i;
    struct qs_hier_boot b;
    cut(&x, s->x, s->nx, false);
    cut(&y, s->y, s->ny, false);
    whole_status(out, qs_impact_factor(&x.nested, &impact_opts, &i));
    PUT(i.raw);
    PUT(i.transformed);
    PUT(i.analytic);
    PUT(i.c);
    fprintf(out, " %s", qs_additive_names[i.additive]);
    for (size_t depth = 1; depth <= 2; depth++) {
        y.tree.depth = depth;
        whole_status(out, qs_hier_boot_ratio(&x.tree, &y.tree, &opts, &b));
        PUT(b.ratio);
        PUT_CI(b.ci);
        PUT(b.n_infinite);
    }
}

static void put_plans(FILE *out, const struct whole_sample *s)
{
    struct runs r;
    struct qs_components c;
    cut(&r, s->x, s->nx, false);
    for (size_t k = 0; k < 4; k++) {
        struct qs_design_opts opts = qs_design_opts_default();
        struct qs_design d;
        r.tree.depth = 1 + k % 2;
        opts.arms = k < 2 ? 1 : 2;
        opts.half_width_ratio = k < 2 ? 0.1 : 0.02;
        opts.cost_ns[0] = 2;
        opts.cost_ns[1] = 300;
        opts.cost_ns[2] = 5000;
        opts.most[r.tree.depth] = k == 3 ? 20 : 2000;
        qs_tree_components(&r.tree, &c);
        whole_status(out, qs_design_from_pilot(&c, &opts, &d));
        for (size_t i = 0; i < d.levels; i++)
            PUT(d.count[i]);
        PUT(d.half_width_ratio);
        PUT(d.cost_ns);
        PUT(d.attainable);
        PUT(d.flags);
    }
    const struct qs_power_opts power = {.alpha = 0.1, .power = 0.7, .resolution_ratio = 0.001};
    double sd = 0.01 * s->x[0] / 100;
    PUT(qs_mde_welch(sd, s->nx, 2 * sd, s->ny, &power));
    PUT(qs_mde_paired(sd, s->nx, &power));
    PUT(qs_runs_needed_welch(sd, 3 * sd, 0.02, &power));
    PUT(qs_blocks_needed(sd, 0.005, &power));
}

static void put_opinion(FILE *out, const struct qs_opinion *o)
{
    fprintf(out, " %s %s", qs_opinion_answer_names[o->answer], o->reason);
    for (size_t i = 0; i < o->number_count; i++)
        whole_number(out, o->numbers[i].name, o->numbers[i].value);
    for (size_t i = 0; i < o->threshold_count; i++)
        whole_number(out, o->thresholds[i].name, o->thresholds[i].value);
    for (size_t i = 0; i < o->check_count; i++) {
        whole_number(out, o->checks[i].name, o->checks[i].value);
        whole_number(out, o->checks[i].at_least ? "least" : "most", o->checks[i].bound);
        PUT(o->checks[i].holds);
    }
    PUT(o->runs[0] + 1000 * o->runs[1]);
    PUT(o->iterations[0] + 1000 * o->iterations[1]);
}

static void put_opinions(FILE *out, const struct whole_sample *s)
{
    struct runs x, y;
    for (int k = 0; k < 2; k++) {
        const struct qs_opinion_opts opts = {
            .lower_is_better = k == 0, .level = k == 0 ? 0.95 : 0.7, .one_ms = k == 0 ? 1 : NAN, .seed = 3};
        cut(&x, s->x, s->nx, k == 1);
        cut(&y, s->y, s->ny, k == 1);
        for (enum qs_opinion_rule rule = 0; rule < QS_OPINION_RULES; rule++) {
            struct qs_opinion o;
            if (rule == QS_OPINION_RANCID && k == 1)
                continue; /* its interval costs much */
            fprintf(out, " %s", qs_opinion_rule_names[rule]);
            whole_status(out, qs_opinion(rule, &x.nested, &y.nested, &opts, &o));
            put_opinion(out, &o);
        }
    }
}

const struct whole_page whole_runs[] = {{"components", put_components}, {"runs", put_runs},
                                        {"resampled", put_resampled},   {"plans", put_plans},
                                        {"opinions", put_opinions},     {NULL, NULL}};
