/* Tables for a pull request or a wiki, laid out from the comparison document. */
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "api/compare.h"
#include "api/export.h"
#include "api/reply.h"
#include "base/text.h"

struct markdown {
    struct qs_compared compared;
    struct qs_buf out;
};

static void done_markdown(void *data)
{
    struct markdown *m = data;
    qs_compared_done(&m->compared);
    qs_buf_done(&m->out);
}

/* Text inside a cell: what has a meaning there is escaped, line ends become spaces. */
static void put_cell(struct qs_buf *out, const char *s)
{
    for (; s && *s; s++) {
        if (strchr("|\\`*_<>[]", *s))
            qs_buf_char(out, '\\');
        qs_buf_char(out, *s == '\n' || *s == '\r' ? ' ' : *s);
    }
}

static const char *text_at(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

static void put_duration(struct qs_buf *out, const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    qs_text_duration(out, json_is_number(value) ? json_number_value(value) : NAN);
}

/* Of the median; a dash where there are too few runs for one. */
static void put_interval(struct qs_buf *out, const json_t *arm)
{
    if (!json_is_number(json_object_get(arm, "median_lo_ns"))) {
        qs_buf_str(out, "–");
        return;
    }
    put_duration(out, arm, "median_lo_ns");
    qs_buf_str(out, " – ");
    put_duration(out, arm, "median_hi_ns");
}

static const json_t *comparison_of(const json_t *result, const char *key, const char *arm)
{
    size_t i;
    const json_t *c;
    json_array_foreach(json_object_get(result, "comparisons"), i, c)
    {
        const char *cand = text_at(c, key);
        if (cand && arm && strcmp(cand, arm) == 0)
            return c;
    }
    return NULL;
}

static void put_comparison(struct qs_buf *out, const json_t *c)
{
    const json_t *ratio = json_object_get(c, "ratio"), *lo = json_object_get(c, "lo"),
                 *hi = json_object_get(c, "hi");
    if (json_is_number(ratio) && json_is_number(lo) && json_is_number(hi))
        qs_buf_fmt(out, " %.3f (%.3f–%.3f) | ", json_number_value(ratio), json_number_value(lo),
                   json_number_value(hi));
    else
        qs_buf_str(out, c ? " ? | " : " 1 | ");
    put_cell(out, c ? text_at(c, "verdict") : "baseline");
    qs_buf_str(out, " |\n");
}

static void put_arm(struct qs_buf *out, const json_t *result, const json_t *arm, bool compared)
{
    qs_buf_str(out, "| ");
    put_cell(out, text_at(arm, "name"));
    qs_buf_str(out, ": ");
    put_cell(out, text_at(arm, "command"));
    qs_buf_str(out, " | ");
    put_duration(out, arm, "median_ns");
    qs_buf_str(out, " | ");
    put_interval(out, arm);
    qs_buf_str(out, " | ");
    put_duration(out, arm, "min_ns");
    qs_buf_str(out, " | ");
    put_duration(out, arm, "max_ns");
    qs_buf_str(out, " |");
    if (compared)
        put_comparison(out, comparison_of(result, "cand", text_at(arm, "name")));
    else
        qs_buf_char(out, '\n');
}

static void put_number(struct qs_buf *out, const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    if (json_is_number(value))
        qs_buf_fmt(out, "%.9g", json_number_value(value));
    else
        qs_buf_str(out, "–");
}

static void put_change(struct qs_buf *out, const json_t *c)
{
    const json_t *ratio = json_object_get(c, "ratio"), *lo = json_object_get(c, "lo"),
                 *hi = json_object_get(c, "hi");
    if (!json_is_number(ratio))
        qs_buf_str(out, "?");
    else
        qs_buf_fmt(out, "%.3f", json_number_value(ratio));
    if (json_is_number(lo) && json_is_number(hi) && !json_is_object(json_object_get(c, "exact")))
        qs_buf_fmt(out, " (%.3f–%.3f)", json_number_value(lo), json_number_value(hi));
}

/* A row for each arm: the baseline's first, the others with their ratio to it. */
static void put_metric(struct qs_buf *out, const json_t *metric)
{
    size_t i;
    const json_t *arm, *c;
    json_array_foreach(json_object_get(metric, "arms"), i, arm)
    {
        qs_buf_str(out, "| ");
        put_cell(out, text_at(metric, "metric"));
        qs_buf_str(out, " (");
        put_cell(out, text_at(metric, "unit"));
        qs_buf_str(out, ") | ");
        put_cell(out, text_at(arm, "name"));
        qs_buf_str(out, " | ");
        put_number(out, arm, "median");
        qs_buf_str(out, " | ");
        put_number(out, arm, "median_lo");
        qs_buf_str(out, " – ");
        put_number(out, arm, "median_hi");
        qs_buf_str(out, " |");
        c = comparison_of(metric, "candidate_arm", text_at(arm, "name"));
        if (c) {
            qs_buf_char(out, ' ');
            put_change(out, c);
            qs_buf_fmt(out, " | %s%s", text_at(c, "verdict"),
                       json_is_false(json_object_get(c, "stands")) ? ", by chance?" : "");
            qs_buf_str(out, " |\n");
        } else {
            qs_buf_str(out, " | |\n");
        }
    }
}

static void put_metrics(struct qs_buf *out, const json_t *result)
{
    size_t i;
    const json_t *metric, *metrics = json_object_get(result, "metrics");
    if (json_array_size(metrics) == 0)
        return;
    qs_buf_str(out, "\n| Metric | Arm | Median | Interval | Ratio | Verdict |\n"
                    "|:---|:---|---:|---:|---:|:---|\n");
    json_array_foreach(metrics, i, metric) put_metric(out, metric);
}

/* Which iterations the numbers of an arm stand on, where they are not all. */
static void put_views(struct qs_buf *out, const json_t *arm)
{
    size_t i;
    const json_t *view, *views = json_object_get(arm, "views");
    if (json_array_size(views) == 0)
        return;
    qs_buf_str(out, "- view of ");
    put_cell(out, text_at(arm, "name"));
    json_array_foreach(views, i, view)
    {
        long long used = json_integer_value(json_object_get(view, "used"));
        long long dropped = json_integer_value(json_object_get(view, "dropped"));
        const json_t *n = json_object_get(view, "n");
        qs_buf_fmt(out, "%s %s", i > 0 ? ", then" : ":", text_at(view, "view"));
        if (json_is_integer(n))
            qs_buf_fmt(out, " %lld", (long long)json_integer_value(n));
        qs_buf_fmt(out, " leaves %lld of %lld iterations", used, used + dropped);
    }
    qs_buf_char(out, '\n');
}

static void put_result(struct qs_buf *out, const json_t *result)
{
    size_t i;
    const json_t *arm, *c;
    bool compared = json_array_size(json_object_get(result, "arms")) > 1;
    qs_buf_str(out, "\n### ");
    put_cell(out, text_at(result, "label"));
    qs_buf_str(out, " on ");
    put_cell(out, text_at(result, "device"));
    qs_buf_str(out, json_is_true(json_object_get(result, "simulated")) ? " (simulated)\n\n" : "\n\n");
    qs_buf_fmt(out, "| Command | Median | Interval | Min | Max |%s\n", compared ? " Ratio | Verdict |" : "");
    qs_buf_fmt(out, "|:---|---:|---:|---:|---:|%s\n", compared ? "---:|:---|" : "");
    json_array_foreach(json_object_get(result, "arms"), i, arm) put_arm(out, result, arm, compared);
    if (compared)
        qs_buf_char(out, '\n');
    json_array_foreach(json_object_get(result, "comparisons"), i, c)
    {
        qs_buf_str(out, "- ");
        put_cell(out, text_at(c, "sentence"));
        qs_buf_char(out, '\n');
    }
    json_array_foreach(json_object_get(result, "arms"), i, arm) put_views(out, arm);
    put_metrics(out, result);
}

static bool read_markdown(struct qs_store_reader *reader, struct qs_exchange *ex, struct qs_err *err)
{
    struct markdown *m = ex->data;
    size_t i;
    const json_t *result;
    if (!qs_compare_read(reader, qs_store_path(ex->api->p.store), ex->match.id, &m->compared, err))
        return false;
    json_t *document = json_loadb(m->compared.document.data, m->compared.document.len, 0, NULL);
    if (!document)
        return qs_fail(err, QS_E_INTERNAL, "the comparison is no JSON");
    qs_buf_str(&m->out, "## ");
    put_cell(&m->out, text_at(document, "name"));
    qs_buf_char(&m->out, '\n');
    json_array_foreach(json_object_get(document, "results"), i, result) put_result(&m->out, result);
    json_decref(document);
    return true;
}

static void say_markdown(struct qs_exchange *ex)
{
    struct markdown *m = ex->data;
    qs_reply_text(ex, 200, "text/markdown; charset=utf-8", &m->out);
}

void qs_export_markdown(struct qs_exchange *ex)
{
    struct markdown *m = qs_exchange_data(ex, sizeof *m, done_markdown);
    qs_buf_init(&m->compared.document);
    qs_buf_init(&m->out);
    struct qs_err err = QS_ERR_INIT;
    if (qs_compare_query(&ex->uri, &m->compared, &err))
        qs_exchange_read(ex, read_markdown, say_markdown);
    else
        qs_reply_error(ex, &err);
}
