/* Hierarchical bootstrap of a ratio: bench_hier_boot FILE RUNS ITERATIONS RESAMPLES prints CPU seconds, lower
 * and upper bound. FILE holds one value a line: the runs of the baseline, then those of the candidate.
 * Reading is not timed. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "stats/hier.h"

static void die(const char *what)
{
    fprintf(stderr, "bench_hier_boot: %s\n", what);
    exit(1);
}

static size_t number(const char *text)
{
    size_t n = strtoul(text, NULL, 10);
    if (n < 1 || n > 1000000)
        die("a number is out of range");
    return n;
}

static double *read_values(const char *path, size_t n)
{
    FILE *file = fopen(path, "r");
    double *v = calloc(n, sizeof *v);
    char line[64];
    if (!file || !v)
        die(path);
    for (size_t i = 0; i < n; i++) {
        if (!fgets(line, sizeof line, file))
            die("the file is too short");
        v[i] = strtod(line, NULL);
    }
    (void)fclose(file);
    return v;
}

int main(int argc, char **argv)
{
    if (argc != 5)
        die("FILE RUNS ITERATIONS RESAMPLES");
    size_t k = number(argv[2]), n = number(argv[3]);
    double *v = read_values(argv[1], 2 * k * n);
    size_t *off = calloc(k + 1, sizeof *off);
    if (!off)
        die("out of memory");
    for (size_t j = 0; j <= k; j++)
        off[j] = j * n;
    struct qs_tree x = {.v = v, .depth = 1, .off = {off}, .count = {k}}, y = x;
    y.v = v + k * n;
    struct qs_hier_boot_opts opts = {.seed = 1, .resamples = number(argv[4]), .level = 0.95};
    struct qs_hier_boot got;
    struct timespec began, ended;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &began);
    if (qs_hier_boot_ratio(&x, &y, &opts, &got) != QS_OK)
        die("the bootstrap failed");
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ended);
    printf("%.9f %.17g %.17g\n",
           (double)(ended.tv_sec - began.tv_sec) + 1e-9 * (double)(ended.tv_nsec - began.tv_nsec), got.ci.lo,
           got.ci.hi);
    free(off);
    free(v);
    return 0;
}
