/* Numbers as sentences: the interval first, never the bare point. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "report/put.h"
#include "report/verdict/verdict.h"

/* Digits that show the interval and no more. */
static int digits(double width)
{
    static const double steps[] = {30, 0.3, 0.02, 0.002}; /* from each on, one digit less is enough */
    int n = 0;
    while (n < 4 && width < steps[n])
        n++;
    return n;
}

/* "7.3–9.0", or one number where nothing varied. */
static void range(struct qs_buf *out, int n, double lo, double hi)
{
    char from[32], to[32];
    snprintf(from, sizeof from, "%.*f", n, lo);
    snprintf(to, sizeof to, "%.*f", n, hi);
    if (strtod(from, NULL) <= 0)
        snprintf(from, sizeof from, "%.1g", lo); /* an interval without 0 shows none */
    if (strcmp(from, to) != 0)
        qs_buf_fmt(out, "%s–%s", from, to);
    else
        qs_buf_fmt(out, "%.3g", lo + (hi - lo) / 2);
}

static void times(struct qs_buf *out, const char *slow, const char *fast, double lo, double hi)
{
    enum { LARGE = 100 };
    qs_buf_fmt(out, "%s takes ", slow);
    if (hi < 1e6)
        range(out, hi < LARGE ? 2 : 0, lo, hi);
    else
        qs_buf_fmt(out, "%.3g–%.3g", lo, hi);
    qs_buf_fmt(out, " times as long as %s", fast);
}

static void around_one(struct qs_buf *out, const char *base, const char *cand, double lo, double hi)
{
    const double nothing = 0.0005, wide = 10;
    double less = (1 - lo) * 100, more = (hi - 1) * 100;
    int n = digits(less + more);
    if (fabs(less) < nothing && fabs(more) < nothing)
        qs_buf_fmt(out, "%s takes as long as %s", cand, base);
    else if (hi >= wide)
        qs_buf_fmt(out, "%s takes between %.0f %% less time than %s and %.3g times as long", cand, less, base,
                   hi);
    else
        qs_buf_fmt(out, "%s takes between %.*f %% less and %.*f %% longer than %s", cand, n, less, n, more,
                   base);
}

void qs_report_sentence(struct qs_buf *out, const char *base, const char *cand, double lo, double hi)
{
    const double factor = 2; /* above it a percentage is harder to read than a multiple */
    const double nothing = 5e-6;
    if (!isfinite(lo) || !isfinite(hi) || lo <= 0 || !isfinite(1 / lo)) {
        qs_buf_fmt(out, "too few blocks to tell how %s and %s compare", cand, base);
    } else if (lo >= factor) {
        times(out, cand, base, lo, hi);
    } else if (hi <= 1 / factor) {
        times(out, base, cand, 1 / hi, 1 / lo);
    } else if (lo > 1 && hi - 1 >= nothing) {
        qs_buf_fmt(out, "%s takes ", cand);
        range(out, digits((hi - lo) * 100), (lo - 1) * 100, (hi - 1) * 100);
        qs_buf_fmt(out, " %% longer than %s", base);
    } else if (hi < 1 && 1 - lo >= nothing) {
        qs_buf_fmt(out, "%s takes ", cand);
        range(out, digits((hi - lo) * 100), (1 - hi) * 100, (1 - lo) * 100);
        qs_buf_fmt(out, " %% less time than %s", base);
    } else {
        around_one(out, base, cand, lo, hi);
    }
}

void qs_report_value_sentence(struct qs_buf *out, const char *metric, const char *base, const char *cand,
                              double lo, double hi)
{
    const double nothing = 5e-6;
    double less = (1 - lo) * 100, more = (hi - 1) * 100;
    int n = digits(fabs(less + more));
    if (fabs(less) < nothing && fabs(more) < nothing) {
        qs_buf_fmt(out, "%s of %s is that of %s", metric, cand, base);
        return;
    }
    qs_buf_fmt(out, "%s of %s is ", metric, cand);
    if (less <= 0) {
        range(out, n, -less, more);
        qs_buf_str(out, " % higher");
    } else if (more <= 0) {
        range(out, n, -more, less);
        qs_buf_str(out, " % lower");
    } else {
        qs_buf_fmt(out, "between %.*f %% lower and %.*f %% higher", n, less, n, more);
    }
    qs_buf_fmt(out, " than that of %s", base);
}

static bool is_duration(const struct qs_arm_metric *metric)
{
    return strcmp(metric->name, "duration_ns") == 0;
}

void qs_report_arm_sentence(struct qs_buf *out, const struct qs_arm_metric *metric, const char *name,
                            double lo, double hi)
{
    if (!isfinite(lo) || !isfinite(hi)) {
        qs_buf_fmt(out, "too few runs for an interval of %s", name);
    } else if (is_duration(metric)) {
        qs_buf_fmt(out, "%s takes ", name);
        qs_text_duration(out, lo);
        qs_buf_str(out, " to ");
        qs_text_duration(out, hi);
        qs_buf_str(out, " (median)");
    } else {
        qs_buf_fmt(out, "%s of %s is %.6g to %.6g %s (median)", metric->name, name, lo, hi, metric->unit);
    }
}

static void exact_sentence(struct qs_buf *out, const struct qs_comparison *c)
{
    double x = c->exact.value[QS_BASE], y = c->exact.value[QS_CAND];
    if (x == y)
        qs_buf_fmt(out, "%s: %.17g %s in both, exactly", c->metric->name, x, c->metric->unit);
    else
        qs_buf_fmt(out, "%s: %.17g %s in %s, %.17g in %s (%+.17g)", c->metric->name, x, c->metric->unit,
                   c->names[QS_BASE], y, c->names[QS_CAND], y - x);
}

void qs_comparison_sentence(struct qs_buf *out, const struct qs_comparison *c)
{
    const struct qs_ci *ci = qs_verdict_interval(&c->v);
    const char *base = c->names[QS_BASE], *cand = c->names[QS_CAND];
    bool known = isfinite(ci->lo) && isfinite(ci->hi);
    if (qs_comparison_is_exact(c))
        exact_sentence(out, c);
    else if (is_duration(c->metric) && (known || c->units == QS_UNITS_BLOCKS))
        qs_report_sentence(out, base, cand, ci->lo, ci->hi);
    else if (known)
        qs_report_value_sentence(out, c->metric->name, base, cand, ci->lo, ci->hi);
    else
        qs_buf_fmt(out, "there is no interval for the %s of %s to %s", c->metric->name, cand, base);
}

/* 0 and 100 % are none and all. */
static void share(struct qs_buf *out, double ratio)
{
    const double least = 0.005;
    if (ratio > 0 && ratio < least)
        qs_buf_str(out, "less than 1 %");
    else if (ratio < 1 && ratio >= 1 - least)
        qs_buf_str(out, "more than 99 %");
    else
        qs_buf_fmt(out, "%.0f %%", ratio * 100);
}

void qs_comparison_notes(struct qs_buf *out, const struct qs_comparison *c, const struct qs_superiority *s)
{
    if (qs_comparison_is_exact(c))
        return;
    bool all_tie = s->a == 0.5 && c->v.sd_log == 0;
    if (isfinite(s->a) && !all_tie) {
        qs_buf_fmt(out, is_duration(c->metric) ? "%s takes longer than %s in " : "%s is higher than %s in ",
                   c->names[QS_CAND], c->names[QS_BASE]);
        share(out, s->a);
        qs_buf_fmt(out, " of pairs (%.0f–%.0f %%)", s->ci.lo * 100, s->ci.hi * 100);
    }
    if (isfinite(c->v.sd_log)) /* how far one unit lies from the next */
        qs_buf_fmt(out, "%snoise ±%.2f %%", out->len > 0 ? "; " : "", c->v.sd_log * 100);
}

void qs_comparison_warn(struct qs_json *j, const struct qs_comparison *c, size_t family)
{
    const char *name = c->metric->name;
    if (c->exact.declared && !qs_comparison_is_exact(c) && c->side[QS_BASE].n > 0 && c->side[QS_CAND].n > 0)
        qs_put_warning(j, "not-deterministic",
                       "%s is declared deterministic but varies within %s: it is judged like a time", name,
                       !c->exact.constant[QS_BASE] && !c->exact.constant[QS_CAND] ? "both sides"
                       : !c->exact.constant[QS_BASE]                              ? "the base"
                                                                                  : "the candidate");
    if (qs_comparison_is_doubtful(c))
        qs_put_warning(j, "multiplicity",
                       "%s%s%s against %s is one of %zu comparisons: among so many, such a difference is "
                       "expected by chance (p %.2g, %.2g for all of them)",
                       is_duration(c->metric) ? "" : name, is_duration(c->metric) ? "" : " of ",
                       c->names[QS_CAND], c->names[QS_BASE], family, c->v.p, c->p_bh);
}
