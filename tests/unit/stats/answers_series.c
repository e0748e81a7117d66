/* Series, whose order matters, and statistics that are resampled in it. */
#include "answers.h"

#include <math.h>
#include <stdint.h>

#include "stats/bootstrap.h"
#include "stats/dependence.h"
#include "stats/drift.h"
#include "stats/edivisive.h"
#include "stats/hunter.h"
#include "stats/pelt.h"
#include "stats/stepfit.h"
#include "stats/steady.h"
#include "stats/trend.h"

#define ASK(name)                                                                                            \
    static void name(const double *x, size_t n, const double *unused_y, size_t unused_n, struct answer *a)
#define ONE_SAMPLE_ONLY ((void)unused_y, (void)unused_n)
enum { SHOWN = 3 };

static void put_places(struct answer *a, const size_t *places, size_t count)
{
    answer_put(a, "changes", ANSWER_SAME, (double)count);
    for (size_t i = 0; i < count && i < SHOWN; i++)
        answer_put(a, "place", ANSWER_SAME, (double)places[i]);
}

static void put_boot(struct answer *a, const struct qs_boot *b)
{
    answer_put(a, "estimate", ANSWER_LOCATION, b->estimate);
    answer_put_ci(a, ANSWER_LOCATION, &b->pct);
    answer_put(a, "bias", ANSWER_SPREAD, b->bias);
    answer_put(a, "se", ANSWER_SPREAD, b->se);
    answer_put(a, "estimate", ANSWER_LOCATION, b->estimate);
    answer_put_ci(a, ANSWER_LOCATION, &b->bca);
}

ASK(ask_boot)
{
    const struct qs_boot_opts opts = {
        .statistic = qs_statistic_mean, .level = 0.95, .resamples = 400, .seed = 7, .stream = 1};
    struct qs_boot b;
    ONE_SAMPLE_ONLY;
    a->status = qs_boot_ci(x, n, &opts, &b);
    put_boot(a, &b);
}

ASK(ask_block_boot)
{
    const struct qs_boot_opts opts = {
        .statistic = qs_statistic_median, .level = 0.95, .resamples = 400, .seed = 7, .stream = 2};
    struct qs_boot b;
    ONE_SAMPLE_ONLY;
    a->status = qs_block_boot_ci(x, n, NULL, 0, n > 4 ? 4 : 1, &opts, &b);
    put_boot(a, &b);
}

ASK(ask_acf)
{
    double r[4] = {NAN, NAN, NAN, NAN};
    ONE_SAMPLE_ONLY;
    a->status = qs_acf(x, n, NULL, 0, 3, r);
    for (int i = 0; i < 4; i++)
        answer_put(a, "r", ANSWER_SAME, r[i]);
}

ASK(ask_ljung_box)
{
    struct qs_ljung_box l;
    ONE_SAMPLE_ONLY;
    a->status = qs_ljung_box(x, n, NULL, 0, 0, &l);
    answer_put(a, "q", ANSWER_SAME, l.q);
    answer_put_share(a, "p", ANSWER_SAME, l.p);
}

ASK(ask_ess)
{
    struct qs_ess e;
    ONE_SAMPLE_ONLY;
    a->status = qs_ess(x, n, NULL, 0, &e);
    answer_put(a, "n_eff", ANSWER_SAME, e.n_eff);
    answer_put(a, "tau", ANSWER_SAME, e.tau);
    answer_put(a, "r1", ANSWER_SAME, e.r1);
}

ASK(ask_thin)
{
    struct qs_thinning t;
    ONE_SAMPLE_ONLY;
    a->status = qs_thin(x, n, NULL, 0, &t);
    answer_put(a, "stride", ANSWER_SAME, (double)t.stride);
    answer_put(a, "r1", ANSWER_SAME, t.r1);
    answer_put_share(a, "p", ANSWER_SAME, t.p);
}

ASK(ask_mann_kendall)
{
    struct qs_mann_kendall m;
    ONE_SAMPLE_ONLY;
    a->status = qs_mann_kendall(x, n, &m);
    answer_put(a, "s", ANSWER_SAME, m.s);
    answer_put(a, "var_s", ANSWER_SAME, m.var_s);
    answer_put_share(a, "p", ANSWER_SAME, m.p);
    answer_put(a, "tau", ANSWER_SAME, m.tau);
}

ASK(ask_theil_sen)
{
    struct qs_theil_sen t;
    ONE_SAMPLE_ONLY;
    a->status = qs_theil_sen_ci(x, n, 0.95, NULL, &t);
    answer_put(a, "intercept", ANSWER_LOCATION, t.intercept);
    answer_put(a, "slope", ANSWER_SPREAD, t.slope);
    answer_put_ci(a, ANSWER_SPREAD, &t.ci);
}

ASK(ask_drift)
{
    struct qs_drift d;
    ONE_SAMPLE_ONLY;
    a->status = qs_drift(x, n, 0.95, NULL, &d);
    answer_put(a, "n_eff", ANSWER_SAME, d.n_eff);
    answer_put_share(a, "p", ANSWER_SAME, d.p);
    answer_put(a, "intercept", ANSWER_LOCATION, d.intercept);
    answer_put(a, "slope", ANSWER_SPREAD, d.slope);
    answer_put_ci(a, ANSWER_SPREAD, &d.ci);
}

ASK(ask_ramp)
{
    struct qs_ramp r;
    ONE_SAMPLE_ONLY;
    a->status = qs_ramp_fit(x, n, &r);
    bool fits = a->status == QS_OK;
    answer_put(a, "from", ANSWER_SAME, fits ? (double)r.from : NAN);
    answer_put(a, "to", ANSWER_SAME, fits ? (double)r.to : NAN);
    answer_put(a, "before", ANSWER_LOCATION, fits ? r.before : NAN);
    answer_put(a, "after", ANSWER_LOCATION, fits ? r.after : NAN);
}

ASK(ask_hunter)
{
    struct qs_hunter_opts opts = qs_hunter_opts_default();
    struct qs_change_point points[ANSWER_VALUES];
    size_t count = 0;
    ONE_SAMPLE_ONLY;
    opts.p_max = 0.05;
    a->status = qs_hunter(x, n, &opts, points, &count);
    answer_put(a, "changes", ANSWER_SAME, (double)count);
    for (size_t i = 0; i < count && i < SHOWN; i++) {
        answer_put(a, "index", ANSWER_SAME, (double)points[i].index);
        answer_put_share(a, "p", ANSWER_SAME, points[i].p);
        answer_put(a, "before", ANSWER_LOCATION, points[i].before);
        answer_put_wide(a, "magnitude", ANSWER_FREE, points[i].magnitude);
        answer_put(a, "ratio", ANSWER_FREE, points[i].ratio);
        answer_put_ci(a, ANSWER_FREE, &points[i].ci);
    }
}

ASK(ask_changes)
{
    struct qs_hunter_opts opts = qs_hunter_opts_default();
    struct qs_changes changes;
    ONE_SAMPLE_ONLY;
    a->status = qs_changes_find(x, n, &opts, &changes);
    answer_put(a, "changes", ANSWER_SAME, (double)changes.count);
    for (size_t i = 0; i < changes.count && i < SHOWN; i++) {
        answer_put(a, "from", ANSWER_SAME, (double)changes.at[i].from);
        answer_put_share(a, "p", ANSWER_SAME, changes.at[i].p);
        answer_put(a, "after", ANSWER_LOCATION, changes.at[i].after);
    }
    qs_changes_free(&changes);
}

ASK(ask_pelt)
{
    const struct qs_pelt_opts opts = qs_pelt_opts_default();
    size_t places[ANSWER_VALUES];
    size_t count = 0;
    ONE_SAMPLE_ONLY;
    a->status = qs_pelt(x, n, &opts, places, &count);
    put_places(a, places, count);
}

ASK(ask_ed_pelt)
{
    size_t places[ANSWER_VALUES];
    size_t count = 0;
    ONE_SAMPLE_ONLY;
    a->status = qs_ed_pelt(x, n, 5, NULL, places, &count);
    put_places(a, places, count);
}

ASK(ask_edivisive)
{
    const struct qs_edivisive_opts opts = {.seed = 3, .permutations = 99, .p_max = 0.05};
    struct qs_edivisive_point points[ANSWER_VALUES];
    size_t count = 0;
    ONE_SAMPLE_ONLY;
    a->status = qs_edivisive(x, n, &opts, points, &count);
    answer_put(a, "changes", ANSWER_SAME, (double)count);
    for (size_t i = 0; i < count && i < SHOWN; i++) {
        answer_put(a, "index", ANSWER_SAME, (double)points[i].index);
        answer_put(a, "q", ANSWER_SPREAD, points[i].q);
        answer_put_share(a, "p", ANSWER_SAME, points[i].p);
    }
}

ASK(ask_perfherder)
{
    struct qs_perfherder_opts opts = qs_perfherder_opts_default();
    double t[ANSWER_VALUES];
    size_t places[ANSWER_VALUES];
    size_t count = 0;
    ONE_SAMPLE_ONLY;
    opts.t_limit = 3;
    a->status = qs_perfherder(x, n, &opts, t, places, &count);
    put_places(a, places, count);
    answer_put_wide(a, "t", ANSWER_SAME, a->status == QS_OK ? t[n / 2] : NAN);
}

ASK(ask_steady)
{
    const struct qs_steady_opts opts = {.delta_ratio = 0, .lower_is_better = true};
    struct qs_steady s;
    ONE_SAMPLE_ONLY;
    a->status = qs_steady_state(x, n, NULL, &opts, &s);
    answer_put(a, "class", ANSWER_SAME, a->status == QS_OK ? (double)s.class : NAN);
    answer_put(a, "start", ANSWER_SAME, a->status == QS_OK ? (double)s.start : NAN);
    answer_put(a, "mean", ANSWER_LOCATION, s.mean);
}

const struct method answers_series[] = {{"bootstrap", METHOD_ORDERED, 2, ask_boot},
                                        {"block bootstrap", METHOD_ORDERED, 2, ask_block_boot},
                                        {"autocorrelation", METHOD_ORDERED, 2, ask_acf},
                                        {"Ljung-Box", METHOD_ORDERED, 5, ask_ljung_box},
                                        {"effective sample size", METHOD_ORDERED, 2, ask_ess},
                                        {"thinning", METHOD_ORDERED, 30, ask_thin},
                                        {"Mann-Kendall", METHOD_ORDERED, 2, ask_mann_kendall},
                                        {"Theil-Sen", METHOD_ORDERED, 2, ask_theil_sen},
                                        {"drift", METHOD_ORDERED, 2, ask_drift},
                                        {"ramp", METHOD_ORDERED, 3, ask_ramp},
                                        {"Hunter", METHOD_ORDERED, 2, ask_hunter},
                                        {"steps and drifts", METHOD_ORDERED, 2, ask_changes},
                                        {"PELT", METHOD_ORDERED, 2, ask_pelt},
                                        {"ED-PELT", METHOD_ORDERED, 2, ask_ed_pelt},
                                        {"E-divisive", METHOD_ORDERED, 2, ask_edivisive},
                                        {"Perfherder", METHOD_ORDERED, 0, ask_perfherder},
                                        {"steady state", METHOD_ORDERED, 40, ask_steady},
                                        {NULL, 0, 0, NULL}};
