/* Values in the order of time, gathered into few cells: what a histogram cannot show. */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "report/analysis_impl.h"
#include "report/parts.h"
#include "stats/describe.h"
#include "stats/outlier.h"

enum { CELLS_MOST = 60 };

/* From the least value to the highest that is no far outlier, as a histogram's axis. */
static void find_axis(const double *x, size_t n, double *lo, double *hi)
{
    struct qs_tukey t = {.far_hi = NAN};
    (void)qs_tukey_flags(x, n, NULL, &t);
    *lo = INFINITY;
    *hi = -INFINITY;
    for (size_t i = 0; i < n; i++) {
        *lo = fmin(*lo, x[i]);
        *hi = fmax(*hi, x[i]);
    }
    *hi = t.far_hi < *hi ? t.far_hi : *hi;
}

void qs_put_part_strip(struct qs_json *j, const char *of, const double *x, const bool *left_out, size_t n)
{
    size_t each = n > 0 ? (n + CELLS_MOST - 1) / CELLS_MOST : 1, cells = (n + each - 1) / each;
    double *median = qs_calloc(cells + 1, sizeof *median), *most = qs_calloc(cells + 1, sizeof *most);
    size_t *marked = qs_calloc(cells + 1, sizeof *marked);
    double lo, hi;
    find_axis(x, n, &lo, &hi);
    for (size_t c = 0; c < cells; c++) {
        size_t from = c * each, end = from + each < n ? from + each : n;
        if (qs_median(x + from, end - from, &median[c]) != QS_OK)
            median[c] = NAN;
        most[c] = x[from];
        for (size_t i = from; i < end; i++) {
            most[c] = fmax(most[c], x[i]);
            marked[c] += left_out && left_out[i];
        }
    }
    qs_json_key(j, "strip");
    qs_json_object(j);
    qs_json_kstring(j, "of", of);
    qs_json_kint(j, "n", (int64_t)n);
    qs_json_kint(j, "per_cell", (int64_t)each);
    qs_json_kdouble(j, "lo_ns", lo);
    qs_json_kdouble(j, "hi_ns", hi);
    qs_put_numbers(j, "median_ns", median, cells);
    qs_put_numbers(j, "max_ns", most, cells);
    qs_put_counts(j, "left_out", marked, cells);
    qs_json_object_end(j);
    free(median);
    free(most);
    free(marked);
}
