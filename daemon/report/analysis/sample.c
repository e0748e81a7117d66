/* One series in a document: what it is, what is wrong with it, its shape, and every statistic. */
#include <math.h>
#include <string.h>

#include "report/analysis/impl.h"
#include "report/put.h"
#include "report/work.h"
#include "stats/outlier.h"

static void put_warnings(struct qs_json *j, const void *at)
{
    const struct qs_told_sample *s = at;
    struct qs_sample sample = *s->of;
    struct qs_analysis_opts opts = *sample.opts;
    double cost_ns = qs_sample_cost_ns("warnings", sample.n, sample.runs, &opts);
    sample.opts = &opts;
    qs_json_array(j);
    if (qs_work_begin(opts.work, "warnings", cost_ns, &opts.progress))
        qs_put_warnings(j, &sample);
    qs_json_array_end(j);
}

enum { BINS = 20 };
struct histogram {
    double lo, hi;
    size_t counts[BINS], above;
};
const struct qs_field qs_histogram_rows[] = {
    QS_ROW(histogram, lo, DOUBLE, "where the first bin begins: the least value"),
    QS_ROW(histogram, hi, DOUBLE, "where the last one ends: the highest value that is no far outlier"),
    QS_ROW(histogram, counts, COUNTS, "values of each bin", .count = BINS),
    QS_ROW(histogram, above, COUNT, "values above hi: far outliers"),
    {.name = NULL}};

static void put_histogram(struct qs_json *j, const void *at)
{
    const struct qs_told_sample *s = at;
    struct histogram told = {.lo = s->lo, .hi = s->hi};
    double width = (s->hi - s->lo) / BINS;
    for (size_t i = 0; i < s->n; i++) {
        double x = s->of->x[i], bin = width > 0 ? (x - s->lo) / width : 0;
        if (x > s->hi)
            told.above++;
        else
            told.counts[bin >= BINS ? BINS - 1 : (size_t)bin]++;
    }
    qs_put_object(j, qs_histogram_rows, &told);
}

static const struct qs_field look_rows[] = {
    QS_ROW_PUT("warnings", put_warnings, OBJECTS, "what is wrong with it", .ref = "#/$defs/warning"),
    QS_ROW_PUT("histogram", put_histogram, WITHIN, "its shape", .ref = "#/$defs/"),
    {.name = NULL}};

static void put_looks(struct qs_json *j, const void *at)
{
    const struct qs_told_sample *s = at;
    if (!s->of->opts->line)
        qs_put_fields(j, look_rows, s);
}

const struct qs_field qs_sample_rows[] = {
    QS_ROW(qs_told_sample, scale, DOUBLE,
           "value = number in the file x scale: the seconds of pyperf and hyperfine become ns",
           .known = true),
    QS_ROW(qs_told_sample, n, COUNT, "values"),
    QS_ROW(qs_told_sample, runs, COUNT, "runs that they belong to"),
    QS_ROW(qs_told_sample, n_dropped, COUNT, "values that were left out"),
    QS_ROW(qs_told_sample, dropped, COUNTED, "how many of them, by reason", .words = qs_drop_names),
    {.kind = QS_FIELD_PART, .put = put_looks, .of = look_rows},
    QS_ROWS_OF(qs_told_sample, of, qs_sample_stat_rows),
    {.name = NULL}};

struct qs_told_sample qs_tell_sample(const struct qs_sample *s)
{
    struct qs_tukey t = {.far_hi = NAN};
    struct qs_told_sample told = {.of = s,
                                  .scale = s->series->scale,
                                  .lo = s->sorted[0],
                                  .hi = s->sorted[s->n - 1],
                                  .n = s->n,
                                  .runs = s->runs,
                                  .n_dropped = s->dropped};
    (void)qs_tukey_flags(s->sorted, s->n, NULL, &t);
    told.hi = t.far_hi < told.hi ? t.far_hi : told.hi;
    memcpy(told.dropped, s->series->dropped, sizeof told.dropped);
    return told;
}
