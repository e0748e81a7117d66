/* What is wrong with the sample, in words that say what it means. */
#include <math.h>

#include "base/text.h"
#include "report/job/metrics.h"
#include "report/put.h"

static const struct qs_job_benchmark *benchmark_of(const struct qs_report_group *g)
{
    const struct qs_job_spec *spec = g->in->spec;
    return &spec->benchmarks[spec->points[g->point].benchmark];
}

static void warn_first(struct qs_json *j, bool one_program, double ratio)
{
    double percent = (ratio - 1) * 100;
    if (one_program)
        qs_put_warning(
            j, "first",
            "the first iteration of a run takes %.0f %% longer than the next ones: its program had not "
            "warmed "
            "up",
            percent);
    else
        qs_put_warning(
            j, "first",
            "the first process of a run takes %.0f %% longer than the next ones: caches cool between turns",
            percent);
}

static void warn_shape(struct qs_json *j, const struct qs_metric_arm *arm, double first_ratio,
                       bool one_program)
{
    const double many = 0.01, slow_first = 1.05, short_ns = 5e5;
    size_t far = arm->has_tukey ? arm->tukey.n_far : 0;
    if (far > 0 && (double)far >= many * (double)arm->count)
        qs_put_warning(j, "outliers", "%zu of %zu iterations lie beyond 3 IQR; they are kept", far,
                       arm->count);
    if (first_ratio > slow_first)
        warn_first(j, one_program, first_ratio);
    if (!one_program && arm->all.median < short_ns && arm->count > 0)
        qs_put_warning(j, "short", "an iteration is so short that most of it is starting the process");
}

static void warn_dependence(struct qs_json *j, const struct qs_metric_arm *arm)
{
    enum { ENOUGH = 10 };
    if (arm->runs >= ENOUGH && arm->r1 > 1.96 / sqrt((double)arm->runs))
        qs_put_warning(j, "dependence",
                       "runs resemble the run before (lag-1 autocorrelation %.2f): the machine drifted, and "
                       "intervals of single arms are too narrow",
                       arm->r1);
}

static void add_times(struct qs_buf *out, const struct qs_median_kind *kind)
{
    bool interval = isfinite(kind->ci.lo);
    qs_text_duration(out, interval ? kind->ci.lo : kind->median);
    if (interval) {
        qs_buf_str(out, " to ");
        qs_text_duration(out, kind->ci.hi);
    }
}

/* Of one arm alone; with more of them the comparisons tell what disturbed them. */
static void warn_kinds(struct qs_json *j, const struct qs_mixed_median *m)
{
    const struct qs_median_kind *clean = &m->alone[QS_CLEAN], *off = &m->alone[QS_DISTURBED];
    QS_BUF(text);
    if (isnan(m->worth))
        return;
    add_times(&text, clean);
    qs_buf_fmt(&text, " in the %zu clean runs alone, ", clean->n);
    add_times(&text, off);
    qs_buf_fmt(&text, " in the %zu disturbed ones; ", off->n);
    if (m->worth <= 0)
        qs_buf_str(&text, "the clean ones count");
    else if (m->worth < 1)
        qs_buf_fmt(&text, "both count, a disturbed one as %.2g of a clean one", m->worth);
    else
        qs_buf_str(&text, "both count alike");
    qs_put_warning(j, "both-count", "%s", text.data);
}

size_t qs_report_windows(const struct qs_report_arm *arm)
{
    size_t all = 0;
    for (size_t i = 0; i < QS_SILENCES; i++)
        all += arm->windows[i];
    return all;
}

/* What the repeats could not mend. */
static void warn_unclean(struct qs_json *j, const struct qs_report_group *g, size_t index)
{
    const struct qs_report_arm *arm = &g->arms[index];
    uint32_t repeats = qs_job_conditions(g->in->spec, g->point, index)->repeat_tainted;
    if (arm->windows_left == 0)
        return;
    qs_put_warning(
        j, "not-clean",
        "%zu of %zu windows were not clean, and for %zu of them no clean one followed (%u repeat%s "
        "each at most; none where the gate gave up)",
        arm->windows_tainted, qs_report_windows(arm), arm->windows_left, (unsigned)repeats,
        repeats == 1 ? "" : "s");
}

void qs_report_arm_warnings(struct qs_json *j, const struct qs_report_group *g, size_t index)
{
    const struct qs_report_arm *arm = &g->arms[index];
    const struct qs_metric_arm *duration = &g->metrics[0].arms[index];
    qs_json_array(j);
    warn_shape(j, duration, arm->first_ratio, benchmark_of(g)->mode != QS_MODE_COMMAND);
    if (g->in->spec->arm_count == 1) {
        warn_dependence(j, duration);
        warn_kinds(j, &duration->median);
    }
    if (arm->runs_failed > 0)
        qs_put_warning(j, "failed", "%zu of %zu runs gave no accepted iteration", arm->runs_failed,
                       arm->runs_seen);
    warn_unclean(j, g, index);
    if (arm->iterations_tainted > 0)
        qs_put_warning(j, "tainted", "%zu iteration%s tainted", arm->iterations_tainted,
                       arm->iterations_tainted == 1 ? " is" : "s are");
    qs_json_array_end(j);
}

static void add_change(struct qs_buf *out, const struct qs_ci *log_ci)
{
    qs_buf_fmt(out, "%+.2g to %+.2g %%", 100 * expm1(log_ci->lo), 100 * expm1(log_ci->hi));
}

bool qs_report_warn_mixed(struct qs_json *j, const char *cand, const char *base, const struct qs_mixed *m)
{
    const struct qs_ttest *clean = &m->alone[QS_CLEAN], *off = &m->alone[QS_DISTURBED];
    QS_BUF(text);
    bool clean_says = clean->n[0] >= 2 && !isnan(clean->se), off_says = off->n[0] >= 2 && !isnan(off->se);
    if (!clean_says || !(off_says || m->contradict))
        return false;
    qs_buf_fmt(&text, "%s against %s: ", cand, base);
    add_change(&text, &clean->ci);
    qs_buf_fmt(&text, " in the %zu clean blocks alone%s ", clean->n[0] + clean->n[1], off_says ? "," : ";");
    if (off_says) {
        add_change(&text, &off->ci);
        qs_buf_fmt(&text, " in the %zu disturbed ones; ", off->n[0] + off->n[1]);
    }
    if (m->contradict)
        qs_buf_fmt(&text, "the two kinds contradict each other (p = %.2g), so only the clean ones count",
                   m->agree_p);
    else if (m->worth <= 0)
        qs_buf_str(&text, "the clean ones count");
    else if (m->worth < 1)
        qs_buf_fmt(&text, "both count, a disturbed one as %.2g of a clean one", m->worth);
    else
        qs_buf_str(&text, "both count alike");
    qs_put_warning(j, m->contradict ? "contradict" : "both-count", "%s", text.data);
    return true;
}

static void warn_pair(struct qs_json *j, const struct qs_comparison *c)
{
    (void)qs_report_warn_mixed(j, c->names[QS_CAND], c->names[QS_BASE], &c->mixed);
    if (c->lost_p < c->alpha)
        qs_put_warning(
            j, "taint-rates",
            "%s lost a different share of its runs than %s (p = %.2g): the runs that are left may not "
            "be alike",
            c->names[QS_CAND], c->names[QS_BASE], c->lost_p);
}

void qs_report_group_warnings(struct qs_json *j, const struct qs_report_group *g)
{
    qs_json_array(j);
    if (g->uses_tainted)
        qs_put_warning(j, "noisy",
                       "the machine was busy in %zu of %zu blocks; all are used: blocks and order protect "
                       "the comparison, but the times themselves may be too high",
                       g->blocks_tainted, g->block_count);
    else if (g->blocks_tainted > 0)
        qs_put_warning(j, "left-out",
                       "disturbed, and left out of means, spread and quantiles: %zu of %zu blocks",
                       g->blocks_tainted, g->block_count);
    if (g->incomplete > 0)
        qs_put_warning(j, "incomplete", "left out, because %s: %zu of %zu blocks",
                       g->in->spec->arm_count > 1 ? "they lack an arm" : "nothing of them was accepted",
                       g->incomplete, g->block_count);
    if (qs_job_is_streamed(benchmark_of(g)))
        qs_put_warning(j, "not-silent", "not silent: %s", QS_SILENCE_WHY_STREAM);
    if (g->simulated)
        qs_put_warning(j, "simulated", "these numbers come from a simulated device");
    for (size_t i = 0; i < g->pair_count; i++)
        warn_pair(j, &g->metrics[0].pairs[i]);
    qs_json_array_end(j);
}
