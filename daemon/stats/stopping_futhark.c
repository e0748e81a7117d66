/* Junge's reactive rule, as futhark bench came to run it (statistics.md section 10). */
#include <math.h>

#include "stats/stopping_impl.h"
#include "stats/dependence.h"
#include "stats/pick.h"
#include "stats/sum.h"

enum qs_status qs_futhark_metrics(const double *x, size_t n, const size_t *breaks, size_t n_breaks, int root,
                                  struct qs_futhark *out)
{
    *out = (struct qs_futhark){NAN, NAN};
    struct qs_moments m;
    enum qs_status status = qs_moments(x, n, &m);
    if (status != QS_OK)
        return status;
    if (!(m.mean > 0))
        return QS_EDOM;
    double sd = n > 1 ? sqrt(m.var * (double)(n - 1) / (double)n) : 0;
    out->rse = sd / ((root == QS_ROOT_CUBE ? cbrt((double)n) : sqrt((double)n)) * m.mean);
    double r[2] = {1, 1};
    if (n >= 3) {
        status = qs_acf(x, n, breaks, n_breaks, 1, r);
        if (status != QS_OK && status != QS_EDEGENERATE)
            return status;
    }
    out->r1 = n >= 3 && status == QS_OK ? r[1] : 1;
    return QS_OK;
}

bool qs_futhark_wants_more(const struct qs_futhark *m, int metrics, double strictness)
{
    static const struct {
        double r1_above, rse_above;
    } pairs[] = {{.95, .0010}, {.75, .0015}, {.65, .0025}, {.45, .0050}, {.00, .0100}};
    double r1 = metrics == QS_FUTHARK_CORRECTED ? fmax(m->r1, 1e-12) : m->r1;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        if (r1 > pairs[i].r1_above && m->rse > pairs[i].rse_above / strictness)
            return true;
    }
    return false;
}

/* The first phase: so many iterations and so much time. The very first iteration is the tool's warm-up. */
static bool initial_is_over(const struct qs_leaf_view *v, double initial_ns, double least)
{
    double sum = 0;
    for (size_t i = v->state->start; i < v->n; i++)
        sum += v->x[i];
    return (double)(v->n - v->state->start) >= least && sum >= initial_ns;
}

bool qs_leaf_futhark(struct qs_leaf_view *v)
{
    const double *arg = v->rule->arg;
    struct qs_leaf_state *s = v->state;
    if (s->start == 0)
        s->start = qs_less(1, v->n);
    size_t kept = v->n - s->start;
    if (!s->converges ? !initial_is_over(v, arg[1], arg[4]) : kept < s->target)
        return false;
    struct qs_futhark m;
    size_t breaks = qs_leaf_breaks(v, s->start);
    if (qs_futhark_metrics(v->x + s->start, kept, v->break_room, breaks, (int)arg[3], &m) != QS_OK)
        return false;
    if (!qs_futhark_wants_more(&m, (int)arg[0], arg[2]))
        return true;
    if (s->converges) {
        s->target = kept + (kept / 2 > 0 ? kept / 2 : 1);
    } else {
        s->start = v->n;
        s->target = kept / 2 > (size_t)arg[4] ? kept / 2 : (size_t)arg[4];
        s->converges = true;
    }
    return false;
}
