/* Change points of a history of 1000 nights: Hunter, PELT, and one round of E-divisive, against one pass over
 * the distances of all 499 500 pairs of nights, in rounds whose order is drawn. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "scale.h"
#include "stats/describe.h"
#include "stats/edivisive.h"
#include "stats/hunter.h"
#include "stats/interval.h"
#include "stats/pelt.h"
#include "stats/rng.h"
#include "stats/special.h"

enum {
    N = QS_FULL_OR_SMOKE(1000, 200),
    ROUNDS = QS_FULL_OR_SMOKE(21, 6),
    REPEAT = QS_FULL_OR_SMOKE(10, 1),
    SIDES = 4
};
enum side { PAIRS, HUNTER, PELT, SPLIT };

struct history {
    const char *name;
    double x[N], scratch[2 * N], sink;
    struct qs_change_point point[N];
    size_t changes[N], count[SIDES];
};

static _Noreturn void die(const char *what)
{
    fprintf(stderr, "bench_history: %s\n", what);
    exit(1);
}

static double now_s(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

/* A noise of 1 %, and a step of 3 % up or down every `every` nights. */
static void fill(struct history *h, size_t every)
{
    struct qs_rng rng;
    double level = 100;
    qs_rng_seed(&rng, 1, every);
    for (size_t i = 0; i < N; i++) {
        if (i > 0 && i % every == 0)
            level *= qs_rng_below(&rng, 2) > 0 ? 1.03 : 1 / 1.03;
        h->x[i] = level * (1 + 0.01 * qs_qnorm(qs_rng_unit(&rng) + 1e-12));
    }
}

static void run_side(enum side side, struct history *h)
{
    struct qs_hunter_opts hunter = qs_hunter_opts_default();
    struct qs_pelt_opts pelt = qs_pelt_opts_default();
    switch (side) {
    case PAIRS:
        for (size_t i = 0; i < N; i++)
            for (size_t j = 0; j < i; j++)
                h->sink += fabs(h->x[i] - h->x[j]);
        break;
    case HUNTER:
        if (qs_hunter(h->x, N, &hunter, h->point, &h->count[HUNTER]) != QS_OK)
            die("Hunter failed");
        break;
    case PELT:
        if (qs_pelt(h->x, N, &pelt, h->changes, &h->count[PELT]) != QS_OK)
            die("PELT failed");
        break;
    case SPLIT:
        h->sink += qs_best_split(h->x, N, h->scratch, NULL).q;
        h->count[SPLIT] = 1;
        break;
    }
}

static void print_side(const char *what, size_t changes, const double *spent_s, const double *base_s)
{
    double ratios[ROUNDS], median_s, median;
    struct qs_median_ci ci;
    for (int r = 0; r < ROUNDS; r++)
        ratios[r] = spent_s[r] / base_s[r];
    if (qs_median(spent_s, ROUNDS, &median_s) != QS_OK || qs_median(ratios, ROUNDS, &median) != QS_OK ||
        qs_median_ci(ratios, ROUNDS, 0.95, &ci) != QS_OK)
        die("no median");
    printf("  %-28s %8.3f ms   ratio to the pairs %.2f (%.2f to %.2f), %zu changes\n", what, 1e3 * median_s,
           median, ci.ci.lo, ci.ci.hi, changes);
}

static void measure(struct history *h)
{
    static const char *const names[SIDES] = {"distances of all pairs", "Hunter", "PELT",
                                             "best split of the whole"};
    double spent_s[SIDES][ROUNDS];
    struct qs_rng rng;
    qs_rng_seed(&rng, 2, 0);
    for (int r = 0; r < ROUNDS; r++) {
        enum side order[SIDES] = {PAIRS, HUNTER, PELT, SPLIT};
        for (size_t i = SIDES - 1; i > 0; i--) {
            size_t j = (size_t)qs_rng_below(&rng, i + 1);
            enum side keep = order[i];
            order[i] = order[j];
            order[j] = keep;
        }
        for (size_t i = 0; i < SIDES; i++) {
            double begin_s = now_s();
            for (int k = 0; k < REPEAT; k++)
                run_side(order[i], h);
            spent_s[order[i]][r] = (now_s() - begin_s) / REPEAT;
        }
    }
    printf("%s, %d nights, medians of %d rounds:\n", h->name, N, ROUNDS);
    for (size_t i = 0; i < SIDES; i++)
        print_side(names[i], h->count[i], spent_s[i], spent_s[PAIRS]);
    if (!(h->sink > 0))
        die("no distances");
}

int main(void)
{
    static struct history quiet = {.name = "no change"}, stepped = {.name = "a step of 3 % every 50 nights"};
    fill(&quiet, N);
    fill(&stepped, 50);
    measure(&quiet);
    measure(&stepped);
    return 0;
}
