#include "report/job/look.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "stats/mixed_median.h"
#include "stats/twosample.h"

bool qs_look_times_differ(const double *ns, const bool *disturbed, size_t n)
{
    struct qs_mixed mixed;
    double *logs = qs_calloc(n, sizeof *logs);
    for (size_t i = 0; i < n; i++)
        logs[i] = log(ns[i]);
    bool differ = qs_mixed_mean(logs, disturbed, n, 0.95, &mixed) == QS_OK && mixed.contradict;
    free(logs);
    return differ;
}

static size_t complete_blocks(const double *medians_ns, const bool *disturbed, size_t blocks, size_t arms,
                              double *rows, bool *row_disturbed)
{
    size_t n = 0;
    for (size_t b = 0; b < blocks; b++) {
        bool complete = true;
        for (size_t a = 0; a < arms; a++)
            complete = complete && medians_ns[b * arms + a] > 0;
        for (size_t a = 0; complete && a < arms; a++)
            rows[n * arms + a] = medians_ns[b * arms + a];
        row_disturbed[n] = disturbed && disturbed[b];
        n += complete ? 1 : 0;
    }
    return n;
}

static double pair_half_width(const double *rows, const bool *row_disturbed, size_t n, size_t arms,
                              size_t base, size_t cand, double alpha, double *x, double *y)
{
    struct qs_paired paired;
    struct qs_mixed mixed;
    for (size_t b = 0; b < n; b++) {
        x[b] = rows[b * arms + base];
        y[b] = rows[b * arms + cand];
    }
    if (qs_mixed_blocks(x, y, row_disturbed, n, 1 - alpha, &paired, &mixed) != QS_OK)
        return NAN;
    return (paired.test.ci.hi - paired.test.ci.lo) / (2 * paired.test.ratio);
}

static double median_half_width(const double *x, const bool *row_disturbed, size_t n, double alpha)
{
    struct qs_mixed_median m;
    if (qs_mixed_median(x, row_disturbed, n, 1 - alpha, &m) != QS_OK)
        return NAN;
    return (m.ci.hi - m.ci.lo) / (2 * m.median);
}

double qs_look_half_width(const double *medians_ns, const bool *disturbed, size_t blocks, size_t arm_count,
                          size_t baseline, double alpha)
{
    enum { FEWEST = 3 };
    double *rows = qs_calloc(blocks * arm_count, sizeof *rows), *x = qs_calloc(blocks, sizeof *x);
    double *y = qs_calloc(blocks, sizeof *y), widest = NAN;
    bool *row_disturbed = qs_calloc(blocks, sizeof *row_disturbed);
    size_t n = complete_blocks(medians_ns, disturbed, blocks, arm_count, rows, row_disturbed);
    if (arm_count == 1) {
        widest = median_half_width(rows, row_disturbed, n, alpha);
    } else if (n >= FEWEST) {
        for (size_t a = 0; a < arm_count; a++) {
            if (a == baseline)
                continue;
            double half = pair_half_width(rows, row_disturbed, n, arm_count, baseline, a, alpha, x, y);
            if (isnan(half)) {
                widest = NAN;
                break;
            }
            widest = isnan(widest) || half > widest ? half : widest;
        }
    }
    free(rows);
    free(row_disturbed);
    free(x);
    free(y);
    return widest;
}
