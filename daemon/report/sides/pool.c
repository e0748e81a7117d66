/* Several series of one side as one: what was measured of several builds, in several jobs. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/sides/impl.h"

static int by_turn(const void *a, const void *b)
{
    return qs_sides_by_turn(*(const struct qs_arm_run *const *)a, *(const struct qs_arm_run *const *)b);
}

/* The runs of all series, ordered by turn; owned by the caller. */
static const struct qs_arm_run **all_runs(const struct qs_side_series *const *series, size_t count,
                                          size_t *ret_count)
{
    size_t n = 0;
    for (size_t i = 0; i < count; i++)
        n += series[i]->count;
    const struct qs_arm_run **runs = qs_malloc(n * sizeof *runs);
    *ret_count = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < series[i]->count; k++)
            runs[(*ret_count)++] = series[i]->runs[k];
    if (n > 1)
        qsort((void *)runs, n, sizeof *runs, by_turn);
    return runs;
}

bool qs_sides_may_pool(enum qs_pool pool, const struct qs_side_series *const *series, size_t count)
{
    if (pool != QS_POOL_JOBS || count < 2)
        return pool != QS_POOL_NAMES || count < 2;
    size_t n = 0;
    bool alone = true;
    const struct qs_arm_run **runs = all_runs(series, count, &n);
    for (size_t i = 1; i < n && alone; i++)
        alone = runs[i]->job != runs[i - 1]->job ||
                strcmp(qs_sides_build(runs[i]), qs_sides_build(runs[i - 1])) == 0;
    free((void *)runs);
    return alone;
}

/* "a, b, c and 4 more" */
static char *names_of(struct qs_side_series *const *series, size_t count)
{
    enum { NAMED_MOST = 3 };
    struct qs_buf text;
    qs_buf_init(&text);
    for (size_t i = 0; i < count && i < NAMED_MOST; i++)
        qs_buf_fmt(&text, "%s%s", i == 0 ? "" : i + 1 == count ? " and " : ", ", series[i]->arm);
    if (count > NAMED_MOST)
        qs_buf_fmt(&text, " and %zu more", count - NAMED_MOST);
    return qs_buf_take(&text);
}

struct qs_side_series *qs_sides_pool(struct qs_side_series *const *series, size_t count)
{
    struct qs_side_series *all = series[0];
    if (count < 2)
        return all;
    size_t n = 0;
    const struct qs_arm_run **runs = all_runs((const struct qs_side_series *const *)series, count, &n);
    char *pool = names_of(series, count);
    const char **builds = qs_malloc(count * sizeof *builds);
    for (size_t i = 0; i < count; i++) {
        builds[i] = series[i]->arm;
        series[i]->matched = true;
        series[i]->pooled = 0;
    }
    free((void *)all->runs);
    *all = (struct qs_side_series){.runs = runs,
                                   .count = n,
                                   .arm = pool,
                                   .pool = pool,
                                   .builds = builds,
                                   .pooled = count,
                                   .matched = true};
    return all;
}
