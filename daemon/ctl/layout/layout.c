/* The page as a whole: head, arms, sentence and verdict, and where the data are. */
#include "ctl/layout/layout.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "ctl/client/api.h"
#include "ctl/findings.h"
#include "ctl/layout/metrics.h"
#include "ctl/layout/sample.h"

enum { NAME_COLUMNS = 16, DECIMALS_MOST = 9 };

void qs_layout_count(struct qs_buf *out, int64_t n, const char *one, const char *many)
{
    qs_buf_fmt(out, "%" PRId64 " %s", n, n == 1 ? one : many);
}

enum qs_unit qs_layout_unit_of(const char *word)
{
    static const struct {
        const char *word;
        enum qs_unit unit;
    } units[] = {{"ns", QS_UNIT_NS},          {"us", QS_UNIT_US},
                 {"ms", QS_UNIT_MS},          {"s", QS_UNIT_S},
                 {"nanosecond", QS_UNIT_NS},  {"microsecond", QS_UNIT_US},
                 {"millisecond", QS_UNIT_MS}, {"second", QS_UNIT_S}};
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
        if (strcmp(units[i].word, word) == 0)
            return units[i].unit;
    return QS_UNIT_AUTO;
}

void qs_layout_scale(enum qs_unit unit, double typical_ns, struct qs_scale *ret)
{
    static const struct qs_scale units[] = {
        {"ns", 1, 0, false}, {"µs", 1e3, 0, false}, {"ms", 1e6, 0, false}, {"s", 1e9, 0, false}};
    size_t k = unit == QS_UNIT_AUTO ? 0 : (size_t)unit - 1;
    while (unit == QS_UNIT_AUTO && k < 3 && typical_ns >= units[k + 1].ns)
        k++;
    *ret = units[k];
    double v = typical_ns / ret->ns;
    ret->decimals = k == 0 ? 0 : v < 10 ? 3 : v < 100 ? 2 : v < 1000 ? 1 : 0;
    for (; k > 0 && v > 0 && v < 1 && ret->decimals < DECIMALS_MOST;
         v *= 10) /* in a unit that was asked for */
        ret->decimals++;
}

void qs_layout_scale_of(const struct qs_layout *layout, double typical, struct qs_scale *ret)
{
    if (layout->plain_unit == NULL) {
        qs_layout_scale(layout->unit, typical, ret);
        return;
    }
    double size = fabs(typical);
    *ret = (struct qs_scale){layout->plain_unit, 1, 0, false};
    if (size >= 1e15 || (size > 0 && size < 1e-6)) {
        ret->exponent = true;
        ret->decimals = 3;
        return;
    }
    while (ret->decimals < DECIMALS_MOST && size > 0 && size < 1000) {
        size *= 10;
        ret->decimals++;
    }
}

void qs_scale_number(const struct qs_scale *scale, double v, char text[40])
{
    bool exponent = scale->exponent || fabs(v / scale->ns) >= 1e15;
    snprintf(text, 40, exponent ? "%.*e" : "%.*f", scale->exponent == exponent ? scale->decimals : 3,
             v / scale->ns);
}

void qs_scale_part(struct qs_scale *scale, double lo, double hi)
{
    if (!isfinite(hi - lo) || !(hi > lo))
        return;
    double most = (fabs(lo) > fabs(hi) ? fabs(lo) : fabs(hi)) / scale->ns, gap = (hi - lo) / scale->ns;
    double shown = 1; /* units of the last digit in one */
    for (double v = most; scale->exponent && v >= 10; v /= 10)
        shown /= 10;
    for (double v = most; scale->exponent && v > 0 && v < 1; v *= 10)
        shown *= 10;
    for (int i = 0; i < scale->decimals; i++)
        shown *= 10;
    char text[2][40];
    qs_scale_number(scale, lo, text[0]);
    qs_scale_number(scale, hi, text[1]);
    const char *a = text[0], *b = text[1];
    if (*a == '-') { /* "-0" and "0" are alike, too */
        a++;
        b += *b == '-';
    }
    if (strcmp(a, b) != 0)
        return;
    for (; gap * shown < 10 && most * shown < 1e15; shown *= 10)
        scale->decimals++;
}

double qs_shown_number(const struct qs_shown *shown, const char *key)
{
    static const char *const parts[] = {NULL, "describe", "quantiles"};
    bool least = strcmp(key, "min") == 0;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && !(least && shown->no_floor); i++) {
        const json_t *part = parts[i] == NULL ? shown->sample : json_object_get(shown->sample, parts[i]);
        const json_t *v = json_object_get(part, key);
        if (json_is_number(v))
            return json_number_value(v) * shown->factor;
    }
    /* there is a median where there are no moments */
    return strcmp(key, "median") == 0 ? qs_shown_number(shown, "p50") : NAN;
}

struct qs_shown *qs_shown_arms(const json_t *result, const json_t *metric, double factor, size_t *ret_count)
{
    const json_t *arms = json_object_get(metric, "arms"), *runs = json_object_get(result, "arms");
    struct qs_shown *shown = qs_calloc(json_array_size(arms), sizeof(*shown));
    *ret_count = json_array_size(arms);
    for (size_t i = 0; i < *ret_count; i++)
        shown[i] = (struct qs_shown){.name = qs_json_get_text(json_array_get(runs, i), "name", "?"),
                                     .sample = json_array_get(arms, i),
                                     .usage = json_array_get(runs, i),
                                     .factor = factor};
    return shown;
}

size_t qs_layout_name_columns(const struct qs_layout *layout, const struct qs_shown *shown, size_t count,
                              size_t most)
{
    size_t n = 1, third = layout->face.width / 3;
    for (size_t i = 0; i < count; i++) {
        size_t cells = qs_face_cells(shown[i].name);
        n = cells > n ? cells : n;
    }
    n = n < most ? n : most;
    return n < third ? n : third;
}

struct ranked {
    size_t index;
    double median;
};

static int by_median(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->median != y->median)
        return x->median < y->median ? -1 : 1;
    return x->index < y->index ? -1 : 1;
}

void qs_layout_order(const struct qs_layout *layout, const struct qs_shown *shown, size_t count,
                     size_t *order)
{
    QS_FREED struct ranked *ranked = qs_calloc(count, sizeof(*ranked));
    for (size_t i = 0; i < count; i++) {
        double median = qs_shown_number(&shown[i], "median");
        ranked[i] = (struct ranked){i, isfinite(median) ? median : HUGE_VAL};
    }
    if (layout->sort == QS_SORT_MEDIAN)
        qsort(ranked, count, sizeof(*ranked), by_median);
    for (size_t i = 0; i < count; i++)
        order[i] = ranked[i].index;
}

static void add_name(const struct qs_layout *layout, struct qs_buf *out, const json_t *arm, size_t columns)
{
    QS_BUF(name);
    qs_face_text(&layout->face, &name, qs_json_get_text(arm, "name", "?"));
    qs_face_left(&layout->face, out, name.data, columns);
}

/* Its command, and its build and its set of conditions where the arm is not called as they are. */
static void add_what(const json_t *arm, struct qs_buf *out)
{
    static const char *const keys[] = {"build", "conditions"};
    qs_buf_str(out, qs_json_get_text(arm, "command", ""));
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        const char *name = qs_json_get_text(arm, keys[i], "");
        if (name[0] != '\0' && strcmp(name, qs_json_get_text(arm, "name", "")) != 0)
            qs_buf_fmt(out, "  (%s %s)", keys[i], name);
    }
}

void qs_layout_arms(const struct qs_layout *layout, const json_t *result, struct qs_buf *out)
{
    const json_t *arms = json_object_get(result, "arms");
    size_t count, i;
    QS_FREED struct qs_shown *shown = qs_shown_arms(result, result, 1, &count);
    size_t columns = qs_layout_name_columns(layout, shown, count, NAME_COLUMNS);
    const json_t *arm;
    json_array_foreach(arms, i, arm)
    {
        QS_BUF(lead);
        QS_BUF(what);
        qs_buf_str(&lead, "  ");
        add_name(layout, &lead, arm, columns);
        qs_buf_str(&lead, "  ");
        add_what(arm, &what);
        qs_face_wrap(&layout->face, out, lead.data, what.data, QS_INK_PLAIN);
    }
}

static void add_sums(const json_t *doc, struct qs_buf *out)
{
    size_t r, a;
    const json_t *result, *arm;
    const json_t *results = json_object_get(doc, "results");
    int64_t runs = 0, iterations = 0, blocks = 0;
    json_array_foreach(results, r, result)
    {
        const json_t *arms = json_object_get(result, "arms");
        blocks += qs_json_get_int(result, "blocks", 0);
        json_array_foreach(arms, a, arm)
        {
            runs += qs_json_get_int(arm, "runs_seen", qs_json_get_int(arm, "runs", 0));
            iterations += qs_json_get_int(arm, "iterations_seen", qs_json_get_int(arm, "iterations", 0));
        }
    }
    qs_layout_count(out, blocks, "block", "blocks");
    qs_buf_str(out, ", ");
    qs_layout_count(out, runs, "run", "runs");
    qs_buf_str(out, ", ");
    qs_layout_count(out, iterations, "iteration", "iterations");
    double elapsed_ns = qs_json_get_number(doc, "elapsed_ns", -1);
    if (elapsed_ns >= 0) {
        qs_buf_str(out, " in ");
        qs_text_duration(out, elapsed_ns);
    }
}

/* Why a job stopped, for people: "" where it did what it was told. */
static const char *stop_words(const char *stopped)
{
    static const char *const words[][2] = {
        {"interval", "precise enough"}, {"time", "time was up"}, {"blocks", "all blocks run"}};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strcmp(words[i][0], stopped) == 0)
            return words[i][1];
    return "";
}

static void head(const struct qs_layout *layout, const json_t *doc, struct qs_buf *out)
{
    QS_BUF(text);
    const char *state = qs_json_get_text(doc, "state", "done");
    const char *stopped = qs_json_get_text(doc, "stopped", "");
    if (qs_json_get_true(doc, "simulated"))
        qs_buf_str(&text, "SIMULATED ");
    qs_buf_fmt(&text, "job %" PRId64 ": ", qs_json_get_int(doc, "job", 0));
    add_sums(doc, &text);
    if (strcmp(state, "done") == 0 && stop_words(stopped)[0] != '\0')
        qs_buf_fmt(&text, " (%s)", stop_words(stopped));
    qs_face_wrap(&layout->face, out, "", text.data, QS_INK_BOLD);
    if (strcmp(state, "done") != 0) {
        qs_buf_clear(&text);
        bool why = stopped[0] != '\0' && !layout->told;
        qs_buf_fmt(&text, "The job %s%s%s. What was measured before is kept.",
                   strcmp(state, "failed") == 0 ? "failed" : "was cancelled", why ? ": " : "",
                   why ? stopped : "");
        qs_face_wrap(&layout->face, out, "", text.data, QS_INK_BAD);
    }
}

/* What heads one result where a job has several. */
static void result_head(const struct qs_layout *layout, const json_t *result, bool several,
                        struct qs_buf *out)
{
    QS_BUF(text);
    if (!several)
        return;
    qs_buf_fmt(&text, "%s on %s", qs_json_get_text(result, "label", "?"),
               qs_json_get_text(result, "device", "?"));
    if (qs_json_get_true(result, "simulated"))
        qs_buf_str(&text, " (simulated)");
    qs_face_wrap(&layout->face, out, "", text.data, QS_INK_BOLD);
}

static bool has_data(const json_t *result)
{
    size_t i;
    const json_t *arm;
    const json_t *arms = json_object_get(result, "arms");
    json_array_foreach(arms, i, arm) if (qs_json_get_int(arm, "iterations", 0) > 0) return true;
    return false;
}

static void add_views(const struct qs_layout *layout, const json_t *result, struct qs_buf *out)
{
    size_t i;
    const json_t *arm;
    const json_t *duration = json_array_get(json_object_get(result, "metrics"), 0);
    json_array_foreach(json_object_get(duration, "arms"), i, arm)
        qs_sample_views(layout, qs_json_get_text(arm, "name", "?"), json_object_get(arm, "views"), out);
}

/* Every time below it is of one evaluation. */
static void evals_line(const struct qs_layout *layout, const json_t *result, struct qs_buf *out)
{
    char text[80];
    int64_t evals = qs_json_get_int(result, "evals", 1);
    if (evals < 2)
        return;
    snprintf(text, sizeof text, "%" PRId64 " evaluations an iteration; times are of one.", evals);
    qs_face_wrap(&layout->face, out, "  ", text, QS_INK_DIM);
}

static void one_result(const struct qs_layout *layout, const json_t *doc, const json_t *result, bool several,
                       struct qs_buf *out)
{
    size_t count;
    const json_t *duration = json_array_get(json_object_get(result, "metrics"), 0);
    QS_FREED struct qs_shown *shown = qs_shown_arms(result, duration, 1, &count);
    qs_buf_char(out, '\n');
    result_head(layout, result, several, out);
    qs_layout_arms(layout, result, out);
    if (has_data(result)) {
        evals_line(layout, result, out);
        qs_buf_char(out, '\n');
        qs_layout_ablation(layout, doc, result, out);
        qs_layout_verdicts(layout, doc, result, out);
        add_views(layout, result, out);
        qs_buf_char(out, '\n');
        qs_layout_table(layout, shown, count, out);
        qs_layout_histogram(layout, shown, count, out);
        qs_layout_metrics(layout, doc, result, out);
    } else {
        qs_face_wrap(&layout->face, out, "  ", "There is no accepted iteration to compare.", QS_INK_WARN);
    }
    qs_layout_doubts(layout, doc, result, out);
}

/* A path with the home folder as ~, in quotes where a shell needs them. */
static void add_path(const struct qs_layout *layout, const char *path, struct qs_buf *out)
{
    size_t n = layout->home != NULL ? strlen(layout->home) : 0;
    bool home = n > 1 && strncmp(path, layout->home, n) == 0 && path[n] == '/';
    bool odd =
        path[strspn(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+")] != '\0';
    if (home && !odd) {
        qs_buf_fmt(out, "~%s", path + n);
        return;
    }
    QS_BUF(quoted);
    qs_opt_quote(&quoted, path);
    qs_face_text(&layout->face, out, quoted.data);
}

void qs_layout_data(const struct qs_layout *layout, const json_t *doc, struct qs_buf *out)
{
    const struct qs_face *face = &layout->face;
    const char *db = qs_json_get_text(doc, "db", "");
    QS_BUF(path);
    QS_BUF(query);
    if (db[0] == '\0')
        return;
    add_path(layout, db, &path);
    qs_buf_fmt(&query, "\"SELECT arm, block, seq, duration_ns FROM v_iteration WHERE job=%" PRId64 "\"",
               qs_json_get_int(doc, "job", 0));
    bool fits = qs_face_cells(path.data) + 28 <= face->width;
    qs_buf_fmt(out, "\nEvery iteration is kept in%s%s\n  sqlite3 %s", fits ? " " : "\n  ", path.data,
               path.data);
    /* One command, on two lines where it is wider than the screen: it can be pasted as it is. */
    bool wide = 11 + qs_face_cells(path.data) + query.len > face->width;
    size_t cut = 0;
    if (wide && 5 + query.len > face->width)
        cut = (size_t)(strstr(query.data, "FROM") - query.data);
    if (cut > 0)
        qs_buf_fmt(out, " \\\n    %.*s\\\n%s\n", (int)cut, query.data, query.data + cut);
    else
        qs_buf_fmt(out, "%s%s\n", wide ? " \\\n    " : " ", query.data);
}

void qs_layout_compare(const struct qs_layout *layout, const json_t *doc, struct qs_buf *out)
{
    size_t i;
    const json_t *result;
    const json_t *results = json_object_get(doc, "results");
    bool any = !layout->told;
    json_array_foreach(results, i, result) any = any || has_data(result);
    if (!any)
        return;
    head(layout, doc, out);
    json_array_foreach(results, i, result) one_result(layout, doc, result, json_array_size(results) > 1, out);
    qs_layout_job_doubts(layout, doc, out);
    qs_layout_data(layout, doc, out);
}
