/* What is wrong with a sample that came from elsewhere. */
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "report/analysis/impl.h"
#include "report/put.h"
#include "stats/dependence.h"
#include "stats/describe.h"
#include "stats/modality.h"
#include "stats/normality.h"
#include "stats/outlier.h"
#include "stats/trend.h"

enum { FEW_RUNS = 2, FEW_VALUES = 6 };

static void warn_size(struct qs_json *j, const struct qs_sample *s)
{
    if (s->n < FEW_VALUES)
        qs_put_warning(j, "few", "%zu value%s: an interval of the median at 95 %% needs %d", s->n,
                       s->n == 1 ? "" : "s", FEW_VALUES);
    if (s->runs < FEW_RUNS)
        qs_put_warning(j, "one-run",
                       "all values are from one run: they do not show how starts of the program differ");
    for (size_t i = 0; i < QS_DROP_COUNT; i++)
        if (s->series->dropped[i] > 0)
            qs_put_warning(j, "dropped", "left out: %zu value%s (%s)", s->series->dropped[i],
                           s->series->dropped[i] == 1 ? "" : "s", qs_drop_names[i]);
}

static void warn_dependence(struct qs_json *j, const struct qs_sample *s)
{
    struct qs_ljung_box b = {.p = NAN};
    if (qs_ljung_box(s->x, s->n, NULL, 0, 0, &b) != QS_OK || s->ess_status != QS_OK)
        return;
    if (b.p < 0.01 && s->ess.n_eff < (double)s->n)
        qs_put_warning(
            j, "dependence",
            "values resemble those before them (lag-1 autocorrelation %.2f): %zu values are worth %.0f "
            "independent ones",
            s->ess.r1, s->n, s->ess.n_eff);
}

/* A slope over the whole series that matters, and is no chance. */
static void warn_drift(struct qs_json *j, const struct qs_sample *s)
{
    enum { ENOUGH = 20, PAIRS_MOST = 2000 };
    const double sure = 0.001, matters_ratio = 0.01;
    struct qs_mann_kendall m;
    double slope = NAN, median = s->sorted[s->n / 2];
    if (s->n < ENOUGH || s->n > PAIRS_MOST || qs_mann_kendall(s->x, s->n, &m) != QS_OK || !(m.p < sure) ||
        qs_theil_sen(s->x, s->n, NULL, &slope) != QS_OK)
        return;
    double change = slope * (double)(s->n - 1) / fabs(median);
    if (fabs(change) >= matters_ratio && isfinite(change))
        qs_put_warning(j, "drift", "values %s by %.1f %% from the first to the last",
                       change > 0 ? "rise" : "fall", fabs(change) * 100);
}

static void add_value(struct qs_buf *out, const struct qs_sample *s, double x)
{
    const char *unit = s->series->unit;
    if (strcmp(unit, "ns") == 0)
        qs_text_duration(out, x);
    else
        qs_buf_fmt(out, "%.4g%s%s", x, unit[0] != '\0' ? " " : "", unit);
}

/* "2 modes: 62 % around 12.3 ms, 38 % around 15.1 ms" */
static void warn_several(struct qs_json *j, const struct qs_sample *s, const struct qs_modality_test *t)
{
    enum { TOLD = 4 };
    QS_BUF(text);
    for (size_t i = 0; i < t->modes.count && i < TOLD; i++) {
        qs_buf_fmt(&text, "%s%.0f %% around ", i > 0 ? ", " : "", t->share[i] * 100);
        add_value(&text, s, t->median[i]);
    }
    qs_put_warning(j, "multimodal", "%zu modes: %s%s; a median can jump between them", t->modes.count,
                   text.data, t->modes.count > TOLD ? ", ..." : "");
}

static void warn_modes(struct qs_json *j, const struct qs_sample *s)
{
    struct qs_modality_test t;
    double quantum = s->opts->resolution > 0 ? s->opts->resolution : NAN;
    if (qs_modality_test(s->sorted, s->n, quantum, &s->opts->progress, &t) != QS_OK)
        return;
    if (t.modality == QS_MODALITY_MORE)
        warn_several(j, s, &t);
    else if (t.modality == QS_MODALITY_POSSIBLY_MORE)
        qs_put_warning(j, "possibly-multimodal", "possibly several modes (mvalue %.1f)", t.mvalue);
}

/* Where runs settle: the classes of Barrett et al. that are not flat. */
static void warn_warmup(struct qs_json *j, const struct qs_sample *s)
{
    size_t count[QS_STEADY_INCONSISTENT + 1] = {0}, latest = 0;
    for (size_t run = 0; run < s->runs; run++) {
        const struct qs_steady steady = s->steady[run];
        count[steady.class]++;
        if (steady.class == QS_STEADY_WARMUP && steady.start > latest)
            latest = steady.start;
    }
    if (count[QS_STEADY_WARMUP] > 0)
        qs_put_warning(
            j, "warm-up",
            "warm-up in %zu of %zu runs: all of them are steady from iteration %zu on, and worse before",
            count[QS_STEADY_WARMUP], s->runs, latest + 1);
    if (count[QS_STEADY_SLOWDOWN] > 0)
        qs_put_warning(j, "slowdown", "%zu of %zu runs begin better than they continue",
                       count[QS_STEADY_SLOWDOWN], s->runs);
    if (count[QS_STEADY_NONE] > 0)
        qs_put_warning(j, "no-steady-state", "%zu of %zu runs reach no steady state", count[QS_STEADY_NONE],
                       s->runs);
}

static void warn_normality(struct qs_json *j, const struct qs_sample *s)
{
    struct qs_shape_test t;
    if (qs_shape_test(s->x, s->n, 0.05, &t) != QS_OK)
        return;
    if (t.shape == QS_SHAPE_LOG_NORMAL)
        qs_put_warning(j, "log-normal",
                       "log-normal: the geometric mean and ratios describe it better than the mean");
    else if (t.shape == QS_SHAPE_OTHER)
        qs_put_warning(j, "not-normal",
                       "not normal (Shapiro-Wilk p = %.2g): trust the median and its interval", t.raw.p);
}

static void warn_shape(struct qs_json *j, const struct qs_sample *s)
{
    const double many_ratio = 0.01;
    struct qs_tukey t;
    if (s->sorted[0] == s->sorted[s->n - 1] && s->n > 1)
        qs_put_warning(j, "constant", "all values are equal: the clock or counter may be too coarse");
    else if (qs_tukey_flags(s->sorted, s->n, NULL, &t) == QS_OK && t.n_far > 0 &&
             (double)t.n_far >= many_ratio * (double)s->n)
        qs_put_warning(j, "outliers", "%zu of %zu values lie beyond 3 IQR; they are kept", t.n_far, s->n);
}

/* Fewer than one value in two is a value of its own, and nobody said that its clock has such steps. */
static void warn_ticks(struct qs_json *j, const struct qs_sample *s)
{
    enum { ENOUGH = 20 };
    size_t distinct = 1;
    for (size_t i = 1; i < s->n; i++)
        distinct += s->sorted[i] != s->sorted[i - 1];
    if (!(s->opts->resolution > 0) && s->n >= ENOUGH && distinct > 1 && distinct * 2 < s->n)
        qs_put_warning(j, "quantised",
                       "%zu values, only %zu of them distinct: they are steps of a coarse clock or counter",
                       s->n, distinct);
}

void qs_put_warnings(struct qs_json *j, const struct qs_sample *s)
{
    warn_size(j, s);
    warn_dependence(j, s);
    warn_drift(j, s);
    warn_modes(j, s);
    warn_warmup(j, s);
    warn_normality(j, s);
    warn_shape(j, s);
    warn_ticks(j, s);
}
