/* Values in the order of time, gathered into few cells: what a histogram cannot show. */
#include <math.h>

#include "base/mem.h"
#include "report/fields.h"
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

struct told {
    const char *of;
    size_t n, per_cell;
    double lo, hi;
    struct qs_field_list median, max, left_out;
};
static const struct qs_field rows[] = {QS_ROW(told, of, TEXT, NULL),
                                       QS_ROW(told, n, COUNT, NULL),
                                       QS_ROW(told, per_cell, COUNT, NULL),
                                       QS_ROW(told, lo, DOUBLE, NULL),
                                       QS_ROW(told, hi, DOUBLE, NULL),
                                       QS_ROW(told, median, NUMBERS, NULL),
                                       QS_ROW(told, max, NUMBERS, NULL),
                                       QS_ROW(told, left_out, COUNTS, NULL),
                                       {.name = NULL}};

void qs_put_part_strip(struct qs_json *j, const struct qs_strip *s)
{
    size_t each = s->n > 0 ? (s->n + CELLS_MOST - 1) / CELLS_MOST : 1, cells = (s->n + each - 1) / each;
    double *median = qs_calloc(cells, sizeof *median), *most = qs_calloc(cells, sizeof *most);
    size_t *marked = qs_calloc(cells, sizeof *marked);
    struct told told = {.of = s->of,
                        .n = s->n,
                        .per_cell = each,
                        .median = {median, cells},
                        .max = {most, cells},
                        .left_out = {marked, cells}};
    find_axis(s->x, s->n, &told.lo, &told.hi);
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
    qs_json_key(j, "strip");
    qs_put_object(j, rows, &told);
    qs_fields_free(rows, &told);
}
