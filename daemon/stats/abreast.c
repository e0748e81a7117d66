#include "stats/abreast.h"

#include <math.h>
#include <stdbool.h>

enum { L = QS_ABREAST };

/* Neumaier's sums, as qs_acc. What an addition loses is found without a question which of both is larger
 * (Knuth, TAOCP 2, 4.2.2): it is the same number. */
struct sums {
    double sum[L], comp[L];
};

static inline void add(struct sums *s, const double x[L])
{
    for (int l = 0; l < L; l++) {
        double t = s->sum[l] + x[l], part = t - s->sum[l];
        s->comp[l] += (s->sum[l] - (t - part)) + (x[l] - part);
        s->sum[l] = t;
    }
}

static inline double value(const struct sums *s, int l)
{
    return s->sum[l] + s->comp[l];
}

void qs_abreast_draw(struct qs_rng *rng, const double *x, size_t n, uint32_t *index, double *lane)
{
    qs_rng_fill_below(rng, (uint32_t)n, index, n);
    for (size_t i = 0; i < n; i++)
        lane[i * L] = x[index[i]];
}

void qs_abreast_means(const double *v, size_t n, double mean[L])
{
    struct sums s = {{0}, {0}};
    for (size_t i = 0; i < n; i++)
        add(&s, v + i * L);
    for (int l = 0; l < L; l++)
        mean[l] = value(&s, l) / (double)n;
}

/* As qs_moments: in two passes, what is left of the first one's rounding taken away in the second. */
static void means_twice(const double *v, size_t n, double mean[L])
{
    struct sums rest = {{0}, {0}};
    qs_abreast_means(v, n, mean);
    for (size_t i = 0; i < n; i++) {
        double d[L];
        for (int l = 0; l < L; l++)
            d[l] = v[i * L + (size_t)l] - mean[l];
        add(&rest, d);
    }
    for (int l = 0; l < L; l++)
        mean[l] += value(&rest, l) / (double)n;
}

static void vary(const double *v, size_t n, bool varies[L])
{
    double min[L], max[L];
    for (int l = 0; l < L; l++)
        min[l] = max[l] = v[l];
    for (size_t i = 1; i < n; i++)
        for (int l = 0; l < L; l++) {
            double x = v[i * L + (size_t)l];
            min[l] = x < min[l] ? x : min[l];
            max[l] = x > max[l] ? x : max[l];
        }
    for (int l = 0; l < L; l++)
        varies[l] = min[l] < max[l];
}

void qs_abreast_sds(const double *v, size_t n, double sd[L])
{
    double mean[L];
    bool varies[L];
    struct sums squares = {{0}, {0}}, rest = {{0}, {0}};
    means_twice(v, n, mean);
    vary(v, n, varies);
    for (size_t i = 0; i < n; i++) {
        double d[L], dd[L];
        for (int l = 0; l < L; l++) {
            d[l] = v[i * L + (size_t)l] - mean[l];
            dd[l] = d[l] * d[l];
        }
        add(&squares, dd);
        add(&rest, d);
    }
    for (int l = 0; l < L; l++) {
        double r = value(&rest, l), ss = value(&squares, l) - r * (r / (double)n);
        double var = varies[l] ? (ss < 0 ? 0 : ss) / (double)(n - 1) : 0;
        sd[l] = n > 1 && isfinite(mean[l]) && isfinite(var) ? sqrt(var) : NAN;
    }
}
