#include "ctl/findings.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "ctl/client/api.h"

static struct qs_finding *add(struct qs_findings *f, const json_t *v)
{
    const json_t *base = json_object_get(v, "base"), *cand = json_object_get(v, "candidate");
    f->at = qs_grow(f->at, f->count, sizeof(*f->at));
    f->at[f->count] = (struct qs_finding){.metric = qs_json_get_text(v, "metric", ""),
                                          .unit = qs_json_get_text(v, "unit", ""),
                                          .verdict = qs_json_get_text(v, "verdict", ""),
                                          .reason = qs_json_get_text(v, "reason", ""),
                                          .sentence = qs_json_get_text(v, "sentence", ""),
                                          .notes = qs_json_get_text(v, "notes", ""),
                                          .candidate = qs_json_get_text(v, "candidate_arm", ""),
                                          .base = qs_json_get_number(base, "median", NAN),
                                          .cand = qs_json_get_number(cand, "median", NAN),
                                          .ratio = qs_json_get_number(v, "ratio", NAN),
                                          .lo = qs_json_get_number(v, "judged_lo", NAN),
                                          .hi = qs_json_get_number(v, "judged_hi", NAN),
                                          .level = qs_json_get_number(v, "judged_level", NAN),
                                          .margin_ratio = qs_json_get_number(v, "margin_ratio", NAN),
                                          .mde_ratio = qs_json_get_number(v, "mde_ratio", NAN),
                                          .units = qs_json_get_int(base, "units", 0),
                                          .needed = (int64_t)qs_json_get_number(v, "needed", 0),
                                          .seconds_needed = qs_json_get_number(v, "seconds_needed", NAN),
                                          .units_of = qs_json_get_text(v, "units_of", "units"),
                                          .stands = !json_is_false(json_object_get(v, "stands")),
                                          .opinions = json_object_get(v, "opinions")};
    return &f->at[f->count++];
}

static char *arrow(const char *base, const char *cand)
{
    return strcmp(base, cand) == 0 ? qs_strdup("") : qs_asprintf("%s → %s", base, cand);
}

const json_t *qs_metric_named(const json_t *part, const char *name)
{
    size_t i;
    const json_t *one;
    json_array_foreach(json_object_get(part, "metrics"), i, one)
    {
        if (strcmp(qs_json_get_text(one, "metric", ""), name) == 0)
            return one;
    }
    return NULL;
}

/* What an arm's own numbers say: of the runs of all its blocks, those that lack the other arm too. */
static double median_of(const json_t *metric, const char *arm, double without)
{
    size_t i;
    const json_t *a;
    json_array_foreach(json_object_get(metric, "arms"), i, a)
    {
        if (strcmp(qs_json_get_text(a, "name", ""), arm) == 0)
            return qs_json_get_number(a, "median", NAN);
    }
    return without;
}

static void add_list(const json_t *result, const json_t *list, const char *where, const json_t *warnings,
                     struct qs_findings *f)
{
    size_t i;
    const json_t *v;
    json_array_foreach(list, i, v)
    {
        struct qs_finding *finding = add(f, v);
        const json_t *named = json_object_get(result, "base_arm") != NULL ? result : v;
        const char *base = qs_json_get_text(named, "base_arm", ""),
                   *cand = qs_json_get_text(named, "candidate_arm", "");
        finding->point = qs_json_get_text(result, "label", qs_json_get_text(result, "benchmark", ""));
        finding->where = qs_strdup(where);
        finding->arms = arrow(base, cand);
        const json_t *metric = qs_metric_named(result, finding->metric);
        finding->base = median_of(metric, base, finding->base);
        finding->cand = median_of(metric, cand, finding->cand);
        finding->one_job = json_object_get(result, "blocks") != NULL;
        finding->warnings = i == 0 ? warnings : NULL;
    }
}

static void add_result(const json_t *doc, const json_t *result, struct qs_findings *f)
{
    size_t i;
    char many[40];
    const json_t *device, *devices = json_object_get(result, "devices"),
                          *file = json_array_get(json_object_get(doc, "files"), 1);
    const char *where = qs_json_get_text(result, "device", qs_json_get_text(file, "name", ""));
    add_list(result, json_object_get(result, "comparisons"), where, json_object_get(result, "warnings"), f);
    json_array_foreach(devices, i, device)
        add_list(result, json_object_get(device, "comparisons"), qs_json_get_text(device, "device", ""),
                 json_object_get(device, "warnings"), f);
    snprintf(many, sizeof(many), "%zu devices", json_array_size(devices));
    add_list(result, json_object_get(result, "over_devices"), many, NULL, f);
}

void qs_findings_of_result(const json_t *doc, const json_t *result, struct qs_findings *ret)
{
    *ret = (struct qs_findings){0};
    add_result(doc, result, ret);
}

void qs_findings_of(const json_t *doc, struct qs_findings *ret)
{
    size_t i;
    const json_t *result;
    *ret = (struct qs_findings){0};
    json_array_foreach(json_object_get(doc, "results"), i, result) add_result(doc, result, ret);
}

bool qs_finding_is_duration(const struct qs_finding *f)
{
    return strcmp(f->metric, "duration_ns") == 0;
}

void qs_findings_done(struct qs_findings *f)
{
    for (size_t i = 0; i < f->count; i++) {
        free(f->at[i].where);
        free(f->at[i].arms);
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
        const json_t *duration = json_array_get(json_object_get(one, "metrics"), 0);
        json_array_foreach(json_object_get(duration, "arms"), a, arm)
            add_views(qs_json_get_text(arm, "name", "?"), json_object_get(arm, "views"), out);
    }
}

bool qs_findings_refused(const json_t *doc)
{
    return qs_json_get_true(doc, "refused");
}
