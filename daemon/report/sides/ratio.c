/* "How many percent?" by other methods than the verdict's: Fieller on the means of units, and the
 * hierarchical bootstrap of iterations in runs in sessions. */
#include <math.h>

#include "report/sides/impl.h"
#include "stats/hier.h"
#include "stats/ratio.h"

/* Draws of one comparison's bootstrap: of many values fewer resamples are taken. */
static const double draws_most = 2e7;
enum { RESAMPLES_LEAST = 200, RESAMPLES_MOST = 10000 };

static size_t resamples_of(size_t n)
{
    double most = draws_most / fmax((double)n, 1);
    return most > RESAMPLES_MOST ? RESAMPLES_MOST : most < RESAMPLES_LEAST ? RESAMPLES_LEAST : (size_t)most;
}

/* Measured on a server of 2020: a verdict sorts and weighs its values, a draw of the bootstrap is one
 * addition of a value from anywhere. */
static const double VERDICT_NS = 20e3, VALUE_NS = 100, DRAW_NS = 3;

static size_t values_of(const struct qs_sides_pair *pair, size_t metric)
{
    size_t n = 0;
    for (int k = 0; k < 2; k++)
        for (size_t i = 0; i < pair->series[k]->count; i++)
            n += pair->series[k]->runs[i]->values[metric].n;
    return n;
}

double qs_sides_judge_ns(const struct qs_sides_pair *pair, size_t metric)
{
    return VERDICT_NS + VALUE_NS * (double)values_of(pair, metric);
}

double qs_sides_ratios_ns(const struct qs_sides_pair *pair, size_t metric)
{
    size_t n = values_of(pair, metric);
    return DRAW_NS * (double)n * (double)resamples_of(n);
}

double qs_sides_plan_ns(const struct qs_sides *s)
{
    size_t metrics = s->in->runs[QS_BASE]->metric_count;
    double sum = 0;
    for (size_t i = 0; i < s->point_count; i++)
        for (size_t k = 0; k < s->points[i].count; k++)
            for (size_t m = 0; m < metrics; m++)
                sum += qs_sides_judge_ns(&s->points[i].pairs[k], m) +
                       qs_sides_ratios_ns(&s->points[i].pairs[k], m);
    return sum;
}

static struct qs_tree tree_of(const struct qs_side_values *side, bool grouped)
{
    struct qs_tree tree = {.v = side->iterations, .depth = grouped ? 2 : 1};
    tree.off[0] = side->runs;
    tree.count[0] = side->run_count;
    tree.off[1] = grouped ? side->groups : NULL;
    tree.count[1] = grouped ? side->group_count : 0;
    return tree;
}

static struct qs_told_ratio fieller_of(const struct qs_sides *s, const struct qs_comparison *c)
{
    const struct qs_side_values *x = &c->side[QS_BASE], *y = &c->side[QS_CAND];
    struct qs_fieller f;
    enum qs_status status = qs_fieller(x->v, x->n, y->v, y->n, 1 - s->how.alpha, &f);
    return (struct qs_told_ratio){.method = "Fieller's interval of the ratio of the means of units",
                                  .status = qs_status_name(status),
                                  .ratio = f.ratio,
                                  .lo = f.ci.lo,
                                  .hi = f.ci.hi};
}

static struct qs_told_ratio bootstrap_of(const struct qs_sides *s, const struct qs_comparison *c,
                                         uint64_t stream, const struct qs_progress *progress)
{
    const struct qs_side_values *x = &c->side[QS_BASE], *y = &c->side[QS_CAND];
    bool grouped = x->group_count > 0 && y->group_count > 0;
    struct qs_tree base = tree_of(x, grouped), cand = tree_of(y, grouped);
    struct qs_hier_boot_opts opts = {.seed = s->in->seed,
                                     .stream = stream,
                                     .resamples = resamples_of(x->iteration_count + y->iteration_count),
                                     .level = 1 - s->how.alpha,
                                     .progress = *progress};
    struct qs_hier_boot boot = {.ratio = NAN, .ci = qs_ci_none(1 - s->how.alpha)};
    enum qs_status status =
        x->run_count > 0 && y->run_count > 0 ? qs_hier_boot_ratio(&base, &cand, &opts, &boot) : QS_ENODATA;
    return (struct qs_told_ratio){.method = "hierarchical bootstrap of the ratio of means",
                                  .status = qs_status_name(status),
                                  .ratio = boot.ratio,
                                  .lo = boot.ci.lo,
                                  .hi = boot.ci.hi,
                                  .resamples = opts.resamples,
                                  .few_units = (boot.ci.flags & QS_FLAG_FEW_UNITS) != 0};
}

struct qs_ratios qs_sides_ratios(const struct qs_sides *s, const struct qs_comparison *c, uint64_t stream,
                                 const struct qs_progress *progress, struct qs_told_ratio ret_of[2])
{
    ret_of[0] = fieller_of(s, c);
    ret_of[1] = bootstrap_of(s, c, stream, progress);
    return (struct qs_ratios){.fieller = &ret_of[0], .bootstrap = &ret_of[1]};
}
