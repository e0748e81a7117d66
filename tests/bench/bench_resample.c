/* Bootstrap intervals of the mean and the median of a million values, against nothing but drawing each value
 * of each resample and taking its mean or median, in rounds. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "scale.h"
#include "stats/bootstrap.h"
#include "stats/interval.h"
#include "stats/rng.h"

enum { N = QS_FULL_OR_SMOKE(1000000, 10000), RESAMPLES = 100, ROUNDS = 6, STATISTICS = 2 };

static double cpu_s(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
    return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

typedef double statistic_fn(double *x, size_t n, void *user);

static double interval_s(const double *x, statistic_fn *statistic, uint64_t seed)
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

static double drawn_s(const double *x, double *y, statistic_fn *statistic, uint64_t seed)
{
    struct qs_rng rng;
    double began = cpu_s(), sum = 0;
    qs_rng_seed(&rng, seed, 2);
    for (size_t k = 0; k < RESAMPLES; k++) {
        for (size_t i = 0; i < N; i++)
            y[i] = x[qs_rng_below(&rng, N)];
        sum += statistic(y, N, NULL);
    }
    if (!isfinite(sum))
        exit(1);
    return cpu_s() - began;
}

int main(void)
{
    static statistic_fn *const statistics[STATISTICS] = {qs_statistic_mean, qs_statistic_median};
    static const char *const names[STATISTICS] = {"mean", "median"};
    double *x = malloc(N * sizeof *x), *y = malloc(N * sizeof *y), ratio[ROUNDS];
    struct qs_rng rng;
    if (!x || !y)
        return 1;
    qs_rng_seed(&rng, 1, 1);
    for (size_t i = 0; i < N; i++)
        x[i] = 1e6 * exp(0.1 * (qs_rng_unit(&rng) + qs_rng_unit(&rng)));
    for (size_t s = 0; s < STATISTICS; s++) {
        struct qs_median_ci ci;
        double quick_s = 0, slow_s = 0;
        for (size_t r = 0; r < ROUNDS; r++) {
            bool first = qs_rng_below(&rng, 2) == 0;
            double slow = first ? drawn_s(x, y, statistics[s], r) : 0;
            double quick = interval_s(x, statistics[s], r);
            slow = first ? slow : drawn_s(x, y, statistics[s], r);
            slow_s += slow / ROUNDS;
            quick_s += quick / ROUNDS;
            ratio[r] = slow / quick;
        }
        (void)qs_median_ci(ratio, ROUNDS, 0.95, &ci);
        printf("bootstrap of the %s, %d values, %d resamples: %.3f s, by single draws %.3f s, ratio %.1f "
               "(%.1f to %.1f)\n",
               names[s], N, RESAMPLES, quick_s, slow_s, slow_s / quick_s, ci.ci.lo, ci.ci.hi);
    }
    free(x);
    free(y);
    return 0;
}
