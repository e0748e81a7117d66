/* The comparison document. schema/comparison.md describes every field. */
#include "report/job/report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/median.h"
#include "report/job/metrics.h"

enum { DOCUMENT_VERSION = 1 };
/* Of a document with second opinions, whose draws take longer than all the rest. */
static const double JUDGING_SHARE = 0.25; /* no rounding */

/* An argument vector as a person would type it. */
static void put_command(struct qs_json *j, const struct qs_job_spec *spec, size_t arm, size_t point)
{
    struct qs_strings argv;
    struct qs_buf out;
    qs_buf_init(&out);
    qs_job_argv(spec, arm, point, &argv);
    for (size_t i = 0; i < argv.count; i++) {
        const char *word = argv.at[i];
        bool plain =
            *word &&
            strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-") ==
                strlen(word);
        if (i > 0)
            qs_buf_char(&out, ' ');
        if (plain) {
            qs_buf_str(&out, word);
            continue;
        }
        qs_buf_char(&out, '\'');
        for (const char *c = word; *c; c++) {
            if (*c == '\'')
                qs_buf_str(&out, "'\\''");
            else
                qs_buf_char(&out, *c);
        }
        qs_buf_char(&out, '\'');
    }
    qs_json_kstring(j, "command", out.data);
    qs_strings_done(&argv);
    qs_buf_done(&out);
}

void qs_report_put_quantiles(struct qs_json *j, const struct qs_summary *s)
{
    static const struct {
        const char *name;
        enum qs_qindex at;
    } q[] = {{"p01", QS_Q01}, {"p05", QS_Q05}, {"p25", QS_Q25}, {"p50", QS_Q50},
             {"p75", QS_Q75}, {"p95", QS_Q95}, {"p99", QS_Q99}};
    qs_json_key(j, "quantiles");
    qs_json_object(j);
    for (size_t i = 0; i < sizeof q / sizeof *q; i++)
        qs_json_kdouble(j, q[i].name, s->q[q[i].at]);
    qs_json_object_end(j);
}

static void put_histogram(struct qs_json *j, const struct qs_report_group *g, const struct qs_report_arm *arm)
{
    qs_json_key(j, "histogram");
    qs_json_object(j);
    qs_json_kdouble(j, "lo_ns", g->bin_lo_ns);
    qs_json_kdouble(j, "hi_ns", g->bin_hi_ns);
    qs_json_key(j, "counts");
    qs_json_array(j);
    for (size_t i = 0; i < QS_REPORT_BINS; i++)
        qs_json_int(j, (int64_t)arm->counts[i]);
    qs_json_array_end(j);
    qs_json_kint(j, "above", (int64_t)arm->above);
    qs_json_object_end(j);
}

static void put_silence(struct qs_json *j, const struct qs_report_arm *arm)
{
    qs_json_key(j, "silence");
    qs_json_object(j);
    qs_json_kint(j, "proven", (int64_t)arm->windows[QS_SILENCE_PROVEN]);
    qs_json_kint(j, "observed", (int64_t)arm->windows[QS_SILENCE_OBSERVED]);
    qs_json_kint(j, "claimed", (int64_t)arm->windows[QS_SILENCE_CLAIMED]);
    qs_json_kint(j, "none", (int64_t)arm->windows[QS_SILENCE_NONE]);
    qs_json_object_end(j);
}

static void put_arm_numbers(struct qs_json *j, const struct qs_report_arm *arm)
{
    qs_json_kint(j, "runs", (int64_t)arm->runs);
    qs_json_kint(j, "runs_seen", (int64_t)arm->runs_seen);
    qs_json_kint(j, "runs_failed", (int64_t)arm->runs_failed);
    qs_json_kint(j, "runs_tainted", (int64_t)arm->runs_tainted);
    qs_json_kint(j, "iterations", (int64_t)arm->iterations);
    qs_json_kint(j, "iterations_tainted", (int64_t)arm->iterations_tainted);
    qs_put_median(j, &arm->median, "_ns");
    qs_json_kdouble(j, "run_sd_ns", arm->medians.sd);
    qs_json_kdouble(j, "run_cov", arm->medians.cov_abs);
    qs_json_kdouble(j, "run_r1", arm->r1);
    qs_json_kdouble(j, "mean_ns", arm->all.mean);
    qs_json_kdouble(j, "sd_ns", arm->all.sd);
    qs_json_kdouble(j, "cov", arm->all.cov_abs);
    qs_json_kdouble(j, "mad_ns", arm->all.mad);
    qs_json_kdouble(j, "min_ns", arm->all.min);
    qs_json_kdouble(j, "max_ns", arm->all.max);
    qs_json_kdouble(j, "user_us", arm->user_us);
    qs_json_kdouble(j, "system_us", arm->system_us);
    qs_json_kdouble(j, "max_rss_bytes", arm->rss_bytes);
}

static void put_arm(struct qs_json *j, const struct qs_report_group *g, size_t index)
{
    const struct qs_report_arm *arm = &g->arms[index];
    char taints[160];
    struct qs_buf sentence;
    qs_buf_init(&sentence);
    qs_json_object(j);
    qs_json_kint(j, "arm", (int64_t)index);
    qs_json_kstring(j, "name", g->in->spec->arms[index].name);
    qs_json_kstring(j, "build", g->in->spec->arms[index].build_label);
    put_command(j, g->in->spec, index, g->point);
    qs_report_arm_sentence(&sentence, g->in->spec->arms[index].name, arm->median.ci.lo, arm->median.ci.hi);
    qs_json_kstring(j, "sentence", sentence.data);
    put_arm_numbers(j, arm);
    qs_report_put_quantiles(j, &arm->all);
    put_histogram(j, g, arm);
    put_silence(j, arm);
    qs_views_put(j, &g->in->views, &arm->tally);
    qs_json_kstring(j, "taint", qs_taint_names(arm->taints, taints, sizeof taints));
    qs_json_key(j, "warnings");
    qs_report_arm_warnings(j, g, index);
    qs_json_object_end(j);
    qs_buf_done(&sentence);
}

static void put_power(struct qs_json *j, const struct qs_report_group *g, const struct qs_verdict *v)
{
    double more = (double)v->needed - (double)v->n_used[0];
    qs_json_kdouble(j, "mde_ratio", v->mde_ratio);
    if (v->needed > 0)
        qs_json_kint(j, "blocks_needed", (int64_t)v->needed);
    else
        qs_json_kdouble(j, "blocks_needed", NAN);
    qs_json_kdouble(j, "seconds_needed", v->needed > 0 ? fmax(more, 0) * g->seconds_per_block : NAN);
}

static void put_kind(struct qs_json *j, const char *key, const struct qs_ttest *t)
{
    qs_json_key(j, key);
    qs_json_object(j);
    qs_json_kint(j, "blocks", (int64_t)t->n[0]);
    qs_json_kdouble(j, "ratio", exp(t->diff));
    qs_json_kdouble(j, "lo", exp(t->ci.lo));
    qs_json_kdouble(j, "hi", exp(t->ci.hi));
    qs_json_object_end(j);
}

/* What clean and disturbed blocks say by themselves, and what the verdict made of both. */
static void put_mixed(struct qs_json *j, const struct qs_mixed *m)
{
    put_kind(j, "clean", &m->alone[QS_CLEAN]);
    put_kind(j, "disturbed", &m->alone[QS_DISTURBED]);
    qs_json_kdouble(j, "disturbed_worth", m->alone[QS_DISTURBED].n[0] > 0 ? m->worth : NAN);
    qs_json_kdouble(j, "disturbed_p", m->agree_p);
}

static void put_pair(struct qs_json *j, const struct qs_report_group *g, const struct qs_report_pair *pair)
{
    const struct qs_job_spec *spec = g->in->spec;
    const struct qs_verdict *v = &pair->verdict;
    const char *base = spec->arms[spec->baseline].name, *cand = spec->arms[pair->cand].name;
    struct qs_buf sentence;
    qs_buf_init(&sentence);
    const struct qs_ci *told = qs_verdict_interval(v);
    qs_report_sentence(&sentence, base, cand, told->lo, told->hi);
    qs_json_object(j);
    qs_json_kstring(j, "base", base);
    qs_json_kstring(j, "cand", cand);
    qs_json_kdouble(j, "ratio", v->ratio);
    qs_json_kdouble(j, "lo", v->l95.lo);
    qs_json_kdouble(j, "hi", v->l95.hi);
    qs_json_kdouble(j, "level", 1 - spec->alpha);
    qs_json_kdouble(j, "call_level", 1 - QS_REPORT_CALL_SHARE * spec->alpha);
    qs_json_kdouble(j, "lo90", v->l90.lo);
    qs_json_kdouble(j, "hi90", v->l90.hi);
    qs_report_put_judged(j, v);
    qs_json_kdouble(j, "p", v->p);
    qs_json_kdouble(j, "p_bh", pair->p_bh);
    qs_json_kbool(j, "stands", !qs_report_pair_is_doubtful(g, pair));
    qs_json_kdouble(j, "df", v->df);
    qs_json_kdouble(j, "sd_log", v->sd_log);
    qs_json_kstring(j, "verdict", qs_verdict_name(v->kind));
    qs_json_kstring(j, "reason", pair->forbidden ? "taint-rates-differ" : qs_verdict_reason_name(v->reason));
    qs_json_kstring(j, "sentence", sentence.data);
    qs_json_kdouble(j, "margin_ratio", spec->benchmarks[spec->points[g->point].benchmark].margin_ratio);
    put_power(j, g, v);
    qs_json_kdouble(j, "sign_test_p", v->sign_p);
    qs_json_kdouble(j, "drift_per_block_ratio", v->drift);
    qs_json_kint(j, "blocks", (int64_t)v->n_used[0]);
    qs_json_kint(j, "blocks_dropped", (int64_t)v->n_dropped[0]);
    put_mixed(j, &pair->mixed);
    qs_json_kbool(j, "taint_rate_differs", pair->taint_differs);
    qs_json_kdouble(j, "taint_rate_p", pair->taint_p);
    qs_json_kstring(j, "method", v->method);
    qs_json_kint(j, "version", v->version);
    qs_json_key(j, "opinions");
    qs_report_opinions(j, g, pair);
    qs_json_object_end(j);
    qs_buf_done(&sentence);
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
    qs_json_kint(j, "blocks_tainted", (int64_t)g->soft_blocks);
    qs_json_kint(j, "blocks_incomplete", (int64_t)g->incomplete);
    qs_json_kbool(j, "uses_tainted", g->uses_soft);
    qs_json_kint(j, "iterations_per_run", g->iterations_per_run);
    qs_json_kint(j, "evals", g->evals > 0 ? g->evals : 1);
    qs_json_key(j, "evaluations");
    g->evals_json ? qs_json_raw(j, g->evals_json) : qs_json_null(j);
    qs_json_kdouble(j, "seconds_per_block", g->seconds_per_block);
    qs_json_kint(j, "waited_ns", g->waited_ns);
    qs_json_kstring(j, "busiest", g->busiest);
    qs_json_key(j, "arms");
    qs_json_array(j);
    for (size_t a = 0; a < spec->arm_count; a++)
        put_arm(j, g, a);
    qs_json_array_end(j);
    qs_json_key(j, "comparisons");
    qs_json_array(j);
    for (size_t i = 0; i < g->pair_count; i++)
        put_pair(j, g, &g->pairs[i]);
    qs_json_array_end(j);
    qs_report_put_ranking(j, g);
    qs_report_put_metrics(j, g);
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

static void put_family(struct qs_json *j, const struct qs_report_family *family)
{
    qs_json_key(j, "family");
    qs_json_object(j);
    qs_json_kint(j, "comparisons", (int64_t)family->comparisons);
    qs_json_kdouble(j, "q", family->q);
    qs_json_kint(j, "selected", (int64_t)family->selected);
    qs_json_kdouble(j, "fcr_level", family->fcr_level);
    qs_json_object_end(j);
}

static void put_document(struct qs_json *j, const struct qs_report_input *in,
                         const struct qs_report_group *groups, size_t count,
                         const struct qs_report_family *family)
{
    bool simulated = false;
    for (size_t i = 0; i < count; i++)
        simulated = simulated || groups[i].simulated;
    qs_json_object(j);
    put_head(j, in, simulated);
    put_family(j, family);
    qs_views_put(j, &in->views, NULL);
    qs_json_key(j, "results");
    qs_json_array(j);
    for (size_t i = 0; i < count && !groups[i].work->ended; i++)
        put_group(j, &groups[i]);
    qs_json_array_end(j);
    qs_json_kraw(j, "taints", in->taints_json ? in->taints_json : "[]");
    qs_json_kraw(j, "environment", in->environment_json ? in->environment_json : "null");
    qs_json_object_end(j);
}

static void tell_used(const struct qs_report_input *in, const struct qs_report_group *groups, size_t count)
{
    in->used->at = qs_calloc(in->samples->count, sizeof *in->used->at);
    for (size_t i = 0; i < count; i++)
        for (size_t r = 0; r < groups[i].run_count; r++)
            if (groups[i].block_used[groups[i].runs[r].block])
                in->used->at[in->used->count++] = groups[i].runs[r].sample;
}

/* Too little data is an answer: the document says so. */
bool qs_report_compare(const struct qs_report_input *in, struct qs_buf *out, struct qs_err *err)
{
    const double judged = in->opinions ? JUDGING_SHARE : 1;
    const struct qs_progress judging = qs_progress_part(&in->progress, 0, judged),
                             rest = qs_progress_part(&in->progress, judged, 1);
    struct qs_report_group *groups;
    struct qs_report_family family;
    struct qs_work work;
    struct qs_json j;
    size_t count;
    double planned_ns = 0;
    if (qs_report_groups(in, &judging, &groups, &count) != QS_OK)
        return qs_work_fail(err);
    qs_report_adjust(groups, count, &family);
    for (size_t i = 0; i < count; i++) {
        planned_ns += qs_report_opinions_ns(&groups[i]) * (double)groups[i].pair_count;
        groups[i].work = &work;
    }
    qs_work_init(&work, &rest, planned_ns);
    qs_json_init(&j, out);
    put_document(&j, in, groups, count, &family);
    if (in->used)
        tell_used(in, groups, count);
    qs_report_groups_free(groups, count);
    return qs_work_finish(&work) == QS_OK || qs_work_fail(err);
}

static void put_verdict(struct qs_json *j, const struct qs_report_group *g, size_t pair, const char *metric,
                        const struct qs_verdict *v)
{
    qs_json_object(j);
    qs_json_kint(j, "point", (int64_t)g->point);
    qs_json_kstring(j, "device", g->device);
    qs_json_kstring(j, "arm", g->in->spec->arms[g->pairs[pair].cand].name);
    if (metric)
        qs_json_kstring(j, "metric", metric);
    qs_json_kstring(j, "verdict", qs_verdict_name(v->kind));
    qs_json_object_end(j);
}

/* Whether any is a regression that stands. */
static bool put_verdicts(struct qs_json *j, const struct qs_report_group *g)
{
    const struct qs_sides_how how = qs_report_metric_how(g);
    bool worse = false;
    for (size_t p = 0; p < g->pair_count; p++) {
        put_verdict(j, g, p, NULL, &g->pairs[p].verdict);
        worse = worse || qs_report_pair_is_regression(g, &g->pairs[p]);
        for (size_t m = 0; m < g->metric_count; m++) {
            const struct qs_sides_verdict *v = &g->metrics[m].pairs[p];
            put_verdict(j, g, p, g->metrics[m].metric->name, &v->v);
            worse = worse || qs_sides_is_regression(&how, v);
        }
    }
    return worse;
}

/* A command that fails now and then is left out of the numbers, and no success: as with hyperfine, unless the
 * job accepts its exit codes. */
static bool has_failures(const struct qs_samples *samples)
{
    const uint32_t failed = QS_TAINT_EXIT | QS_TAINT_TIMEOUT | QS_TAINT_HOOK;
    for (size_t i = 0; i < samples->count; i++) {
        const struct qs_sample *s = &samples->at[i];
        if ((s->taint & QS_TAINT_INTERRUPTED) == 0 && (s->taints_seen & failed) != 0)
            return true;
    }
    return false;
}

bool qs_report_verdicts(const struct qs_report_input *in, struct qs_buf *out, struct qs_buf *brief,
                        int *ret_exit, struct qs_err *err)
{
    enum { EXIT_FAILED = 1, EXIT_REGRESSION = 5 };
    struct qs_report_group *groups;
    struct qs_report_family family;
    size_t count;
    struct qs_json j;
    if (qs_report_groups(in, &in->progress, &groups, &count) != QS_OK)
        return qs_work_fail(err);
    *ret_exit = 0;
    qs_report_adjust(groups, count, &family);
    qs_json_init(&j, out);
    qs_json_array(&j);
    for (size_t i = 0; i < count; i++)
        if (put_verdicts(&j, &groups[i]))
            *ret_exit = EXIT_REGRESSION;
    if (has_failures(in->samples))
        *ret_exit = EXIT_FAILED;
    qs_json_array_end(&j);
    qs_report_put_brief(brief, groups, count);
    qs_report_groups_free(groups, count);
    return true;
}

static void add_lines(const struct qs_report_group *g, size_t pair, struct qs_buf *out)
{
    const struct qs_verdict *v = &g->pairs[pair].verdict;
    const char *label = g->in->spec->points[g->point].label, *simulated = g->simulated ? "simulated " : "";
    const char *names[2];
    qs_report_pair_names(g, pair, names);
    qs_buf_fmt(out, "%s%s %s: ", simulated, g->device, label);
    const struct qs_ci *told = qs_verdict_interval(v);
    qs_report_sentence(out, names[QS_BASE], names[QS_CAND], told->lo, told->hi);
    qs_buf_fmt(out, ": %s (%zu blocks)\n", qs_verdict_name(v->kind), v->n_used[0]);
    for (size_t m = 0; m < g->metric_count; m++) {
        const struct qs_sides_verdict *other = &g->metrics[m].pairs[pair];
        qs_buf_fmt(out, "%s%s %s: ", simulated, g->device, label);
        qs_sides_sentence(out, g->metrics[m].metric, names, other);
        qs_buf_fmt(out, ": %s (%zu blocks)\n", qs_verdict_name(other->v.kind), other->side[QS_BASE].n);
    }
}

void qs_report_lines(const struct qs_report_input *in, struct qs_buf *out)
{
    struct qs_report_group *groups;
    size_t count;
    if (qs_report_groups(in, &in->progress, &groups, &count) != QS_OK)
        return;
    for (size_t i = 0; i < count; i++)
        for (size_t p = 0; p < groups[i].pair_count; p++)
            add_lines(&groups[i], p, out);
    qs_report_groups_free(groups, count);
}
