#include "report/views_of.h"

#include <stdlib.h>
#include <string.h>

void qs_views_of_runs(const struct qs_views *views, struct qs_arm_runs *runs, struct qs_views_tally *tally)
{
    for (size_t i = 0; i < runs->count; i++) {
        struct qs_arm_run *run = &runs->at[i];
        for (size_t m = 0; m < runs->metric_count; m++) {
            struct qs_values *values = &run->values[m];
            struct qs_views_tally other = {.used = {0}};
            if (!runs->metrics[m].of_windows)
                values->n = qs_views_apply(views, values->at, values->n, m == 0 ? tally : &other);
        }
    }
}

static void take_series(const struct qs_views *views, struct qs_import_series *s,
                        struct qs_views_tally *tally)
{
    size_t n = 0, runs = 0, from = 0;
    for (size_t r = 0; r < s->runs; r++) {
        size_t end = s->off[r + 1];
        size_t left = qs_views_apply(views, s->v + from, end - from, tally);
        memmove(s->v + n, s->v + from, left * sizeof *s->v);
        from = end;
        n += left;
        if (left > 0)
            s->off[++runs] = n;
    }
    s->dropped[QS_DROP_VIEW] += s->n - n;
    s->n = n;
    s->runs = runs;
}

bool qs_views_of_import(const struct qs_views *views, struct qs_import *import, struct qs_views_tally *tally,
                        struct qs_err *err)
{
    for (size_t i = 0; i < import->count && views->count > 0; i++) {
        struct qs_import_series *s = &import->series[i];
        size_t before = s->n;
        for (size_t k = 0; s->labels && k < s->n; k++)
            free(s->labels[k]);
        free(s->labels); /* they were of values that may have gone */
        s->labels = NULL;
        take_series(views, s, tally);
        import->values -= before - s->n;
        if (s->n == 0)
            return qs_fail(err, QS_E_USAGE, "the views leave nothing of the %zu values of `%.60s%s%.60s`",
                           before, s->benchmark, s->benchmark[0] != '\0' ? " " : "", s->metric);
    }
    return true;
}
