/* Verdicts as rows of one table, whatever was compared. */
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "report/median.h"
#include "report/tables/tables.h"
#include "report/tally.h"
#include "report/verdict/verdict.h"
#include "report/views.h"

void qs_tables_title(struct qs_tables *t, const char *candidate, const char *base)
{
    qs_tables_headline(t, 2);
    qs_tables_text(t, candidate);
    qs_buf_str(&t->out, " with ");
    qs_tables_text(t, base);
    qs_buf_str(&t->out, "\n\n");
}

void qs_tables_nothing_in_common(struct qs_tables *t)
{
    qs_tables_bold(t, "Nothing was compared");
    qs_buf_str(&t->out, ": the sides have nothing in common.\n");
}

void qs_tables_verdict_head(struct qs_tables *t, const struct qs_tally *tally)
{
    QS_BUF(words);
    qs_tally_words(tally, &words);
    qs_tables_text(t, words.data);
    qs_buf_str(&t->out, words.len > 0 ? "\n\n" : "");
    static const char *const titles[] = {"benchmark", "arms",   "where",   "metric", "base",
                                         "candidate", "change", "verdict", "notes"};
    qs_tables_head(t, titles, "llllrrrll", sizeof titles / sizeof *titles);
}

/* "a → b" where the arms have other names. */
static void put_arms(struct qs_tables *t, const char *const arms[2])
{
    if (strcmp(arms[QS_BASE], arms[QS_CAND]) == 0)
        return;
    qs_tables_text(t, arms[QS_BASE]);
    qs_buf_str(&t->out, " → ");
    qs_tables_text(t, arms[QS_CAND]);
}

static void put_value(struct qs_tables *t, const struct qs_side_values *side, const char *unit)
{
    double v = qs_median_ns(side->v, side->n);
    if (!isfinite(v)) {
        qs_buf_str(&t->out, "–");
    } else if (strcmp(unit, "ns") == 0) {
        qs_text_duration(&t->out, v);
    } else {
        qs_buf_fmt(&t->out, "%.6g ", v);
        qs_tables_text(t, unit);
    }
}

static void put_change(struct qs_buf *out, const struct qs_comparison *c)
{
    const struct qs_ci *ci = qs_verdict_interval(&c->v);
    if (!isfinite(c->v.ratio))
        qs_buf_str(out, "–");
    else
        qs_buf_fmt(out, "%+.2f %%", (c->v.ratio - 1) * 100);
    if (isfinite(ci->lo) && isfinite(ci->hi) && !qs_comparison_is_exact(c))
        qs_buf_fmt(out, " (%+.2f to %+.2f %%)", (ci->lo - 1) * 100, (ci->hi - 1) * 100);
}

void qs_tables_notes_cell(struct qs_tables *t, const struct qs_comparison *c)
{
    QS_BUF(notes);
    const struct qs_superiority s = qs_comparison_superiority(c);
    qs_comparison_notes(&notes, c, &s);
    qs_tables_text(t, notes.len > 0 ? notes.data : "–");
}

void qs_tables_verdict_cell(struct qs_tables *t, const struct qs_comparison *c)
{
    const char *word = qs_verdict_name(c->v.kind);
    c->v.kind == QS_VERDICT_REGRESSION ? qs_tables_bold(t, word) : qs_tables_text(t, word);
    if (qs_comparison_is_doubtful(c))
        qs_buf_str(&t->out, ", by chance?");
    else if (strcmp(c->reason, "none") != 0)
        qs_buf_fmt(&t->out, " (%s)", c->reason);
}

void qs_tables_verdict_row(struct qs_tables *t, const struct qs_tables_verdict *v)
{
    const struct qs_comparison *c = v->c;
    qs_tables_row(t);
    qs_tables_text(t, v->point);
    qs_tables_next(t);
    put_arms(t, v->arms);
    qs_tables_next(t);
    qs_tables_text(t, v->where);
    qs_tables_next(t);
    qs_tables_text(t, c->metric->name);
    for (int k = 0; k < 2; k++) {
        qs_tables_next(t);
        put_value(t, &c->side[k], c->metric->unit);
    }
    qs_tables_next(t);
    put_change(&t->out, c);
    qs_tables_next(t);
    qs_tables_verdict_cell(t, c);
    qs_tables_next(t);
    qs_tables_notes_cell(t, c);
    qs_tables_row_end(t);
}

void qs_tables_views(struct qs_tables *t, const char *of, const struct qs_views *views,
                     const struct qs_views_tally *tally)
{
    QS_BUF(words);
    qs_views_words(&words, views, tally);
    if (words.len == 0)
        return;
    qs_buf_str(&t->out, "- view of ");
    qs_tables_text(t, of);
    qs_buf_fmt(&t->out, ": %s\n", words.data);
}
