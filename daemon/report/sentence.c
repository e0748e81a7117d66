/* Numbers as sentences: the interval first, never the bare point. */
#include <math.h>

#include "base/text.h"
#include "report/report_impl.h"

/* Digits that show the interval and no more. */
static int digits(double lo, double hi)
{
    double width = fabs(hi - lo);
    if (width < 0.02)
        return 3;
    if (width < 0.3)
        return 2;
    return width < 30 ? 1 : 0;
}

static void percents(struct qs_buf *out, double lo, double hi)
{
    int n = digits(lo, hi);
    qs_buf_fmt(out, "%.*f–%.*f %%", n, lo, n, hi);
}

static void around_one(struct qs_buf *out, const char *base, const char *cand, double less, double more)
{
    int n = digits(-less, more);
    if (less < 0.0005 && more < 0.0005)
        qs_buf_fmt(out, "%s takes as long as %s", cand, base);
    else
        qs_buf_fmt(out, "%s takes between %.*f %% less and %.*f %% longer than %s", cand, n, less, n, more,
                   base);
}

void qs_report_sentence(struct qs_buf *out, const char *base, const char *cand, double lo, double hi)
{
    const double factor = 2; /* above it a percentage is harder to read than a multiple */
    if (!isfinite(lo) || !isfinite(hi)) {
        qs_buf_fmt(out, "too few blocks to say how %s and %s compare", cand, base);
    } else if (lo >= factor) {
        qs_buf_fmt(out, "%s takes %.2f–%.2f times as long as %s", cand, lo, hi, base);
    } else if (hi <= 1 / factor) {
        qs_buf_fmt(out, "%s takes %.2f–%.2f times as long as %s", base, 1 / hi, 1 / lo, cand);
    } else if (lo > 1) {
        qs_buf_fmt(out, "%s takes ", cand);
        percents(out, (lo - 1) * 100, (hi - 1) * 100);
        qs_buf_fmt(out, " longer than %s", base);
    } else if (hi < 1) {
        qs_buf_fmt(out, "%s takes ", cand);
        percents(out, (1 - hi) * 100, (1 - lo) * 100);
        qs_buf_fmt(out, " less time than %s", base);
    } else {
        around_one(out, base, cand, (1 - lo) * 100, (hi - 1) * 100);
    }
}

void qs_report_arm_sentence(struct qs_buf *out, const char *name, double lo_ns, double hi_ns)
{
    if (!isfinite(lo_ns) || !isfinite(hi_ns)) {
        qs_buf_fmt(out, "too few runs for an interval of %s", name);
        return;
    }
    qs_buf_fmt(out, "%s takes ", name);
    qs_text_duration(out, lo_ns);
    qs_buf_str(out, " to ");
    qs_text_duration(out, hi_ns);
    qs_buf_str(out, " (median)");
}
