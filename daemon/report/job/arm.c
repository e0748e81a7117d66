/* What became of an arm's runs, and what they used. */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "report/job/metrics.h"
#include "stats/twosample.h"

static void count_run(struct qs_report_arm *arm, const struct qs_report_run *run, double median_ns)
{
    const struct qs_measured_run *s = run->measured;
    arm->runs_seen++;
    if (!(median_ns > 0))
        arm->runs_failed++; /* also where some of it was measured: the run came to no end */
    else if (run->disturbed)
        arm->runs_tainted++;
    arm->iterations_seen += s->values.seen;
    arm->iterations_tainted += s->values.tainted;
    arm->windows_tainted += s->windows_tainted;
    arm->windows_left += s->windows_left;
    arm->taken_ns += s->taken_ns;
    arm->taints |= s->values.taints | s->taint;
    for (size_t i = 0; i < QS_SILENCES; i++)
        arm->windows[i] += s->windows[i];
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
static void add_first(struct mean *m, const struct qs_metric_run *run)
{
    enum { ENOUGH = 3 };
    if (run->n < ENOUGH)
        return;
    double *rest = qs_malloc(run->n * sizeof *rest), median;
    for (size_t i = 1; i < run->n; i++)
        rest[i - 1] = run->values[i];
    if (qs_median(rest, run->n - 1, &median) == QS_OK && median > 0)
        add_mean(m, log(run->values[0] / median));
    free(rest);
}

static void fill_arm(struct qs_report_group *g, size_t index)
{
    struct qs_report_arm *arm = &g->arms[index];
    struct mean user = {0}, system = {0}, first = {0};
    arm->rss_bytes = NAN;
    for (size_t i = 0; i < g->run_count; i++) {
        const struct qs_report_run *run = &g->runs[i];
        const struct qs_metric_run *durations = &g->metrics[0].runs[i];
        if (run->arm != index)
            continue;
        count_run(arm, run, durations->median);
        if (!g->block_used[run->block])
            continue;
        arm->runs++;
        arm->iterations += durations->n;
        add_mean(&user, run->measured->user_us_mean);
        add_mean(&system, run->measured->system_us_mean);
        add_first(&first, durations);
        if (isfinite(run->measured->rss_max_bytes) && !(arm->rss_bytes >= run->measured->rss_max_bytes))
            arm->rss_bytes = run->measured->rss_max_bytes;
    }
    arm->user_us = mean_of(&user);
    arm->system_us = mean_of(&system);
    arm->first_ratio = first.n > 0 ? exp(mean_of(&first)) : NAN;
}

/* architecture-notes E, "selective taint hides regressions": a side that lost more of its runs cannot be
 * called equal or better. */
static void compare_losses(struct qs_report_group *g, struct qs_report_pair *pair)
{
    const size_t arms[2] = {g->in->spec->baseline, pair->cand};
    struct qs_lost_rates *r = &pair->rates;
    for (int k = 0; k < 2; k++) {
        r->runs[k] = g->arms[arms[k]].runs_seen;
        r->lost[k] = g->arms[arms[k]].runs_tainted + g->arms[arms[k]].runs_failed;
    }
    r->lost_p = qs_fisher_exact(r->lost[0], r->runs[0], r->lost[1], r->runs[1]);
    r->timeout_p = NAN;
}

void qs_report_fill_arms(struct qs_report_group *g)
{
    const struct qs_job_spec *spec = g->in->spec;
    g->arms = qs_calloc(spec->arm_count, sizeof *g->arms);
    g->pairs = qs_calloc(spec->arm_count, sizeof *g->pairs);
    for (size_t a = 0; a < spec->arm_count; a++)
        fill_arm(g, a);
    for (size_t a = 0; a < spec->arm_count; a++) {
        if (a == spec->baseline)
            continue;
        g->pairs[g->pair_count].cand = a;
        compare_losses(g, &g->pairs[g->pair_count++]);
    }
}
