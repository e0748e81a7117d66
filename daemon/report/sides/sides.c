/* The document of two sides. schema/sides.md describes every field. */
#include "report/sides/sides.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/job/impl.h"
#include "report/sides/impl.h"
#include "report/tally.h"
#include "stats/multi.h"

enum { DOCUMENT_VERSION = 1 };
static const double margin_default_ratio = 0.02, alpha_default = 0.05;

/* What the base's jobs said matters; of several the least, because it is the strictest. */
static void take_margins(struct qs_sides *s)
{
    double least = INFINITY;
    for (size_t i = 0; i < s->point_count && isnan(s->in->margin_ratio); i++) {
        struct qs_sides_point *point = &s->points[i];
        point->margin_ratio = NAN;
        for (size_t p = 0; p < point->count; p++) {
            const struct qs_side_series *base = point->pairs[p].series[QS_BASE];
            for (size_t k = 0; k < base->count; k++) {
                const struct qs_job_spec *spec = qs_sides_spec(s, base->runs[k]);
                if (spec && (k == 0 || base->runs[k]->job != base->runs[k - 1]->job))
                    point->margin_ratio =
                        fmin(point->margin_ratio,
                             spec->benchmarks[spec->points[base->runs[k]->point].benchmark].margin_ratio);
            }
        }
        point->margin_ratio = isnan(point->margin_ratio) ? margin_default_ratio : point->margin_ratio;
        least = fmin(least, point->margin_ratio);
    }
    s->how.margin_ratio = isfinite(least)              ? least
                          : isnan(s->in->margin_ratio) ? margin_default_ratio
                                                       : s->in->margin_ratio;
}

static double alpha_of(const struct qs_sides *s)
{
    double least = s->in->alpha;
    for (size_t i = 0; i < s->in->runs[QS_BASE]->count && isnan(s->in->alpha); i++) {
        const struct qs_job_spec *spec = qs_sides_spec(s, &s->in->runs[QS_BASE]->at[i]);
        least = spec ? fmin(least, spec->alpha) : least;
    }
    return isnan(least) ? alpha_default : least;
}

static void put_jobs(struct qs_json *j, const struct qs_arm_runs *runs)
{
    int64_t last = 0;
    qs_json_key(j, "jobs");
    qs_json_array(j);
    for (size_t i = 0; i < runs->count; i++) {
        bool seen = runs->at[i].job == last;
        for (size_t k = 0; k < i && !seen; k++)
            seen = runs->at[k].job == runs->at[i].job;
        last = runs->at[i].job;
        if (!seen)
            qs_json_int(j, last);
    }
    qs_json_array_end(j);
    qs_json_key(j, "running");
    qs_json_array(j);
    for (size_t i = 0; i < runs->running_count; i++)
        qs_json_int(j, runs->running[i]);
    qs_json_array_end(j);
}

static void put_selection(struct qs_json *j, const struct qs_sides *s, int side)
{
    qs_json_key(j, side == QS_BASE ? "base" : "candidate");
    qs_json_object(j);
    qs_json_kstring(j, "selector", s->in->selector[side]);
    put_jobs(j, s->in->runs[side]);
    qs_json_kint(j, "runs", (int64_t)s->in->runs[side]->count);
    qs_json_kint(j, "series", (int64_t)s->side[side].count);
    qs_views_put(j, &s->in->views, &s->in->tally[side]);
    qs_json_object_end(j);
}

static void put_series(struct qs_json *j, const struct qs_arm_run *run)
{
    qs_json_kstring(j, "label", run->label);
    qs_json_kstring(j, "benchmark", run->benchmark);
    qs_json_kraw(j, "params", run->params_json);
    qs_json_kraw(j, "conditions", run->conditions_json);
}

static void put_unmatched(struct qs_json *j, const char *key, const struct qs_side *side)
{
    qs_json_key(j, key);
    qs_json_array(j);
    for (size_t i = 0; i < side->count; i++) {
        if (side->at[i].matched)
            continue;
        qs_json_object(j);
        put_series(j, side->at[i].runs[0]);
        qs_json_kstring(j, "arm", side->at[i].arm);
        qs_json_kstring(j, "device", side->at[i].runs[0]->device);
        qs_json_kint(j, "runs", (int64_t)side->at[i].count);
        qs_json_object_end(j);
    }
    qs_json_array_end(j);
}

static void put_environment(struct qs_json *j, const struct qs_sides *s)
{
    qs_json_kbool(j, "refused", s->refused);
    qs_json_key(j, "environment");
    qs_json_array(j);
    for (size_t i = 0; i < s->environment.count; i++) {
        const struct qs_env_change *c = &s->environment.at[i];
        qs_json_object(j);
        qs_json_kstring(j, "key", c->key);
        qs_json_kstring(j, "base", c->base);
        qs_json_kstring(j, "candidate", c->cand);
        qs_json_kstring(j, "class", qs_env_class_name(c->class));
        qs_json_kbool(j, "matters", qs_env_matters(c->class));
        qs_json_kbool(j, "allowed", s->allowed[i]);
        qs_json_object_end(j);
    }
    qs_json_array_end(j);
    qs_json_key(j, "arm");
    qs_json_array(j);
    for (size_t i = 0; i < s->arms.count; i++) {
        qs_json_object(j);
        qs_json_kstring(j, "key", s->arms.at[i].key);
        qs_json_kstring(j, "base", s->arms.at[i].base);
        qs_json_kstring(j, "candidate", s->arms.at[i].cand);
        qs_json_object_end(j);
    }
    qs_json_array_end(j);
}

static void put_rates(struct qs_json *j, const struct qs_sides *s, const struct qs_sides_rates *r)
{
    static const char *const sides[2] = {"base", "candidate"};
    qs_json_key(j, "losses");
    qs_json_object(j);
    for (int k = 0; k < 2; k++) {
        qs_json_key(j, sides[k]);
        qs_json_object(j);
        qs_json_kint(j, "runs", (int64_t)r->runs[k]);
        qs_json_kint(j, "lost", (int64_t)r->lost[k]);
        qs_json_kint(j, "timed_out", (int64_t)r->timed_out[k]);
        qs_json_object_end(j);
    }
    qs_json_kdouble(j, "lost_p", r->lost_p);
    qs_json_kdouble(j, "timed_out_p", r->timeout_p);
    qs_json_kbool(j, "differ", r->lost_p < s->how.alpha || r->timeout_p < s->how.alpha);
    qs_json_object_end(j);
}

/* Two arms of one name, and what was pooled, are told apart by their side. */
static void names_of(const struct qs_sides_pair *pair, const char *names[2])
{
    const struct qs_side_series *base = pair->series[QS_BASE], *cand = pair->series[QS_CAND];
    bool by_side = strcmp(base->arm, cand->arm) == 0 || base->pooled > 1 || cand->pooled > 1;
    names[QS_BASE] = by_side ? "the base" : base->arm;
    names[QS_CAND] = by_side ? "the candidate" : cand->arm;
}

/* Whether a verdict stands in the document: on a device the duration does, and what either side has; over
 * devices what both have. */
static bool is_known(const struct qs_sides_verdict *v, size_t metric, bool on_device)
{
    size_t n = v->side[QS_BASE].n;
    return on_device ? metric == 0 || n + v->side[QS_CAND].n > 0 : n > 0;
}

static void put_device(struct qs_json *j, const struct qs_sides *s, const struct qs_sides_point *point,
                       const struct qs_sides_pair *pair, uint64_t stream)
{
    const char *names[2];
    const struct qs_arm_run *run = pair->series[QS_BASE]->runs[0];
    size_t metrics = s->in->runs[QS_BASE]->metric_count;
    names_of(pair, names);
    qs_json_object(j);
    qs_json_kstring(j, "device", run->device);
    qs_json_kbool(j, "simulated", run->simulated);
    put_rates(j, s, &pair->rates);
    qs_json_key(j, "comparisons");
    qs_json_array(j);
    for (size_t m = 0; m < metrics; m++) {
        const struct qs_sides_verdict *v = &pair->metrics[m];
        struct qs_progress piece;
        if (!qs_work_begin(s->work, "bootstrap", qs_sides_ratios_ns(pair, m), &piece))
            break;
        if (!is_known(v, m, true))
            continue;
        qs_json_object(j);
        qs_json_kdouble(j, "margin_ratio", point->margin_ratio);
        qs_sides_put_verdict(j, &s->how, &s->in->runs[QS_BASE]->metrics[m], v, names);
        qs_sides_put_kinds(j, v);
        qs_sides_put_ratios(j, s, v, stream * metrics + m, &piece);
        qs_json_object_end(j);
    }
    qs_json_array_end(j);
    qs_json_key(j, "warnings");
    qs_sides_warn(j, s, pair);
    qs_json_object_end(j);
}

static void put_over(struct qs_json *j, const struct qs_sides *s, const struct qs_sides_point *point)
{
    const char *names[2];
    names_of(&point->pairs[0], names);
    qs_json_key(j, "over_devices");
    qs_json_array(j);
    for (size_t m = 0; point->over && m < s->in->runs[QS_BASE]->metric_count; m++) {
        if (!is_known(&point->over[m], m, false))
            continue;
        qs_json_object(j);
        qs_json_kdouble(j, "margin_ratio", point->margin_ratio);
        qs_sides_put_verdict(j, &s->how, &s->in->runs[QS_BASE]->metrics[m], &point->over[m], names);
        qs_json_object_end(j);
    }
    qs_json_array_end(j);
}

static void put_pool(struct qs_json *j, const char *key, const struct qs_side_series *series)
{
    qs_json_key(j, key);
    qs_json_array(j);
    for (size_t i = 0; series->builds && i < series->pooled; i++)
        qs_json_string(j, series->builds[i]);
    qs_json_array_end(j);
}

static void put_point(struct qs_json *j, const struct qs_sides *s, size_t at, uint64_t *stream)
{
    const struct qs_sides_point *point = &s->points[at];
    qs_json_object(j);
    put_series(j, point->pairs[0].series[QS_BASE]->runs[0]);
    qs_json_kstring(j, "base_arm", point->pairs[0].series[QS_BASE]->arm);
    qs_json_kstring(j, "candidate_arm", point->pairs[0].series[QS_CAND]->arm);
    put_pool(j, "base_pools", point->pairs[0].series[QS_BASE]);
    put_pool(j, "candidate_pools", point->pairs[0].series[QS_CAND]);
    qs_json_key(j, "devices");
    qs_json_array(j);
    for (size_t i = 0; i < point->count; i++)
        put_device(j, s, point, &point->pairs[i], (*stream)++);
    qs_json_array_end(j);
    put_over(j, s, point);
    qs_json_object_end(j);
}

static void put_family(struct qs_json *j, const struct qs_sides *s)
{
    qs_json_key(j, "family");
    qs_json_object(j);
    qs_json_kint(j, "comparisons", (int64_t)s->family);
    qs_json_kdouble(j, "q", s->how.alpha);
    qs_json_kint(j, "selected", (int64_t)s->selected);
    qs_json_kdouble(j, "fcr_level", qs_fcr_level(s->selected, s->family, s->how.alpha));
    qs_json_object_end(j);
    qs_json_kint(j, "regressions", (int64_t)s->regressions);
}

/* Of the verdicts that stand in the results; sides that are refused have none. */
static void put_tally(struct qs_json *j, const struct qs_sides *s)
{
    struct qs_tally tally = {0};
    const struct qs_arm_runs *runs = s->in->runs[QS_BASE];
    for (size_t i = 0; i < s->point_count; i++) {
        const struct qs_sides_point *point = &s->points[i];
        for (size_t k = 0; k <= point->count; k++) {
            const struct qs_sides_verdict *list = k < point->count ? point->pairs[k].metrics : point->over;
            for (size_t m = 0; list && m < runs->metric_count; m++)
                if (is_known(&list[m], m, k < point->count))
                    qs_tally_add(&tally, runs->metrics[m].name, list[m].v.kind, list[m].v.ratio);
        }
    }
    qs_tally_put(j, &tally);
    qs_tally_done(&tally);
}

static void put_document(struct qs_json *j, const struct qs_sides *s)
{
    uint64_t stream = 0;
    qs_json_object(j);
    qs_json_kint(j, "document", DOCUMENT_VERSION);
    qs_json_kstring(j, "kind", "sides");
    put_selection(j, s, QS_BASE);
    put_selection(j, s, QS_CAND);
    qs_json_kdouble(j, "alpha", s->how.alpha);
    qs_json_kdouble(j, "call_level", 1 - QS_REPORT_CALL_SHARE * s->how.alpha);
    qs_json_kdouble(j, "margin_ratio", s->how.margin_ratio);
    put_environment(j, s);
    put_unmatched(j, "only_in_base", &s->side[QS_BASE]);
    put_unmatched(j, "only_in_candidate", &s->side[QS_CAND]);
    put_family(j, s);
    put_tally(j, s);
    qs_json_key(j, "results");
    qs_json_array(j);
    for (size_t i = 0; i < s->point_count && !s->refused && !s->work->ended; i++)
        put_point(j, s, i, &stream);
    qs_json_array_end(j);
    qs_json_object_end(j);
}

enum qs_status qs_sides_compare(const struct qs_sides_input *in, struct qs_buf *out)
{
    struct qs_work work;
    struct qs_sides s = {.in = in, .work = &work};
    struct qs_json j;
    s.how = (struct qs_sides_how){
        .alpha = alpha_of(&s), .margin_ratio = in->margin_ratio, .opinions = in->opinions, .seed = in->seed};
    qs_sides_collect(&s);
    qs_sides_match(&s);
    take_margins(&s);
    qs_sides_differ(&s);
    qs_work_init(&work, &in->progress, s.refused ? 0 : qs_sides_plan_ns(&s));
    s.how.progress = qs_work_here(&work);
    if (!s.refused)
        qs_sides_judge(&s);
    struct qs_buf document;
    qs_buf_init(&document);
    qs_json_init(&j, &document);
    put_document(&j, &s);
    qs_sides_done(&s);
    enum qs_status status = qs_work_finish(&work);
    if (status == QS_OK)
        qs_buf_add(out, document.data, document.len);
    qs_buf_done(&document);
    return status;
}
