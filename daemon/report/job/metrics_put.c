/* The other metrics of a result as JSON. schema/comparison.md describes every field. */
#include <math.h>

#include "report/median.h"
#include "report/job/metrics.h"
#include "report/warning.h"

static void put_arm(struct qs_json *j, const struct qs_report_group *g, const struct qs_report_metric *m,
                    size_t index)
{
    const struct qs_metric_arm *arm = &m->arms[index];
    const struct qs_views views = qs_report_metric_views(g, m);
    qs_json_object(j);
    qs_json_kint(j, "arm", (int64_t)index);
    qs_json_kstring(j, "name", g->in->spec->arms[index].name);
    qs_json_kint(j, "runs", (int64_t)arm->runs);
    qs_json_kint(j, "values", (int64_t)arm->values);
    qs_put_median(j, &arm->median, "");
    qs_json_kdouble(j, "mean", arm->all.mean);
    qs_json_kdouble(j, "sd", arm->all.sd);
    qs_json_kdouble(j, "min", arm->all.min);
    qs_json_kdouble(j, "max", arm->all.max);
    qs_report_put_quantiles(j, &arm->all);
    qs_views_put(j, &views, &arm->tally);
    qs_json_object_end(j);
}

static void put_pair(struct qs_json *j, const struct qs_report_group *g, const struct qs_report_metric *m,
                     size_t pair)
{
    const struct qs_sides_how how = qs_report_metric_how(g);
    const char *names[2];
    qs_report_pair_names(g, pair, names);
    qs_json_object(j);
    qs_json_kstring(j, "base_arm", names[QS_BASE]);
    qs_json_kstring(j, "candidate_arm", names[QS_CAND]);
    qs_sides_put_verdict(j, &how, m->metric, &m->pairs[pair], names);
    qs_json_kdouble(j, "margin_ratio", how.margin_ratio);
    qs_json_object_end(j);
}

static void put_warnings(struct qs_json *j, const struct qs_report_group *g, const struct qs_report_metric *m)
{
    const struct qs_sides_how how = qs_report_metric_how(g);
    qs_json_array(j);
    for (size_t a = 0; a < g->in->spec->arm_count; a++) {
        const struct qs_metric_arm *arm = &m->arms[a];
        if (arm->missing > 0)
            qs_put_warning(j, "missing", "%s: %zu of %zu runs of %s have no value of it", m->metric->name,
                           arm->missing, arm->missing + arm->runs, g->in->spec->arms[a].name);
    }
    for (size_t p = 0; p < g->pair_count; p++)
        qs_sides_warn_metric(j, &how, g->family, m->metric, &m->pairs[p]);
    qs_json_array_end(j);
}

void qs_report_put_metric_kind(struct qs_json *j, const struct qs_arm_metric *metric)
{
    qs_json_kstring(j, "metric", metric->name);
    qs_json_kstring(j, "unit", metric->unit);
    qs_json_kbool(j, "lower_is_better", !metric->higher_is_better);
    qs_json_kbool(j, "deterministic", metric->deterministic);
    qs_json_kstring(j, "of", metric->of_windows ? "windows" : "iterations");
}

static void put_one(struct qs_json *j, const struct qs_report_group *g, const struct qs_report_metric *m)
{
    qs_json_object(j);
    qs_report_put_metric_kind(j, m->metric);
    qs_json_key(j, "arms");
    qs_json_array(j);
    for (size_t a = 0; a < g->in->spec->arm_count; a++)
        put_arm(j, g, m, a);
    qs_json_array_end(j);
    qs_json_key(j, "comparisons");
    qs_json_array(j);
    for (size_t p = 0; p < g->pair_count; p++)
        put_pair(j, g, m, p);
    qs_json_array_end(j);
    qs_json_key(j, "warnings");
    put_warnings(j, g, m);
    qs_json_object_end(j);
}

void qs_report_put_metrics(struct qs_json *j, const struct qs_report_group *g)
{
    qs_json_key(j, "metrics");
    qs_json_array(j);
    for (size_t i = 0; i < g->metric_count; i++)
        put_one(j, g, &g->metrics[i]);
    qs_json_array_end(j);
}
