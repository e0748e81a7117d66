/* The document of two sides. schema/sides.md describes every field. */
#include "report/sides/sides.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/sides/impl.h"
#include "report/tables/tables.h"
#include "report/tally.h"

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
    qs_json_karray(j, "jobs");
    for (size_t i = 0; i < runs->count; i++) {
        bool seen = runs->at[i].job == last;
        for (size_t k = 0; k < i && !seen; k++)
            seen = runs->at[k].job == runs->at[i].job;
        last = runs->at[i].job;
        if (!seen)
            qs_json_int(j, last);
    }
    qs_json_array_end(j);
    qs_json_karray(j, "running");
    for (size_t i = 0; i < runs->running_count; i++)
        qs_json_int(j, runs->running[i]);
    qs_json_array_end(j);
}

static void put_selection(struct qs_json *j, const struct qs_sides *s, int side)
{
    qs_json_kobject(j, side == QS_BASE ? "base" : "candidate");
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
    qs_json_kraw(j, "conditions", run->controls_json);
}

static void put_unmatched(struct qs_json *j, const char *key, const struct qs_side *side)
{
    qs_json_karray(j, key);
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
    qs_json_karray(j, "environment");
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
    qs_json_karray(j, "arm");
    for (size_t i = 0; i < s->arms.count; i++) {
        qs_json_object(j);
        qs_json_kstring(j, "key", s->arms.at[i].key);
        qs_json_kstring(j, "base", s->arms.at[i].base);
        qs_json_kstring(j, "candidate", s->arms.at[i].cand);
        qs_json_object_end(j);
    }
    qs_json_array_end(j);
}

static void put_rates(struct qs_json *j, const struct qs_lost_rates *r)
{
    static const char *const sides[2] = {"base", "candidate"};
    qs_json_kobject(j, "losses");
    for (int k = 0; k < 2; k++) {
        qs_json_kobject(j, sides[k]);
        qs_json_kint(j, "runs", (int64_t)r->runs[k]);
        qs_json_kint(j, "lost", (int64_t)r->lost[k]);
        qs_json_kint(j, "timed_out", (int64_t)r->timed_out[k]);
        qs_json_object_end(j);
    }
    qs_json_object_end(j);
}

static void put_one(struct qs_json *j, const struct qs_sides *s, const struct qs_comparison *c,
                    const struct qs_ratios *ratios)
{
    struct qs_comparison told = *c;
    for (int k = 0; k < 2; k++)
        told.values[k] =
            (struct qs_nested){.v = c->side[k].iterations, .off = c->side[k].runs, .k = c->side[k].run_count};
    told.ratios = ratios;
    qs_comparison_put(j, &s->how, &told);
}

static void put_device(struct qs_json *j, const struct qs_sides *s, const struct qs_sides_pair *pair,
                       uint64_t stream)
{
    const struct qs_arm_run *run = pair->series[QS_BASE]->runs[0];
    size_t metrics = s->in->runs[QS_BASE]->metric_count;
    qs_json_object(j);
    qs_json_kstring(j, "device", run->device);
    qs_json_kbool(j, "simulated", run->simulated);
    put_rates(j, &pair->rates);
    qs_json_karray(j, "comparisons");
    for (size_t m = 0; m < metrics; m++) {
        const struct qs_comparison *v = &pair->metrics[m];
        struct qs_progress piece;
        if (!qs_work_begin(s->work, "bootstrap", qs_sides_ratios_ns(pair, m), &piece))
            break;
        if (!qs_sides_is_known(v, m))
            continue;
        struct qs_told_ratio of[2];
        const struct qs_ratios ratios = qs_sides_ratios(s, v, stream * metrics + m, &piece, of);
        put_one(j, s, v, &ratios);
    }
    qs_json_array_end(j);
    qs_json_key(j, "warnings");
    qs_sides_warn(j, s, pair);
    qs_json_object_end(j);
}

static void put_over(struct qs_json *j, const struct qs_sides *s, const struct qs_sides_point *point)
{
    qs_json_karray(j, "over_devices");
    for (size_t m = 0; point->over && m < s->in->runs[QS_BASE]->metric_count; m++)
        if (qs_sides_is_known(&point->over[m], m))
            put_one(j, s, &point->over[m], NULL);
    qs_json_array_end(j);
}

static void put_pool(struct qs_json *j, const char *key, const struct qs_side_series *series)
{
    qs_json_karray(j, key);
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
    qs_json_karray(j, "devices");
    for (size_t i = 0; i < point->count; i++)
        put_device(j, s, &point->pairs[i], (*stream)++);
    qs_json_array_end(j);
    put_over(j, s, point);
    qs_json_object_end(j);
}

/* Of the verdicts that stand in the results; sides that are refused have none. */
static void count_verdicts(const struct qs_sides *s, struct qs_tally *ret)
{
    for (size_t i = 0; i < s->all.count; i++) {
        const struct qs_comparison *c = s->all.at[i];
        qs_tally_add(ret, c->metric->name, c->v.kind, c->v.ratio);
    }
}

static void put_document(struct qs_json *j, const struct qs_sides *s)
{
    QS_SCOPED(qs_tally_done) struct qs_tally tally = {0};
    uint64_t stream = 0;
    count_verdicts(s, &tally);
    qs_json_object(j);
    qs_json_kint(j, "document", DOCUMENT_VERSION);
    qs_json_kstring(j, "kind", "sides");
    put_selection(j, s, QS_BASE);
    put_selection(j, s, QS_CAND);
    qs_json_kdouble(j, "alpha", s->how.alpha);
    qs_json_kdouble(j, "call_level", 1 - QS_CALL_SHARE * s->how.alpha);
    qs_json_kdouble(j, "margin_ratio", s->how.margin_ratio);
    put_environment(j, s);
    put_unmatched(j, "only_in_base", &s->side[QS_BASE]);
    put_unmatched(j, "only_in_candidate", &s->side[QS_CAND]);
    qs_comparisons_put(j, &s->all);
    qs_json_kint(j, "regressions", (int64_t)s->regressions);
    qs_json_key(j, "tally");
    qs_tally_put(j, &tally);
    qs_json_karray(j, "results");
    for (size_t i = 0; i < s->point_count && !s->refused && !s->work->ended; i++)
        put_point(j, s, i, &stream);
    qs_json_array_end(j);
    if (s->in->tables) {
        qs_sides_tables(s, &tally, s->in->tables);
        qs_json_kstring(j, "tables", s->in->tables->out.data);
    }
    qs_json_object_end(j);
}

enum qs_status qs_sides_compare(const struct qs_sides_input *in, struct qs_buf *out)
{
    struct qs_work work;
    struct qs_sides s = {.in = in, .work = &work};
    s.how = (struct qs_judging){
        .alpha = alpha_of(&s), .margin_ratio = in->margin_ratio, .opinions = in->opinions, .seed = in->seed};
    qs_sides_collect(&s);
    qs_sides_match(&s);
    take_margins(&s);
    qs_sides_differ(&s);
    qs_work_init(&work, &in->progress, s.refused ? 0 : qs_sides_plan_ns(&s));
    s.how.progress = qs_work_here(&work);
    qs_sides_judge(&s);
    QS_BUF(document);
    struct qs_json j = qs_json_to(&document);
    put_document(&j, &s);
    qs_sides_done(&s);
    enum qs_status status = qs_work_finish(&work);
    if (status == QS_OK)
        qs_buf_add(out, document.data, document.len);
    return status;
}
