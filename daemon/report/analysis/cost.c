/* What each statistic costs, so that the share of the work done can be told. The constants were measured: one
 * statistic over a million log-normal values, or over as many as it takes, on one core of a server of 2020.
 * They decide how evenly the share rises, and nothing else. What a table does not name is a pass over the
 * values. */
#include <math.h>
#include <string.h>

#include "report/analysis/impl.h"

struct cost {
    const char *name;
    double value_ns; /* for each value */
    double root_ns;  /* for the square root of their number: quantiles that weigh the values near them */
    double draw_ns;  /* for each value of each resample */
    double pairs_ns; /* for each of the n^2/2 pairs */
    size_t most;     /* values beyond which it is not computed; 0: none */
};

static const double A_PASS_NS = 20, AT_LEAST_NS = 2000;

/* Preparation (order, autocorrelation, where runs settle) and warnings. */
static const struct cost samples[] = {
    {"steady_state", 150, 0, 0, 0, 0},
    {"warnings", 150, 430e3, 0, 0, 0},
    {"describe", 70, 0, 0, 0, 0},
    {"harrell_davis", 10, 20e3, 0, 0, 0},
    {"hd_median_ci", 18, 5e3, 0, 0, 0},
    {"bootstrap_mean", 20, 0, 2, 0, 0},
    {"bootstrap_median", 90, 0, 0.5, 0, 0},
    {"block_bootstrap_mean", 40, 0, 0.6, 0, 0},
    {"futhark", 80, 0, 0, 0, 0},
    {"modality", 100, 430e3, 0, 0, 0},
    {"lowland", 20, 410e3, 0, 0, 0},
    {"window_outliers", 115, 0, 0, 0, 0},
    {"dip", 60, 0, 0, 0, 0},
    {"pelt_mean", 0, 0, 0, 9, 20000},
    {"pelt", 0, 0, 0, 9, 20000},
    {"pelt_r", 0, 0, 0, 9, 20000},
};

/* Of runs, whatever the number of their values. */
static const struct cost runs[] = {{"impact_factor", 0, 0, 12, 0, 0}};

static const struct cost pairs[] = {
    {"mann_whitney", 70, 0, 0, 0, 0},
    {"hodges_lehmann", 2000, 0, 0, 0, 0},
    {"hodges_lehmann_ratio", 1600, 0, 0, 0, 0},
    {"hierarchical_bootstrap", 20, 0, 2, 0, 0},
    {"mode_shares", 20, 300e3, 0, 0, 0},
    {"step_fit", 64, 0, 0, 0, 0},
    {"android", 37, 0, 0, 0, 0},
    {"rancid", 30, 0, 2, 0, 0},
    {"paired_blocks", 100, 0, 0, 4, 4000},
};

/* Hunter's windows are searched by pairs; a window that splits is searched again. */
static const double WINDOW_PAIR_NS = 17;
static const struct cost points[] = {
    {"edivisive", 0, 0, 0, 3400, 1000}, {"pelt_points", 0, 0, 0, 9, 20000}, {"ed_pelt", 0, 0, 0, 9, 20000},
    {"drift", 0, 0, 0, 100, 5000},      {"theil_sen", 0, 0, 0, 50, 5000},   {"gesd", 700, 0, 0, 0, 0},
};

static double cost_of(const struct cost *rows, size_t count, const char *name, size_t n,
                      const struct qs_analysis_opts *opts)
{
    double values = (double)n;
    for (size_t i = 0; i < count; i++) {
        const struct cost *c = &rows[i];
        if (strcmp(c->name, name) != 0)
            continue;
        double draws = (double)qs_analysis_resamples(opts, n) * values;
        bool computed = c->most == 0 || n <= c->most;
        return AT_LEAST_NS + c->value_ns * values + c->root_ns * sqrt(values) + c->draw_ns * draws +
               (computed ? c->pairs_ns * values * values / 2 : 0);
    }
    return AT_LEAST_NS + A_PASS_NS * values;
}

double qs_sample_cost_ns(const char *name, size_t n, size_t n_runs, const struct qs_analysis_opts *opts)
{
    if (strcmp(name, runs[0].name) == 0)
        return cost_of(runs, 1, name, n_runs, opts);
    return cost_of(samples, sizeof samples / sizeof *samples, name, n, opts);
}

/* The hierarchical bootstrap draws values, whatever the unit. */
double qs_pair_cost_ns(const char *name, size_t n, size_t values, const struct qs_analysis_opts *opts)
{
    bool draws_values = strcmp(name, "hierarchical_bootstrap") == 0;
    return cost_of(pairs, sizeof pairs / sizeof *pairs, name, draws_values ? values : n, opts);
}

double qs_points_cost_ns(const char *name, size_t n, const struct qs_analysis_opts *opts)
{
    double window = (double)(opts->change_window < n ? opts->change_window : n);
    bool searched =
        strcmp(name, "labelled") == 0 || strcmp(name, "change_points") == 0 || strcmp(name, "hunter") == 0;
    return searched ? AT_LEAST_NS + WINDOW_PAIR_NS * (double)n * window
                    : cost_of(points, sizeof points / sizeof *points, name, n, opts);
}
