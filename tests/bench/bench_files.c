/* What `quiesce compare`, `history` and `analyze` compute of files for a page: 300 benchmarks of 10 runs x 20
 * values compared, histories of 20,000 nights and of 10,000 runs, a million values; and what `compare --json`
 * computes, of a tenth of these benchmarks. Each beside reading the same text and sorting its values with
 * qsort, which nobody can do without; CPU time, rounds in turn. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "report/analysis/analysis.h"
#include "scale.h"
#include "stats/describe.h"
#include "stats/interval.h"
#include "stats/rng.h"
#include "stats/special.h"

enum {
    ROUNDS = QS_FULL_OR_SMOKE(7, 6),
    SERIES = QS_FULL_OR_SMOKE(300, 4),
    SERIES_FULL = QS_FULL_OR_SMOKE(30, 1),
    NIGHTS = QS_FULL_OR_SMOKE(20000, 60),
    RUNS = QS_FULL_OR_SMOKE(10000, 12),
    VALUES = QS_FULL_OR_SMOKE(1000000, 2000)
};

typedef enum qs_status analyse_fn(const struct qs_analysis_file *files, size_t count,
                                  const struct qs_analysis_opts *opts, struct qs_buf *out);

struct task {
    const char *name;
    analyse_fn *run;
    bool all; /* every statistic, as --json has them; else what a page shows */
    double goal_s;
    struct qs_buf text[2];
    size_t files;
};

static _Noreturn void die(const char *what)
{
    fprintf(stderr, "bench_files: %s\n", what);
    exit(1);
}

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double noise(struct qs_rng *rng)
{
    return qs_qnorm(qs_rng_unit(rng) + 1e-12);
}

/* Columns, so many series of so many runs; runs differ by 1 %, values of a run by 2 %. */
static void fill_runs(struct qs_buf *text, size_t series, size_t runs, size_t values, uint64_t seed)
{
    struct qs_rng rng;
    qs_rng_seed(&rng, seed, 0);
    qs_buf_init(text);
    qs_buf_str(text, "benchmark,run,iteration,value,unit\n");
    for (size_t s = 0; s < series; s++)
        for (size_t r = 0; r < runs; r++) {
            double level = 1000 * (double)(1 + s % 7) * (1 + 0.01 * noise(&rng));
            for (size_t i = 0; i < values; i++)
                qs_buf_fmt(text, "b%zu,%zu,%zu,%.2f,ns\n", s, r, i, level * (1 + 0.02 * noise(&rng)));
        }
}

/* One value a line; a step of 5 % up or down every `step` values. */
static void fill_values(struct qs_buf *text, size_t n, size_t step)
{
    struct qs_rng rng;
    double level = 100;
    qs_rng_seed(&rng, 3, 0);
    qs_buf_init(text);
    for (size_t i = 0; i < n; i++) {
        if (i % step == step - 1)
            level *= qs_rng_below(&rng, 2) > 0 ? 1.05 : 1 / 1.05;
        qs_buf_fmt(text, "%.5f\n", level * (1 + 0.01 * noise(&rng)));
    }
}

static void read_text(const struct qs_buf *text, struct qs_import *ret)
{
    struct qs_problems problems;
    qs_problems_init(&problems);
    if (!qs_import_read("made", text->data, text->len, QS_FORMAT_AUTO, ret, &problems))
        die("a text is refused");
    qs_problems_done(&problems);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The least: every value read, and put in order. */
static double least_s(const struct task *t)
{
    double begin_s = now_s();
    for (size_t f = 0; f < t->files; f++) {
        struct qs_import import;
        read_text(&t->text[f], &import);
        for (size_t i = 0; i < import.count; i++)
            qsort(import.series[i].v, import.series[i].n, sizeof(double), by_value);
        qs_import_done(&import);
    }
    return now_s() - begin_s;
}

static double page_s(const struct task *t)
{
    double begin_s = now_s();
    struct qs_import imports[2];
    struct qs_analysis_file files[2];
    struct qs_analysis_opts opts = qs_analysis_opts_default();
    struct qs_buf out;
    qs_buf_init(&out);
    opts.page = !t->all;
    for (size_t f = 0; f < t->files; f++) {
        read_text(&t->text[f], &imports[f]);
        files[f] = (struct qs_analysis_file){.name = "made", .bytes = t->text[f].len, .import = &imports[f]};
    }
    if (t->run(files, t->files, &opts, &out) != QS_OK)
        die("it has no document");
    for (size_t f = 0; f < t->files; f++)
        qs_import_done(&imports[f]);
    qs_buf_done(&out);
    return now_s() - begin_s;
}

static void measure(const struct task *t)
{
    double least[ROUNDS], page[ROUNDS], ratio[ROUNDS], median_s, base_s, median;
    struct qs_median_ci ci;
    for (int r = 0; r < ROUNDS; r++) {
        bool first = r % 2 == 0;
        least[r] = first ? least_s(t) : 0;
        page[r] = page_s(t);
        least[r] = first ? least[r] : least_s(t);
        ratio[r] = page[r] / least[r];
    }
    if (qs_median(page, ROUNDS, &median_s) != QS_OK || qs_median(least, ROUNDS, &base_s) != QS_OK ||
        qs_median(ratio, ROUNDS, &median) != QS_OK || qs_median_ci(ratio, ROUNDS, 0.9, &ci) != QS_OK)
        die("no median");
    printf("%-40s %s %7.3f s of CPU (goal %.0f s), reading and sorting %.3f s, ratio %.2f (%.2f to %.2f)\n",
           t->name, t->all ? "JSON" : "page", median_s, t->goal_s, base_s, median, ci.ci.lo, ci.ci.hi);
    fflush(stdout);
}

int main(void)
{
    struct task tasks[] = {
        {.name = "compare, 300 benchmarks of 10 x 20", .run = qs_analysis_compare, .goal_s = 2, .files = 2},
        {.name = "compare, 30 benchmarks of 10 x 20",
         .run = qs_analysis_compare,
         .all = true,
         .goal_s = 3,
         .files = 2},
        {.name = "history, 20,000 nights", .run = qs_analysis_history, .goal_s = 2, .files = 1},
        {.name = "history, 10,000 runs of 5", .run = qs_analysis_history, .goal_s = 2, .files = 1},
        {.name = "analyze, 1,000,000 values", .run = qs_analysis_describe, .goal_s = 1, .files = 1}};
    fill_runs(&tasks[0].text[0], SERIES, 10, 20, 1);
    fill_runs(&tasks[0].text[1], SERIES, 10, 20, 2);
    fill_runs(&tasks[1].text[0], SERIES_FULL, 10, 20, 1);
    fill_runs(&tasks[1].text[1], SERIES_FULL, 10, 20, 2);
    fill_values(&tasks[2].text[0], NIGHTS, NIGHTS / 10);
    fill_runs(&tasks[3].text[0], 1, RUNS, 5, 3);
    fill_values(&tasks[4].text[0], VALUES, VALUES);
    for (size_t i = 0; i < sizeof tasks / sizeof *tasks; i++)
        measure(&tasks[i]);
    for (size_t i = 0; i < sizeof tasks / sizeof *tasks; i++)
        for (size_t f = 0; f < tasks[i].files; f++)
            qs_buf_done(&tasks[i].text[f]);
    return 0;
}
