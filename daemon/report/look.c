#include "report/look.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/mem.h"
#include "stats/describe.h"
#include "stats/interval.h"
#include "stats/twosample.h"

static size_t complete_blocks(const double *medians_ns, size_t blocks, size_t arms, double *rows)
{
    size_t n = 0;
    for (size_t b = 0; b < blocks; b++) {
        bool complete = true;
        for (size_t a = 0; a < arms; a++)
            complete = complete && medians_ns[b * arms + a] > 0;
        for (size_t a = 0; complete && a < arms; a++)
            rows[n * arms + a] = medians_ns[b * arms + a];
        n += complete ? 1 : 0;
    }
    return n;
}

static double pair_half_width(const double *rows, size_t n, size_t arms, size_t base, size_t cand,
                              double alpha, double *x, double *y)
{
    struct qs_paired paired;
    for (size_t b = 0; b < n; b++) {
        x[b] = rows[b * arms + base];
        y[b] = rows[b * arms + cand];
    }
    if (qs_paired_blocks(x, y, n, 1 - alpha, &paired) != QS_OK)
        return NAN;
    return (paired.test.ci.hi - paired.test.ci.lo) / (2 * paired.test.ratio);
}

static double median_half_width(const double *x, size_t n, double alpha)
{
    struct qs_median_ci m;
    if (qs_median_ci(x, n, 1 - alpha, &m) != QS_OK)
        return NAN;
    double median;
    return qs_median(x, n, &median) == QS_OK ? (m.ci.hi - m.ci.lo) / (2 * median) : NAN;
}

double qs_look_half_width(const double *medians_ns, size_t blocks, size_t arm_count, size_t baseline,
                          double alpha)
{
    enum { FEWEST = 3 };
    double *rows = qs_calloc(blocks * arm_count + 1, sizeof *rows), *x = qs_calloc(blocks + 1, sizeof *x);
    double *y = qs_calloc(blocks + 1, sizeof *y), widest = NAN;
    size_t n = complete_blocks(medians_ns, blocks, arm_count, rows);
    if (arm_count == 1) {
        widest = median_half_width(rows, n, alpha);
    } else if (n >= FEWEST) {
        for (size_t a = 0; a < arm_count; a++) {
            if (a == baseline)
                continue;
            double half = pair_half_width(rows, n, arm_count, baseline, a, alpha, x, y);
            if (isnan(half)) {
                widest = NAN;
                break;
            }
            widest = isnan(widest) || half > widest ? half : widest;
        }
    }
    free(rows);
    free(x);
    free(y);
    return widest;
}
