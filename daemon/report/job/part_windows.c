/* What became of the values of runs, and the windows that they are of. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/analysis/impl.h"
#include "report/median.h"
#include "report/job/parts.h"

void qs_part_dropped(const struct qs_values *values, size_t dropped[QS_DROP_COUNT])
{
    assert(!values->disturbed || values->tainted >= values->n);
    dropped[QS_DROP_TAINTED] += values->tainted - (values->disturbed ? values->n : 0);
    dropped[QS_DROP_WARMUP] += values->warm;
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
