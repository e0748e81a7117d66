/* What estimators of location do over trials: minimum_study trials FILE. FILE has a trial a line, its
 * measurements in ns. Or minimum_study scan FILE: Algorithm 1 of Chen & Revels; a line has an experiment, the
 * times of 1, 2, 3, .. evaluations. Prints JSON. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stats/describe.h"
#include "stats/modality.h"
#include "stats/timer.h"
#include "studies/stop/series.h"

enum estimator { MEAN, TRIMMED, MEDIAN, MINIMUM, ESTIMATORS };
static const char *const names[] = {"mean", "mean of 5 to 95 %", "median", "minimum"};

/* Over the trials: where it is, how much it varies, and how many modes it has; quantum is the step that its
 * values come in. */
static bool print_estimator(const char *name, const double *x, size_t n, double quantum, const char *after)
{
    struct qs_summary s;
    struct qs_modality_test m;
    if (qs_describe(x, n, &s) != QS_OK || qs_modality_test(x, n, quantum, NULL, &m) != QS_OK)
        return false;
    printf("\"%s\": {\"median_ns\": %.17g, \"cov\": %.17g, \"range_ratio\": %.17g, \"modality\": \"%s\", "
           "\"modes\": %zu, ",
           name, s.median, s.cov_abs, s.max / s.min, qs_modality_names[m.modality], m.modes.count);
    if (isnan(m.mvalue))
        printf("\"mvalue\": null}%s", after);
    else
        printf("\"mvalue\": %.17g}%s", m.mvalue, after);
    return true;
}

static bool trials(const struct set *set)
{
    double *of[ESTIMATORS];
    bool ok = true;
    for (size_t e = 0; e < ESTIMATORS; e++) {
        of[e] = calloc(set->count, sizeof *of[e]);
        ok = ok && of[e];
    }
    for (size_t i = 0; ok && i < set->count; i++) {
        struct qs_summary s;
        ok = qs_describe(set->s[i].v, set->s[i].n, &s) == QS_OK;
        of[MEAN][i] = s.mean;
        of[TRIMMED][i] = s.trim05;
        of[MEDIAN][i] = s.median;
        of[MINIMUM][i] = s.min;
    }
    printf("{\"trials\": %zu, ", set->count);
    for (size_t e = 0; ok && e < ESTIMATORS; e++)
        ok = print_estimator(names[e], of[e], set->count, 1, e + 1 < ESTIMATORS ? ", " : "}\n");
    for (size_t e = 0; e < ESTIMATORS; e++)
        free(of[e]);
    return ok;
}

/* T_n/n over the experiments, for one n. */
static bool print_n(const struct set *set, size_t n, double *x, const char *before)
{
    struct qs_summary s;
    for (size_t i = 0; i < set->count; i++)
        x[i] = set->s[i].v[n - 1] / (double)n;
    if (qs_describe(x, set->count, &s) != QS_OK)
        return false;
    printf("%s{\"n\": %zu, \"min_ns\": %.17g, \"median_ns\": %.17g, \"max_ns\": %.17g}", before, n, s.min,
           s.median, s.max);
    return true;
}

static bool scan(const struct set *set)
{
    static const size_t counts[] = {1, 3, 10, 30, 100, 300, 1000};
    const struct qs_clock_error clock = {1000, 1};
    double *x = calloc(set->count, sizeof *x);
    size_t least = SIZE_MAX;
    for (size_t i = 0; i < set->count; i++)
        least = set->s[i].n < least ? set->s[i].n : least;
    printf("{\"experiments\": %zu, \"curve\": [", set->count);
    bool ok = x != NULL;
    for (size_t k = 0; ok && k < sizeof counts / sizeof *counts && counts[k] <= least; k++)
        ok = print_n(set, counts[k], x, k > 0 ? ", " : "");
    double lo_n = INFINITY, hi_n = 0;
    for (size_t i = 0; ok && i < set->count; i++) {
        x[i] = INFINITY;
        for (size_t n = 1; n <= set->s[i].n; n++)
            x[i] = fmin(x[i], set->s[i].v[n - 1] / (double)n);
        double evals = qs_oracle_table(x[i], &clock);
        lo_n = fmin(lo_n, evals);
        hi_n = fmax(hi_n, evals);
    }
    printf("], ");
    ok = ok && print_estimator("estimate", x, set->count, 0, ", ");
    printf("\"evals\": [%.0f, %.0f]}\n", lo_n, hi_n);
    free(x);
    return ok;
}

int main(int argc, char **argv)
{
    struct set set = {0};
    bool is_scan = argc == 3 && strcmp(argv[1], "scan") == 0;
    if (!is_scan && !(argc == 3 && strcmp(argv[1], "trials") == 0)) {
        fputs("usage: minimum_study trials|scan FILE\n", stderr);
        return 2;
    }
    bool ok = set_read(&set, argv[2], SERIES_FEWEST) && (is_scan ? scan(&set) : trials(&set));
    if (!ok)
        fputs("minimum_study: no series of at least 30 positive values, or no memory\n", stderr);
    set_free(&set);
    return ok ? 0 : 1;
}
