#include "stats/trend.h"

#include "stats/describe.h"
#include "stats/special.h"
#include "stats/sum.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Sorts x[0..n-1] and counts the pairs that stood in falling order. */
static double sort_counting(double *x, size_t n, double *scratch)
{
    if (n < 2)
        return 0;
    size_t half = n / 2, i = 0, j = half, k = 0;
    double falls = sort_counting(x, half, scratch) + sort_counting(x + half, n - half, scratch);
    while (i < half && j < n) {
        bool right = x[j] < x[i];
        falls += right ? (double)(half - i) : 0;
        scratch[k++] = right ? x[j++] : x[i++];
    }
    while (i < half)
        scratch[k++] = x[i++];
    memcpy(x, scratch, k * sizeof *x); /* the rest of the right half stands where it belongs */
    return falls;
}

struct ties {
    double pairs; /* sum t(t-1)/2 */
    double cubic; /* sum t(t-1)(2t+5) */
};

static struct ties count_ties(const double *sorted, size_t n)
{
    struct ties ties = {0, 0};
    for (size_t from = 0, end; from < n; from = end) {
        end = from + 1;
        while (end < n && sorted[end] <= sorted[from])
            end++;
        double t = (double)(end - from);
        ties.pairs += t * (t - 1) / 2;
        ties.cubic += t * (t - 1) * (2 * t + 5);
    }
    return ties;
}

static void fill(double falls, const struct ties *ties, size_t n, struct qs_mann_kendall *out)
{
    double dn = (double)n, pairs = dn * (dn - 1) / 2;
    out->s = pairs - ties->pairs - 2 * falls;
    out->var_s = (dn * (dn - 1) * (2 * dn + 5) - ties->cubic) / 18;
    double away = fabs(out->s) - 1; /* continuity correction */
    out->z = away > 0 ? copysign(away / sqrt(out->var_s), out->s) : 0;
    out->p = fmin(1, 2 * qs_pnorm(-fabs(out->z)));
    if (ties->pairs < pairs)
        out->tau = out->s / sqrt((pairs - ties->pairs) * pairs);
}

enum qs_status qs_mann_kendall(const double *y, size_t n, struct qs_mann_kendall *out)
{
    *out = (struct qs_mann_kendall){NAN, NAN, NAN, NAN, NAN};
    if (n == 0)
        return QS_ENODATA;
    for (size_t i = 0; i < n; i++)
        if (!isfinite(y[i]))
            return QS_EDOM;
    if (n == 1)
        return QS_ETOOFEW;
    double *x = malloc(2 * n * sizeof *x);
    if (!x)
        return QS_ENOMEM;
    memcpy(x, y, n * sizeof *x);
    double falls = sort_counting(x, n, x + n);
    struct ties ties = count_ties(x, n);
    fill(falls, &ties, n, out);
    free(x);
    return QS_OK;
}

/* Computing them costs a sixth of sorting them. */
static const double SLOPES_SHARE = 0.15;
enum { ROWS_A_LOOK = 256 };

/* All slopes, ascending, owned by the caller. */
static enum qs_status sorted_slopes(const double *y, size_t n, const struct qs_progress *progress,
                                    double **out, size_t *count)
{
    const struct qs_progress sorting = qs_progress_part(progress, SLOPES_SHARE, 1);
    *out = NULL;
    if (n < 2)
        return n == 0 ? QS_ENODATA : QS_ETOOFEW;
    size_t twice = 0;
    bool fits = !__builtin_mul_overflow(n, n - 1, &twice) && twice / 2 <= SIZE_MAX / sizeof(double);
    double *slopes = fits ? malloc(twice / 2 * sizeof *slopes) : NULL;
    if (!slopes)
        return QS_ENOMEM;
    size_t k = 0;
    bool finite = true, ended = false;
    for (size_t i = 0; i < n && !ended; i++) {
        if (i % ROWS_A_LOOK == 0)
            ended = !qs_progress_go_on(progress, SLOPES_SHARE * (double)k / ((double)twice / 2));
        for (size_t j = i + 1; j < n; j++) {
            slopes[k] = (y[j] - y[i]) / (double)(j - i);
            finite = finite && isfinite(slopes[k]);
            k++;
        }
    }
    ended = ended || (finite && !qs_sort_asking(slopes, k, &sorting));
    if (!finite || ended) {
        free(slopes);
        return ended ? QS_ECANCELED : QS_EDOM;
    }
    *out = slopes;
    *count = k;
    return QS_OK;
}

enum qs_status qs_theil_sen(const double *y, size_t n, const struct qs_progress *progress, double *slope)
{
    double *slopes;
    size_t count;
    *slope = NAN;
    enum qs_status status = sorted_slopes(y, n, progress, &slopes, &count);
    if (status == QS_OK)
        *slope = qs_quantile(slopes, count, 0.5, QS_QTYPE_7);
    free(slopes);
    return status;
}

static struct qs_ci sen_interval(const double *slopes, size_t count, double var_s, double level)
{
    struct qs_ci ci = qs_ci_none(level);
    double c = qs_qnorm(1 - (1 - level) / 2) * sqrt(var_s);
    double rank = floor(((double)count - c) / 2);
    if (rank >= 1) {
        ci.lo = slopes[(size_t)rank - 1];
        ci.hi = slopes[count - (size_t)rank];
    }
    return ci;
}

static enum qs_status median_rest(const double *y, size_t n, double slope, double *out)
{
    double *rest = malloc(n * sizeof *rest);
    if (!rest)
        return QS_ENOMEM;
    for (size_t i = 0; i < n; i++)
        rest[i] = y[i] - slope * (double)i;
    enum qs_status status = qs_median(rest, n, out);
    free(rest);
    return status;
}

enum qs_status qs_theil_sen_ci(const double *y, size_t n, double level, const struct qs_progress *progress,
                               struct qs_theil_sen *out)
{
    struct qs_mann_kendall mk;
    double *slopes, intercept = NAN;
    size_t count;
    *out = (struct qs_theil_sen){NAN, NAN, qs_ci_none(level)};
    if (!(level > 0 && level < 1))
        return QS_EDOM;
    enum qs_status status = qs_mann_kendall(y, n, &mk);
    if (status != QS_OK)
        return status;
    status = sorted_slopes(y, n, progress, &slopes, &count);
    if (status != QS_OK)
        return status;
    double slope = qs_quantile(slopes, count, 0.5, QS_QTYPE_7);
    status = median_rest(y, n, slope, &intercept);
    if (status == QS_OK)
        *out = (struct qs_theil_sen){slope, intercept, sen_interval(slopes, count, mk.var_s, level)};
    if (status == QS_OK && !(slopes[0] < slopes[count - 1]))
        out->ci = (struct qs_ci){.lo = slope, .hi = slope, .level = level, .flags = QS_FLAG_EXACT};
    free(slopes);
    return status;
}
