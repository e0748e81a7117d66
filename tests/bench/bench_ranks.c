/* Mann-Whitney and Hodges-Lehmann with its interval for two samples of 100 000 values, which are 10^10 pairs,
 * and sorting both, against sorting both with the C library's qsort, in rounds whose order is drawn. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "scale.h"
#include "stats/describe.h"
#include "stats/interval.h"
#include "stats/ranks.h"
#include "stats/rng.h"
#include "stats/sum.h"

enum { N = QS_FULL_OR_SMOKE(100000, 5000), ROUNDS = QS_FULL_OR_SMOKE(15, 6), SIDES = 4 };
enum { QSORT, SORT, MWU, HL };

struct data {
    const char *name;
    double *x, *y, *scratch; /* owned: N, N and 2 N */
};

static _Noreturn void die(const char *what)
{
    fprintf(stderr, "bench_ranks: %s\n", what);
    exit(1);
}

static double now_s(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

/* Like durations: log-normal about 1 ms in whole ns; y 0.1 % longer. coarse: a clock that ticks every 10 us.
 */
static double draw(struct qs_rng *rng, double factor, bool coarse)
{
    double z = 0;
    for (int i = 0; i < 12; i++)
        z += qs_rng_unit(rng);
    double ns = 1e6 * factor * exp(0.05 * (z - 6));
    return coarse ? 1e4 * round(ns / 1e4) : round(ns);
}

static struct data make(const char *name, bool coarse)
{
    struct data d = {name, malloc(N * sizeof *d.x), malloc(N * sizeof *d.y), malloc(2 * N * sizeof *d.x)};
    struct qs_rng rng;
    if (!d.x || !d.y || !d.scratch)
        die("out of memory");
    qs_rng_seed(&rng, 1, coarse);
    for (size_t i = 0; i < N; i++) {
        d.x[i] = draw(&rng, 1, coarse);
        d.y[i] = draw(&rng, QS_FULL_OR_SMOKE(1.001, 1.01), coarse);
    }
    return d;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void sort_both(struct data *d, bool with_c_library)
{
    memcpy(d->scratch, d->x, N * sizeof *d->x);
    memcpy(d->scratch + N, d->y, N * sizeof *d->y);
    for (int half = 0; half < 2; half++) {
        double *values = d->scratch + half * N;
        if (with_c_library)
            qsort(values, N, sizeof *values, ascending);
        else
            qs_sort(values, N);
    }
}

static void run_side(int side, struct data *d)
{
    struct qs_mwu mwu;
    struct qs_hl hl;
    bool ok = true;
    if (side == QSORT || side == SORT) {
        sort_both(d, side == QSORT);
    } else if (side == MWU) {
        ok = qs_mwu(d->x, N, d->y, N, QS_RANKS_AUTO, &mwu) == QS_OK && mwu.p < 0.05;
    } else {
        ok = qs_hl(d->x, N, d->y, N, 0.95, QS_RANKS_AUTO, NULL, &hl) == QS_OK && hl.ci.hi >= hl.shift;
    }
    if (!ok)
        die("no result");
}

static void print_ratio(const char *what, const double *spent_s, const double *base_s)
{
    double ratios[ROUNDS], median_s, median;
    struct qs_median_ci ci;
    for (int r = 0; r < ROUNDS; r++)
        ratios[r] = spent_s[r] / base_s[r];
    if (qs_median(spent_s, ROUNDS, &median_s) != QS_OK || qs_median(ratios, ROUNDS, &median) != QS_OK ||
        qs_median_ci(ratios, ROUNDS, 0.95, &ci) != QS_OK)
        die("no median");
    printf("  %-34s %8.2f ms   ratio to qsort %.2f (%.2f to %.2f)\n", what, 1e3 * median_s, median, ci.ci.lo,
           ci.ci.hi);
}

static void measure(struct data *d)
{
    static const char *const names[SIDES] = {"sort both (qsort)", "sort both (ours)", "Mann-Whitney",
                                             "Hodges-Lehmann with interval"};
    double spent_s[SIDES][ROUNDS];
    struct qs_rng rng;
    qs_rng_seed(&rng, 2, 0);
    for (int r = 0; r < ROUNDS; r++) {
        int order[SIDES] = {QSORT, SORT, MWU, HL};
        for (int i = SIDES - 1; i > 0; i--) {
            int j = (int)qs_rng_below(&rng, (uint64_t)i + 1), keep = order[i];
            order[i] = order[j];
            order[j] = keep;
        }
        for (int i = 0; i < SIDES; i++) {
            double begin_s = now_s();
            run_side(order[i], d);
            spent_s[order[i]][r] = now_s() - begin_s;
        }
    }
    printf("%s, %d x %d values, medians of %d rounds:\n", d->name, N, N, ROUNDS);
    for (int i = 0; i < SIDES; i++)
        print_ratio(names[i], spent_s[i], spent_s[QSORT]);
}

int main(void)
{
    struct data sets[] = {make("clock in ns", false), make("clock of 10 us (ties)", true)};
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        measure(&sets[i]);
        free(sets[i].x);
        free(sets[i].y);
        free(sets[i].scratch);
    }
    return 0;
}
