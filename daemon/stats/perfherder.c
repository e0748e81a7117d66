#include "stats/perfherder.h"

#include "stats/pick.h"
#include "stats/sum.h"

#include <math.h>

struct qs_perfherder_opts qs_perfherder_opts_default(void)
{
    return (struct qs_perfherder_opts){.min_back = 12, .max_back = 24, .fore = 12, .t_limit = 7};
}

struct window {
    double mean, var;
    size_t n;
};

/* n values from x[0] on in steps of `step`, the nearest first. */
static struct window weigh(const double *x, size_t n, ptrdiff_t step)
{
    struct qs_acc sum = {0}, squares = {0};
    double weights = 0, dn = (double)n;
    for (size_t j = 0; j < n; j++) {
        double w = (dn - (double)j) / dn;
        qs_acc_add(&sum, w * (x[step * (ptrdiff_t)j] - x[0]));
        weights += w;
    }
    double mean = x[0] + qs_acc_value(&sum) / weights;
    for (size_t j = 0; j < n; j++) {
        double d = x[step * (ptrdiff_t)j] - mean;
        qs_acc_add(&squares, d * d);
    }
    return (struct window){mean, n > 1 ? qs_acc_value(&squares) / (dn - 1) : 0, n};
}

static double t_between(const struct window *a, const struct window *b)
{
    double d = fabs(b->mean - a->mean), var = a->var / (double)a->n + b->var / (double)b->n;
    if (!(d > 0))
        return 0;
    return var > 0 ? d / sqrt(var) : INFINITY;
}

static size_t clamp(size_t x, size_t lo, size_t hi)
{
    return qs_more(lo, qs_less(hi, x));
}

static void find(const double *t, size_t n, const struct qs_perfherder_opts *opts, size_t *changes,
                 size_t *count)
{
    for (size_t i = opts->min_back; i < n && n - i >= opts->fore; i++) {
        bool beaten = t[i - 1] > t[i] || (i + 1 < n && t[i + 1] > t[i]);
        if (t[i] > opts->t_limit && !beaten)
            changes[(*count)++] = i;
    }
}

enum qs_status qs_perfherder(const double *x, size_t n, const struct qs_perfherder_opts *opts, double *t,
                             size_t *changes, size_t *count)
{
    *count = 0;
    if (opts->min_back < 1 || opts->max_back < opts->min_back || opts->fore < 1 || !(opts->t_limit >= 0))
        return QS_EDOM;
    enum qs_status status = qs_check_values(x, n, 1);
    if (status != QS_OK)
        return status;
    size_t quiet = 0; /* points since t last passed the limit */
    t[0] = 0;
    for (size_t i = 1; i < n; i++) {
        size_t back = clamp(quiet, opts->min_back, opts->max_back);
        struct window before = weigh(x + i - 1, qs_less(back, i), -1);
        struct window after = weigh(x + i, qs_less(opts->fore, n - i), 1);
        t[i] = t_between(&before, &after);
        quiet = t[i] > opts->t_limit ? 0 : quiet + 1;
    }
    find(t, n, opts, changes, count);
    return QS_OK;
}
