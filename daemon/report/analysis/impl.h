/* The tables of named statistics and what their rows share. Private to report.
 *
 * Adding a statistic is a function that fills a structure, the rows of its fields, and a row in one of the
 * tables (one.c, shape.c, modes.c, runs.c, two.c, ranks.c, rules.c, points.c): the rows write its part of the
 * document and print that of schema/statistics.schema.json, the tables that of schema/analysis.schema.json.
 */
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

struct qs_sample {                         /* one series, prepared for all statistics */
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

void qs_sample_init(struct qs_sample *s, const struct qs_import_series *series,
                    const struct qs_analysis_opts *opts);
void qs_sample_done(struct qs_sample *s);

enum qs_basis { QS_BASIS_ITERATIONS, QS_BASIS_RUNS }; /* what n_used counts */

/* `tell` computes and fills all fields, whatever the status. */
struct qs_sample_stat {
    struct qs_stat stat;
    enum qs_status (*tell)(const struct qs_sample *s, void *ret);
    enum qs_basis basis;
};

struct qs_pair { /* two samples of one kind: runs, or iterations */
    const struct qs_sample *base, *cand;
    const double *x, *y; /* baseline, candidate */
    size_t nx, ny;
    enum qs_basis basis;
    bool lower_is_better;
    const struct qs_analysis_opts *opts;
};

struct qs_pair_stat {
    struct qs_stat stat;
    enum qs_status (*tell)(const struct qs_pair *p, void *ret);
};

struct qs_points { /* a history: one value a night */
    const struct qs_sample *sample;
    const double *v;
    size_t n;
    char *const *labels; /* or NULL */
    const char *of;      /* what a point is: "value" or "run-median" */
};

struct qs_points_stat {
    struct qs_stat stat;
    enum qs_status (*tell)(const struct qs_points *p, void *ret);
};

extern const struct qs_sample_stat qs_one_stats[], qs_shape_stats[], qs_mode_stats[], qs_run_stats[];
extern const struct qs_pair_stat qs_two_stats[], qs_rank_stats[], qs_rule_stats[];
extern const struct qs_points_stat qs_points_stats[];
extern const struct qs_stat_table qs_sample_tables[], qs_pair_tables[], qs_points_tables[],
    qs_family_tables[]; /* all of them */

/* Their statistics: of a pointer to a sample, of a pair, of points with themselves for a plot. */
extern const struct qs_field qs_sample_stat_rows[], qs_pair_rows[], qs_points_rows[];

/* One series in a document: what it is, what is wrong with it, its shape, and every statistic. */
struct qs_told_sample {
    const struct qs_sample *of;
    double scale, lo, hi; /* lo, hi: the axis of its histogram; two that are compared share it */
    size_t n, runs, n_dropped, dropped[QS_DROP_COUNT];
};
struct qs_told_sample qs_tell_sample(const struct qs_sample *s);
extern const struct qs_field qs_sample_rows[], qs_histogram_rows[];

/* What statistics cost (report/work.h), by their name: of n values in so many runs, of n units of both sides
 * with so many values, of n points. "warnings" is one, too. */
double qs_sample_cost_ns(const char *name, size_t n, size_t n_runs, const struct qs_analysis_opts *opts);
double qs_pair_cost_ns(const char *name, size_t n, size_t values, const struct qs_analysis_opts *opts);
double qs_points_cost_ns(const char *name, size_t n, const struct qs_analysis_opts *opts);
/* All pieces of qs_sample_init and of a sample together, and so on. */
double qs_sample_plan_ns(size_t n, size_t n_runs, const struct qs_analysis_opts *opts);
double qs_pair_plan_ns(enum qs_basis basis, size_t n, size_t values, const struct qs_analysis_opts *opts);
double qs_points_plan_ns(size_t n, const struct qs_analysis_opts *opts);

/* A random stream for a statistic of a series: independent of what else is computed. */
uint64_t qs_analysis_stream(uint64_t id, const char *statistic);

/* A kind of step fit with what upstream takes where nobody says otherwise. */
struct qs_stepfit_opts qs_step_opts(enum qs_step_kind kind);

/* The p of the verdicts of one document, in the order of its results; at most as many as there are series. */
struct qs_family {
    double *p; /* owned by the caller */
    size_t count;
    double level;          /* of intervals */
    struct qs_tally tally; /* done by the caller */
};
/* "family" and "tally" of a pointer to a family; a p that is not known counts as 1. */
extern const struct qs_field qs_family_rows[];
/* Ratios are pooled by metric; by unit in a file whose columns are the benchmarks. */
void qs_family_add(struct qs_family *family, const struct qs_import_series *series,
                   const struct qs_verdict *verdict);

/* Whether and where one run settles. */
enum qs_status qs_steady_of_run(const struct qs_sample *s, size_t run, struct qs_steady *ret);

/* What is wrong with the sample, in words: warnings into the open array. */
void qs_put_warnings(struct qs_json *j, const struct qs_sample *s);

#endif
