/* Two sides as tables: what was found, what differs, what has no partner. */
#include <stdio.h>

#include "report/sides/impl.h"
#include "report/tables/tables.h"
#include "report/tally.h"

static void put_row(struct qs_tables *t, const struct qs_sides_point *point, const char *where,
                    const struct qs_comparison *c)
{
    const struct qs_sides_pair *first = &point->pairs[0];
    qs_tables_verdict_row(
        t, &(struct qs_tables_verdict){.point = first->series[QS_BASE]->runs[0]->label,
                                       .where = where,
                                       .arms = {first->series[QS_BASE]->arm, first->series[QS_CAND]->arm},
                                       .c = c});
}

static void put_point(struct qs_tables *t, const struct qs_sides *s, const struct qs_sides_point *point)
{
    const size_t metrics = s->in->runs[QS_BASE]->metric_count;
    char many[40];
    for (size_t i = 0; i < point->count; i++)
        for (size_t m = 0; m < metrics; m++)
            if (qs_sides_is_known(&point->pairs[i].metrics[m], m))
                put_row(t, point, point->pairs[i].series[QS_BASE]->runs[0]->device,
                        &point->pairs[i].metrics[m]);
    snprintf(many, sizeof many, "%zu devices", point->count);
    for (size_t m = 0; point->over && m < metrics; m++)
        if (qs_sides_is_known(&point->over[m], m))
            put_row(t, point, many, &point->over[m]);
}

static void put_differences(struct qs_tables *t, const struct qs_env_diff *diff, const char *title)
{
    static const char *const titles[] = {"key", "base", "candidate"};
    if (diff->count == 0)
        return;
    qs_buf_fmt(&t->out, "\n%s\n\n", title);
    qs_tables_head(t, titles, "lll", 3);
    for (size_t i = 0; i < diff->count; i++) {
        const char *const cells[] = {diff->at[i].key, diff->at[i].base, diff->at[i].cand};
        qs_tables_row(t);
        for (size_t k = 0; k < 3; k++) {
            if (k > 0)
                qs_tables_next(t);
            qs_tables_text(t, cells[k] ? cells[k] : "–");
        }
        qs_tables_row_end(t);
    }
    qs_tables_end(t);
}

static void put_unmatched(struct qs_tables *t, const struct qs_side *side, const char *title)
{
    bool any = false;
    for (size_t i = 0; i < side->count; i++) {
        const struct qs_side_series *series = &side->at[i];
        if (series->matched)
            continue;
        qs_buf_fmt(&t->out, "%s%s%s- ", any ? "" : "\n", any ? "" : title, any ? "" : ":\n\n");
        any = true;
        qs_tables_text(t, series->runs[0]->label);
        qs_buf_char(&t->out, ' ');
        qs_tables_text(t, series->arm);
        qs_buf_char(&t->out, ' ');
        qs_tables_text(t, series->runs[0]->device);
        qs_buf_char(&t->out, '\n');
    }
}

static void put_verdicts(struct qs_tables *t, const struct qs_sides *s, const struct qs_tally *tally)
{
    qs_tables_verdict_head(t, tally);
    for (size_t i = 0; i < s->point_count; i++)
        put_point(t, s, &s->points[i]);
    qs_tables_end(t);
}

void qs_sides_tables(const struct qs_sides *s, const struct qs_tally *tally, struct qs_tables *t)
{
    static const char *const sides[2] = {"the base", "the candidate"};
    qs_tables_title(t, s->in->selector[QS_CAND], s->in->selector[QS_BASE]);
    if (s->refused) {
        qs_tables_bold(t, "Refused");
        qs_buf_str(&t->out, ": the sides differ in more than the arm.\n");
    } else if (s->all.count == 0) {
        qs_tables_nothing_in_common(t);
    } else {
        put_verdicts(t, s, tally);
    }
    for (int k = 0; k < 2; k++) {
        if (k == 0 && s->in->views.count > 0)
            qs_buf_char(&t->out, '\n');
        qs_tables_views(t, sides[k], &s->in->views, &s->in->tally[k]);
    }
    put_differences(t, &s->arms, "The arms differ in:");
    put_differences(t, &s->environment, "What else differs:");
    put_unmatched(t, &s->side[QS_BASE], "Only in the base");
    put_unmatched(t, &s->side[QS_CAND], "Only in the candidate");
}
