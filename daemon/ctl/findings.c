#include "ctl/findings.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "ctl/client/api.h"

static struct qs_finding *add(struct qs_findings *f)
{
    f->at = qs_grow(f->at, f->count, sizeof(*f->at));
    f->at[f->count] = (struct qs_finding){
        .base = NAN, .cand = NAN, .sd_log = NAN, .metric = "", .unit = "", .candidate = "", .stands = true};
    return &f->at[f->count++];
}

/* What the three forms call the same. */
static void take_verdict(struct qs_finding *finding, const json_t *v)
{
    finding->verdict = qs_json_get_text(v, "verdict", "");
    finding->reason = qs_json_get_text(v, "reason", "");
    finding->ratio = qs_json_get_number(v, "ratio", NAN);
    finding->lo = qs_json_get_number(v, "judged_lo", qs_json_get_number(v, "lo", NAN));
    finding->hi = qs_json_get_number(v, "judged_hi", qs_json_get_number(v, "hi", NAN));
    finding->level = qs_json_get_number(v, "judged_level", NAN);
    finding->mde_ratio = qs_json_get_number(v, "mde_ratio", NAN);
    finding->sd_log = qs_json_get_number(v, "sd_log", NAN);
    finding->stands = !json_is_false(json_object_get(v, "stands"));
    finding->opinions = json_object_get(v, "opinions");
}

static char *arrow(const char *base, const char *cand)
{
    return strcmp(base, cand) == 0 ? qs_strdup("") : qs_asprintf("%s → %s", base, cand);
}

static const json_t *arm_of(const json_t *result, const char *name)
{
    size_t i;
    const json_t *arm;
    json_array_foreach(json_object_get(result, "arms"), i,
                       arm) if (strcmp(qs_json_get_text(arm, "name", ""), name) == 0) return arm;
    return NULL;
}

static char *builds_of(const json_t *result, const char *base, const char *cand)
{
    const char *x = qs_json_get_text(arm_of(result, base), "build", ""),
               *y = qs_json_get_text(arm_of(result, cand), "build", "");
    if (x[0] == '\0' && y[0] == '\0')
        return qs_strdup("");
    return qs_asprintf("%s → %s", x[0] != '\0' ? x : "–", y[0] != '\0' ? y : "–");
}

/* What a verdict of two sides and one on a job's metric have. */
static void take_metric(struct qs_finding *finding, const json_t *v)
{
    take_verdict(finding, v);
    finding->metric = qs_json_get_text(v, "metric", "");
    finding->unit = qs_json_get_text(v, "unit", "");
    finding->sentence = qs_json_get_text(v, "sentence", "");
    finding->base = qs_json_get_number(json_object_get(v, "base"), "median", NAN);
    finding->cand = qs_json_get_number(json_object_get(v, "candidate"), "median", NAN);
    finding->needed = (int64_t)qs_json_get_number(v, "units_needed", 0);
    finding->needed_of = qs_json_get_text(v, "level", "units");
}

static void add_metrics(const json_t *result, struct qs_findings *f)
{
    size_t m, i;
    const json_t *metric, *v;
    json_array_foreach(json_object_get(result, "metrics"), m, metric)
    {
        json_array_foreach(json_object_get(metric, "comparisons"), i, v)
        {
            struct qs_finding *finding = add(f);
            take_metric(finding, v);
            finding->point = qs_json_get_text(result, "label", "");
            finding->where = qs_strdup(qs_json_get_text(result, "device", ""));
            finding->candidate = qs_json_get_text(v, "candidate_arm", "");
            finding->arms = arrow(qs_json_get_text(v, "base_arm", ""), finding->candidate);
            finding->builds = builds_of(result, qs_json_get_text(v, "base_arm", ""), finding->candidate);
            finding->margin_ratio = qs_json_get_number(v, "margin_ratio", NAN);
            finding->warnings = i == 0 ? json_object_get(metric, "warnings") : NULL;
        }
    }
}

static void of_job(const json_t *result, struct qs_findings *f)
{
    size_t i;
    const json_t *pair;
    json_array_foreach(json_object_get(result, "comparisons"), i, pair)
    {
        struct qs_finding *finding = add(f);
        const char *base = qs_json_get_text(pair, "base", ""), *cand = qs_json_get_text(pair, "cand", "");
        take_verdict(finding, pair);
        finding->point = qs_json_get_text(result, "label", "");
        finding->where = qs_strdup(qs_json_get_text(result, "device", ""));
        finding->arms = arrow(base, cand);
        finding->metric = "duration_ns";
        finding->unit = "ns";
        finding->sentence = qs_json_get_text(pair, "sentence", "");
        finding->builds = builds_of(result, base, cand);
        finding->base = qs_json_get_number(arm_of(result, base), "median_ns", NAN);
        finding->cand = qs_json_get_number(arm_of(result, cand), "median_ns", NAN);
        finding->margin_ratio = qs_json_get_number(pair, "margin_ratio", NAN);
        finding->needed = qs_json_get_int(pair, "blocks_needed", 0);
        finding->needed_of = "blocks";
        finding->warnings = i == 0 ? json_object_get(result, "warnings") : NULL;
    }
    add_metrics(result, f);
}

static void of_file(const json_t *doc, const json_t *result, struct qs_findings *f)
{
    struct qs_finding *finding = add(f);
    const json_t *v = json_object_get(result, "verdict");
    const json_t *base = json_object_get(result, "base"), *cand = json_object_get(result, "candidate");
    const json_t *files = json_object_get(doc, "files");
    take_verdict(finding, v);
    finding->point = qs_json_get_text(result, "benchmark", "");
    finding->where = qs_strdup(qs_json_get_text(json_array_get(files, 1), "name", ""));
    finding->arms = qs_strdup("");
    finding->metric = qs_json_get_text(result, "metric", "");
    finding->unit = qs_json_get_text(result, "unit", "");
    finding->sentence = qs_json_get_text(result, "sentence", "");
    finding->base = qs_json_get_number(json_object_get(base, "describe"), "median", NAN);
    finding->cand = qs_json_get_number(json_object_get(cand, "describe"), "median", NAN);
    finding->margin_ratio = qs_json_get_number(v, "margin_ratio", NAN);
    finding->needed = qs_json_get_int(v, "runs_needed", 0);
    finding->needed_of = "runs";
    finding->opinions = json_object_get(result, "opinions"); /* of both, not of the verdict */
}

void qs_findings_of_metrics(const json_t *result, struct qs_findings *ret)
{
    *ret = (struct qs_findings){0};
    add_metrics(result, ret);
}

static void of_sides_list(const json_t *doc, const json_t *result, const json_t *list, const char *where,
                          const json_t *warnings, struct qs_findings *f)
{
    size_t i;
    const json_t *v;
    json_array_foreach(list, i, v)
    {
        struct qs_finding *finding = add(f);
        take_metric(finding, v);
        finding->point = qs_json_get_text(result, "label", "");
        finding->where = qs_strdup(where);
        finding->arms =
            arrow(qs_json_get_text(result, "base_arm", ""), qs_json_get_text(result, "candidate_arm", ""));
        finding->margin_ratio =
            qs_json_get_number(v, "margin_ratio", qs_json_get_number(doc, "margin_ratio", NAN));
        finding->warnings = i == 0 ? warnings : NULL;
    }
}

static void of_sides(const json_t *doc, const json_t *result, struct qs_findings *f)
{
    size_t i;
    const json_t *device, *devices = json_object_get(result, "devices");
    char where[40];
    json_array_foreach(devices, i, device)
        of_sides_list(doc, result, json_object_get(device, "comparisons"),
                      qs_json_get_text(device, "device", ""), json_object_get(device, "warnings"), f);
    snprintf(where, sizeof(where), "%zu devices", json_array_size(devices));
    of_sides_list(doc, result, json_object_get(result, "over_devices"), where, NULL, f);
}

void qs_findings_of(const json_t *doc, struct qs_findings *ret)
{
    size_t i;
    const json_t *result;
    const char *kind = qs_json_get_text(doc, "kind", "");
    *ret = (struct qs_findings){0};
    json_array_foreach(json_object_get(doc, "results"), i, result)
    {
        if (strcmp(kind, "sides") == 0)
            of_sides(doc, result, ret);
        else if (strcmp(kind, "comparison") == 0)
            of_file(doc, result, ret);
        else
            of_job(result, ret);
    }
}

void qs_findings_done(struct qs_findings *f)
{
    for (size_t i = 0; i < f->count; i++) {
        free(f->at[i].where);
        free(f->at[i].arms);
        free(f->at[i].builds);
    }
    free(f->at);
    *f = (struct qs_findings){0};
}

static enum qs_fail_on badness(const struct qs_finding *f)
{
    if (strcmp(f->verdict, "inconclusive") == 0)
        return QS_FAIL_INCONCLUSIVE;
    if (!f->stands)
        return QS_FAIL_NEVER;
    return strcmp(f->verdict, "regression") == 0            ? QS_FAIL_REGRESSION
           : strcmp(f->verdict, "probable-regression") == 0 ? QS_FAIL_PROBABLE
                                                            : QS_FAIL_NEVER;
}

bool qs_findings_fail(const struct qs_findings *f, enum qs_fail_on on)
{
    for (size_t i = 0; i < f->count; i++) {
        enum qs_fail_on bad = badness(&f->at[i]);
        if (bad != QS_FAIL_NEVER && bad <= on)
            return true;
    }
    return false;
}

char *qs_findings_title(const json_t *doc)
{
    const char *kind = qs_json_get_text(doc, "kind", "");
    const json_t *files = json_object_get(doc, "files");
    if (strcmp(kind, "sides") == 0)
        return qs_asprintf("%s with %s", qs_json_get_text(json_object_get(doc, "candidate"), "selector", "?"),
                           qs_json_get_text(json_object_get(doc, "base"), "selector", "?"));
    if (strcmp(kind, "comparison") == 0)
        return qs_asprintf("%s with %s", qs_json_get_text(json_array_get(files, 1), "name", "?"),
                           qs_json_get_text(json_array_get(files, 0), "name", "?"));
    return qs_asprintf("job %" PRId64, qs_json_get_int(doc, "job", 0));
}

void qs_views_words(const json_t *views, struct qs_buf *out)
{
    size_t i;
    const json_t *view;
    json_array_foreach(views, i, view)
    {
        int64_t used = qs_json_get_int(view, "used", 0), dropped = qs_json_get_int(view, "dropped", 0);
        qs_buf_fmt(out, "%s%s", i > 0 ? ", then " : "", qs_json_get_text(view, "view", "?"));
        if (json_is_integer(json_object_get(view, "n")))
            qs_buf_fmt(out, " %" PRId64, qs_json_get_int(view, "n", 0));
        qs_buf_fmt(out, " leaves %" PRId64 " of %" PRId64 " iterations", used, used + dropped);
    }
}

static void add_views(const char *of, const json_t *views, struct qs_buf *out)
{
    if (json_array_size(views) == 0)
        return;
    qs_buf_fmt(out, "view of %s: ", of);
    qs_views_words(views, out);
    qs_buf_char(out, '\n');
}

void qs_findings_views(const json_t *doc, struct qs_buf *out)
{
    size_t i, a;
    const json_t *one, *arm;
    add_views("the base", json_object_get(json_object_get(doc, "base"), "views"), out);
    add_views("the candidate", json_object_get(json_object_get(doc, "candidate"), "views"), out);
    json_array_foreach(json_object_get(doc, "files"), i, one)
        add_views(qs_json_get_text(one, "name", "?"), json_object_get(one, "views"), out);
    json_array_foreach(json_object_get(doc, "results"), i, one)
    {
        json_array_foreach(json_object_get(one, "arms"), a, arm)
            add_views(qs_json_get_text(arm, "name", "?"), json_object_get(arm, "views"), out);
    }
}

bool qs_findings_refused(const json_t *doc)
{
    return qs_json_get_true(doc, "refused");
}
