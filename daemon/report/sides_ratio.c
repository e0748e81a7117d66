/* "How many percent?" by other methods than the verdict's: Fieller on the means of units, and the
 * hierarchical bootstrap of iterations in runs in sessions. */
#include <math.h>

#include "report/sides_impl.h"
#include "stats/hier_boot.h"
#include "stats/ratio.h"

/* Draws of one comparison's bootstrap: of many values fewer resamples are taken. */
static const double draws_most = 2e7;
enum { RESAMPLES_LEAST = 200, RESAMPLES_MOST = 10000 };

static struct qs_tree tree_of(const struct qs_side_values *side, bool by_session)
{
    struct qs_tree tree = {.v = side->iterations, .depth = by_session ? 2 : 1};
    tree.off[0] = side->runs;
    tree.count[0] = side->run_count;
    tree.off[1] = by_session ? side->groups : NULL;
    tree.count[1] = by_session ? side->group_count : 0;
    return tree;
}

static void put_one(struct qs_json *j, const char *name, const char *method, double ratio,
                    const struct qs_ci *ci, enum qs_status status)
{
    qs_json_key(j, name);
    qs_json_object(j);
    qs_json_kstring(j, "method", method);
    qs_json_kdouble(j, "ratio", ratio);
    qs_json_kdouble(j, "lo", ci->lo);
    qs_json_kdouble(j, "hi", ci->hi);
    qs_json_kstring(j, "status", qs_status_name(status));
}

static void put_fieller(struct qs_json *j, const struct qs_sides *s, const struct qs_sides_verdict *v)
{
    const struct qs_side_values *x = &v->side[QS_BASE], *y = &v->side[QS_CAND];
    struct qs_fieller f;
    enum qs_status status = qs_fieller(x->v, x->n, y->v, y->n, 1 - s->in->alpha, &f);
    put_one(j, "fieller", "Fieller's interval of the ratio of the means of units", f.ratio, &f.ci, status);
    qs_json_object_end(j);
}

static void put_bootstrap(struct qs_json *j, const struct qs_sides *s, const struct qs_sides_verdict *v,
                          uint64_t stream)
{
    const struct qs_side_values *x = &v->side[QS_BASE], *y = &v->side[QS_CAND];
    double n = (double)(x->iteration_count + y->iteration_count), most = draws_most / fmax(n, 1);
    bool by_session = v->level == QS_SIDES_SESSIONS;
    struct qs_tree base = tree_of(x, by_session), cand = tree_of(y, by_session);
    struct qs_hier_boot_opts opts = {.seed = s->in->seed,
                                     .stream = stream,
                                     .resamples = most > RESAMPLES_MOST    ? RESAMPLES_MOST
                                                  : most < RESAMPLES_LEAST ? RESAMPLES_LEAST
                                                                           : (size_t)most,
                                     .level = 1 - s->in->alpha,
                                     .progress = s->in->progress};
    struct qs_hier_boot boot = {.ratio = NAN, .ci = qs_ci_none(1 - s->in->alpha)};
    enum qs_status status =
        x->run_count > 0 && y->run_count > 0 ? qs_hier_boot_ratio(&base, &cand, &opts, &boot) : QS_ENODATA;
    put_one(j, "bootstrap", "hierarchical bootstrap of the ratio of means", boot.ratio, &boot.ci, status);
    qs_json_kint(j, "resamples", (int64_t)opts.resamples);
    qs_json_kbool(j, "few_units", (boot.ci.flags & QS_FLAG_FEW_UNITS) != 0);
    qs_json_object_end(j);
}

void qs_sides_put_ratios(struct qs_json *j, const struct qs_sides *s, const struct qs_sides_verdict *v,
                         uint64_t stream)
{
    qs_json_key(j, "ratios");
    qs_json_object(j);
    put_fieller(j, s, v);
    put_bootstrap(j, s, v, stream);
    qs_json_object_end(j);
}
