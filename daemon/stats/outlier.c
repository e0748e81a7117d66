#include "stats/outlier.h"

#include "stats/describe.h"
#include "stats/sum.h"

#include <stdlib.h>
#include <string.h>

enum { MIN_N = 8 };

static uint8_t classify(double x, const struct qs_tukey *t)
{
    uint8_t far = x < t->far_lo || x > t->far_hi ? QS_OUTLIER_FAR : 0;
    if (x < t->lo)
        return far | QS_OUTLIER_LOW;
    if (x > t->hi)
        return far | QS_OUTLIER_HIGH;
    return 0;
}

static enum qs_status fences(const double *x, size_t n, struct qs_tukey *out)
{
    double *sorted;
    enum qs_status status = qs_sorted_copy(x, n, &sorted);
    if (status != QS_OK)
        return status;
    double q1 = qs_quantile(sorted, n, 0.25, QS_QTYPE_7), q3 = qs_quantile(sorted, n, 0.75, QS_QTYPE_7);
    free(sorted);
    if (n < MIN_N)
        return QS_ETOOFEW;
    double iqr = q3 - q1;
    if (!(iqr > 0))
        return QS_EDEGENERATE;
    out->lo = q1 - 1.5 * iqr;
    out->hi = q3 + 1.5 * iqr;
    out->far_lo = q1 - 3 * iqr;
    out->far_hi = q3 + 3 * iqr;
    return QS_OK;
}

enum qs_status qs_tukey_flags(const double *x, size_t n, uint8_t *flags, struct qs_tukey *out)
{
    *out = (struct qs_tukey){.lo = NAN, .hi = NAN, .far_lo = NAN, .far_hi = NAN};
    if (flags && n > 0)
        memset(flags, 0, n);
    enum qs_status status = fences(x, n, out);
    for (size_t i = 0; status == QS_OK && i < n; i++) {
        uint8_t flag = classify(x[i], out);
        out->n_low += (flag & QS_OUTLIER_LOW) != 0;
        out->n_high += (flag & QS_OUTLIER_HIGH) != 0;
        out->n_far += (flag & QS_OUTLIER_FAR) != 0;
        if (flags)
            flags[i] = flag;
    }
    return status;
}
