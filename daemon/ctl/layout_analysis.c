/* Results of files as text: one page a series where there are few, one line a series where there are many. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ctl/api.h"
#include "ctl/layout.h"

enum { PAGES_MOST = 4 };

static const struct {
    const char *unit;
    double ns;
} times[] = {{"ns", 1}, {"ns/op", 1}, {"us", 1e3}, {"µs", 1e3}, {"ms", 1e6}, {"s", 1e9}};

/* How many ns one of this unit has; 0: it is no time. */
static double ns_of(const char *unit)
{
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
        if (strcmp(times[i].unit, unit) == 0)
            return times[i].ns;
    return 0;
}

static void copy_number(json_t *to, const char *key, const json_t *from, const char *name, double factor)
{
    const json_t *v = json_object_get(from, name);
    if (json_is_number(v))
        json_object_set_new(to, key, json_real(json_number_value(v) * factor));
}

/* A sample in the form of a comparison's arm, so that the same tables and histograms show it. */
static json_t *arm_of(const json_t *sample, const char *name, double factor)
{
    static const char *const probs[] = {"p05", "p25", "p75", "p95", "p99"};
    const json_t *describe = json_object_get(sample, "describe");
    const json_t *quantiles = json_object_get(sample, "quantiles");
    const json_t *histogram = json_object_get(sample, "histogram");
    json_t *arm = json_pack("{s:s, s:O}", "name", name, "warnings", json_object_get(sample, "warnings"));
    json_t *q = json_object(), *h = json_object();
    copy_number(arm, "median_ns", describe, "median", factor);
    copy_number(arm, "mean_ns", describe, "mean", factor);
    copy_number(arm, "sd_ns", describe, "sd", factor);
    copy_number(arm, "min_ns", describe, "min", factor);
    copy_number(arm, "max_ns", describe, "max", factor);
    for (size_t i = 0; i < sizeof(probs) / sizeof(probs[0]); i++)
        copy_number(q, probs[i], quantiles, probs[i], factor);
    copy_number(h, "lo_ns", histogram, "lo", factor);
    copy_number(h, "hi_ns", histogram, "hi", factor);
    json_object_set(h, "counts", json_object_get(histogram, "counts"));
    json_object_set(h, "above", json_object_get(histogram, "above"));
    json_object_set_new(arm, "quantiles", q);
    json_object_set_new(arm, "histogram", h);
    return arm;
}

/* The layout for values of a unit, and the factor that makes them ns. */
static struct qs_layout layout_for(const struct qs_layout *layout, const json_t *result, double *ret_factor)
{
    struct qs_layout own = *layout;
    const char *unit = qs_json_get_text(result, "unit", "");
    double ns = ns_of(unit);
    *ret_factor = ns > 0 ? ns : 1;
    if (!(ns > 0))
        own.plain_unit = unit;
    return own;
}

/* "12.3-12.9 ms" */
static void add_range(const struct qs_layout *layout, double lo, double hi, double typical,
                      struct qs_buf *out)
{
    struct qs_scale scale;
    qs_layout_scale_of(layout, typical, &scale);
    qs_buf_fmt(out, "%.*f–%.*f%s%s", scale.decimals, lo / scale.ns, scale.decimals, hi / scale.ns,
               scale.name[0] != '\0' ? " " : "", scale.name);
}

static void add_value(const struct qs_layout *layout, double v, struct qs_buf *out)
{
    struct qs_scale scale;
    qs_layout_scale_of(layout, v, &scale);
    qs_buf_fmt(out, "%.*f%s%s", scale.decimals, v / scale.ns, scale.name[0] != '\0' ? " " : "", scale.name);
}

static void add_name(const json_t *result, struct qs_buf *out)
{
    const char *benchmark = qs_json_get_text(result, "benchmark", "");
    const char *metric = qs_json_get_text(result, "metric", "");
    qs_buf_fmt(out, "%s%s%s", benchmark, benchmark[0] != '\0' && metric[0] != '\0' ? " " : "", metric);
}

/* The interval that counts: over runs where there are several, else over values. */
static const json_t *interval_of(const json_t *sample, const char **ret_one, const char **ret_many,
                                 int64_t *ret_n)
{
    int64_t runs = qs_json_get_int(sample, "runs", 1);
    *ret_one = runs > 1 ? "run" : "value";
    *ret_many = runs > 1 ? "runs" : "values";
    *ret_n = runs > 1 ? runs : qs_json_get_int(sample, "n", 0);
    return json_object_get(sample, runs > 1 ? "run_medians" : "median_ci");
}

static void add_headline(const struct qs_layout *layout, const json_t *sample, double factor,
                         struct qs_buf *out)
{
    const char *one = NULL, *many = NULL;
    int64_t n = 0;
    struct qs_buf text;
    const json_t *ci = interval_of(sample, &one, &many, &n);
    double lo = qs_json_get_number(ci, "lo", NAN) * factor, hi = qs_json_get_number(ci, "hi", NAN) * factor;
    double median = qs_json_get_number(ci, "estimate", NAN) * factor;
    qs_buf_init(&text);
    if (isfinite(lo) && isfinite(hi)) {
        add_range(layout, lo, hi, median, &text);
        qs_buf_str(&text, ": median ");
        add_value(layout, median, &text);
        qs_buf_fmt(&text, " (%.3g %% interval, ", qs_json_get_number(ci, "level", NAN) * 100);
    } else {
        qs_buf_str(&text, "median ");
        add_value(layout, median, &text);
        qs_buf_str(&text, " (too few for an interval, ");
    }
    qs_layout_count(&text, n, one, many);
    qs_buf_char(&text, ')');
    qs_face_wrap(&layout->face, out, "  ", text.data, QS_INK_BOLD);
    qs_buf_done(&text);
}

/* Mean and spread, and what each level of the experiment adds to it. */
static void add_spread(const struct qs_layout *layout, const json_t *sample, double factor,
                       struct qs_buf *out)
{
    const json_t *mean = json_object_get(sample, "mean_ci_dependent");
    const json_t *describe = json_object_get(sample, "describe");
    const json_t *levels = json_object_get(sample, "variance_components");
    double lo = qs_json_get_number(mean, "lo", NAN) * factor,
           hi = qs_json_get_number(mean, "hi", NAN) * factor;
    double cov = qs_json_get_number(describe, "cov_abs", NAN), icc = qs_json_get_number(levels, "icc", NAN);
    double n_eff = qs_json_get_number(mean, "n_eff", NAN);
    struct qs_buf text;
    qs_buf_init(&text);
    if (isfinite(lo) && isfinite(hi)) {
        qs_buf_str(&text, "Mean ");
        add_range(layout, lo, hi, (lo + hi) / 2, &text);
        qs_buf_fmt(&text, " (n worth %.3g)", n_eff);
    }
    if (isfinite(cov)) {
        qs_buf_str(&text, text.len > 0 ? ", sd " : "Sd ");
        qs_layout_percent(&text, cov);
        qs_buf_str(&text, " of the mean");
    }
    if (isfinite(icc)) {
        qs_buf_str(&text, text.len > 0 ? "; between runs " : "Between runs ");
        qs_layout_percent(&text, icc);
        qs_buf_str(&text, " of the variance");
    }
    if (text.len > 0)
        qs_face_wrap(&layout->face, out, "  ", text.data, QS_INK_PLAIN);
    qs_buf_done(&text);
}

static void add_arms(const struct qs_layout *layout, json_t *arms, struct qs_buf *out)
{
    json_t *page = json_pack("{s:O}", "arms", arms);
    qs_buf_char(out, '\n');
    qs_layout_table(layout, page, out);
    qs_layout_histogram(layout, page, out);
    qs_layout_doubts(layout, NULL, page, out);
    json_decref(page);
}

static void add_title(const struct qs_layout *layout, const json_t *result, struct qs_buf *out)
{
    struct qs_buf name;
    qs_buf_init(&name);
    add_name(result, &name);
    qs_buf_char(out, '\n');
    qs_face_wrap(&layout->face, out, "", name.data, QS_INK_BOLD);
    qs_buf_done(&name);
}

static void add_change(const struct qs_layout *layout, const json_t *change, struct qs_buf *out)
{
    bool drift = strcmp(qs_json_get_text(change, "kind", ""), "drift") == 0;
    double ratio = qs_json_get_number(change, "ratio", NAN);
    double lo = qs_json_get_number(change, "lo", NAN), hi = qs_json_get_number(change, "hi", NAN);
    const char *label = qs_json_get_text(change, "label", "");
    struct qs_buf text;
    qs_buf_init(&text);
    qs_buf_fmt(&text, "%s point %" PRId64, drift ? "a drift from" : "from",
               qs_json_get_int(change, "from", 0));
    if (label[0] != '\0')
        qs_buf_fmt(&text, " (%s)", label);
    if (drift)
        qs_buf_fmt(&text, " to point %" PRId64, qs_json_get_int(change, "to", 0));
    if (isfinite(ratio))
        qs_buf_fmt(&text, ": %+.1f %%", (ratio - 1) * 100);
    if (isfinite(lo) && isfinite(hi))
        qs_buf_fmt(&text, " (%+.1f to %+.1f %%)", (lo - 1) * 100, (hi - 1) * 100);
    if (drift)
        qs_buf_str(&text, "; no single point made it");
    else if (!qs_json_get_true(change, "confirmed"))
        qs_buf_str(&text, ", to be confirmed by further points");
    qs_face_wrap(&layout->face, out, "  - ", text.data, QS_INK_PLAIN);
    qs_buf_done(&text);
}

/* The changes of a history, and whether it drifts. */
static void add_changes(const struct qs_layout *layout, const json_t *result, struct qs_buf *out)
{
    size_t i;
    const json_t *change, *found = json_object_get(result, "change_points");
    const json_t *changes = json_object_get(json_object_get(result, "labelled"), "changes");
    double p = qs_json_get_number(json_object_get(result, "drift"), "p", NAN);
    struct qs_buf text;
    if (found == NULL)
        return;
    qs_buf_init(&text);
    qs_layout_count(&text, (int64_t)json_array_size(changes), "change", "changes");
    qs_buf_str(&text, " of at least ");
    qs_layout_percent(&text, qs_json_get_number(found, "min_magnitude", 0));
    qs_buf_str(&text, " in ");
    qs_layout_count(&text, qs_json_get_int(result, "points", 0), "point", "points");
    qs_face_wrap(&layout->face, out, "  ", text.data, QS_INK_BOLD);
    json_array_foreach(changes, i, change) add_change(layout, change, out);
    qs_buf_clear(&text);
    qs_buf_fmt(&text, "A trend over all points has p = %.2g (Mann-Kendall for dependent values)", p);
    if (isfinite(p))
        qs_face_wrap(&layout->face, out, "  ", text.data, QS_INK_PLAIN);
    qs_buf_done(&text);
}

static void analysis_page(const struct qs_layout *layout, const json_t *result, struct qs_buf *out)
{
    double factor = 1;
    struct qs_layout own = layout_for(layout, result, &factor);
    json_t *arms = json_array();
    add_title(layout, result, out);
    add_changes(&own, result, out);
    add_headline(&own, result, factor, out);
    add_spread(&own, result, factor, out);
    json_array_append_new(arms, arm_of(result, qs_json_get_text(result, "metric", ""), factor));
    add_arms(&own, arms, out);
    json_decref(arms);
}

static const struct {
    const char *verdict;
    enum qs_ink ink;
    const char *words;
} verdicts[] = {{"regression", QS_INK_BAD, "Regression: worse by more than the margin of "},
                {"improvement", QS_INK_GOOD, "Improvement: better by more than the margin of "},
                {"probable-regression", QS_INK_WARN,
                 "Probable regression: worse, but perhaps by less than the margin of "},
                {"probable-improvement", QS_INK_WARN,
                 "Probable improvement: better, but perhaps by less than the margin of "},
                {"negligible", QS_INK_PLAIN, "Negligible: a real difference, smaller than the margin of "},
                {"equivalent", QS_INK_PLAIN, "Equivalent: any difference is smaller than the margin of "},
                {"inconclusive", QS_INK_WARN, "Inconclusive: the interval is too wide for a margin of "}};

static void add_power(const json_t *v, struct qs_buf *text)
{
    double mde = qs_json_get_number(v, "mde_ratio", NAN);
    int64_t needed = qs_json_get_int(v, "runs_needed", 0);
    if (isfinite(mde)) {
        qs_buf_str(text, " The least difference that so many runs show reliably is ");
        qs_layout_percent(text, mde);
        qs_buf_str(text, ".");
    }
    if (needed > 0)
        qs_buf_fmt(text, " It would take about %" PRId64 " runs a side.", needed);
}

static void add_verdict(const struct qs_layout *layout, const json_t *result, struct qs_buf *out)
{
    const json_t *v = json_object_get(result, "verdict");
    const char *word = qs_json_get_text(v, "verdict", ""), *reason = qs_json_get_text(v, "reason", "");
    bool open = strcmp(word, "inconclusive") == 0;
    struct qs_buf text;
    enum qs_ink ink = QS_INK_PLAIN;
    qs_buf_init(&text);
    if (open && strcmp(reason, "too-few-runs") == 0) {
        ink = QS_INK_WARN;
        qs_buf_str(&text,
                   "Inconclusive: a verdict needs at least two runs a side, that is processes that were "
                   "started anew. --per iteration takes each value as a run.");
    } else {
        for (size_t i = 0; i < sizeof(verdicts) / sizeof(verdicts[0]); i++) {
            if (strcmp(verdicts[i].verdict, word) != 0)
                continue;
            ink = verdicts[i].ink;
            qs_buf_str(&text, verdicts[i].words);
            qs_layout_percent(&text, qs_json_get_number(v, "margin_ratio", 0));
            qs_buf_char(&text, '.');
        }
        if (open)
            add_power(v, &text);
    }
    qs_face_wrap(&layout->face, out, "  ", text.data, ink);
    qs_buf_done(&text);
}

/* A file's name without its folders. */
static const char *file_name(const json_t *doc, size_t index)
{
    const char *name = qs_json_get_text(json_array_get(json_object_get(doc, "files"), index), "name",
                                        index == 0 ? "a" : "b");
    const char *slash = strrchr(name, '/');
    return slash != NULL && slash[1] != '\0' ? slash + 1 : name;
}

static void comparison_page(const struct qs_layout *layout, const json_t *result, struct qs_buf *out)
{
    double factor = 1;
    struct qs_layout own = layout_for(layout, result, &factor);
    const json_t *v = json_object_get(result, "verdict");
    json_t *arms = json_array();
    struct qs_buf text;
    qs_buf_init(&text);
    add_title(layout, result, out);
    bool runs = strcmp(qs_json_get_text(result, "sentence_per", ""), "run") == 0;
    qs_buf_fmt(&text, "%s (%.3g %% interval over %s)", qs_json_get_text(result, "sentence", ""),
               qs_json_get_number(v, "level", NAN) * 100, runs ? "runs" : "single values");
    qs_face_wrap(&own.face, out, "  ", text.data, QS_INK_BOLD);
    add_verdict(&own, result, out);
    json_array_append_new(arms, arm_of(json_object_get(result, "base"), "baseline", factor));
    json_array_append_new(arms, arm_of(json_object_get(result, "candidate"), "candidate", factor));
    add_arms(&own, arms, out);
    json_decref(arms);
    qs_buf_done(&text);
}

static void cell_value(struct qs_grid *grid, const struct qs_layout *layout, double v)
{
    struct qs_buf text;
    qs_buf_init(&text);
    if (isfinite(v))
        add_value(layout, v, &text);
    qs_grid_cell(grid, isfinite(v) ? text.data : "-");
    qs_buf_done(&text);
}

static void cell_name(struct qs_grid *grid, const json_t *result)
{
    struct qs_buf name;
    qs_buf_init(&name);
    add_name(result, &name);
    qs_grid_cell(grid, name.data);
    qs_buf_done(&name);
}

static void cell_percent(struct qs_grid *grid, double ratio)
{
    char text[32] = "-";
    if (isfinite(ratio))
        snprintf(text, sizeof(text), "%.2f %%", ratio * 100);
    qs_grid_cell(grid, text);
}

static void analysis_row(struct qs_grid *grid, const struct qs_layout *layout, const json_t *result)
{
    double factor = 1;
    const char *one = NULL, *many = NULL;
    char warnings[24];
    int64_t n = 0;
    struct qs_layout own = layout_for(layout, result, &factor);
    const json_t *ci = interval_of(result, &one, &many, &n);
    cell_name(grid, result);
    cell_value(grid, &own, qs_json_get_number(ci, "estimate", NAN) * factor);
    cell_value(grid, &own, qs_json_get_number(ci, "lo", NAN) * factor);
    cell_value(grid, &own, qs_json_get_number(ci, "hi", NAN) * factor);
    cell_percent(grid, qs_json_get_number(json_object_get(result, "describe"), "cov_abs", NAN));
    snprintf(warnings, sizeof(warnings), "%zu", json_array_size(json_object_get(result, "warnings")));
    qs_grid_cell(grid, warnings);
}

static void comparison_row(struct qs_grid *grid, const struct qs_layout *layout, const json_t *result)
{
    double factor = 1;
    struct qs_layout own = layout_for(layout, result, &factor);
    const json_t *v = json_object_get(result, "verdict");
    const json_t *base = json_object_get(json_object_get(result, "base"), "run_medians");
    cell_name(grid, result);
    cell_value(grid, &own, qs_json_get_number(base, "estimate", NAN) * factor);
    cell_percent(grid, qs_json_get_number(v, "lo", NAN) - 1);
    cell_percent(grid, qs_json_get_number(v, "hi", NAN) - 1);
    qs_grid_cell(grid, qs_json_get_text(v, "verdict", ""));
}

static void table(const struct qs_layout *layout, const json_t *doc, bool compares, struct qs_buf *out)
{
    static const struct qs_grid_column one[] = {{"", false, 0, 40},   {"median", true, 0, 0},
                                                {"from", true, 0, 0}, {"to", true, 0, 0},
                                                {"sd", true, 1, 0},   {"doubts", true, 2, 0}};
    static const struct qs_grid_column two[] = {{"", false, 0, 40},
                                                {"baseline", true, 1, 0},
                                                {"from", true, 0, 0},
                                                {"to", true, 0, 0},
                                                {"verdict", false, 0, 0}};
    struct qs_grid grid;
    size_t i;
    const json_t *result;
    qs_grid_init(&grid, compares ? two : one, compares ? 5 : 6);
    json_array_foreach(json_object_get(doc, "results"), i, result)
    {
        if (compares)
            comparison_row(&grid, layout, result);
        else
            analysis_row(&grid, layout, result);
    }
    qs_buf_char(out, '\n');
    qs_grid_print(&grid, &layout->face, "", out);
    qs_grid_done(&grid);
}

static void add_head(const struct qs_layout *layout, const json_t *doc, bool compares, struct qs_buf *out)
{
    static const char *const sides[] = {"baseline  ", "candidate  "};
    size_t i;
    const json_t *file;
    json_array_foreach(json_object_get(doc, "files"), i, file)
    {
        struct qs_buf text;
        qs_buf_init(&text);
        qs_buf_fmt(&text, "%s%s: ", compares ? sides[i > 0] : "", qs_json_get_text(file, "name", "?"));
        qs_layout_count(&text, qs_json_get_int(file, "values", 0), "value", "values");
        if (qs_json_get_int(file, "series", 1) > 1)
            qs_buf_fmt(&text, " in %" PRId64 " series", qs_json_get_int(file, "series", 1));
        qs_buf_fmt(&text, " (%s)", qs_json_get_text(file, "format", "?"));
        qs_face_wrap(&layout->face, out, "", text.data, QS_INK_BOLD);
        qs_buf_done(&text);
    }
}

static void add_unmatched(const struct qs_layout *layout, const json_t *doc, struct qs_buf *out)
{
    static const char *const keys[] = {"only_in_base", "only_in_candidate"};
    for (size_t k = 0; k < 2; k++) {
        size_t i;
        const json_t *series;
        struct qs_buf text;
        const json_t *list = json_object_get(doc, keys[k]);
        qs_buf_init(&text);
        qs_buf_fmt(&text, "Only in %s: ", file_name(doc, k));
        json_array_foreach(list, i, series)
        {
            qs_buf_str(&text, i > 0 ? ", " : "");
            add_name(series, &text);
        }
        if (json_array_size(list) > 0) {
            qs_buf_char(out, '\n');
            qs_face_wrap(&layout->face, out, "", text.data, QS_INK_WARN);
        }
        qs_buf_done(&text);
    }
}

void qs_layout_analysis(const struct qs_layout *layout, const json_t *doc, struct qs_buf *out)
{
    size_t i;
    const json_t *result;
    const json_t *results = json_object_get(doc, "results");
    bool compares = strcmp(qs_json_get_text(doc, "kind", ""), "comparison") == 0;
    add_head(layout, doc, compares, out);
    if (json_array_size(results) > PAGES_MOST) {
        table(layout, doc, compares, out);
    } else {
        json_array_foreach(results, i, result)
        {
            if (compares)
                comparison_page(layout, result, out);
            else
                analysis_page(layout, result, out);
        }
    }
    add_unmatched(layout, doc, out);
}
