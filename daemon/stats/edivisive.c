#include "stats/edivisive.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stats/rng.h"
#include "stats/sum.h"

enum { MAX_PERMUTATIONS = 1000000 };

struct edivisive {
    const double *x;
    size_t n;
    const struct qs_edivisive_opts *opts;
    struct qs_rng rng;
    struct qs_edivisive_point *point; /* borrowed: the answer, ascending */
    size_t count;
    double *shuffled, *scratch; /* owned: n and 2 n */
};

static size_t start_of(const struct edivisive *e, size_t segment)
{
    return segment == 0 ? 0 : e->point[segment - 1].index;
}

static size_t end_of(const struct edivisive *e, size_t segment)
{
    return segment == e->count ? e->n : e->point[segment].index;
}

/* The best split of all segments of x; at counts from the start of the series. q is -Inf where all are
 * single. */
static struct qs_split best_of(const struct edivisive *e, const double *x, const struct qs_progress *progress)
{
    struct qs_split best = {.at = 0, .q = -INFINITY};
    for (size_t s = 0; s <= e->count; s++) {
        size_t from = start_of(e, s), end = end_of(e, s);
        if (end - from < 2)
            continue;
        struct qs_split got = qs_best_split(x + from, end - from, e->scratch, progress);
        if (isnan(got.q))
            return got;
        if (got.q > best.q)
            best = (struct qs_split){from + got.at, got.q};
    }
    return best;
}

/* Each test counts as half of what is left: `share` of the one that runs is done. */
static struct qs_progress told(const struct edivisive *e, double share)
{
    double done = 1 - ldexp(1 - share / 2, -(int)e->count);
    return qs_progress_part(&e->opts->progress, done, done);
}

static void shuffle(struct edivisive *e)
{
    memcpy(e->shuffled, e->x, e->n * sizeof *e->x);
    for (size_t s = 0; s <= e->count; s++) {
        double *v = e->shuffled + start_of(e, s);
        for (size_t i = end_of(e, s) - start_of(e, s); i > 1; i--) {
            size_t j = (size_t)qs_rng_below(&e->rng, i);
            double t = v[i - 1];
            v[i - 1] = v[j];
            v[j] = t;
        }
    }
}

/* Sums of the same values in another order: what differs by rounding only splits as well. */
static bool as_good(double q, double than)
{
    return q >= than - 1e-12 * fabs(than);
}

static enum qs_status p_of(struct edivisive *e, double q, double *p)
{
    size_t as_extreme = 0, r = e->opts->permutations;
    for (size_t i = 0; i < r; i++) {
        struct qs_progress now = told(e, (double)i / (double)r);
        if (!qs_progress_go_on(&now, 0))
            return QS_ECANCELED;
        shuffle(e);
        double shuffled = best_of(e, e->shuffled, &now).q;
        if (isnan(shuffled))
            return QS_ECANCELED;
        as_extreme += as_good(shuffled, q);
    }
    *p = (1 + (double)as_extreme) / ((double)r + 1);
    return QS_OK;
}

static void insert(struct edivisive *e, struct qs_edivisive_point point)
{
    size_t i = e->count++;
    for (; i > 0 && e->point[i - 1].index > point.index; i--)
        e->point[i] = e->point[i - 1];
    e->point[i] = point;
}

static enum qs_status divide(struct edivisive *e)
{
    for (;;) {
        double p = 1;
        const struct qs_progress now = told(e, 0);
        struct qs_split best = best_of(e, e->x, &now);
        if (isnan(best.q))
            return QS_ECANCELED;
        if (!(best.q > 0)) /* all segments are single values or constant */
            return QS_OK;
        enum qs_status status = p_of(e, best.q, &p);
        if (status != QS_OK || p > e->opts->p_max)
            return status;
        insert(e, (struct qs_edivisive_point){best.at, best.q, p});
    }
}

enum qs_status qs_edivisive(const double *x, size_t n, const struct qs_edivisive_opts *opts,
                            struct qs_edivisive_point *out, size_t *count)
{
    *count = 0;
    if (opts->permutations < 1 || opts->permutations > MAX_PERMUTATIONS ||
        !(opts->p_max > 0 && opts->p_max < 1))
        return QS_EDOM;
    enum qs_status status = qs_check_values(x, n, 2);
    if (status != QS_OK)
        return status;
    struct edivisive e = {.x = x,
                          .n = n,
                          .opts = opts,
                          .point = out,
                          .shuffled = calloc(n, sizeof *e.shuffled),
                          .scratch = calloc(n, 2 * sizeof *e.scratch)};
    qs_rng_seed(&e.rng, opts->seed, opts->stream);
    status = e.shuffled && e.scratch ? divide(&e) : QS_ENOMEM;
    *count = status == QS_OK ? e.count : 0;
    free(e.shuffled);
    free(e.scratch);
    return status;
}

/* From the sums of the distances inside both stretches together, inside the left and inside the right. */
static double statistic(double all, double left, double right, size_t n, size_t m)
{
    double dn = (double)n, dm = (double)m, sum = dn + dm;
    double q = 2 / sum * (all - left - right);
    if (n > 1)
        q -= 2 * dm / (sum * (dn - 1)) * left;
    if (m > 1)
        q -= 2 * dn / (sum * (dm - 1)) * right;
    return q;
}

/* left[t] and right[t] hold the sums inside x[0:t] and x[t:end]; right[0] holds that inside x[0:end]. */
enum { STEPS_A_LOOK = 1 << 22 };

struct qs_split qs_best_split(const double *x, size_t n, double *scratch, const struct qs_progress *progress)
{
    double *left = scratch, *right = scratch + n;
    struct qs_split best = {.at = 1, .q = -INFINITY};
    left[1] = 0;
    right[0] = 0;
    size_t steps = 0;
    for (size_t end = 2; end <= n; end++) {
        steps += end;
        if (steps > STEPS_A_LOOK) {
            steps = 0;
            if (!qs_progress_go_on(progress, 0))
                return (struct qs_split){.at = 1, .q = NAN};
        }
        double last = x[end - 1], to_last = 0;
        right[end - 1] = 0;
        for (size_t t = end - 1; t-- > 0;) {
            to_last += fabs(x[t] - last);
            right[t] += to_last;
        }
        for (size_t t = 1; t < end; t++) {
            double q = statistic(right[0], left[t], right[t], t, end - t);
            if (q > best.q || (q >= best.q && t < best.at))
                best = (struct qs_split){t, q};
        }
        left[end] = right[0]; /* of all n they are one place */
    }
    return best;
}
