#include "stats/twosample.h"

#include "stats/special.h"
#include "stats/sum.h"

#include <stdbool.h>
#include <stdlib.h>

static struct qs_ttest no_test(double level)
{
    return (struct qs_ttest){
        .diff = NAN, .se = NAN, .t = NAN, .df = NAN, .p = NAN, .ci = qs_ci_none(level), .sd = {NAN, NAN}};
}

struct qs_ci qs_ttest_ci(const struct qs_ttest *test, double level)
{
    struct qs_ci ci = qs_ci_none(level);
    if (isnan(test->diff) || isnan(test->se) || !(level > 0 && level < 1))
        return ci;
    double half = test->flags & QS_FLAG_EXACT ? 0 : -qs_qt((1 - level) / 2, test->df) * test->se;
    ci.lo = test->diff - half;
    ci.hi = test->diff + half;
    ci.flags = test->flags & QS_FLAG_EXACT;
    return ci;
}

/* v1, v2: the squared standard errors of the two means. Scaled, so that tiny variances do not underflow. */
static double satterthwaite(double v1, size_t n1, double v2, size_t n2)
{
    double share = v1 / (v1 + v2);
    return 1 / (share * share / (double)(n1 - 1) + (1 - share) * (1 - share) / (double)(n2 - 1));
}

/* se is set; df counts only where something varies. */
static void finish(struct qs_ttest *out, double df, double level)
{
    if (out->se > 0) {
        out->t = out->diff / out->se;
        out->df = df;
        out->p = qs_pt_two_sided(out->t, out->df);
    } else {
        out->flags |= QS_FLAG_EXACT;
        out->p = out->diff < 0 || out->diff > 0 ? 0 : 1;
    }
    out->ci = qs_ttest_ci(out, level);
}

static enum qs_status begin(const double *x, size_t nx, const double *y, size_t ny, double level,
                            struct qs_moments m[2], struct qs_ttest *out)
{
    *out = no_test(level);
    out->n[0] = nx;
    out->n[1] = ny;
    enum qs_status status = qs_moments_of_two(x, nx, y, ny, m);
    if (status != QS_OK || !(level > 0 && level < 1))
        return status == QS_ENODATA ? status : QS_EDOM;
    out->diff = m[1].mean - m[0].mean;
    out->sd[0] = sqrt(m[0].var);
    out->sd[1] = sqrt(m[1].var);
    return nx < 2 || ny < 2 ? QS_ETOOFEW : QS_OK;
}

enum qs_status qs_welch(const double *x, size_t nx, const double *y, size_t ny, double level,
                        struct qs_ttest *out)
{
    struct qs_moments m[2];
    enum qs_status status = begin(x, nx, y, ny, level, m, out);
    if (status != QS_OK)
        return status;
    double v1 = m[0].var / (double)nx, v2 = m[1].var / (double)ny;
    out->se = sqrt(v1 + v2);
    finish(out, satterthwaite(v1, nx, v2, ny), level);
    return QS_OK;
}

enum qs_status qs_pooled(const double *x, size_t nx, const double *y, size_t ny, double level,
                         struct qs_ttest *out, double *ret_sd)
{
    struct qs_moments m[2];
    *ret_sd = NAN;
    enum qs_status status = begin(x, nx, y, ny, level, m, out);
    if (status != QS_OK)
        return status;
    double df = (double)(nx - 1) + (double)(ny - 1);
    *ret_sd = sqrt((double)(nx - 1) / df * m[0].var + (double)(ny - 1) / df * m[1].var);
    out->se = *ret_sd * sqrt(1 / (double)nx + 1 / (double)ny);
    finish(out, df, level);
    return QS_OK;
}

/* logs: nx + ny doubles */
static enum qs_status log_welch_into(const double *x, size_t nx, const double *y, size_t ny, double level,
                                     double *logs, struct qs_ratio_test *out)
{
    enum qs_status sx = qs_logs(x, nx, logs), sy = qs_logs(y, ny, logs + nx);
    if (sx == QS_EDOM || sy == QS_EDOM)
        return QS_EDOM;
    enum qs_status status = qs_welch(logs, nx, logs + nx, ny, level, &out->log);
    out->ratio = exp(out->log.diff);
    out->ci = out->log.ci;
    out->ci.lo = exp(out->ci.lo);
    out->ci.hi = exp(out->ci.hi);
    return status;
}

enum qs_status qs_log_welch(const double *x, size_t nx, const double *y, size_t ny, double level,
                            struct qs_ratio_test *out)
{
    *out = (struct qs_ratio_test){.ratio = NAN, .ci = qs_ci_none(level), .log = no_test(level)};
    out->log.n[0] = nx;
    out->log.n[1] = ny;
    double *logs = malloc((nx + ny + 1) * sizeof *logs);
    if (!logs)
        return QS_ENOMEM;
    enum qs_status status = log_welch_into(x, nx, y, ny, level, logs, out);
    free(logs);
    return status;
}
