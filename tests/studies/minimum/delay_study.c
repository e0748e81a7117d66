/* Timings of the delay model: delay_study [SEED] prints, for four models, how far the minimum, the median and
 * the mean of 100 measurements of T/n are from t0 and from the limit of the model, n = 1 .. 1000, as a table
 * in Markdown. */
#include <stdio.h>
#include <stdlib.h>

#include "studies/minimum/delay_model.h"
#include "stats/describe.h"

enum { MEASUREMENTS = 100 };

/* Times of a short benchmark and of what delays it: a cache line, a branch, an interrupt. */
static const struct delay_factor rare[] = {{100, 0.3, 1}, {3000, 0.01, 1}};
static const struct delay_factor often[] = {{5, 0.02, 0}, {100, 0.001, 0}};
static const struct delay_factor always[] = {{0.5, 1, 0}, {0.1, 1, 0}};

static const struct {
    const char *name;
    struct delay_model model;
} rows[] = {
    {"no delay", {100, 50, NULL, 0, 1000}},
    {"delays that trigger o(n) times", {100, 50, rare, 2, 1000}},
    {"delays in proportion to n", {100, 50, often, 2, 1000}},
    {"every delay at every instruction (eq. 9)", {100, 50, always, 2, 1000}},
};

static void print_row(size_t row, size_t n, uint64_t seed)
{
    const struct delay_model *m = &rows[row].model;
    double per_n_ns[MEASUREMENTS];
    struct qs_rng rng;
    struct qs_summary s;
    qs_rng_seed(&rng, seed, 1000000 * row + n);
    for (size_t i = 0; i < MEASUREMENTS; i++)
        per_n_ns[i] = delay_model_measure_ns(m, n, &rng) / (double)n;
    if (qs_describe(per_n_ns, MEASUREMENTS, &s) == QS_OK)
        printf("| %s | %zu | %+.2f | %+.2f | %+.2f | %+.2f |\n", rows[row].name, n, s.min - m->t0_ns,
               s.median - m->t0_ns, s.mean - m->t0_ns, s.mean - delay_model_limit_ns(m));
}

int main(int argc, char **argv)
{
    static const size_t counts[] = {1, 10, 100, 1000};
    char *end = NULL;
    uint64_t seed = argc > 1 ? strtoull(argv[1], &end, 10) : 1;
    if (argc > 2 || (end && (end == argv[1] || *end != '\0'))) {
        fputs("usage: delay_study [SEED]\n", stderr);
        return 2;
    }
    printf("| model, t0 = 100 ns, clock within 1000 ns | n | minimum - t0, ns | median - t0 | mean - t0 | "
           "mean - limit "
           "|\n|---|---|---|---|---|---|\n");
    for (size_t row = 0; row < sizeof rows / sizeof *rows; row++) {
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
            print_row(row, counts[i], seed);
    }
    return 0;
}
