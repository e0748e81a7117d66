/* How often intervals for one sample hold what they are to hold: coverage_study [REPETITIONS [RESAMPLES]]
 * prints tables in Markdown, of one sample and of runs. Each cell is the share of repetitions in which the
 * nominal 95 % interval covers the mean or the median of the distribution that the values are drawn from, or
 * the ratio of two. Seeds are fixed. */
#include "studies/coverage/coverage.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "stats/bootstrap.h"
#include "stats/dependence.h"
#include "stats/harrell_davis.h"
#include "stats/interval.h"
#include "stats/rng.h"

enum { N_MAX = 1000, REPETITIONS = 400, RESAMPLES = 1000 };

static const double LEVEL = 0.95;

/* Normal values with the correlation phi from one to the next; exponentiated or rounded to half an sd. */
struct process {
    const char *name;
    size_t n;
    double phi;
    bool log_normal, rounded;
};

static const struct process processes[] = {
    {"normal", 10, 0, false, false},        {"normal", 30, 0, false, false},
    {"normal", 200, 0, false, false},       {"rounded", 30, 0, false, true},
    {"log-normal", 10, 0, true, false},     {"log-normal", 30, 0, true, false},
    {"log-normal", 200, 0, true, false},    {"AR(1) 0.6", 200, 0.6, false, false},
    {"AR(1) 0.9", 1000, 0.9, false, false},
};
enum { PROCESSES = sizeof processes / sizeof *processes };

double coverage_normal(struct qs_rng *rng)
{
    double u = 1 - qs_rng_unit(rng), v = qs_rng_unit(rng);
    return sqrt(-2 * log(u)) * cos(2 * M_PI * v);
}

static void draw(const struct process *p, struct qs_rng *rng, double *x)
{
    double z = coverage_normal(rng);
    for (size_t i = 0; i < p->n; i++) {
        double value = p->rounded ? rint(2 * z) / 2 : z;
        x[i] = p->log_normal ? exp(value) : value;
        z = p->phi * z + sqrt(1 - p->phi * p->phi) * coverage_normal(rng);
    }
}

static enum qs_status t_interval(const double *x, size_t n, const struct qs_boot_opts *opts, struct qs_ci *ci)
{
    (void)opts;
    return qs_mean_ci(x, n, NAN, LEVEL, ci);
}

static enum qs_status t_n_eff(const double *x, size_t n, const struct qs_boot_opts *opts, struct qs_ci *ci)
{
    struct qs_ess ess;
    (void)opts;
    enum qs_status status = qs_ess(x, n, NULL, 0, &ess);
    return status == QS_OK ? qs_mean_ci(x, n, ess.n_eff, LEVEL, ci) : status;
}

static enum qs_status order(const double *x, size_t n, const struct qs_boot_opts *opts, struct qs_ci *ci)
{
    struct qs_median_ci median;
    (void)opts;
    enum qs_status status = qs_median_ci(x, n, LEVEL, &median);
    *ci = median.ci;
    return status;
}

static enum qs_status harrell_davis(const double *x, size_t n, const struct qs_boot_opts *opts,
                                    struct qs_ci *ci)
{
    (void)opts;
    return qs_hd_ci(x, n, 0.5, LEVEL, ci);
}

static enum qs_status percentile(const double *x, size_t n, const struct qs_boot_opts *opts, struct qs_ci *ci)
{
    struct qs_boot boot;
    enum qs_status status = qs_boot_ci(x, n, opts, &boot);
    *ci = boot.pct;
    return status;
}

static enum qs_status bca(const double *x, size_t n, const struct qs_boot_opts *opts, struct qs_ci *ci)
{
    struct qs_boot boot;
    enum qs_status status = qs_boot_ci(x, n, opts, &boot);
    *ci = boot.bca;
    return status;
}

static enum qs_status blocks(const double *x, size_t n, const struct qs_boot_opts *opts, struct qs_ci *ci)
{
    struct qs_boot boot;
    enum qs_status status = qs_block_boot_ci(x, n, NULL, 0, 0, opts, &boot);
    *ci = boot.pct;
    return status;
}

struct method {
    const char *name;
    enum qs_status (*interval)(const double *x, size_t n, const struct qs_boot_opts *opts, struct qs_ci *ci);
    bool of_mean;
};

static const struct method methods[] = {
    {"mean: t", t_interval, true},
    {"mean: t, effective size", t_n_eff, true},
    {"mean: percentile bootstrap", percentile, true},
    {"mean: BCa", bca, true},
    {"mean: block bootstrap", blocks, true},
    {"median: order statistics", order, false},
    {"median: Harrell-Davis", harrell_davis, false},
    {"median: percentile bootstrap", percentile, false},
    {"median: BCa", bca, false},
    {"median: block bootstrap", blocks, false},
};
enum { METHODS = sizeof methods / sizeof *methods };

static double truth(const struct process *p, const struct method *m)
{
    if (!p->log_normal)
        return 0;
    return m->of_mean ? exp(0.5) : 1;
}

/* Percent covered; the same samples for each method. */
static double coverage(const struct process *p, size_t index, const struct method *m, size_t repetitions,
                       size_t resamples)
{
    static double x[N_MAX];
    struct qs_rng rng;
    size_t hits = 0;
    double held = truth(p, m);
    qs_rng_seed(&rng, 2022, index);
    for (size_t r = 0; r < repetitions; r++) {
        struct qs_boot_opts opts = {.statistic = m->of_mean ? qs_statistic_mean : qs_statistic_median,
                                    .level = LEVEL,
                                    .resamples = resamples,
                                    .seed = index,
                                    .stream = r};
        struct qs_ci ci;
        draw(p, &rng, x);
        if (m->interval(x, p->n, &opts, &ci) == QS_OK)
            hits += ci.lo <= held && held <= ci.hi;
    }
    return 100 * (double)hits / (double)repetitions;
}

static void print_table(size_t repetitions, size_t resamples)
{
    printf("| interval |");
    for (size_t k = 0; k < PROCESSES; k++)
        printf(" %s, n %zu |", processes[k].name, processes[k].n);
    printf("\n|---|");
    for (size_t k = 0; k < PROCESSES; k++)
        printf("---|");
    for (size_t i = 0; i < METHODS; i++) {
        printf("\n| %s |", methods[i].name);
        for (size_t k = 0; k < PROCESSES; k++) {
            printf(" %.1f |", coverage(&processes[k], k, &methods[i], repetitions, resamples));
            (void)fflush(stdout);
        }
    }
    printf("\n");
}

/* 0 for what is no number in range */
static size_t count_of(const char *text, long least, long most)
{
    char *end;
    long value = strtol(text, &end, 10);
    return *end == '\0' && value >= least && value <= most ? (size_t)value : 0;
}

int main(int argc, char **argv)
{
    size_t repetitions = argc > 1 ? count_of(argv[1], 1, 1000000) : REPETITIONS;
    size_t resamples = argc > 2 ? count_of(argv[2], QS_BOOT_RESAMPLES_MIN, 1000000) : RESAMPLES;
    if (argc > 3 || repetitions == 0 || resamples == 0) {
        (void)fprintf(stderr, "usage: coverage_study [REPETITIONS [RESAMPLES (at least %d)]]\n",
                      QS_BOOT_RESAMPLES_MIN);
        return 2;
    }
    print_table(repetitions, resamples);
    coverage_print_runs(repetitions, resamples);
    return 0;
}
