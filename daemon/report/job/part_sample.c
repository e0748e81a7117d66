/* Runs of the store as a series, and their windows. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/analysis/impl.h"
#include "report/median.h"
#include "report/job/parts.h"

void qs_part_series(struct qs_import_series *s, const struct qs_part_run *runs, size_t count,
                    const char *benchmark, const size_t dropped[QS_DROP_COUNT])
{
    size_t n = 0;
    for (size_t i = 0; i < count; i++)
        n += runs[i].n;
    *s = (struct qs_import_series){.benchmark = qs_strdup(benchmark),
                                   .metric = qs_strdup("duration"),
                                   .unit = qs_strdup("ns"),
                                   .direction = QS_DIRECTION_LOWER,
                                   .scale = 1,
                                   .v = qs_calloc(n, sizeof *s->v),
                                   .off = qs_calloc(count + 1, sizeof *s->off),
                                   .runs = count};
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < runs[i].n; k++)
            s->v[s->n++] = runs[i].ns[k];
        s->off[i + 1] = s->n;
    }
    memcpy(s->dropped, dropped, sizeof s->dropped);
}

void qs_part_series_done(struct qs_import_series *s)
{
    free(s->benchmark);
    free(s->metric);
    free(s->unit);
    free(s->v);
    free(s->off);
}

void qs_part_dropped(const struct qs_values *values, size_t dropped[QS_DROP_COUNT])
{
    assert(!values->disturbed || values->tainted >= values->n);
    dropped[QS_DROP_TAINTED] += values->tainted - (values->disturbed ? values->n : 0);
    dropped[QS_DROP_WARMUP] += values->warm;
}

void qs_put_part_sample(struct qs_json *j, const struct qs_import_series *s,
                        const struct qs_analysis_opts *opts)
{
    struct qs_view v;
    double lo, hi;
    qs_json_key(j, "sample");
    if (s->n == 0) {
        qs_json_null(j);
        return;
    }
    qs_view_init(&v, s, opts);
    qs_histogram_range(&v, &lo, &hi);
    qs_json_object(j);
    qs_put_sample(j, &v, lo, hi);
    qs_json_object_end(j);
    qs_view_done(&v);
}

/* Of the iterations that its run stands on; NaN where it has none of them. */
static double median_of(const struct qs_window_info *w, bool disturbed)
{
    const enum qs_worth worth = qs_worth_taken(disturbed);
    double *ns = qs_malloc(w->n * sizeof *ns);
    size_t n = 0;
    for (size_t i = 0; i < w->n; i++)
        if (w->worth[i] == worth)
            ns[n++] = w->durations_ns[i];
    double median = qs_median_ns(ns, n);
    free(ns);
    return median;
}

void qs_part_windows(struct qs_part_windows *ret, const struct qs_windows *all,
                     const struct qs_part_run *runs, size_t count)
{
    *ret = (struct qs_part_windows){.all = all, .at = qs_calloc(all->count, sizeof *ret->at)};
    for (size_t r = 0; r < count; r++) {
        for (size_t i = 0; i < all->count; i++) {
            if (memcmp(all->at[i].run_uid, runs[r].uid, sizeof all->at[i].run_uid) != 0)
                continue;
            double median = median_of(&all->at[i], runs[r].disturbed);
            if (isfinite(median))
                ret->at[ret->count++] =
                    (struct qs_part_window){.info = &all->at[i], .run = r, .median_ns = median};
        }
    }
}

void qs_part_windows_done(struct qs_part_windows *w)
{
    free(w->at);
}
