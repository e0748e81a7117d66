/* One sample whose order does not matter. */
#include "answers.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "stats/describe.h"
#include "stats/harrell_davis.h"
#include "stats/interval.h"
#include "stats/modality.h"
#include "stats/normality.h"
#include "stats/outlier.h"

#define ASK(name)                                                                                            \
    static void name(const double *x, size_t n, const double *unused_y, size_t unused_n, struct answer *a)
#define ONE_SAMPLE_ONLY ((void)unused_y, (void)unused_n)

ASK(ask_describe)
{
    struct qs_summary s;
    ONE_SAMPLE_ONLY;
    a->status = qs_describe(x, n, &s);
    answer_put(a, "mean", ANSWER_LOCATION, s.mean);
    answer_put(a, "var", ANSWER_AREA, s.var);
    answer_put(a, "sd", ANSWER_SPREAD, s.sd);
    answer_put(a, "cov", ANSWER_FREE, s.cov);
    answer_put(a, "rse_abs", ANSWER_FREE, s.rse_abs);
    answer_put(a, "min", ANSWER_LOCATION, s.min);
    answer_put(a, "max", ANSWER_LOCATION, s.max);
    answer_put(a, "median", ANSWER_LOCATION, s.median);
    for (int i = 0; i < QS_Q_COUNT; i++)
        answer_put(a, "quantile", ANSWER_LOCATION, s.q[i]);
    answer_put(a, "iqr", ANSWER_SPREAD, s.iqr);
    answer_put(a, "rel_iqr", ANSWER_FREE, s.rel_iqr);
    answer_put(a, "mad", ANSWER_SPREAD, s.mad);
    answer_put(a, "scale", ANSWER_SPREAD, s.scale);
    answer_put(a, "trim05", ANSWER_LOCATION, s.trim05);
    answer_put(a, "trim25", ANSWER_LOCATION, s.trim25);
    answer_put(a, "geomean", ANSWER_SCALED, s.geomean);
    answer_put(a, "geosd", ANSWER_FREE, s.geosd);
    answer_put_share(a, "gini", ANSWER_FREE, s.gini);
    answer_put(a, "skew", ANSWER_SAME, s.skew);
    answer_put(a, "kurt", ANSWER_SAME, s.kurt);
}

ASK(ask_median)
{
    double median;
    ONE_SAMPLE_ONLY;
    a->status = qs_median(x, n, &median);
    answer_put(a, "median", ANSWER_LOCATION, median);
}

ASK(ask_mean_ci)
{
    struct qs_summary s;
    struct qs_ci ci;
    ONE_SAMPLE_ONLY;
    a->status = qs_describe(x, n, &s);
    if (a->status == QS_OK)
        a->status = qs_mean_ci(x, n, NAN, 0.95, &ci);
    else
        ci = qs_ci_none(0.95);
    answer_put(a, "mean", ANSWER_LOCATION, s.mean);
    answer_put_ci(a, ANSWER_LOCATION, &ci);
}

ASK(ask_median_ci)
{
    double median;
    struct qs_median_ci m;
    ONE_SAMPLE_ONLY;
    a->status = qs_median(x, n, &median);
    if (a->status == QS_OK)
        a->status = qs_median_ci(x, n, 0.95, &m);
    else
        m.ci = qs_ci_none(0.95);
    answer_put(a, "median", ANSWER_LOCATION, median);
    answer_put_ci(a, ANSWER_LOCATION, &m.ci);
}

ASK(ask_hd_ci)
{
    struct qs_ci ci;
    ONE_SAMPLE_ONLY;
    a->status = qs_hd_ci(x, n, 0.25, 0.95, &ci);
    answer_put(a, "middle", ANSWER_LOCATION, ci.lo + (ci.hi - ci.lo) / 2);
    answer_put_ci(a, ANSWER_LOCATION, &ci);
}

static void put_fit(struct answer *a, const struct qs_fit *fit)
{
    answer_put(a, "statistic", ANSWER_SAME, fit->statistic);
    answer_put_share(a, "p", ANSWER_SAME, fit->p);
}

ASK(ask_shapiro)
{
    struct qs_fit fit;
    ONE_SAMPLE_ONLY;
    a->status = qs_shapiro(x, n, &fit);
    put_fit(a, &fit);
}

ASK(ask_anderson_darling)
{
    struct qs_fit fit;
    ONE_SAMPLE_ONLY;
    a->status = qs_anderson_darling(x, n, &fit);
    put_fit(a, &fit);
}

ASK(ask_lilliefors)
{
    struct qs_fit fit;
    ONE_SAMPLE_ONLY;
    a->status = qs_lilliefors(x, n, &fit);
    put_fit(a, &fit);
}

ASK(ask_qq)
{
    double r;
    ONE_SAMPLE_ONLY;
    a->status = qs_qq_correlation(x, n, &r);
    answer_put(a, "r", ANSWER_SAME, r);
}

ASK(ask_tukey)
{
    struct qs_tukey t;
    ONE_SAMPLE_ONLY;
    a->status = qs_tukey_flags(x, n, NULL, &t);
    answer_put(a, "lo", ANSWER_LOCATION, t.lo);
    answer_put(a, "hi", ANSWER_LOCATION, t.hi);
    answer_put(a, "low", ANSWER_SAME, (double)t.n_low);
    answer_put(a, "high", ANSWER_SAME, (double)t.n_high);
}

ASK(ask_gesd)
{
    const struct qs_gesd_opts opts = {.most = 1, .alpha = 0.05};
    struct qs_gesd g;
    ONE_SAMPLE_ONLY;
    a->status = qs_gesd_flags(x, n, &opts, NULL, &g);
    answer_put(a, "count", ANSWER_SAME, (double)g.count);
    answer_put(a, "statistic", ANSWER_SAME, g.statistic);
    answer_put(a, "limit", ANSWER_SAME, g.limit);
}

ASK(ask_ties)
{
    struct qs_ties t;
    ONE_SAMPLE_ONLY;
    a->status = qs_ties(x, n, &t);
    answer_put(a, "distinct", ANSWER_SAME, (double)t.n_distinct);
    answer_put(a, "gap", ANSWER_SPREAD, t.smallest_gap);
}

ASK(ask_lowland)
{
    struct qs_modes m;
    ONE_SAMPLE_ONLY;
    a->status = qs_lowland(x, n, NULL, &m);
    answer_put(a, "count", ANSWER_SAME, (double)m.count);
    for (size_t i = 0; i < m.count && i < 4; i++)
        answer_put(a, "location", ANSWER_LOCATION, m.location[i]);
}

ASK(ask_mvalue)
{
    double m;
    ONE_SAMPLE_ONLY;
    a->status = qs_mvalue(x, n, &m);
    answer_put(a, "mvalue", ANSWER_SAME, m);
}

ASK(ask_lorenz)
{
    double share[ANSWER_VALUES] = {0};
    ONE_SAMPLE_ONLY;
    a->status = qs_lorenz(x, n, share);
    answer_put_share(a, "poorest half", ANSWER_FREE, n > 0 ? share[n / 2] : NAN);
}

const struct method answers_sample[] = {{"describe", 0, 0, ask_describe},
                                        {"median", 0, 0, ask_median},
                                        {"mean interval", 0, 2, ask_mean_ci},
                                        {"median interval", 0, 6, ask_median_ci},
                                        {"Harrell-Davis interval", 0, 2, ask_hd_ci},
                                        {"Shapiro-Wilk", 0, 3, ask_shapiro},
                                        {"Anderson-Darling", 0, 8, ask_anderson_darling},
                                        {"Lilliefors", 0, 5, ask_lilliefors},
                                        {"QQ correlation", 0, 3, ask_qq},
                                        {"Tukey's fences", 0, 8, ask_tukey},
                                        {"generalised ESD", 0, 3, ask_gesd},
                                        {"ties", 0, 0, ask_ties},
                                        {"lowland", 0, 0, ask_lowland},
                                        {"mvalue", 0, 0, ask_mvalue},
                                        {"Lorenz", 0, 0, ask_lorenz},
                                        {NULL, 0, 0, NULL}};
