/* One arm's own numbers: intervals from run medians, shape from iterations. */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "report/median.h"
#include "report/job/impl.h"
#include "stats/dependence.h"

static void count_run(struct qs_report_arm *arm, const struct qs_report_run *run)
{
    const struct qs_sample *s = run->sample;
    arm->runs_seen++;
    if (!(run->median_ns > 0))
        arm->runs_failed++; /* also where some of it was measured: the run came to no end */
    else if (run->soft)
        arm->runs_tainted++;
    arm->iterations_tainted += s->n_tainted;
    arm->taints |= s->taints_seen | s->taint;
    for (size_t i = 0; i < QS_SILENCES; i++)
        arm->windows[i] += s->windows[i];
}

static void add_iterations(struct qs_report_arm *arm, const struct qs_report_run *run)
{
    arm->iterations_ns =
        qs_realloc(arm->iterations_ns, (arm->iterations + run->n) * sizeof *arm->iterations_ns);
    for (size_t i = 0; i < run->n; i++)
        arm->iterations_ns[arm->iterations++] = run->ns[i];
    arm->run_medians_ns = qs_grow(arm->run_medians_ns, arm->runs, sizeof *arm->run_medians_ns);
    arm->run_medians_ns[arm->runs++] = run->median_ns;
}

struct mean {
    double sum;
    size_t n;
};

static void add_mean(struct mean *m, double v)
{
    if (isfinite(v)) {
        m->sum += v;
        m->n++;
    }
}

static double mean_of(const struct mean *m)
{
    return m->n > 0 ? m->sum / (double)m->n : NAN;
}

/* How much longer the first iteration of a run takes than the others: caches that the other arms cooled, or a
 * program that warms up. */
static void add_first(struct mean *m, const struct qs_report_run *run)
{
    enum { ENOUGH = 3 };
    if (run->n < ENOUGH)
        return;
    double *rest = qs_malloc(run->n * sizeof *rest), median;
    for (size_t i = 1; i < run->n; i++)
        rest[i - 1] = run->ns[i];
    if (qs_median(rest, run->n - 1, &median) == QS_OK && median > 0)
        add_mean(m, log(run->ns[0] / median));
    free(rest);
}

static void summarise(struct qs_report_arm *arm)
{
    double r[2];
    (void)qs_describe(arm->iterations_ns, arm->iterations, &arm->all);
    (void)qs_describe(arm->run_medians_ns, arm->runs, &arm->medians);
    arm->has_tukey = qs_tukey_flags(arm->iterations_ns, arm->iterations, NULL, &arm->tukey) == QS_OK;
    arm->r1 = qs_acf(arm->run_medians_ns, arm->runs, NULL, 0, 1, r) == QS_OK ? r[1] : NAN;
}

static void fill_arm(struct qs_report_group *g, size_t index)
{
    struct qs_report_arm *arm = &g->arms[index];
    struct mean user = {0}, system = {0}, first = {0};
    arm->rss_bytes = NAN;
    for (size_t i = 0; i < g->run_count; i++) {
        const struct qs_report_run *run = &g->runs[i];
        if (run->arm != index)
            continue;
        count_run(arm, run);
        if (!g->block_used[run->block])
            continue;
        add_iterations(arm, run);
        qs_views_add(&arm->tally, &run->tally);
        add_mean(&user, run->sample->user_us_mean);
        add_mean(&system, run->sample->system_us_mean);
        add_first(&first, run);
        if (isfinite(run->sample->rss_max_bytes) && !(arm->rss_bytes >= run->sample->rss_max_bytes))
            arm->rss_bytes = run->sample->rss_max_bytes;
    }
    arm->user_us = mean_of(&user);
    arm->system_us = mean_of(&system);
    arm->first_ratio = first.n > 0 ? exp(mean_of(&first)) : NAN;
    summarise(arm);
    qs_report_median(g, index, NULL, &arm->median);
}

/* One axis for all arms: from the least value to the highest that is no far outlier; what lies above is
 * counted apart. */
static void fill_bins(struct qs_report_group *g)
{
    g->bin_lo_ns = INFINITY;
    g->bin_hi_ns = -INFINITY;
    for (size_t a = 0; a < g->in->spec->arm_count; a++) {
        const struct qs_report_arm *arm = &g->arms[a];
        if (arm->iterations == 0)
            continue;
        double hi = arm->all.max;
        if (arm->has_tukey && arm->tukey.far_hi < hi)
            hi = arm->tukey.far_hi;
        g->bin_lo_ns = fmin(g->bin_lo_ns, arm->all.min);
        g->bin_hi_ns = fmax(g->bin_hi_ns, hi);
    }
    double width = (g->bin_hi_ns - g->bin_lo_ns) / QS_REPORT_BINS;
    for (size_t a = 0; a < g->in->spec->arm_count; a++) {
        struct qs_report_arm *arm = &g->arms[a];
        for (size_t i = 0; i < arm->iterations; i++) {
            double at = width > 0 ? (arm->iterations_ns[i] - g->bin_lo_ns) / width : 0;
            if (arm->iterations_ns[i] > g->bin_hi_ns)
                arm->above++;
            else
                arm->counts[at >= QS_REPORT_BINS ? QS_REPORT_BINS - 1 : (size_t)at]++;
        }
    }
}

void qs_report_fill_arms(struct qs_report_group *g)
{
    g->arms = qs_calloc(g->in->spec->arm_count, sizeof *g->arms);
    for (size_t a = 0;
         a < g->in->spec->arm_count && qs_report_goes_on(g, g->value_count / g->in->spec->arm_count); a++)
        fill_arm(g, a);
    fill_bins(g);
}
