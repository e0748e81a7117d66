/* The tables of named statistics and what their rows share. Private to report.
 *
 * Adding a statistic is a function that fills a structure, the rows of its fields, and a row in one of the
 * tables (one.c, shape.c, modes.c, runs.c, two.c, ranks.c, rules.c, points.c): the rows write its part of the
 * document and print that of schema/statistics.schema.json; schema/analysis.schema.json says where it is. */
#ifndef QS_REPORT_ANALYSIS_IMPL_H
#define QS_REPORT_ANALYSIS_IMPL_H

#include <stddef.h>

#include "base/json.h"
#include "report/analysis/analysis.h"
#include "report/analysis/stat.h"
#include "report/tally.h"
#include "stats/dependence.h"
#include "stats/hier.h"
#include "stats/steady.h"

/* Those of the options; of many values fewer, at least QS_BOOT_RESAMPLES_MIN: 10^8 draws in all. */
size_t qs_analysis_resamples(const struct qs_analysis_opts *opts, size_t n);

struct qs_view {                           /* one series, prepared for all statistics */
    const struct qs_import_series *series; /* borrowed */
    const double *x;                       /* n values in order; borrowed */
    size_t n;
    double *sorted;                   /* owned, as the next three */
    double *medians, *means, *minima; /* of each run */
    size_t runs, dropped;
    struct qs_ess ess;            /* NaN where ess_status is not QS_OK */
    enum qs_status ess_status;    /* of qs_ess */
    struct qs_steady *steady;     /* owned: of each run */
    enum qs_status steady_status; /* of the first run */
    struct qs_nested nested;      /* the same values as runs */
    const struct qs_analysis_opts *opts;
    uint64_t id; /* tells series apart in the choice of random streams */
};

void qs_view_init(struct qs_view *v, const struct qs_import_series *series,
                  const struct qs_analysis_opts *opts);
void qs_view_done(struct qs_view *v);

enum qs_basis { QS_BASIS_ITERATIONS, QS_BASIS_RUNS }; /* what n_used counts */

/* `tell` computes and fills all fields, whatever the status. */
struct qs_view_stat {
    struct qs_stat stat;
    enum qs_status (*tell)(const struct qs_view *v, void *ret);
    enum qs_basis basis;
};

struct qs_pair { /* two samples of one kind: runs, or iterations */
    const struct qs_view *base, *cand;
    const double *x, *y; /* baseline, candidate */
    size_t nx, ny;
    enum qs_basis basis;
    bool lower_is_better;
    const struct qs_analysis_opts *opts;
};

struct qs_pair_stat {
    struct qs_stat stat;
    enum qs_status (*tell)(const struct qs_pair *p, void *ret);
    bool runs_only; /* makes no sense for iterations */
};

struct qs_points { /* a history: one value a night */
    const struct qs_view *view;
    const double *v;
    size_t n;
    char *const *labels; /* or NULL */
};

struct qs_points_stat {
    struct qs_stat stat;
    enum qs_status (*tell)(const struct qs_points *p, void *ret);
};

extern const struct qs_view_stat qs_one_stats[], qs_shape_stats[], qs_mode_stats[], qs_run_stats[];
extern const size_t qs_one_stat_count, qs_shape_stat_count, qs_mode_stat_count, qs_run_stat_count;
extern const struct qs_pair_stat qs_two_stats[], qs_rank_stats[], qs_rule_stats[];
extern const size_t qs_two_stat_count, qs_rank_stat_count, qs_rule_stat_count;
extern const struct qs_points_stat qs_points_stats[];
extern const size_t qs_points_stat_count;
extern const struct qs_stat qs_family_stat;

/* Everything about one sample, into the open object; lo and hi are the axis of its histogram. */
void qs_put_sample(struct qs_json *j, const struct qs_view *v, double lo, double hi);
void qs_put_view_stats(struct qs_json *j, const struct qs_view *v);
void qs_put_pair_stats(struct qs_json *j, const struct qs_pair *p);
void qs_put_points(struct qs_json *j, const struct qs_points *points); /* themselves, for a plot */
void qs_put_points_stats(struct qs_json *j, const struct qs_points *p);

/* What statistics cost (report/work.h), by their name: of n values in so many runs, of n units of both sides
 * with so many values, of n points. "warnings" is one, too. */
double qs_view_cost_ns(const char *name, size_t n, size_t n_runs, const struct qs_analysis_opts *opts);
double qs_pair_cost_ns(const char *name, size_t n, size_t values, const struct qs_analysis_opts *opts);
double qs_points_cost_ns(const char *name, size_t n, const struct qs_analysis_opts *opts);
/* All pieces of qs_view_init and qs_put_sample together, and so on. */
double qs_view_plan_ns(size_t n, size_t n_runs, const struct qs_analysis_opts *opts);
double qs_pair_plan_ns(enum qs_basis basis, size_t n, size_t values, const struct qs_analysis_opts *opts);
double qs_points_plan_ns(size_t n, const struct qs_analysis_opts *opts);

/* A random stream for a statistic of a series: independent of what else is computed. */
uint64_t qs_analysis_stream(uint64_t id, const char *statistic);

void qs_put_numbers(struct qs_json *j, const char *key, const double *v, size_t n);
void qs_put_counts(struct qs_json *j, const char *key, const size_t *v, size_t n);

/* A kind of step fit with what upstream takes where nobody says otherwise. */
struct qs_stepfit_opts qs_step_opts(enum qs_step_kind kind);

/* The p of the verdicts of one document, in the order of its results; at most as many as there are series. */
struct qs_family {
    double *p; /* owned by the caller */
    size_t count;
    struct qs_tally tally; /* done by the caller */
};
/* Ratios are pooled by metric; by unit in a file whose columns are the benchmarks. */
void qs_family_add(struct qs_family *family, const struct qs_import_series *series,
                   const struct qs_verdict *verdict);
/* "family" and "tally" of the open object; a p that is not known counts as 1. */
void qs_put_family(struct qs_json *j, const struct qs_family *family, const struct qs_analysis_opts *opts);

/* Whether and where one run settles. */
enum qs_status qs_steady_of_run(const struct qs_view *v, size_t run, struct qs_steady *ret);

/* What is wrong with the sample, in words: "warnings" of the open object. */
void qs_put_warnings(struct qs_json *j, const struct qs_view *v);
/* The axis of a histogram: from the least value to the highest that is no far outlier. */
void qs_histogram_range(const struct qs_view *v, double *lo, double *hi);
/* "histogram" of the open object; two that are compared share lo and hi. */
void qs_put_histogram(struct qs_json *j, const struct qs_view *v, double lo, double hi);

#endif
