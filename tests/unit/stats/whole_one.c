/* One sample whose order does not matter. */
#include "whole.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "stats/describe.h"
#include "stats/harrell_davis.h"
#include "stats/interval.h"
#include "stats/mixed.h"
#include "stats/mixed_median.h"
#include "stats/modality.h"
#include "stats/normality.h"
#include "stats/outlier.h"
#include "stats/sum.h"

static void put_sorted(FILE *out, const struct whole_sample *s)
{
    static const double ps[] = {0, 0.01, 0.1, 0.25, 0.5, 0.9, 1};
    double v[WHOLE_MOST];
    memcpy(v, s->x, s->nx * sizeof *v);
    qs_sort(v, s->nx);
    for (size_t i = 0; i < sizeof ps / sizeof *ps; i++) {
        double q, se;
        whole_status(out, qs_hd_quantile(v, s->nx, ps[i], &q, &se));
        PUT(q);
        PUT(se);
        PUT(qs_quantile(v, s->nx, ps[i], QS_QTYPE_7));
        PUT(qs_quantile(v, s->nx, ps[i], QS_QTYPE_8));
        PUT(qs_trimmed_mean(v, s->nx, ps[i] / 2));
    }
    struct qs_dip d;
    whole_status(out, qs_dip(v, s->nx, &d));
    PUT(d.dip);
    PUT(d.p);
}

static void put_summary(FILE *out, const struct whole_sample *s)
{
    struct qs_summary m;
    whole_status(out, qs_describe(s->x, s->nx, &m));
    PUT(m.cov_abs);
    PUT(m.rse);
    PUT(m.mad_raw);
    PUT(m.scale_source);
    PUT(m.trim10);
    PUT(m.kurt);
    struct qs_ci t = qs_t_interval(m.mean, m.sd, 0.7 * (double)s->nx, 0.9),
                 z = qs_z_interval(m.mean, m.sd, (double)s->nx, 0.99);
    PUT_CI(t);
    PUT_CI(z);
    whole_status(out, qs_mean_ci(s->x, s->nx, 0.6 * (double)s->nx, 0.8, &t));
    PUT_CI(t);
    struct qs_median_ci median;
    whole_status(out, qs_median_ci(s->x, s->nx, 0.8, &median));
    PUT_CI(median.ci);
    PUT(median.lo_rank);
    PUT(median.hi_rank);
}

static void put_lorenz(FILE *out, const struct whole_sample *s)
{
    double share[WHOLE_MOST + 1];
    enum qs_status status = qs_lorenz(s->x, s->nx, share);
    whole_status(out, status);
    for (size_t i = 0; status == QS_OK && i <= s->nx; i += 1 + s->nx / 5)
        PUT(share[i]);
}

/* One number of all flags and of what was there before. */
static unsigned digest(unsigned sum, const uint8_t *flags, size_t n)
{
    for (size_t i = 0; i < n; i++)
        sum = sum * 5 % 10007 + flags[i];
    return sum;
}

static void put_outliers(FILE *out, const struct whole_sample *s)
{
    uint8_t flags[WHOLE_MOST];
    struct qs_tukey t;
    struct qs_window_outliers w;
    whole_status(out, qs_tukey_flags(s->x, s->nx, flags, &t));
    unsigned sum = digest(0, flags, s->nx);
    PUT(sum);
    PUT(t.far_lo);
    PUT(t.far_hi);
    PUT(t.n_far);
    for (size_t window = 0; window <= 12; window += 4) {
        whole_status(out, qs_window_flags(s->x, s->nx, window, flags, &w));
        sum = digest(sum, flags, s->nx);
        PUT(sum);
        PUT(w.window);
        PUT(w.n_assessed);
        PUT(w.n_low);
        PUT(w.n_high);
    }
}

static void put_gesd(FILE *out, const struct whole_sample *s)
{
    for (unsigned k = 0; k < 4; k++) {
        const struct qs_gesd_opts opts = {.most = k < 2 ? 3 : 1, .alpha = 0.3, .robust = k % 2 == 1};
        uint8_t flags[WHOLE_MOST];
        struct qs_gesd g;
        whole_status(out, qs_gesd_flags(s->x, s->nx, &opts, flags, &g));
        unsigned sum = digest(0, flags, s->nx);
        PUT(sum);
        PUT(g.count);
        PUT(g.statistic);
        PUT(g.limit);
    }
}

static void put_modes(FILE *out, const struct whole_sample *s)
{
    struct qs_modality_test t;
    double spread[WHOLE_MOST], sum = 0, share[QS_MODES_MAX];
    static const double quanta[] = {NAN, 0, 0.5};
    for (size_t k = 0; k < 3; k++) {
        whole_status(out, qs_modality_test(s->x, s->nx, quanta[k], NULL, &t));
        PUT(t.modality);
        PUT(t.quantum);
        PUT(t.mvalue);
        PUT(t.modes.count);
        PUT(t.modes.bins);
        for (size_t i = 0; i < t.modes.count && i < 4; i++) {
            PUT(t.modes.location[i]);
            PUT(t.median[i]);
            PUT(t.share[i]);
        }
        for (size_t i = 0; i + 1 < t.modes.count && i < 4; i++)
            PUT(t.modes.cut[i]);
    }
    if (t.modes.count > 0) {
        whole_status(out, qs_mode_shares(s->y, s->ny, t.modes.cut, t.modes.count - 1, share));
        struct qs_share_change c = qs_share_change(t.share[0], s->nx, share[0], s->ny, 0.9);
        PUT(c.difference);
        PUT(c.bound);
        PUT(c.changed);
    }
    whole_status(out, qs_spread_ties(s->x, s->nx, 0.25, spread));
    for (size_t i = 0; i < s->nx; i++)
        sum += (double)(i + 1) * spread[i];
    PUT(sum);
}

static void put_fit(FILE *out, enum qs_status status, const struct qs_fit *fit)
{
    whole_status(out, status);
    PUT(fit->statistic);
    PUT(fit->p);
}

static void put_shape(FILE *out, const struct whole_sample *s)
{
    struct qs_shape_test t;
    struct qs_fit fit;
    struct qs_summary m;
    whole_status(out, qs_shape_test(s->x, s->nx, 0.05, &t));
    PUT(t.shape);
    put_fit(out, QS_OK, &t.raw);
    put_fit(out, QS_OK, &t.log);
    qs_describe(s->x, s->nx, &m);
    for (double shift = -3; shift <= 1; shift += 0.5)
        put_fit(out, qs_ks_normal(s->x, s->nx, m.median + shift * m.scale, m.scale, &fit), &fit);
    put_fit(out, qs_anderson_darling(s->x, s->nx, &fit), &fit);
    put_fit(out, qs_lilliefors(s->x, s->nx, &fit), &fit);
}

static void put_mixed(FILE *out, const struct whole_sample *s)
{
    struct qs_mixed m;
    whole_status(out, qs_mixed_mean(s->x, s->dx, s->nx, 0.9, &m));
    whole_ttest(out, &m.test, 1);
    whole_ttest(out, &m.alone[QS_CLEAN], 1);
    whole_ttest(out, &m.alone[QS_DISTURBED], 1);
    PUT(m.worth);
    PUT(m.agree_p);
    PUT(m.contradict);
    struct qs_mixed_median median;
    whole_status(out, qs_mixed_median(s->x, s->dx, s->nx, 0.9, &median));
    PUT(median.median);
    PUT_CI(median.ci);
    PUT(median.worth);
    for (size_t k = 0; k < QS_KINDS; k++) {
        PUT(median.alone[k].n);
        PUT(median.alone[k].median);
        PUT_CI(median.alone[k].ci);
    }
}

const struct whole_page whole_one[] = {
    {"sorted", put_sorted},     {"summary", put_summary}, {"lorenz", put_lorenz},
    {"outliers", put_outliers}, {"gesd", put_gesd},       {"modes", put_modes},
    {"shape", put_shape},       {"mixed", put_mixed},     {NULL, NULL}};
