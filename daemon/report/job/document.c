#include "report/job/document.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "config/job/stored.h"
#include "report/analysis/impl.h"
#include "report/job/metrics.h"
#include "report/job/parts.h"
#include "report/work.h"
#include "stats/rule.h"

enum { REPORT_VERSION = 1, RULE_BYTES = 1024 };
static const double JUDGING_SHARE =
    0.0625; /* what comes first is quick beside every statistic; no rounding */

static struct qs_analysis_opts analysis_opts(const struct qs_report_input *in, bool full)
{
    struct qs_analysis_opts opts = qs_analysis_opts_default();
    opts.level = 1 - in->spec->alpha;
    opts.seed = in->job->seed;
    opts.brief = !full;
    opts.progress = in->progress;
    return opts;
}

/* What decided how much was measured and what stands for it; the run's own words are added by the caller. */
static void begin_rule(struct qs_json *j, const struct qs_job_conditions *set)
{
    const struct qs_job_enough *enough = &set->enough;
    char text[RULE_BYTES];
    qs_json_kobject(j, "rule");
    qs_json_kstring(j, "conditions", set->name);
    if (enough->stop)
        qs_rule_text(enough->stop, text, sizeof text);
    qs_json_kstring(j, "stop", enough->stop ? text : NULL);
    qs_json_kint(j, "cap_iterations", (int64_t)enough->cap_iterations);
    qs_json_kint(j, "cap_time_ns", enough->cap_time_ns);
    qs_json_kstring(j, "location", "the median of a run, the median of the runs' medians");
    qs_json_kstring(j, "outliers", "flagged, never removed");
}

static void put_head(struct qs_json *j, const char *kind, const struct qs_report_input *in)
{
    char seed[24];
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)in->job->seed);
    qs_json_kint(j, "document", REPORT_VERSION);
    qs_json_kstring(j, "kind", kind);
    qs_json_kstring(j, "quiesce", QS_VERSION);
    qs_json_kint(j, "job", in->job->id);
    qs_json_kstring(j, "name", in->spec->name);
    qs_json_kstring(j, "seed", seed);
    qs_json_kdouble(j, "alpha", in->spec->alpha);
}

/* --- of a job --- */

/* Runs that the numbers of an arm (SIZE_MAX: of all arms) stand on, and that have a value of the metric; room
 * for run_count. */
static size_t take_runs(const struct qs_report_group *g, const struct qs_report_metric *m, size_t arm,
                        struct qs_part_run *to)
{
    size_t n = 0;
    for (size_t i = 0; i < g->run_count; i++) {
        const struct qs_report_run *run = &g->runs[i];
        const struct qs_measured_run *s = run->measured;
        if (!g->block_used[run->block] || (arm != SIZE_MAX && run->arm != arm) || isnan(m->runs[i].median))
            continue;
        to[n++] = (struct qs_part_run){.uid = s->run_uid,
                                       .arm = run->arm,
                                       .block = s->block,
                                       .attempt = s->attempt,
                                       .pos = s->pos,
                                       .session = s->session,
                                       .boot = s->boot,
                                       .device = s->device,
                                       .v = m->runs[i].values,
                                       .n = m->runs[i].n,
                                       .median = m->runs[i].median,
                                       .disturbed = run->disturbed};
    }
    return n;
}

static void count_dropped(const struct qs_report_group *g, const struct qs_report_metric *m, size_t arm,
                          size_t dropped[QS_DROP_COUNT])
{
    for (size_t i = 0; i < g->run_count; i++) {
        const struct qs_report_run *run = &g->runs[i];
        const struct qs_values *values = qs_report_run_values(g, m->metric, i);
        if (run->arm == arm && g->block_used[run->block] && values)
            qs_part_dropped(values, dropped);
    }
}

/* The samples of all arms and metrics of a job; the rest of its report is quick. */
static double plan_ns(const struct qs_report_group *groups, size_t count, const struct qs_analysis_opts *opts)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        for (size_t m = 0; m < groups[i].metric_count; m++) {
            for (size_t a = 0; a < groups[i].in->spec->arm_count; a++) {
                const struct qs_metric_arm *arm = &groups[i].metrics[m].arms[a];
                sum += arm->count > 0 ? qs_sample_plan_ns(arm->count, arm->runs, opts) : 0;
            }
        }
    }
    return sum;
}

/* The duration, and what else the arm has. */
static void put_metric(struct qs_json *j, const struct qs_report_group *g, const struct qs_report_metric *m,
                       size_t arm, const struct qs_windows *windows, const struct qs_analysis_opts *opts)
{
    bool is_first = m == g->metrics;
    QS_FREED struct qs_part_run *runs = qs_calloc(g->run_count, sizeof *runs);
    struct qs_part_metric p = {.metric = m->metric,
                               .label = g->in->spec->points[g->point].label,
                               .runs = runs,
                               .count = take_runs(g, m, arm, runs),
                               .missing = m->arms[arm].missing,
                               .views = qs_report_metric_views(g, m),
                               .tally = m->arms[arm].tally,
                               .windows = is_first ? windows : NULL};
    count_dropped(g, m, arm, p.dropped);
    if (is_first || p.count > 0)
        qs_put_part_metric(j, &p, opts);
}

static void put_arm(struct qs_json *j, const struct qs_report_group *g, size_t arm,
                    const struct qs_windows *windows, const struct qs_analysis_opts *opts)
{
    qs_json_object(j);
    qs_json_kint(j, "arm", (int64_t)arm);
    qs_json_kstring(j, "name", g->in->spec->arms[arm].name);
    qs_json_kstring(j, "build", g->in->spec->arms[arm].build_label);
    qs_json_kint(j, "runs", (int64_t)g->arms[arm].runs);
    qs_json_kint(j, "iterations", (int64_t)g->arms[arm].iterations);
    qs_json_key(j, "warnings");
    qs_report_arm_warnings(j, g, arm);
    qs_json_karray(j, "metrics");
    for (size_t i = 0; i < g->metric_count && !opts->work->ended; i++)
        put_metric(j, g, &g->metrics[i], arm, windows, opts);
    qs_json_array_end(j);
    qs_json_object_end(j);
}

static void put_result(struct qs_json *j, const struct qs_report_group *g, const struct qs_windows *all,
                       const struct qs_analysis_opts *opts)
{
    qs_json_object(j);
    qs_json_kint(j, "point", (int64_t)g->point);
    qs_json_kstring(j, "label", g->in->spec->points[g->point].label);
    qs_json_kstring(j, "device", g->device);
    qs_json_kbool(j, "simulated", g->simulated);
    qs_json_kint(j, "blocks", (int64_t)g->block_count);
    qs_json_kint(j, "blocks_used", (int64_t)g->used);
    qs_json_kbool(j, "uses_tainted", g->uses_tainted);
    qs_json_kint(j, "iterations_per_run", g->iterations_per_run);
    qs_json_karray(j, "arms");
    for (size_t a = 0; a < g->in->spec->arm_count && !opts->work->ended; a++)
        put_arm(j, g, a, all, opts);
    qs_json_array_end(j);
    qs_json_key(j, "warnings");
    qs_report_group_warnings(j, g);
    qs_json_object_end(j);
}

/* Over all devices: a device is a level, too. */
static void put_point(struct qs_json *j, const struct qs_report_input *in, size_t point,
                      const struct qs_report_group *groups, size_t count)
{
    QS_FREED struct qs_part_run *runs = qs_calloc(in->measured->count, sizeof *runs);
    size_t n = 0;
    for (size_t i = 0; i < count; i++)
        if (groups[i].point == point)
            n += take_runs(&groups[i], groups[i].metrics, SIZE_MAX, runs + n);
    qs_json_object(j);
    qs_json_kint(j, "point", (int64_t)point);
    qs_json_kstring(j, "label", in->spec->points[point].label);
    qs_put_part_levels(j, runs, n, in->spec->arm_count);
    qs_json_object_end(j);
}

static bool is_measured(size_t point, const struct qs_report_group *groups, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (groups[i].point == point)
            return true;
    return false;
}

enum qs_status qs_report_job(const struct qs_report_input *in, const struct qs_windows *windows, bool full,
                             struct qs_buf *out)
{
    struct qs_report_group *groups;
    size_t count;
    struct qs_analysis_opts opts = analysis_opts(in, full);
    const struct qs_progress judging = qs_progress_part(&in->progress, 0, JUDGING_SHARE),
                             rest = qs_progress_part(&in->progress, JUDGING_SHARE, 1);
    if (qs_report_groups(in, &judging, &groups, &count) != QS_OK)
        return QS_ECANCELED;
    struct qs_work work;
    qs_work_init(&work, &rest, plan_ns(groups, count, &opts));
    opts.work = &work;
    struct qs_json j = qs_json_to(out);
    qs_json_object(&j);
    put_head(&j, "job", in);
    qs_json_kstring(&j, "state", qs_job_state_name(in->job->state));
    qs_json_kstring(&j, "stopped", in->job->reason);
    begin_rule(&j, &in->spec->conditions[qs_job_next_set(in->spec, 0)]);
    qs_job_put_stops(&j, in->spec);
    qs_json_object_end(&j);
    qs_views_put(&j, &in->views, NULL);
    qs_json_karray(&j, "points");
    for (size_t p = 0; p < in->spec->point_count; p++)
        if (is_measured(p, groups, count))
            put_point(&j, in, p, groups, count);
    qs_json_array_end(&j);
    qs_json_karray(&j, "results");
    for (size_t i = 0; i < count && !work.ended; i++)
        put_result(&j, &groups[i], windows, &opts);
    qs_json_array_end(&j);
    qs_json_object_end(&j);
    qs_report_groups_free(groups, count);
    return qs_work_finish(&work);
}

/* --- of a run --- */

struct run_values {
    double *x; /* owned: every measured iteration, in order */
    bool *left_out;
    double *ns; /* owned: those that are looked at */
    size_t seen, n;
    bool disturbed;
    size_t dropped[QS_DROP_COUNT];
    struct qs_views_tally tally;
};

static bool any_counts(const struct qs_windows *windows)
{
    for (size_t w = 0; w < windows->count; w++)
        for (size_t i = 0; i < windows->at[w].n; i++)
            if (windows->at[w].worth[i] == QS_WORTH_COUNTS)
                return true;
    return false;
}

static void take_iteration(struct run_values *v, double ns, enum qs_worth worth)
{
    bool accepted = worth == qs_worth_taken(v->disturbed);
    if (!accepted)
        v->dropped[worth == QS_WORTH_WARMUP ? QS_DROP_WARMUP : QS_DROP_TAINTED]++;
    v->left_out[v->seen] = !accepted;
    v->x[v->seen++] = ns;
    if (accepted)
        v->ns[v->n++] = ns;
}

static void take_values(struct run_values *v, const struct qs_windows *windows, const struct qs_views *views)
{
    size_t all = 1;
    for (size_t w = 0; w < windows->count; w++)
        all += windows->at[w].n;
    *v = (struct run_values){.x = qs_calloc(all, sizeof *v->x),
                             .left_out = qs_calloc(all, sizeof *v->left_out),
                             .ns = qs_calloc(all, sizeof *v->ns),
                             .disturbed = !any_counts(windows)};
    for (size_t w = 0; w < windows->count; w++)
        for (size_t i = 0; i < windows->at[w].n; i++)
            take_iteration(v, windows->at[w].durations_ns[i], windows->at[w].worth[i]);
    v->n = qs_views_apply(views, v->ns, v->n, &v->tally);
}

static void run_values_done(struct run_values *v)
{
    free(v->x);
    free(v->left_out);
    free(v->ns);
}

struct of_run { /* borrowed */
    const struct qs_report_input *in;
    const struct qs_run_info *run;
    const char *label;                    /* of its point */
    const struct qs_run_metrics *metrics; /* or NULL */
};

static struct of_run of_run(const struct qs_report_input *in, const struct qs_run_info *run)
{
    return (struct of_run){.in = in,
                           .run = run,
                           .label =
                               run->point < in->spec->point_count ? in->spec->points[run->point].label : "",
                           .metrics = in->metrics ? qs_job_metrics_find(in->metrics, run->uid) : NULL};
}

static double run_plan_ns(const struct of_run *of, size_t durations, const struct qs_analysis_opts *opts)
{
    double sum = durations > 0 ? qs_sample_plan_ns(durations, 1, opts) : 0;
    for (size_t m = 0; of->metrics && m < of->in->metrics->metric_count; m++)
        sum += of->metrics->values[m].n > 0 ? qs_sample_plan_ns(of->metrics->values[m].n, 1, opts) : 0;
    return sum;
}

/* Its strip shows what is left out, too. */
static void put_durations(struct qs_json *j, const struct of_run *of, const struct run_values *v,
                          const struct qs_windows *windows, const struct qs_analysis_opts *opts)
{
    const struct qs_part_run one = {
        .uid = of->run->uid, .v = v->ns, .n = v->n, .median = NAN, .disturbed = v->disturbed};
    const struct qs_strip strip = {.of = "iterations", .x = v->x, .left_out = v->left_out, .n = v->seen};
    struct qs_part_metric p = {.metric = &qs_duration_metric,
                               .label = of->label,
                               .runs = &one,
                               .count = v->n > 0,
                               .missing = v->n == 0,
                               .views = of->in->views,
                               .tally = v->tally,
                               .windows = windows,
                               .strip = &strip};
    memcpy(p.dropped, v->dropped, sizeof p.dropped);
    qs_put_part_metric(j, &p, opts);
}

static void put_others(struct qs_json *j, const struct of_run *of, size_t metric,
                       const struct qs_analysis_opts *opts)
{
    static const struct qs_views none = {.count = 0};
    const struct qs_arm_metric *kind = &of->in->metrics->metrics[metric];
    const struct qs_values *values = &of->metrics->values[metric];
    QS_FREED double *seen = qs_malloc(values->n * sizeof *seen);
    struct qs_part_run one = {.uid = of->run->uid, .v = seen, .median = NAN};
    struct qs_part_metric p = {.metric = kind,
                               .label = of->label,
                               .runs = &one,
                               .count = 1,
                               .views = kind->of_windows ? none : of->in->views};
    for (size_t i = 0; i < values->n; i++)
        seen[i] = values->at[i];
    one.n = qs_views_apply(&p.views, seen, values->n, &p.tally);
    qs_part_dropped(values, p.dropped);
    if (one.n > 0)
        qs_put_part_metric(j, &p, opts);
}

/* The job's own where its file, as it is read today, has no such point or arm. */
static const struct qs_job_conditions *conditions_of(const struct qs_job_spec *spec,
                                                     const struct qs_run_info *run)
{
    bool known = run->point < spec->point_count && run->arm < spec->arm_count;
    return known ? qs_job_conditions(spec, run->point, run->arm) : &spec->conditions[0];
}

static void put_run(struct qs_json *j, const struct of_run *of, const struct run_values *v,
                    const struct qs_windows *windows)
{
    const struct qs_run_info *run = of->run;
    char uid[33];
    qs_hex(run->uid, sizeof run->uid, uid);
    put_head(j, "run", of->in);
    qs_json_kstring(j, "run", uid);
    qs_json_kstring(j, "arm", run->arm_name);
    qs_json_kstring(j, "build", run->build);
    qs_json_kstring(j, "label", of->label);
    qs_json_kstring(j, "device", run->device);
    qs_json_kbool(j, "simulated", run->simulated);
    begin_rule(j, conditions_of(of->in->spec, run));
    qs_json_kstring(j, "stopped_by", run->stop_reason);
    qs_json_kint(j, "warmup_n", (int64_t)run->warmup_n);
    qs_json_object_end(j);
    qs_views_put(j, &of->in->views, NULL);
    qs_json_kint(j, "windows", (int64_t)windows->count);
    qs_json_kint(j, "iterations", (int64_t)v->n);
    qs_json_kbool(j, "uses_tainted", v->disturbed && v->n > 0);
}

enum qs_status qs_report_run(const struct qs_report_input *in, const struct qs_run_info *run,
                             const struct qs_windows *windows, bool full, struct qs_buf *out)
{
    const struct of_run of = of_run(in, run);
    struct qs_analysis_opts opts = analysis_opts(in, full);
    struct qs_work work;
    struct run_values v;
    take_values(&v, windows, &in->views);
    qs_work_init(&work, &in->progress, run_plan_ns(&of, v.n, &opts));
    opts.work = &work;
    struct qs_json j = qs_json_to(out);
    qs_json_object(&j);
    put_run(&j, &of, &v, windows);
    qs_json_karray(&j, "metrics");
    put_durations(&j, &of, &v, windows, &opts);
    for (size_t m = 0; of.metrics && m < in->metrics->metric_count && !work.ended; m++)
        put_others(&j, &of, m, &opts);
    qs_json_array_end(&j);
    qs_json_object_end(&j);
    run_values_done(&v);
    return qs_work_finish(&work);
}
