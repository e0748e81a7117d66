/* The statistic of each resample: of some statistics without computing it of each resample. */
#include "stats/bootstrap_parts.h"

#include "stats/pick.h"
#include "stats/rng.h"
#include "stats/sum.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void draw_values(struct qs_boot_work *b)
{
    qs_rng_fill_below(&b->rng, (uint32_t)b->n, b->index, b->n);
    for (size_t i = 0; i < b->n; i++)
        b->work[i] = b->x[b->index[i]];
}

/* Value i to to[i * stride]. */
static void draw_blocks(struct qs_boot_work *b, double *to, size_t stride)
{
    for (size_t i = 0; i < b->n;) {
        size_t at = qs_rng_below(&b->rng, b->n), start = b->first[at], end = b->first[b->n + at];
        for (size_t k = 0; k < b->block_length && i < b->n; k++) {
            to[i++ * stride] = b->x[at];
            at = at + 1 < end ? at + 1 : start;
        }
    }
}

static double by_draws(struct qs_boot_work *b)
{
    if (b->first)
        draw_blocks(b, b->work, 1);
    else
        draw_values(b);
    return qs_boot_evaluate(b, b->n);
}

static double mean_of_few(struct qs_boot_work *b)
{
    if (b->next % QS_ABREAST == 0) {
        for (size_t lane = 0; lane < QS_ABREAST; lane++) {
            if (b->first)
                draw_blocks(b, b->work + lane, QS_ABREAST);
            else
                qs_abreast_draw(&b->rng, b->x, b->n, b->index, b->work + lane);
        }
        qs_abreast_means(b->work, b->n, b->means);
    }
    return b->means[b->next++ % QS_ABREAST];
}

/* work: the values in order. */
static double median_of_few(struct qs_boot_work *b)
{
    size_t n = b->n, below = n, at = 0;
    qs_rng_fill_below(&b->rng, (uint32_t)n, b->index, n);
    for (size_t i = 0; i < n; i++)
        b->ranked[b->ranked[b->index[i]].rank].drawn++;
    for (size_t k = 0, passed = 0; passed <= n / 2; k++) {
        passed += b->ranked[k].drawn;
        below = below == n && passed >= n / 2 ? k : below;
        at = k;
    }
    for (size_t i = 0; i < n; i++)
        b->ranked[i].drawn = 0;
    return n % 2 == 1 ? b->work[at] : b->work[below] + (b->work[at] - b->work[below]) / 2;
}

/* work: the values in order. */
static double median_by_ranks(struct qs_boot_work *b)
{
    size_t rank[2];
    qs_resample_middle(&b->rng, b->n, rank);
    double below = b->work[rank[0]], above = b->work[rank[1]];
    return below + (above - below) / 2;
}

/* work: differences from the mean. */
static double mean_by_counts(struct qs_boot_work *b)
{
    return b->centre + qs_resample_sums(b->many, &b->rng, b->work).sum / (double)b->n;
}

/* How many neighbours from `at` on, around the end of its stretch. work: sums of the first i differences. */
static double sum_around(const struct qs_boot_work *b, size_t at, size_t count)
{
    size_t start = b->first[at], end = b->first[b->n + at], rest = count % (end - start);
    double sum = (double)(count / (end - start)) * (b->work[end] - b->work[start]);
    if (at + rest <= end)
        return sum + (b->work[at + rest] - b->work[at]);
    return sum + (b->work[end] - b->work[at]) + (b->work[start + rest - (end - at)] - b->work[start]);
}

/* The same blocks as draw_blocks. */
static double mean_by_blocks(struct qs_boot_work *b)
{
    double sum = 0;
    for (size_t i = 0; i < b->n; i += b->block_length) {
        size_t at = qs_rng_below(&b->rng, b->n), left = b->n - i;
        sum += sum_around(b, at, qs_less(left, b->block_length));
    }
    return b->centre + sum / (double)b->n;
}

typedef double star_fn(struct qs_boot_work *b);

static void centre(struct qs_boot_work *b)
{
    b->centre = qs_statistic_mean(b->work, b->n, NULL);
    for (size_t i = 0; i < b->n; i++)
        b->work[i] = b->x[i] - b->centre;
}

/* differences -> sums of the first i of them, n + 1 */
static void sum_up(struct qs_boot_work *b)
{
    struct qs_acc sum = {0};
    for (size_t i = 0; i <= b->n; i++) {
        double d = b->work[i];
        b->work[i] = qs_acc_value(&sum);
        qs_acc_add(&sum, d);
    }
}

/* Equal values stand in the order of their places; which of them is drawn does not matter. */
static bool rank(struct qs_boot_work *b)
{
    size_t *taken = calloc(b->n, sizeof *taken);
    b->ranked = calloc(b->n, sizeof *b->ranked);
    for (size_t i = 0; taken && b->ranked && i < b->n; i++) {
        size_t place = qs_sorted_place(b->work, b->n, b->x[i]);
        b->ranked[i].rank = (uint32_t)(place + taken[place]++);
    }
    free(taken);
    return taken && b->ranked;
}

/* Mean and median have shorter ways: of few values with the numbers of single draws, of many values without
 * these. They are prepared here. NULL: no memory. */
static star_fn *way(struct qs_boot_work *b)
{
    bool mean = b->opts->statistic == qs_statistic_mean, median = b->opts->statistic == qs_statistic_median;
    bool few = b->n < QS_RESAMPLE_MANY;
    if (!mean && !(median && !b->first))
        return by_draws;
    if (few && mean)
        return mean_of_few;
    memcpy(b->work, b->x, b->n * sizeof *b->x);
    if (median) {
        qs_sort(b->work, b->n);
        return !few ? median_by_ranks : rank(b) ? median_of_few : NULL;
    }
    centre(b);
    if (b->first) {
        sum_up(b);
        return mean_by_blocks;
    }
    b->many = malloc(sizeof *b->many);
    if (b->many)
        qs_resample_init(b->many, b->n);
    return b->many ? mean_by_counts : NULL;
}

enum qs_status qs_boot_draw_stars(struct qs_boot_work *b)
{
    star_fn *star = way(b);
    if (!star)
        return QS_ENOMEM;
    qs_rng_seed(&b->rng, b->opts->seed, b->opts->stream);
    for (size_t r = 0; r < b->resamples; r++) {
        if (!qs_boot_may_go_on(b, r))
            return QS_ECANCELED;
        b->stars[r] = star(b);
        if (!isfinite(b->stars[r]))
            return QS_EDOM;
    }
    return QS_OK;
}
