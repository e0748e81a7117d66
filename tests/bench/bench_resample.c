/* Bootstraps of the mean and the median of a million values, resample by resample, against drawing each value
 * of each resample, in rounds. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "stats/bootstrap.h"
#include "stats/interval.h"
#include "stats/rng.h"

enum { N = 1000000, RESAMPLES = 100, ROUNDS = 6, STATISTICS = 2 };

static double cpu_s(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
    return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

/* The library knows its own statistics by their address: of these it draws each value. */
static double drawn_mean(double *x, size_t n, void *user)
{
    return qs_statistic_mean(x, n, user);
}

static double drawn_median(double *x, size_t n, void *user)
{
    return qs_statistic_median(x, n, user);
}

typedef double statistic_fn(double *x, size_t n, void *user);

static double spent_s(const double *x, statistic_fn *statistic, uint64_t seed)
{
    struct qs_boot out;
    const struct qs_boot_opts opts = {
        .statistic = statistic, .level = 0.95, .resamples = RESAMPLES, .seed = seed};
    double began = cpu_s();
    if (qs_boot_ci(x, N, &opts, &out) != QS_OK) {
        fprintf(stderr, "bench_resample: no interval\n");
        exit(1);
    }
    return cpu_s() - began;
}

int main(void)
{
    static statistic_fn *const quick[STATISTICS] = {qs_statistic_mean, qs_statistic_median},
                               *const drawn[STATISTICS] = {drawn_mean, drawn_median};
    static const char *const names[STATISTICS] = {"mean", "median"};
    double *x = malloc(N * sizeof *x), ratio[ROUNDS];
    struct qs_rng rng;
    if (!x)
        return 1;
    qs_rng_seed(&rng, 1, 1);
    for (size_t i = 0; i < N; i++)
        x[i] = 1e6 * exp(0.1 * (qs_rng_unit(&rng) + qs_rng_unit(&rng)));
    for (size_t s = 0; s < STATISTICS; s++) {
        struct qs_median_ci ci;
        double quick_s = 0, drawn_s = 0;
        for (size_t r = 0; r < ROUNDS; r++) {
            bool first = qs_rng_below(&rng, 2) == 0;
            double a = spent_s(x, first ? drawn[s] : quick[s], r),
                   b = spent_s(x, first ? quick[s] : drawn[s], r);
            drawn_s += (first ? a : b) / ROUNDS;
            quick_s += (first ? b : a) / ROUNDS;
            ratio[r] = first ? a / b : b / a;
        }
        (void)qs_median_ci(ratio, ROUNDS, 0.95, &ci);
        printf("bootstrap of the %s, %d values, %d resamples: %.3f s, by single draws %.3f s, ratio %.1f "
               "(%.1f to %.1f)\n",
               names[s], N, RESAMPLES, quick_s, drawn_s, drawn_s / quick_s, ci.ci.lo, ci.ci.hi);
    }
    free(x);
    return 0;
}
