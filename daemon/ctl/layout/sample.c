/* One sample of any document, from its interval to its histogram. */
#include "ctl/layout/sample.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "ctl/client/api.h"
#include "ctl/findings.h"

static const struct {
    const char *unit;
    double ns;
} times[] = {{"ps", 1e-3}, {"ns", 1}, {"ns/op", 1}, {"us", 1e3}, {"µs", 1e3}, {"ms", 1e6}, {"s", 1e9}};

/* How many ns one of this unit has; 0: it is no time. */
static double ns_of(const char *unit)
{
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
        if (strcmp(times[i].unit, unit) == 0)
            return times[i].ns;
    return 0;
}

/* Metrics are whole numbers; what a program says with digits behind the point is kept in millionths. */
static const char millionths[] = "1e-6";

/* The layout for values of a unit, and the factor that makes them ns, or one of a unit that is no time. */
struct qs_layout qs_sample_layout(const struct qs_layout *layout, const json_t *result, double *ret_factor)
{
    struct qs_layout own = *layout;
    const char *unit = qs_json_get_text(result, "unit", "");
    double ns = ns_of(unit);
    *ret_factor = ns > 0 ? ns : 1;
    if (ns > 0)
        return own;
    own.plain_unit = qs_text_is_shown(unit) ? unit : "?"; /* a program names it; it is shown as it is */
    if (strncmp(own.plain_unit, millionths, strlen(millionths)) == 0) {
        *ret_factor = 1e-6;
        own.plain_unit += strlen(millionths);
        own.plain_unit += own.plain_unit[0] == ' ' ? 1 : 0;
    }
    return own;
}

/* "12.3–12.9 ms", or "-1.5 to 12.9 ms": a dash between would read as a sign */
static void put_number(const struct qs_scale *scale, double v, bool named, struct qs_buf *out)
{
    char text[40];
    qs_scale_number(scale, v, text);
    qs_buf_fmt(out, "%s%s%s", text, named && scale->name[0] != '\0' ? " " : "", named ? scale->name : "");
}

static void put_range(const struct qs_scale *scale, double lo, double hi, struct qs_buf *out)
{
    put_number(scale, lo, false, out);
    qs_buf_str(out, lo < 0 ? " to " : "–");
    put_number(scale, hi, true, out);
}

void qs_sample_range(const struct qs_layout *layout, double lo, double hi, double typical, struct qs_buf *out)
{
    struct qs_scale scale;
    qs_layout_scale_of(layout, typical, &scale);
    qs_scale_part(&scale, lo, hi);
    put_range(&scale, lo, hi, out);
}

void qs_sample_value(const struct qs_layout *layout, double v, struct qs_buf *out)
{
    struct qs_scale scale;
    qs_layout_scale_of(layout, v, &scale);
    put_number(&scale, v, true, out);
}

bool qs_sample_warns(const json_t *sample, const char *code)
{
    size_t i;
    const json_t *one;
    json_array_foreach(json_object_get(sample, "warnings"), i, one)
    {
        if (strcmp(qs_json_get_text(one, "code", ""), code) == 0)
            return true;
    }
    return false;
}

/* Of values: dependent ones make a wider interval. */
static const json_t *values_interval(const json_t *sample)
{
    const json_t *dependent = json_object_get(sample, "median_ci_dependent");
    return dependent != NULL && qs_sample_warns(sample, "dependence") ? dependent
                                                                      : json_object_get(sample, "median_ci");
}

const json_t *qs_sample_interval(const json_t *sample, const char **ret_one, const char **ret_many,
                                 int64_t *ret_n)
{
    int64_t runs = qs_json_get_int(sample, "runs", 1);
    *ret_one = runs > 1 ? "run" : "value";
    *ret_many = runs > 1 ? "runs" : "values";
    *ret_n = runs > 1 ? runs : qs_json_get_int(sample, "n", 0);
    return runs > 1 ? json_object_get(sample, "run_medians") : values_interval(sample);
}

void qs_sample_headline(const struct qs_layout *layout, const json_t *sample, double factor,
                        struct qs_buf *out)
{
    const char *one = NULL, *many = NULL;
    int64_t n = 0;
    QS_BUF(text);
    const json_t *ci = qs_sample_interval(sample, &one, &many, &n);
    double lo = qs_json_get_number(ci, "lo", NAN) * factor, hi = qs_json_get_number(ci, "hi", NAN) * factor;
    double median = qs_json_get_number(ci, "estimate", NAN) * factor;
    double n_eff = qs_json_get_number(ci, "n_eff", NAN); /* of dependent values only */
    struct qs_scale scale;
    qs_layout_scale_of(layout, median, &scale);
    if (isfinite(lo) && isfinite(hi)) {
        qs_scale_part(&scale, lo, hi);
        put_range(&scale, lo, hi, &text);
        qs_buf_str(&text, ": median ");
        put_number(&scale, median, true, &text);
        qs_buf_fmt(&text, " (%.3g %% interval, ", qs_json_get_number(ci, "level", NAN) * 100);
    } else {
        qs_buf_str(&text, "median ");
        put_number(&scale, median, true, &text);
        qs_buf_str(&text, " (too few for an interval, ");
    }
    qs_layout_count(&text, n, one, many);
    if (isfinite(n_eff))
        qs_buf_fmt(&text, " worth %.3g", n_eff);
    qs_buf_char(&text, ')');
    qs_face_wrap(&layout->face, out, "  ", text.data, QS_INK_BOLD);
}

/* Mean and spread, and what each level of the experiment adds to it. */
void qs_sample_spread(const struct qs_layout *layout, const json_t *sample, double factor, struct qs_buf *out)
{
    const json_t *mean = json_object_get(sample, "mean_ci_dependent");
    const json_t *describe = json_object_get(sample, "describe");
    const json_t *levels = json_object_get(sample, "variance_components");
    double lo = qs_json_get_number(mean, "lo", NAN) * factor,
           hi = qs_json_get_number(mean, "hi", NAN) * factor;
    double cov = qs_json_get_number(describe, "cov_abs", NAN), icc = qs_json_get_number(levels, "icc", NAN);
    double n_eff = qs_json_get_number(mean, "n_eff", NAN);
    QS_BUF(text);
    if (isfinite(lo) && isfinite(hi)) {
        qs_buf_str(&text, "Mean ");
        qs_sample_range(layout, lo, hi, (lo + hi) / 2, &text);
        if (isfinite(n_eff))
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
}

void qs_sample_table(const struct qs_layout *layout, const struct qs_shown *shown, size_t count,
                     struct qs_buf *out)
{
    json_t *arms = json_array(), *page = json_pack("{s:O}", "arms", arms);
    for (size_t i = 0; i < count; i++)
        json_array_append_new(arms, json_pack("{s:s, s:O}", "name", shown[i].name, "warnings",
                                              json_object_get(shown[i].sample, "warnings")));
    qs_buf_char(out, '\n');
    qs_layout_table(layout, shown, count, out);
    qs_layout_histogram(layout, shown, count, out);
    qs_layout_doubts(layout, NULL, page, out);
    json_decref(arms);
    json_decref(page);
}

void qs_sample_views(const struct qs_layout *layout, const char *who, const json_t *views, struct qs_buf *out)
{
    QS_BUF(text);
    if (json_array_size(views) == 0)
        return;
    qs_buf_fmt(&text, "View%s%s: ", who[0] != '\0' ? " of " : "", who);
    qs_views_words(views, &text);
    qs_face_wrap(&layout->face, out, "  ", text.data, QS_INK_WARN);
}
