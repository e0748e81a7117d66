#include "device/job/planner.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "stats/design.h"
#include "stats/special.h"

enum { FEWEST_RUNS = 3, FEWEST_ITERATIONS = 2 };

struct arm {
    double *v; /* owned: accepted durations, run after run */
    size_t *off;
    size_t n, runs;
};

struct qs_planner {
    struct arm *arms; /* owned */
    size_t count;
    double windows_ns, windows_n, around_ns, runs; /* what iterations and runs cost */
};

struct qs_planner *qs_planner_new(size_t arms)
{
    struct qs_planner *p = qs_calloc(1, sizeof *p);
    p->arms = qs_calloc(arms, sizeof *p->arms);
    p->count = arms;
    return p;
}

void qs_planner_free(struct qs_planner *p)
{
    if (!p)
        return;
    for (size_t a = 0; a < p->count; a++) {
        free(p->arms[a].v);
        free(p->arms[a].off);
    }
    free(p->arms);
    free(p);
}

void qs_planner_add(struct qs_planner *p, size_t arm, const double *durations_ns, size_t n,
                    int64_t windows_ns, size_t windows_n, int64_t run_ns)
{
    struct arm *a = &p->arms[arm];
    if (n < FEWEST_ITERATIONS || windows_n == 0)
        return;
    a->v = qs_realloc(a->v, (a->n + n) * sizeof *a->v);
    a->off = qs_realloc(a->off, (a->runs + 2) * sizeof *a->off);
    for (size_t i = 0; i < n; i++)
        a->v[a->n + i] = durations_ns[i];
    a->off[a->runs++] = a->n;
    a->n += n;
    a->off[a->runs] = a->n;
    p->windows_ns += (double)windows_ns;
    p->windows_n += (double)windows_n;
    p->around_ns += run_ns > windows_ns ? (double)(run_ns - windows_ns) : 0;
    p->runs++;
}

/* Iterations that bring runs_least to the wish if nothing but they varies. */
static double iterations_that_do(const struct qs_components *c, const struct qs_design_opts *opts)
{
    double k = (double)opts->least[QS_DESIGN_RUN], arms = opts->arms;
    double t = qs_qt(1 - (1 - opts->level) / 2, arms * (k - 1));
    double se = opts->half_width_ratio * fabs(c->mean) / t;
    return ceil(c->level[0].var * arms / (k * se * se));
}

static bool design_arm(const struct qs_planner *p, const struct arm *a, const struct qs_planner_wish *wish,
                       struct qs_design *design)
{
    struct qs_components components;
    struct qs_tree tree = {.v = a->v, .depth = 1, .off = {a->off}, .count = {a->runs}};
    if (a->runs < FEWEST_RUNS || qs_tree_components(&tree, &components) != QS_OK)
        return false;
    struct qs_design_opts opts = qs_design_opts_default();
    opts.half_width_ratio = wish->half_width_ratio;
    opts.level = wish->level;
    opts.arms = p->count > 1 ? 2 : 1;
    opts.cost_ns[QS_DESIGN_ITERATION] = p->windows_ns / p->windows_n;
    opts.cost_ns[QS_DESIGN_RUN] = p->around_ns / p->runs;
    opts.least[QS_DESIGN_RUN] = wish->runs_least < 2 ? 2 : wish->runs_least;
    opts.most[QS_DESIGN_RUN] =
        wish->runs_most < opts.least[QS_DESIGN_RUN] ? opts.least[QS_DESIGN_RUN] : wish->runs_most;
    opts.least[QS_DESIGN_ITERATION] = wish->iterations_least;
    opts.most[QS_DESIGN_ITERATION] = wish->iterations_most;
    double enough = iterations_that_do(&components, &opts);
    if (enough < (double)wish->iterations_most)
        opts.most[QS_DESIGN_ITERATION] =
            enough > (double)wish->iterations_least ? (size_t)enough : wish->iterations_least;
    return qs_design_from_pilot(&components, &opts, design) == QS_OK;
}

bool qs_planner_ask(const struct qs_planner *p, const struct qs_planner_wish *wish,
                    struct qs_planner_answer *ret)
{
    *ret = (struct qs_planner_answer){.attainable = true};
    for (size_t i = 0; i < p->count; i++) {
        struct qs_design design;
        if (!design_arm(p, &p->arms[i], wish, &design))
            return false;
        if (design.count[QS_DESIGN_ITERATION] > ret->iterations)
            ret->iterations = design.count[QS_DESIGN_ITERATION];
        if (design.count[QS_DESIGN_RUN] > ret->runs)
            ret->runs = design.count[QS_DESIGN_RUN];
        ret->half_width_ratio = fmax(ret->half_width_ratio, design.half_width_ratio);
        ret->attainable = ret->attainable && design.attainable;
    }
    return true;
}
