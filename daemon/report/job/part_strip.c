/* Values in the order of time, gathered into few cells: what a histogram cannot show. */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "report/analysis/impl.h"
#include "report/job/parts.h"
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

void qs_put_part_strip(struct qs_json *j, const struct qs_strip *s)
{
    size_t each = s->n > 0 ? (s->n + CELLS_MOST - 1) / CELLS_MOST : 1, cells = (s->n + each - 1) / each;
    double *median = qs_calloc(cells, sizeof *median), *most = qs_calloc(cells, sizeof *most);
    size_t *marked = qs_calloc(cells, sizeof *marked);
    double lo, hi;
    find_axis(s->x, s->n, &lo, &hi);
    for (size_t c = 0; c < cells; c++) {
        size_t from = c * each, end = from + each < s->n ? from + each : s->n;
        if (qs_median(s->x + from, end - from, &median[c]) != QS_OK)
            median[c] = NAN;
        most[c] = s->x[from];
        for (size_t i = from; i < end; i++) {
            most[c] = fmax(most[c], s->x[i]);
            marked[c] += s->left_out && s->left_out[i];
        }
    }
    qs_json_kobject(j, "strip");
    qs_json_kstring(j, "of", s->of);
    qs_json_kint(j, "n", (int64_t)s->n);
    qs_json_kint(j, "per_cell", (int64_t)each);
    qs_json_kdouble(j, "lo", lo);
    qs_json_kdouble(j, "hi", hi);
    qs_put_numbers(j, "median", median, cells);
    qs_put_numbers(j, "max", most, cells);
    qs_put_counts(j, "left_out", marked, cells);
    qs_json_object_end(j);
    free(median);
    free(most);
    free(marked);
}
