/* Two arms of one job are judged by the job's own report, so that `compare 4` and `compare 4:a 4:b` can never
 * give two answers. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/job/metrics.h"
#include "report/sides/impl.h"

struct qs_sides_own {
    struct qs_job_spec spec;             /* the job's but for what was asked for; borrows all else */
    struct qs_job_benchmark *benchmarks; /* owned */
    struct qs_report_input in;
    struct qs_report_group *groups; /* owned */
    size_t count;
};

void qs_sides_own_free(struct qs_sides_own *own)
{
    if (!own)
        return;
    qs_report_groups_free(own->groups, own->count);
    free(own->benchmarks);
    free(own);
}

/* The report as if this arm were the baseline. */
static struct qs_sides_own *make_own(const struct qs_sides *s, size_t baseline)
{
    struct qs_sides_own *own = qs_calloc(1, sizeof *own);
    const struct qs_job_spec *spec = s->in->job->spec;
    own->spec = *spec;
    own->spec.baseline = baseline;
    own->spec.alpha = s->how.alpha;
    own->benchmarks = qs_malloc(spec->benchmark_count * sizeof *own->benchmarks);
    for (size_t i = 0; i < spec->benchmark_count; i++) {
        own->benchmarks[i] = spec->benchmarks[i];
        if (!isnan(s->in->margin_ratio))
            own->benchmarks[i].margin_ratio = s->in->margin_ratio;
    }
    own->spec.benchmarks = own->benchmarks;
    own->in = *s->in->job;
    own->in.spec = &own->spec;
    (void)qs_report_groups(&own->in, &s->how.progress, &own->groups, &own->count); /* s->work remembers */
    return own;
}

/* Whether the series is one arm of the job. */
static bool is_one_arm(const struct qs_sides *s, const struct qs_side_series *series)
{
    const struct qs_arm_run *first = series->runs[0];
    for (size_t i = 0; i < series->count; i++) {
        const struct qs_arm_run *run = series->runs[i];
        if (run->job != s->in->job->job->id || run->arm != first->arm || run->point != first->point)
            return false;
    }
    return first->arm < s->in->job->spec->arm_count;
}

static const struct qs_report_group *find_group(const struct qs_sides_own *own, const struct qs_arm_run *run)
{
    for (size_t i = 0; i < own->count; i++)
        if (own->groups[i].point == run->point &&
            strcmp(own->groups[i].device, run->device ? run->device : "") == 0)
            return &own->groups[i];
    return NULL;
}

static bool block_counts(const struct qs_report_group *g, uint32_t block)
{
    size_t lo = 0, hi = g->block_count;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (g->blocks[mid] == block)
            return g->block_complete[mid];
        *(g->blocks[mid] < block ? &lo : &hi) = g->blocks[mid] < block ? mid + 1 : mid;
    }
    return false;
}

static void fill_side(const struct qs_report_group *g, const struct qs_side_series *series, size_t metric,
                      struct qs_side_values *ret)
{
    struct qs_side_units units;
    qs_sides_units(series, metric, &units);
    bool *used = qs_calloc(units.count, sizeof *used);
    for (size_t i = 0; i < units.count; i++)
        used[i] = isfinite(units.at[i].value) && block_counts(g, units.at[i].block);
    qs_sides_fill(series, metric, &units, used, QS_UNITS_BLOCKS, ret);
    ret->builds = ret->n > 0 ? 1 : 0;
    free(used);
    free(units.at);
}

/* What the report says of this candidate in this metric, or NULL. */
static const struct qs_comparison *find_judged(const struct qs_report_group *g, const char *metric,
                                               size_t cand)
{
    for (size_t m = 0; m < g->metric_count; m++)
        for (size_t p = 0; p < g->pair_count && strcmp(g->metrics[m].metric->name, metric) == 0; p++)
            if (g->pairs[p].cand == cand)
                return &g->metrics[m].pairs[p];
    return NULL;
}

bool qs_sides_judge_own(struct qs_sides *s, const struct qs_sides_pair *pair, size_t metric,
                        struct qs_comparison *ret)
{
    const struct qs_arm_run *base = pair->series[QS_BASE]->runs[0], *cand = pair->series[QS_CAND]->runs[0];
    if (!s->in->job || !is_one_arm(s, pair->series[QS_BASE]) || !is_one_arm(s, pair->series[QS_CAND]) ||
        base->arm == cand->arm || base->point != cand->point)
        return false;
    if (!s->own || s->own->spec.baseline != base->arm) {
        qs_sides_own_free(s->own);
        s->own = make_own(s, base->arm);
    }
    const struct qs_report_group *g = find_group(s->own, base);
    const struct qs_comparison *judged = g ? find_judged(g, ret->metric->name, cand->arm) : NULL;
    if (!judged)
        return false;
    const struct qs_arm_metric *known = ret->metric;
    const char *names[2] = {ret->names[QS_BASE], ret->names[QS_CAND]};
    *ret = *judged; /* but for what the sides know by themselves */
    ret->metric = known;
    for (int k = 0; k < 2; k++) {
        ret->names[k] = names[k];
        ret->side[k] = (struct qs_side_values){0};
        fill_side(g, pair->series[k], metric, &ret->side[k]);
    }
    return true;
}
