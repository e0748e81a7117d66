#include "stats/ranks.h"

#include "stats/ranks_parts.h"
#include "stats/special.h"
#include "stats/sum.h"

#include <math.h>
#include <stdlib.h>

static struct qs_hl nothing(double level)
{
    return (struct qs_hl){.shift = NAN, .ci = qs_ci_none(level), .lo_rank = NAN, .hi_rank = NAN};
}

/* Exact: the largest q with P(U <= q) < tail, plus 1; 0: none. *ret_level is what the interval reaches. */
static enum qs_status exact_rank(const struct qs_ranks_pair *pair, double tail, double *ret_rank,
                                 double *ret_level)
{
    double *chance, sum = 0, reached = 0;
    enum qs_status status = qs_ranks_distribution(pair->n1, pair->n2, &chance);
    if (status != QS_OK)
        return status;
    size_t rank = 0;
    while (sum + chance[rank] < tail) {
        sum += chance[rank++];
        reached = sum;
    }
    free(chance);
    *ret_rank = (double)rank;
    *ret_level = 1 - 2 * reached;
    return QS_OK;
}

static double normal_rank(const struct qs_ranks_pair *pair, double tail)
{
    double pairs = (double)pair->n1 * (double)pair->n2, n = (double)pair->n1 + (double)pair->n2;
    return fmax(1, floor(pairs / 2 + qs_qnorm(tail) * sqrt(pairs * (n + 1) / 12)));
}

/* The rank of the lower end; QS_ETOOFEW where not even the least difference reaches the level. */
static enum qs_status rank_of(const struct qs_ranks_pair *pair, double level, enum qs_ranks_method method,
                              struct qs_hl *out)
{
    double tail = (1 - level) / 2;
    out->exact = qs_ranks_is_exact(pair, (int)method);
    if (out->exact && (pair->n1 > QS_RANKS_EXACT_MAX || pair->n2 > QS_RANKS_EXACT_MAX))
        return QS_EDOM;
    if (!(1 / qs_ranks_arrangements(pair->n1, pair->n2) < tail))
        return QS_ETOOFEW;
    if (out->exact)
        return exact_rank(pair, tail, &out->lo_rank, &out->ci.level);
    out->lo_rank = normal_rank(pair, tail);
    return QS_OK;
}

static enum qs_status find_interval(const struct qs_ranks_pair *pair, double level,
                                    enum qs_ranks_method method, const struct qs_progress *progress,
                                    double *scratch, struct qs_hl *out)
{
    double found[2];
    enum qs_status status = rank_of(pair, level, method, out);
    if (status != QS_OK)
        return status;
    size_t all = pair->n1 * pair->n2, lo = (size_t)out->lo_rank;
    out->hi_rank = (double)(all - lo + 1);
    const struct qs_progress first = qs_progress_part(progress, 0, 0.5),
                             second = qs_progress_part(progress, 0.5, 1);
    if (!qs_ranks_select(pair, lo, scratch, &first, found))
        return QS_ECANCELED;
    out->ci.lo = found[0];
    if (!qs_ranks_select(pair, all - lo + 1, scratch, &second, found))
        return QS_ECANCELED;
    out->ci.hi = found[0];
    return QS_OK;
}

/* middle: the two middle differences, or twice the one. */
static enum qs_status analyse(const struct qs_ranks_pair *pair, double level, enum qs_ranks_method method,
                              const struct qs_progress *progress, double middle[2], struct qs_hl *out)
{
    const struct qs_progress first = qs_progress_part(progress, 0, 1.0 / 3),
                             rest = qs_progress_part(progress, 1.0 / 3, 1);
    size_t all;
    if (__builtin_mul_overflow(pair->n1, pair->n2, &all))
        return QS_ENOMEM;
    if (!isfinite(pair->y[0] - pair->x[pair->n1 - 1]) || !isfinite(pair->y[pair->n2 - 1] - pair->x[0]))
        return QS_EDOM;
    double *scratch = malloc(QS_RANKS_SCRATCH * sizeof *scratch);
    if (!scratch)
        return QS_ENOMEM;
    bool found = qs_ranks_select(pair, (all + 1) / 2, scratch, &first, middle);
    if (all % 2)
        middle[1] = middle[0];
    out->shift = middle[0] + 0.5 * (middle[1] - middle[0]);
    out->flags = pair->ties != 0 ? QS_FLAG_TIES : 0;
    enum qs_status status = found ? find_interval(pair, level, method, &rest, scratch, out) : QS_ECANCELED;
    free(scratch);
    if (status != QS_ECANCELED)
        return status;
    middle[0] = middle[1] = NAN;
    *out = nothing(level);
    return QS_ECANCELED;
}

static enum qs_status run(const double *x, size_t nx, const double *y, size_t ny, double level,
                          enum qs_ranks_method method, const struct qs_progress *progress, double middle[2],
                          struct qs_hl *out)
{
    struct qs_ranks_pair pair;
    *out = nothing(level);
    enum qs_status status = qs_ranks_pair_init(&pair, x, nx, y, ny);
    if (status != QS_OK)
        return status;
    out->n_needed = qs_mwu_runs_needed(1 - level);
    status = out->n_needed > 0 ? analyse(&pair, level, method, progress, middle, out) : QS_EDOM;
    qs_ranks_pair_done(&pair);
    return status;
}

enum qs_status qs_hl(const double *x, size_t nx, const double *y, size_t ny, double level,
                     enum qs_ranks_method method, const struct qs_progress *progress, struct qs_hl *out)
{
    double middle[2];
    return run(x, nx, y, ny, level, method, progress, middle, out);
}

/* Ratios are in the order of the differences of logarithms. */
enum qs_status qs_hl_ratio(const double *x, size_t nx, const double *y, size_t ny, double level,
                           enum qs_ranks_method method, const struct qs_progress *progress, struct qs_hl *out)
{
    double middle[2] = {NAN, NAN};
    *out = nothing(level);
    double *logs = malloc((nx + ny + 1) * sizeof *logs);
    if (!logs)
        return QS_ENOMEM;
    enum qs_status sx = qs_logs(x, nx, logs), sy = qs_logs(y, ny, logs + nx);
    enum qs_status status = sx == QS_EDOM || sy == QS_EDOM ? QS_EDOM : QS_OK;
    if (status == QS_OK)
        status = run(logs, nx, logs + nx, ny, level, method, progress, middle, out);
    out->shift = 0.5 * (exp(middle[0]) + exp(middle[1]));
    out->ci.lo = exp(out->ci.lo);
    out->ci.hi = exp(out->ci.hi);
    free(logs);
    return status;
}
