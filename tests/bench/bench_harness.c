/* What the loop of quiesce/bench.h costs: the time of an iteration against a bare loop of two looks at the
 * clock around the same function, and the time of an evaluation against Google Benchmark's, in rounds whose
 * order is drawn. */
#include "quiesce/bench.h"

#include "harness_side.h"
#include "scale.h"
#include "stats/describe.h"
#include "stats/rng.h"

#include <math.h>

enum { ROUNDS = QS_FULL_OR_SMOKE(200, 4), DRAWS = 4000, ITERATIONS_MAX = 1000 };
enum side { BARE, HEADER, TUNED, GBENCH, SIDES };

/* Each side's iterations of a round: enough to outweigh the ends of a window, few enough to fit between
 * interruptions. */
static const struct work {
    const char *name;
    double ns;
    uint32_t iterations, evals;
} works[] = {{"100 ns", 100, 1000, 944}, {"1 us", 1000, 500, 10}, {"1 ms", 1000000, 3, 1}};

struct bench {
    struct quiesce q;
    struct qs_rng rng;
    const struct work *work;
    double per_call_ns[SIDES][ROUNDS]; /* wall clock of all, over the number of calls */
    double recorded_ns[2][ROUNDS];     /* median duration, of BARE and HEADER */
};

static double median(const double *x, size_t n)
{
    double m = NAN;
    qs_median(x, n, &m);
    return m;
}

static void run_bare(struct bench *b, int round)
{
    static struct quiesce_bench_row rows[ITERATIONS_MAX];
    double duration_ns[ITERATIONS_MAX];
    struct timespec begin, end;
    int64_t start_ns = quiesce_i_now_ns(&b->q);
    uint32_t n = b->work->iterations;
    for (uint32_t i = 0; i < n; i++) {
        clock_gettime(CLOCK_MONOTONIC, &begin);
        spin(NULL);
        clock_gettime(CLOCK_MONOTONIC, &end);
        rows[i].start_ns = quiesce_i_ns(&begin) - start_ns;
        rows[i].duration_ns = quiesce_i_ns(&end) - quiesce_i_ns(&begin);
    }
    b->per_call_ns[BARE][round] = (double)(quiesce_i_now_ns(&b->q) - start_ns) / n;
    for (uint32_t i = 0; i < n; i++) {
        duration_ns[i] = (double)rows[i].duration_ns;
    }
    b->recorded_ns[BARE][round] = median(duration_ns, n);
}

static void run_header(struct bench *b, int round)
{
    double duration_ns[ITERATIONS_MAX];
    const struct quiesce_bench_shared *s = b->q.shared;
    quiesce_i_alone_window(&b->q, b->work->iterations, 1, 0, INT64_MAX);
    b->per_call_ns[HEADER][round] = (double)(s->done_ns - s->start_at_ns) / s->count;
    for (uint32_t i = 0; i < s->count; i++) {
        duration_ns[i] = (double)b->q.rows[i].duration_ns;
    }
    b->recorded_ns[HEADER][round] = median(duration_ns, s->count);
}

static void run_tuned(struct bench *b, int round)
{
    const struct quiesce_bench_shared *s = b->q.shared;
    quiesce_i_alone_window(&b->q, 3, b->work->evals, 0, INT64_MAX);
    b->per_call_ns[TUNED][round] = (double)(s->done_ns - s->start_at_ns) / s->count / b->work->evals;
}

static void run_gbench(struct bench *b, int round)
{
    double min_time_s = 3 * b->work->ns * b->work->evals / 1e9;
    b->per_call_ns[GBENCH][round] = gbench_ns(min_time_s);
}

static void run_round(struct bench *b, int round)
{
    static void (*const run[SIDES])(struct bench *, int) = {run_bare, run_header, run_tuned, run_gbench};
    int order[SIDES] = {BARE, HEADER, TUNED, GBENCH};
    for (int i = SIDES - 1; i > 0; i--) {
        int j = (int)qs_rng_below(&b->rng, (uint64_t)i + 1), kept = order[i];
        order[i] = order[j];
        order[j] = kept;
    }
    for (int i = 0; i < SIDES; i++) {
        run[order[i]](b, round);
    }
}

/* Rounds of spin() for so many ns: from the fastest of some calls. */
static void calibrate(const struct bench *b)
{
    double best_ns = INFINITY;
    spin_rounds = 100000;
    for (int i = 0; i < 50; i++) {
        int64_t began_ns = quiesce_i_now_ns(&b->q);
        spin(NULL);
        best_ns = fmin(best_ns, (double)(quiesce_i_now_ns(&b->q) - began_ns));
    }
    spin_rounds = (uint64_t)(b->work->ns / (best_ns / 100000));
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Median over rounds of a/b, and its interval by drawing rounds. */
static void report_ratio(struct bench *b, const char *what, const double *a, const double *of)
{
    static double draws[DRAWS];
    double ratio[ROUNDS], drawn[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        ratio[i] = a[i] / of[i];
    }
    for (int d = 0; d < DRAWS; d++) {
        for (int i = 0; i < ROUNDS; i++) {
            drawn[i] = ratio[qs_rng_below(&b->rng, ROUNDS)];
        }
        draws[d] = median(drawn, ROUNDS);
    }
    qsort(draws, DRAWS, sizeof draws[0], ascending);
    printf("  %-52s %.4f  95 %% interval %.4f to %.4f\n", what, median(ratio, ROUNDS),
           qs_quantile(draws, DRAWS, 0.025, QS_QTYPE_7), qs_quantile(draws, DRAWS, 0.975, QS_QTYPE_7));
}

static void report(struct bench *b)
{
    printf("harness, %s of work: %d rounds, order drawn; medians, ns per call\n", b->work->name, ROUNDS);
    printf("  bare loop %.1f (recorded %.1f), quiesce/bench.h %.1f (recorded %.1f), of %u evaluations %.1f, "
           "Google "
           "Benchmark %.1f\n",
           median(b->per_call_ns[BARE], ROUNDS), median(b->recorded_ns[BARE], ROUNDS),
           median(b->per_call_ns[HEADER], ROUNDS), median(b->recorded_ns[HEADER], ROUNDS), b->work->evals,
           median(b->per_call_ns[TUNED], ROUNDS), median(b->per_call_ns[GBENCH], ROUNDS));
    report_ratio(b, "an iteration, over the bare loop (1 us: <= 1.05)", b->per_call_ns[HEADER],
                 b->per_call_ns[BARE]);
    report_ratio(b, "what it records, over what the bare loop does", b->recorded_ns[HEADER],
                 b->recorded_ns[BARE]);
    report_ratio(b, "an evaluation, over Google Benchmark", b->per_call_ns[TUNED], b->per_call_ns[GBENCH]);
}

int main(void)
{
    static struct bench b;
    quiesce_init(&b.q, "the cost of the harness");
    b.q.current = quiesce_add(&b.q, "spin", "dependent multiplications", spin);
    if (!quiesce_i_alone_memory(&b.q)) {
        fputs("bench_harness: no memory\n", stderr);
        return 1;
    }
    qs_rng_seed(&b.rng, 1, 0);
    for (size_t i = 0; i < sizeof works / sizeof works[0]; i++) {
        b.work = &works[i];
        calibrate(&b);
        for (int round = 0; round < ROUNDS; round++) {
            run_round(&b, round);
        }
        report(&b);
    }
    return 0;
}
