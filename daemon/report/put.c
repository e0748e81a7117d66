#include "report/put.h"

#include <math.h>
#include <stdarg.h>

#include "base/buf.h"
#include "base/mem.h"
#include "report/analysis/impl.h"

struct warning {
    const char *code, *text;
};
const struct qs_field qs_warning_rows[] = {
    QS_ROW(warning, code, TEXT,
           "few, one-run, dropped, dependence, constant, outliers, quantised and further ones",
           .known = true),
    QS_ROW(warning, text, TEXT, "the same in a sentence", .known = true),
    {.name = NULL}};

void qs_put_warning(struct qs_json *j, const char *code, const char *fmt, ...)
{
    va_list ap;
    QS_BUF(text);
    va_start(ap, fmt);
    qs_buf_vfmt(&text, fmt, ap);
    va_end(ap);
    const struct warning told = {code, text.data};
    qs_put_object(j, qs_warning_rows, &told);
}

static const char *const kind_words[] = {"step", "drift", NULL};

const struct qs_field qs_change_rows[] = {
    QS_ROW(qs_change, kind, WORD, "a drift came about over many points: no single one made it",
           .words = kind_words),
    QS_ROW(qs_change, from, COUNT, "step: the first point after it; drift: where it begins; from 0"),
    QS_ROW(qs_change, to, COUNT, "step: as from; drift: where it ends"),
    QS_ROW(qs_change, p, DOUBLE,
           "step: Student's t between its neighbours, for dependent points and for the best of all places; "
           "drift: "
           "Mann-Kendall for dependent values"),
    QS_ROW(qs_change, before, DOUBLE,
           "step: mean of the neighbours before, single points that stand out cut back; drift: fitted level"),
    QS_ROW(qs_change, after, DOUBLE, "the same after it"),
    QS_ROW(qs_change, median_before, DOUBLE, "step: of the points since the step before; null for a drift"),
    QS_ROW(qs_change, median_after, DOUBLE, "step: of the points until the next step"),
    QS_ROW(qs_change, ratio, DOUBLE, "after / before"),
    QS_ROW(qs_change, slope, DOUBLE, "of a drift, per point"),
    QS_ROW(qs_change, n_eff, DOUBLE, "of a drift: what the values around it are worth"),
    QS_ROW(qs_change, confirmed, BOOL, "a step: at least 4 points follow"),
    QS_ROWS_OF(qs_change, ci, qs_ci_rows),
    {.name = NULL}};

static const struct qs_field smaller_rows[] = {
    QS_ROW(qs_smaller_steps, steps, COUNT, "how many"),
    QS_ROW(qs_smaller_steps, most_ratio, DOUBLE, "the largest of them, as a share: 0.012 is 1.2 %"),
    {.name = NULL}};

const struct qs_field qs_beside_changes_rows[] = {
    QS_ROW(qs_beside_changes, smaller, WITHIN,
           "steps that are not among the changes because they are surely smaller than the margin",
           .of = smaller_rows),
    QS_ROW(qs_beside_changes, alone, COUNTS,
           "points that stand out from their neighbours by more than 5 sd without a step; from 0"),
    QS_ROW(qs_beside_changes, phi, DOUBLE,
           "upper estimate of the correlation of neighbouring points beside the changes, 0 to 0.95; p allows "
           "for it"),
    QS_ROW(qs_beside_changes, detectable_ratio, DOUBLE,
           "the step in the middle that four of five such histories would show, as a share"),
    {.name = NULL}};

struct qs_beside_changes qs_beside_changes(const struct qs_changes *changes, size_t from)
{
    size_t n = changes->n_alone, *alone = qs_calloc(n, sizeof *alone);
    for (size_t i = 0; i < n; i++)
        alone[i] = from + changes->alone[i];
    return (struct qs_beside_changes){
        .smaller = {changes->smaller, changes->smaller > 0 ? changes->smaller_most_ratio : NAN},
        .alone = {alone, n},
        .phi = changes->phi,
        .detectable_ratio = changes->detectable_ratio};
}
