/* Tables for a pull request or a wiki, laid out from the comparison document. */
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "api/compare.h"
#include "api/export.h"
#include "api/reply.h"
#include "api/steps.h"
#include "base/text.h"

enum { COLUMNS_MAX = 8 };

struct tables;

/* What the forms have in common: cells lie between bars. */
struct dialect {
    const char *type;   /* of the answer */
    const char *job;    /* in front of the job's name */
    const char *result; /* of a point's */
    const char *row_end, *table_end;
    const char *special; /* signs that have a meaning in a cell */
    void (*put_sign)(struct qs_buf *out, char sign);
    void (*put_head)(struct qs_buf *out, const char *const *titles, const char *align);
    void (*put_code)(struct tables *t, const char *s); /* a command, as it is typed */
};

struct tables {
    struct qs_compared compared;
    struct qs_buf out;
    const struct dialect *dialect;
};

static void done_tables(void *data)
{
    struct tables *t = data;
    qs_compared_done(&t->compared);
    qs_buf_done(&t->out);
}

/* Text inside a cell: what has a meaning there is escaped, line ends become spaces. */
static void put_cell(struct tables *t, const char *s)
{
    for (; s && *s; s++) {
        if (strchr(t->dialect->special, *s))
            t->dialect->put_sign(&t->out, *s);
        else
            qs_buf_char(&t->out, *s == '\n' || *s == '\r' ? ' ' : *s);
    }
}

/* --- the forms --- */

static void put_titles(struct qs_buf *out, const char *const *titles)
{
    for (size_t i = 0; titles[i]; i++)
        qs_buf_fmt(out, "%s%s", i > 0 ? " | " : "| ", titles[i]);
}

static void put_backslashed(struct qs_buf *out, char sign)
{
    qs_buf_fmt(out, "\\%c", sign);
}

static void markdown_head(struct qs_buf *out, const char *const *titles, const char *align)
{
    put_titles(out, titles);
    qs_buf_str(out, " |\n|");
    for (; *align; align++)
        qs_buf_str(out, *align == 'l' ? ":---|" : "---:|");
    qs_buf_char(out, '\n');
}

/* In a span of code a bar alone means something, to the table. */
static void markdown_code(struct tables *t, const char *s)
{
    if (!s || strpbrk(s, "`\\\n\r")) {
        put_cell(t, s);
        return;
    }
    qs_buf_char(&t->out, '`');
    for (; *s; s++)
        qs_buf_fmt(&t->out, "%s%c", *s == '|' ? "\\" : "", *s);
    qs_buf_char(&t->out, '`');
}

/* A bar or a star by its number means itself everywhere. */
static void put_reference(struct qs_buf *out, char sign)
{
    qs_buf_fmt(out, "&#%d;", sign);
}

static void asciidoc_head(struct qs_buf *out, const char *const *titles, const char *align)
{
    qs_buf_str(out, "[cols=\"");
    for (const char *a = align; *a; a++)
        qs_buf_fmt(out, "%s%c", a > align ? "," : "", *a == 'l' ? '<' : '>');
    qs_buf_str(out, "\",options=\"header\"]\n|===\n");
    put_titles(out, titles);
    qs_buf_str(out, "\n\n");
}

static void asciidoc_code(struct tables *t, const char *s)
{
    qs_buf_char(&t->out, '`');
    put_cell(t, s);
    qs_buf_char(&t->out, '`');
}

static void put_entity(struct qs_buf *out, char sign)
{
    (void)sign;
    qs_buf_str(out, "\\vert{}");
}

static void orgmode_head(struct qs_buf *out, const char *const *titles, const char *align)
{
    put_titles(out, titles);
    qs_buf_str(out, " |\n|");
    for (const char *a = align; *a; a++)
        qs_buf_fmt(out, "---%s", a[1] ? "+" : "|\n");
    for (const char *a = align; *a; a++)
        qs_buf_fmt(out, "%s<%c>", a > align ? " | " : "| ", *a);
    qs_buf_str(out, " |\n");
}

static void orgmode_code(struct tables *t, const char *s)
{
    bool plain = s && !strpbrk(s, "|~\n\r");
    qs_buf_str(&t->out, plain ? "~" : "");
    put_cell(t, s);
    qs_buf_str(&t->out, plain ? "~" : "");
}

static const struct dialect markdown = {.type = "text/markdown; charset=utf-8",
                                        .job = "## ",
                                        .result = "### ",
                                        .row_end = " |\n",
                                        .table_end = "",
                                        .special = "|\\`*_<>[]",
                                        .put_sign = put_backslashed,
                                        .put_head = markdown_head,
                                        .put_code = markdown_code},
                            asciidoc = {.type = "text/plain; charset=utf-8",
                                        .job = "== ",
                                        .result = "=== ",
                                        .row_end = "\n",
                                        .table_end = "|===\n",
                                        .special = "|\\`*_<>[]#^~+{}&",
                                        .put_sign = put_reference,
                                        .put_head = asciidoc_head,
                                        .put_code = asciidoc_code},
                            orgmode = {.type = "text/plain; charset=utf-8",
                                       .job = "* ",
                                       .result = "** ",
                                       .row_end = " |\n",
                                       .table_end = "",
                                       .special = "|",
                                       .put_sign = put_entity,
                                       .put_head = orgmode_head,
                                       .put_code = orgmode_code};

/* The cells of optional columns are at the end: `columns` of them are there. */
static void put_head(struct tables *t, const char *const *titles, const char *align, size_t columns)
{
    const char *some[COLUMNS_MAX + 1] = {NULL};
    char aligned[COLUMNS_MAX + 1] = "";
    for (size_t i = 0; i < columns; i++) {
        some[i] = titles[i];
        aligned[i] = align[i];
    }
    t->dialect->put_head(&t->out, some, aligned);
}

/* --- the document --- */

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
    if (!json_is_number(json_object_get(arm, "median_lo"))) {
        qs_buf_str(out, "–");
        return;
    }
    put_duration(out, arm, "median_lo");
    qs_buf_str(out, " – ");
    put_duration(out, arm, "median_hi");
}

/* NULL: of the baseline. */
static const json_t *comparison_of(const json_t *result, const char *metric, const char *arm)
{
    size_t i;
    const json_t *c;
    json_array_foreach(json_object_get(result, "comparisons"), i, c)
    {
        const char *cand = text_at(c, "candidate_arm"), *of = text_at(c, "metric");
        if (cand && arm && strcmp(cand, arm) == 0 && of && strcmp(of, metric) == 0)
            return c;
    }
    return NULL;
}

static void put_comparison(struct tables *t, const json_t *c)
{
    const json_t *ratio = json_object_get(c, "ratio"), *lo = json_object_get(c, "lo"),
                 *hi = json_object_get(c, "hi");
    if (json_is_number(ratio) && json_is_number(lo) && json_is_number(hi))
        qs_buf_fmt(&t->out, " | %.3f (%.3f–%.3f) | ", json_number_value(ratio), json_number_value(lo),
                   json_number_value(hi));
    else
        qs_buf_str(&t->out, c ? " | ? | " : " | 1 | ");
    put_cell(t, c ? text_at(c, "verdict") : "baseline");
}

/* An arm is often called as its build is: that is said once. */
static bool names_another(const json_t *arm, const char *build)
{
    const char *name = text_at(arm, "name");
    return build && (!name || strcmp(name, build) != 0);
}

static void put_arm(struct tables *t, const json_t *result, size_t index, bool compared)
{
    const json_t *arm = json_array_get(json_object_get(result, "arms"), index);
    const json_t *duration = json_array_get(json_object_get(result, "metrics"), 0);
    const json_t *times = json_array_get(json_object_get(duration, "arms"), index);
    qs_buf_str(&t->out, "| ");
    put_cell(t, text_at(arm, "name"));
    if (names_another(arm, text_at(arm, "build"))) {
        qs_buf_str(&t->out, " (build ");
        put_cell(t, text_at(arm, "build"));
        qs_buf_char(&t->out, ')');
    }
    qs_buf_str(&t->out, ": ");
    t->dialect->put_code(t, text_at(arm, "command"));
    qs_buf_str(&t->out, " | ");
    put_duration(&t->out, times, "median");
    qs_buf_str(&t->out, " | ");
    put_interval(&t->out, times);
    qs_buf_str(&t->out, " | ");
    put_duration(&t->out, times, "min");
    qs_buf_str(&t->out, " | ");
    put_duration(&t->out, times, "max");
    if (compared)
        put_comparison(t, comparison_of(result, "duration_ns", text_at(arm, "name")));
    qs_buf_str(&t->out, t->dialect->row_end);
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
static void put_metric(struct tables *t, const json_t *result, const json_t *metric)
{
    size_t i;
    const json_t *arm, *c;
    json_array_foreach(json_object_get(metric, "arms"), i, arm)
    {
        qs_buf_str(&t->out, "| ");
        put_cell(t, text_at(metric, "metric"));
        qs_buf_str(&t->out, " (");
        put_cell(t, text_at(metric, "unit"));
        qs_buf_str(&t->out, ") | ");
        put_cell(t, text_at(arm, "name"));
        qs_buf_str(&t->out, " | ");
        put_number(&t->out, arm, "median");
        qs_buf_str(&t->out, " | ");
        put_number(&t->out, arm, "median_lo");
        if (json_is_number(json_object_get(arm, "median_hi"))) {
            qs_buf_str(&t->out, " – ");
            put_number(&t->out, arm, "median_hi");
        }
        qs_buf_str(&t->out, " | ");
        c = comparison_of(result, text_at(metric, "metric"), text_at(arm, "name"));
        if (c)
            put_change(&t->out, c);
        qs_buf_fmt(&t->out, " | %s%s", c ? text_at(c, "verdict") : "",
                   json_is_false(json_object_get(c, "stands")) ? ", by chance?" : "");
        qs_buf_str(&t->out, t->dialect->row_end);
    }
}

static void put_metrics(struct tables *t, const json_t *result)
{
    static const char *const titles[] = {"Metric", "Arm", "Median", "Interval", "Ratio", "Verdict"};
    size_t i;
    const json_t *metric, *metrics = json_object_get(result, "metrics");
    if (json_array_size(metrics) < 2) /* the duration has a table of its own */
        return;
    qs_buf_char(&t->out, '\n');
    put_head(t, titles, "llrrrl", 6);
    json_array_foreach(metrics, i, metric) if (i > 0) put_metric(t, result, metric);
    qs_buf_str(&t->out, t->dialect->table_end);
}

/* Which iterations the numbers of an arm stand on, where they are not all. */
static void put_views(struct tables *t, const json_t *arm)
{
    size_t i;
    const json_t *view, *views = json_object_get(arm, "views");
    if (json_array_size(views) == 0)
        return;
    qs_buf_str(&t->out, "- view of ");
    put_cell(t, text_at(arm, "name"));
    json_array_foreach(views, i, view)
    {
        long long used = json_integer_value(json_object_get(view, "used"));
        long long dropped = json_integer_value(json_object_get(view, "dropped"));
        const json_t *n = json_object_get(view, "n");
        qs_buf_fmt(&t->out, "%s %s", i > 0 ? ", then" : ":", text_at(view, "view"));
        if (json_is_integer(n))
            qs_buf_fmt(&t->out, " %lld", (long long)json_integer_value(n));
        qs_buf_fmt(&t->out, " leaves %lld of %lld iterations", used, used + dropped);
    }
    qs_buf_char(&t->out, '\n');
}

static void put_result(struct tables *t, const json_t *result)
{
    static const char *const titles[] = {"Command", "Median", "Interval", "Min", "Max", "Ratio", "Verdict"};
    size_t i;
    const json_t *arm, *c;
    bool compared = json_array_size(json_object_get(result, "arms")) > 1;
    qs_buf_fmt(&t->out, "\n%s", t->dialect->result);
    put_cell(t, text_at(result, "label"));
    qs_buf_str(&t->out, " on ");
    put_cell(t, text_at(result, "device"));
    qs_buf_str(&t->out, json_is_true(json_object_get(result, "simulated")) ? " (simulated)\n\n" : "\n\n");
    put_head(t, titles, "lrrrrrl", compared ? 7 : 5);
    json_array_foreach(json_object_get(result, "arms"), i, arm) put_arm(t, result, i, compared);
    qs_buf_str(&t->out, t->dialect->table_end);
    if (compared)
        qs_buf_char(&t->out, '\n');
    json_array_foreach(json_object_get(result, "comparisons"), i, c)
    {
        if (strcmp(text_at(c, "metric"), "duration_ns") != 0)
            continue;
        qs_buf_str(&t->out, "- ");
        put_cell(t, text_at(c, "sentence"));
        qs_buf_char(&t->out, '\n');
    }
    const json_t *duration = json_array_get(json_object_get(result, "metrics"), 0);
    json_array_foreach(json_object_get(duration, "arms"), i, arm) put_views(t, arm);
    put_metrics(t, result);
}

static bool read_tables(struct qs_store_reader *reader, struct qs_exchange *ex, struct qs_err *err)
{
    struct tables *t = ex->data;
    size_t i;
    const json_t *result;
    if (!qs_compare_read(reader, qs_store_path(ex->api->p.store), ex->match.id, &t->compared, err))
        return false;
    json_auto_t *document = json_loadb(t->compared.document.data, t->compared.document.len, 0, NULL);
    if (!document)
        return qs_fail(err, QS_E_INTERNAL, "the comparison is not valid JSON");
    qs_buf_str(&t->out, t->dialect->job);
    put_cell(t, text_at(document, "name"));
    qs_buf_char(&t->out, '\n');
    json_array_foreach(json_object_get(document, "results"), i, result) put_result(t, result);
    return true;
}

static void say_tables(struct qs_exchange *ex)
{
    struct tables *t = ex->data;
    qs_reply_text(ex, 200, t->dialect->type, &t->out);
}

static void export_in(struct qs_exchange *ex, const struct dialect *dialect)
{
    struct tables *t = qs_exchange_data(ex, sizeof *t, done_tables);
    qs_buf_init(&t->compared.document);
    qs_buf_init(&t->out);
    t->dialect = dialect;
    struct qs_err err = QS_ERR_INIT;
    t->compared.progress = qs_steps_progress(ex);
    if (qs_compare_query(&ex->uri, &t->compared, &err))
        qs_exchange_read(ex, read_tables, say_tables);
    else
        qs_reply_error(ex, &err);
}

void qs_export_markdown(struct qs_exchange *ex)
{
    export_in(ex, &markdown);
}

void qs_export_asciidoc(struct qs_exchange *ex)
{
    export_in(ex, &asciidoc);
}

void qs_export_orgmode(struct qs_exchange *ex)
{
    export_in(ex, &orgmode);
}
