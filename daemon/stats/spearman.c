#include "stats/spearman.h"

#include "stats/special.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

struct place {
    double v;
    size_t i;
};

static int by_value(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->v != y->v)
        return x->v < y->v ? -1 : 1;
    return 0;
}

/* Ranks from 1, those of ties shared; true where there are ties. */
static bool rank(const double *v, size_t n, struct place *places, double *ranks)
{
    bool ties = false;
    for (size_t i = 0; i < n; i++)
        places[i] = (struct place){v[i], i};
    qsort(places, n, sizeof *places, by_value);
    for (size_t from = 0, end; from < n; from = end) {
        for (end = from + 1; end < n && places[end].v <= places[from].v;)
            end++;
        for (size_t i = from; i < end; i++)
            ranks[places[i].i] = ((double)from + (double)end + 1) / 2;
        ties = ties || end > from + 1;
    }
    return ties;
}

/* The mean of the ranks is (n+1)/2 whatever the ties. */
static double correlation(const double *x, const double *y, size_t n)
{
    double middle = ((double)n + 1) / 2, xx = 0, yy = 0, xy = 0;
    for (size_t i = 0; i < n; i++) {
        double dx = x[i] - middle, dy = y[i] - middle;
        xx += dx * dx;
        yy += dy * dy;
        xy += dx * dy;
    }
    return xx > 0 && yy > 0 ? fmax(-1, fmin(1, xy / sqrt(xx * yy))) : NAN;
}

static bool finite_all(const double *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isfinite(v[i]))
            return false;
    return true;
}

enum qs_status qs_spearman(const double *x, const double *y, size_t n, struct qs_spearman *out)
{
    *out = (struct qs_spearman){.rho = NAN, .p = NAN};
    if (n == 0)
        return QS_ENODATA;
    if (!finite_all(x, n) || !finite_all(y, n))
        return QS_EDOM;
    if (n < QS_SPEARMAN_N_MIN)
        return QS_ETOOFEW;
    struct place *places = calloc(n, sizeof *places);
    double *ranks = calloc(n, 2 * sizeof *ranks);
    enum qs_status status = QS_ENOMEM;
    if (places && ranks) {
        bool ties = rank(x, n, places, ranks);
        ties = rank(y, n, places, ranks + n) || ties;
        double rho = correlation(ranks, ranks + n, n), df = (double)n - 2;
        status = isnan(rho) ? QS_EDEGENERATE : QS_OK;
        out->rho = rho;
        out->flags = ties && status == QS_OK ? QS_FLAG_TIES : 0;
        if (status == QS_OK)
            out->p = 2 * qs_pt(-fabs(rho) * sqrt(df / fmax(0, 1 - rho * rho)), df);
    }
    free(places);
    free(ranks);
    return status;
}
