/* The comparison document. schema/comparison.md describes every field. */
#include "report/job/report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "config/job/ablate.h"
#include "report/median.h"
#include "report/job/metrics.h"
#include "report/job/opinion.h"
#include "report/put.h"
#include "report/tables/tables.h"

enum { DOCUMENT_VERSION = 1 };
/* Of a document with second opinions, whose draws take longer than all the rest. */
static const double JUDGING_SHARE = 0.25; /* no rounding */

static void put_quantiles(struct qs_json *j, const struct qs_summary *s)
{
    static const struct {
        const char *name;
        enum qs_qindex at;
    } q[] = {{"p01", QS_Q01}, {"p05", QS_Q05}, {"p25", QS_Q25}, {"p50", QS_Q50},
             {"p75", QS_Q75}, {"p95", QS_Q95}, {"p99", QS_Q99}};
    qs_json_kobject(j, "quantiles");
    for (size_t i = 0; i < sizeof q / sizeof *q; i++)
        qs_json_kdouble(j, q[i].name, s->q[q[i].at]);
    qs_json_object_end(j);
}

static void put_histogram(struct qs_json *j, const struct qs_report_metric *m,
                          const struct qs_metric_arm *arm)
{
    qs_json_kobject(j, "histogram");
    qs_json_kdouble(j, "lo", m->bin_lo);
    qs_json_kdouble(j, "hi", m->bin_hi);
    qs_json_karray(j, "counts");
    for (size_t i = 0; i < QS_REPORT_BINS; i++)
        qs_json_int(j, (int64_t)arm->bins[i]);
    qs_json_array_end(j);
    qs_json_kint(j, "above", (int64_t)arm->above);
    qs_json_object_end(j);
}

static void put_silence(struct qs_json *j, const struct qs_report_arm *arm)
{
    qs_json_kobject(j, "silence");
    qs_json_kint(j, "proven", (int64_t)arm->windows[QS_SILENCE_PROVEN]);
    qs_json_kint(j, "observed", (int64_t)arm->windows[QS_SILENCE_OBSERVED]);
    qs_json_kint(j, "claimed", (int64_t)arm->windows[QS_SILENCE_CLAIMED]);
    qs_json_kint(j, "none", (int64_t)arm->windows[QS_SILENCE_NONE]);
    qs_json_object_end(j);
}

static void put_arm(struct qs_json *j, const struct qs_report_group *g, size_t index)
{
    const struct qs_report_arm *arm = &g->arms[index];
    char taints[160];
    QS_BUF(command);
    qs_json_object(j);
    qs_json_kint(j, "arm", (int64_t)index);
    qs_json_kstring(j, "name", g->in->spec->arms[index].name);
    qs_json_kstring(j, "build", g->in->spec->arms[index].build_label);
    qs_json_kstring(j, "conditions", qs_report_conditions(g, index));
    qs_json_kstring(j, "left_out", qs_job_left_out(g->in->spec, index));
    qs_report_command(g->in->spec, index, g->point, &command);
    qs_json_kstring(j, "command", command.data);
    qs_json_kint(j, "runs", (int64_t)arm->runs);
    qs_json_kint(j, "runs_seen", (int64_t)arm->runs_seen);
    qs_json_kint(j, "runs_failed", (int64_t)arm->runs_failed);
    qs_json_kint(j, "runs_tainted", (int64_t)arm->runs_tainted);
    qs_json_kint(j, "iterations", (int64_t)arm->iterations);
    qs_json_kint(j, "iterations_seen", (int64_t)arm->iterations_seen);
    qs_json_kint(j, "iterations_tainted", (int64_t)arm->iterations_tainted);
    qs_json_kint(j, "windows", (int64_t)qs_report_windows(arm));
    qs_json_kint(j, "windows_tainted", (int64_t)arm->windows_tainted);
    qs_json_kint(j, "windows_left_tainted", (int64_t)arm->windows_left);
    qs_json_kint(j, "taken_ns", arm->taken_ns);
    qs_json_kdouble(j, "user_us", arm->user_us);
    qs_json_kdouble(j, "system_us", arm->system_us);
    qs_json_kdouble(j, "max_rss_bytes", arm->rss_bytes);
    put_silence(j, arm);
    qs_json_kstring(j, "taint", qs_taint_names(arm->taints, taints, sizeof taints));
    qs_json_key(j, "warnings");
    qs_report_arm_warnings(j, g, index);
    qs_json_object_end(j);
}

static void put_metric_arm(struct qs_json *j, const struct qs_report_group *g,
                           const struct qs_report_metric *m, size_t index)
{
    const struct qs_metric_arm *arm = &m->arms[index];
    const struct qs_views views = qs_report_metric_views(g, m);
    const char *name = g->in->spec->arms[index].name;
    QS_BUF(sentence);
    qs_report_arm_sentence(&sentence, m->metric, name, arm->median.ci.lo, arm->median.ci.hi);
    qs_json_object(j);
    qs_json_kint(j, "arm", (int64_t)index);
    qs_json_kstring(j, "name", name);
    qs_json_kstring(j, "sentence", sentence.data);
    qs_json_kint(j, "runs", (int64_t)arm->runs);
    qs_json_kint(j, "values", (int64_t)arm->count);
    qs_put_median(j, &arm->median);
    qs_json_kdouble(j, "half_width_ratio", (arm->median.ci.hi - arm->median.ci.lo) / 2 / arm->median.median);
    qs_json_kdouble(j, "run_sd", arm->medians.sd);
    qs_json_kdouble(j, "run_cov", arm->medians.cov_abs);
    qs_json_kdouble(j, "run_r1", arm->r1);
    qs_json_kdouble(j, "mean", arm->all.mean);
    qs_json_kdouble(j, "sd", arm->all.sd);
    qs_json_kdouble(j, "cov", arm->all.cov_abs);
    qs_json_kdouble(j, "mad", arm->all.mad);
    qs_json_kdouble(j, "min", arm->all.min);
    qs_json_kdouble(j, "max", arm->all.max);
    put_quantiles(j, &arm->all);
    put_histogram(j, m, arm);
    qs_views_put(j, &views, &arm->tally);
    qs_json_object_end(j);
}

void qs_report_put_metric_kind(struct qs_json *j, const struct qs_arm_metric *metric)
{
    qs_json_kstring(j, "metric", metric->name);
    qs_json_kstring(j, "unit", metric->unit);
    qs_json_kbool(j, "lower_is_better", !metric->higher_is_better);
    qs_json_kbool(j, "deterministic", metric->deterministic);
    qs_json_kstring(j, "of", metric->of_windows ? "windows" : "iterations");
}

static void put_metric(struct qs_json *j, const struct qs_report_group *g, const struct qs_report_metric *m)
{
    const struct qs_job_spec *spec = g->in->spec;
    qs_json_object(j);
    qs_report_put_metric_kind(j, m->metric);
    qs_json_karray(j, "arms");
    for (size_t a = 0; a < spec->arm_count; a++)
        put_metric_arm(j, g, m, a);
    qs_json_array_end(j);
    qs_json_karray(j, "warnings");
    for (size_t a = 0; a < spec->arm_count; a++)
        if (m->arms[a].missing > 0)
            qs_put_warning(j, "missing", "%s: %zu of %zu runs of %s have no value of it", m->metric->name,
                           m->arms[a].missing, m->arms[a].missing + m->arms[a].runs, spec->arms[a].name);
    for (size_t p = 0; p < g->pair_count; p++)
        qs_comparison_warn(j, &m->pairs[p], g->family);
    qs_json_array_end(j);
    qs_json_object_end(j);
}

static void put_pair(struct qs_json *j, const struct qs_report_group *g, const struct qs_report_metric *m,
                     size_t pair)
{
    struct qs_judging how = qs_report_judging(g);
    struct qs_comparison c = m->pairs[pair];
    const size_t arms[2] = {g->in->spec->baseline, g->pairs[pair].cand};
    double *v[2];
    size_t *off[2];
    for (int k = 0; k < 2; k++)
        c.values[k] = qs_report_values(g, m, arms[k], &v[k], &off[k]);
    if (!qs_work_begin(g->work, "opinions", qs_report_opinions_ns(g), &how.progress))
        how.opinions = QS_OPINIONS_NONE;
    qs_comparison_put(j, &how, &c);
    for (int k = 0; k < 2; k++) {
        free(v[k]);
        free(off[k]);
    }
}

static void put_group(struct qs_json *j, const struct qs_report_group *g)
{
    const struct qs_job_spec *spec = g->in->spec;
    qs_json_object(j);
    qs_json_kint(j, "point", (int64_t)g->point);
    qs_json_kstring(j, "label", spec->points[g->point].label);
    qs_json_kstring(j, "device", g->device);
    qs_json_kbool(j, "simulated", g->simulated);
    qs_json_kint(j, "blocks", (int64_t)g->block_count);
    qs_json_kint(j, "blocks_used", (int64_t)g->used);
    qs_json_kint(j, "blocks_tainted", (int64_t)g->blocks_tainted);
    qs_json_kint(j, "blocks_incomplete", (int64_t)g->incomplete);
    qs_json_kbool(j, "uses_tainted", g->uses_tainted);
    qs_json_kint(j, "iterations_per_run", g->iterations_per_run);
    qs_json_kint(j, "evals", g->evals > 0 ? g->evals : 1);
    qs_json_key(j, "evaluations");
    g->evals_json ? qs_json_raw(j, g->evals_json) : qs_json_null(j);
    qs_json_kdouble(j, "seconds_per_block", g->seconds_per_block);
    qs_json_kint(j, "waited_ns", g->waited_ns);
    qs_json_kstring(j, "busiest", g->busiest);
    qs_json_karray(j, "arms");
    for (size_t a = 0; a < spec->arm_count; a++)
        put_arm(j, g, a);
    qs_json_array_end(j);
    qs_json_karray(j, "metrics");
    for (size_t m = 0; m < g->metric_count; m++)
        put_metric(j, g, &g->metrics[m]);
    qs_json_array_end(j);
    qs_json_karray(j, "comparisons");
    for (size_t m = 0; m < g->metric_count; m++)
        for (size_t p = 0; p < g->pair_count; p++)
            put_pair(j, g, &g->metrics[m], p);
    qs_json_array_end(j);
    qs_report_put_ranking(j, g);
    qs_json_key(j, "warnings");
    qs_report_group_warnings(j, g);
    qs_json_object_end(j);
}

static void put_head(struct qs_json *j, const struct qs_report_input *in, bool simulated)
{
    const struct qs_job_info *job = in->job;
    char seed[24];
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)job->seed);
    qs_json_kint(j, "document", DOCUMENT_VERSION);
    qs_json_kint(j, "job", job->id);
    qs_json_kstring(j, "name", in->spec->name);
    qs_json_kstring(j, "state", qs_job_state_name(job->state));
    qs_json_kstring(j, "stopped", job->reason);
    qs_json_kbool(j, "simulated", simulated);
    qs_json_kstring(j, "seed", seed); /* 64 bits do not fit a JSON number of every reader */
    qs_json_kstring(j, "db", in->db_path);
    qs_json_kdouble(j, "alpha", in->spec->alpha);
    qs_json_kstring(j, "baseline", in->spec->arms[in->spec->baseline].name);
    bool ended = job->started_wall_ns > 0 && job->ended_wall_ns >= job->started_wall_ns;
    qs_json_key(j, "elapsed_ns");
    ended ? qs_json_int(j, job->ended_wall_ns - job->started_wall_ns) : qs_json_null(j);
}

static void put_document(struct qs_json *j, const struct qs_report_input *in,
                         const struct qs_report_group *groups, size_t count,
                         const struct qs_comparisons *family)
{
    bool simulated = false;
    for (size_t i = 0; i < count; i++)
        simulated = simulated || groups[i].simulated;
    qs_json_object(j);
    put_head(j, in, simulated);
    qs_comparisons_put(j, family);
    qs_views_put(j, &in->views, NULL);
    qs_json_karray(j, "results");
    for (size_t i = 0; i < count && !groups[i].work->ended; i++)
        put_group(j, &groups[i]);
    qs_json_array_end(j);
    qs_json_kraw(j, "taints", in->taints_json ? in->taints_json : "[]");
    qs_json_kraw(j, "environment", in->environment_json ? in->environment_json : "null");
    if (in->tables) {
        qs_report_tables(in, groups, count, in->tables);
        qs_json_kstring(j, "tables", in->tables->out.data);
    }
    qs_json_object_end(j);
}

/* Too little data is an answer: the document says so. */
bool qs_report_compare(const struct qs_report_input *in, struct qs_buf *out, struct qs_err *err)
{
    const double judged = in->opinions ? JUDGING_SHARE : 1;
    const struct qs_progress judging = qs_progress_part(&in->progress, 0, judged),
                             rest = qs_progress_part(&in->progress, judged, 1);
    struct qs_report_group *groups;
    struct qs_comparisons family;
    struct qs_work work;
    size_t count;
    double planned_ns = 0;
    if (qs_report_groups(in, &judging, &groups, &count) != QS_OK)
        return qs_work_fail(err);
    qs_report_adjust(groups, count, &family);
    for (size_t i = 0; i < count; i++) {
        planned_ns +=
            qs_report_opinions_ns(&groups[i]) * (double)(groups[i].pair_count * groups[i].metric_count);
        groups[i].work = &work;
    }
    qs_work_init(&work, &rest, planned_ns);
    struct qs_json j = qs_json_to(out);
    put_document(&j, in, groups, count, &family);
    if (in->told)
        qs_report_tell(groups, count, in->told);
    qs_report_groups_free(groups, count);
    qs_comparisons_done(&family);
    return qs_work_finish(&work) == QS_OK || qs_work_fail(err);
}

static void put_verdict(struct qs_json *j, const struct qs_report_group *g, const struct qs_comparison *c)
{
    qs_json_object(j);
    qs_json_kint(j, "point", (int64_t)g->point);
    qs_json_kstring(j, "device", g->device);
    qs_json_kstring(j, "arm", c->names[QS_CAND]);
    qs_json_kstring(j, "metric", c->metric->name);
    qs_json_kstring(j, "verdict", qs_verdict_name(c->v.kind));
    qs_json_object_end(j);
}

/* Whether any is a regression that stands. */
static bool put_verdicts(struct qs_json *j, const struct qs_report_group *g)
{
    bool worse = false;
    for (size_t p = 0; p < g->pair_count; p++) {
        for (size_t m = 0; m < g->metric_count; m++) {
            const struct qs_comparison *c = &g->metrics[m].pairs[p];
            put_verdict(j, g, c);
            worse = worse || qs_comparison_is_regression(c);
        }
    }
    return worse;
}

/* A command that fails now and then is left out of the numbers, and no success: as with hyperfine, unless the
 * job accepts its exit codes. */
static bool has_failures(const struct qs_measured_runs *measured)
{
    const uint32_t failed = QS_TAINT_EXIT | QS_TAINT_TIMEOUT | QS_TAINT_HOOK;
    for (size_t i = 0; i < measured->count; i++) {
        const struct qs_measured_run *s = &measured->at[i];
        if ((s->taint & QS_TAINT_INTERRUPTED) == 0 && ((s->taint | s->values.taints) & failed) != 0)
            return true;
    }
    return false;
}

bool qs_report_verdicts(const struct qs_report_input *in, struct qs_buf *out, struct qs_buf *brief,
                        int *ret_exit, struct qs_err *err)
{
    enum { EXIT_FAILED = 1, EXIT_REGRESSION = 5 };
    struct qs_report_group *groups;
    struct qs_comparisons family;
    size_t count;
    if (qs_report_groups(in, &in->progress, &groups, &count) != QS_OK)
        return qs_work_fail(err);
    *ret_exit = 0;
    qs_report_adjust(groups, count, &family);
    struct qs_json j = qs_json_to(out);
    qs_json_array(&j);
    for (size_t i = 0; i < count; i++)
        if (put_verdicts(&j, &groups[i]))
            *ret_exit = EXIT_REGRESSION;
    if (has_failures(in->measured))
        *ret_exit = EXIT_FAILED;
    qs_json_array_end(&j);
    qs_report_put_brief(brief, groups, count);
    qs_report_groups_free(groups, count);
    qs_comparisons_done(&family);
    return true;
}

static void add_line(const struct qs_report_group *g, const struct qs_comparison *c, struct qs_buf *out)
{
    qs_buf_fmt(out, "%s%s %s: ", g->simulated ? "simulated " : "", g->device,
               g->in->spec->points[g->point].label);
    qs_comparison_sentence(out, c);
    qs_buf_fmt(out, ": %s (%zu blocks)\n", qs_verdict_name(c->v.kind), c->v.n_used[QS_BASE]);
}

void qs_report_lines(const struct qs_report_input *in, struct qs_buf *out)
{
    struct qs_report_group *groups;
    size_t count;
    if (qs_report_groups(in, &in->progress, &groups, &count) != QS_OK)
        return;
    for (size_t i = 0; i < count; i++)
        for (size_t p = 0; p < groups[i].pair_count; p++)
            for (size_t m = 0; m < groups[i].metric_count; m++)
                add_line(&groups[i], &groups[i].metrics[m].pairs[p], out);
    qs_report_groups_free(groups, count);
}
