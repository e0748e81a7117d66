/* The comparison of a job's arms as tables: an arm a row, then each metric. */
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "report/job/metrics.h"
#include "report/tables/tables.h"

/* Of the median; a dash where there are too few runs for one. */
static void put_interval(struct qs_buf *out, const struct qs_ci *ci)
{
    if (!isfinite(ci->lo)) {
        qs_buf_str(out, "–");
        return;
    }
    qs_text_duration(out, ci->lo);
    qs_buf_str(out, " – ");
    qs_text_duration(out, ci->hi);
}

/* NULL: of the baseline. */
static const struct qs_comparison *comparison_of(const struct qs_report_group *g,
                                                 const struct qs_report_metric *m, size_t arm)
{
    for (size_t p = 0; p < g->pair_count; p++)
        if (g->pairs[p].cand == arm)
            return &m->pairs[p];
    return NULL;
}

static void put_ratio(struct qs_buf *out, const struct qs_comparison *c)
{
    const struct qs_ci *ci = qs_verdict_interval(&c->v);
    bool known = isfinite(ci->lo) && isfinite(ci->hi);
    if (!isfinite(c->v.ratio) || (!known && !qs_comparison_is_exact(c)))
        qs_buf_char(out, '?');
    else
        qs_buf_fmt(out, "%.3f", c->v.ratio);
    if (isfinite(c->v.ratio) && known && !qs_comparison_is_exact(c))
        qs_buf_fmt(out, " (%.3f–%.3f)", ci->lo, ci->hi);
}

static void put_comparison(struct qs_tables *t, const struct qs_comparison *c)
{
    qs_tables_next(t);
    if (c)
        put_ratio(&t->out, c);
    else
        qs_buf_char(&t->out, '1');
    qs_tables_next(t);
    c ? qs_tables_verdict_cell(t, c) : qs_tables_text(t, "baseline");
    qs_tables_next(t);
    if (c)
        qs_tables_notes_cell(t, c);
}

/* An arm is often called as its build or its set of conditions is: that is said once. */
static void put_of_arm(struct qs_tables *t, const char *arm, const char *what, const char *name)
{
    if (!name || strcmp(arm, name) == 0)
        return;
    qs_buf_fmt(&t->out, " (%s ", what);
    qs_tables_text(t, name);
    qs_buf_char(&t->out, ')');
}

static void put_arm(struct qs_tables *t, const struct qs_report_group *g, size_t index)
{
    const struct qs_job_spec *spec = g->in->spec;
    const struct qs_job_arm *arm = &spec->arms[index];
    const struct qs_metric_arm *times = &g->metrics[0].arms[index];
    QS_BUF(command);
    qs_report_command(spec, index, g->point, &command);
    qs_tables_row(t);
    qs_tables_text(t, arm->name);
    put_of_arm(t, arm->name, "build", arm->build_label);
    put_of_arm(t, arm->name, "conditions", qs_report_conditions(g, index));
    qs_buf_str(&t->out, ": ");
    qs_tables_code(t, command.data);
    qs_tables_next(t);
    qs_text_duration(&t->out, times->median.median);
    qs_tables_next(t);
    put_interval(&t->out, &times->median.ci);
    qs_tables_next(t);
    qs_text_duration(&t->out, times->all.min);
    qs_tables_next(t);
    qs_text_duration(&t->out, times->all.max);
    if (spec->arm_count > 1)
        put_comparison(t, comparison_of(g, &g->metrics[0], index));
    qs_tables_row_end(t);
}

static void put_number(struct qs_buf *out, double v)
{
    if (isfinite(v))
        qs_buf_fmt(out, "%.9g", v);
    else
        qs_buf_str(out, "–");
}

/* The baseline's row is the first; the others have their ratio to it. */
static void put_metric_arm(struct qs_tables *t, const struct qs_report_group *g,
                           const struct qs_report_metric *m, size_t index)
{
    const struct qs_mixed_median *median = &m->arms[index].median;
    const struct qs_comparison *c = comparison_of(g, m, index);
    qs_tables_row(t);
    qs_tables_text(t, m->metric->name);
    qs_buf_str(&t->out, " (");
    qs_tables_text(t, m->metric->unit);
    qs_buf_char(&t->out, ')');
    qs_tables_next(t);
    qs_tables_text(t, g->in->spec->arms[index].name);
    qs_tables_next(t);
    put_number(&t->out, median->median);
    qs_tables_next(t);
    put_number(&t->out, median->ci.lo);
    if (isfinite(median->ci.hi)) {
        qs_buf_str(&t->out, " – ");
        put_number(&t->out, median->ci.hi);
    }
    qs_tables_next(t);
    if (c)
        put_ratio(&t->out, c);
    qs_tables_next(t);
    if (c)
        qs_tables_verdict_cell(t, c);
    qs_tables_next(t);
    if (c)
        qs_tables_notes_cell(t, c);
    qs_tables_row_end(t);
}

static void put_metrics(struct qs_tables *t, const struct qs_report_group *g)
{
    static const char *const titles[] = {"Metric", "Arm", "Median", "Interval", "Ratio", "Verdict", "Notes"};
    if (g->metric_count < 2) /* the duration has a table of its own */
        return;
    qs_buf_char(&t->out, '\n');
    qs_tables_head(t, titles, "llrrrll", 7);
    for (size_t m = 1; m < g->metric_count; m++)
        for (size_t a = 0; a < g->in->spec->arm_count; a++)
            put_metric_arm(t, g, &g->metrics[m], a);
    qs_tables_end(t);
}

static void put_result(struct qs_tables *t, const struct qs_report_group *g)
{
    static const char *const titles[] = {"Command", "Median", "Interval", "Min",
                                         "Max",     "Ratio",  "Verdict",  "Notes"};
    const size_t arms = g->in->spec->arm_count;
    qs_buf_char(&t->out, '\n');
    qs_tables_headline(t, 2);
    qs_tables_text(t, g->in->spec->points[g->point].label);
    qs_buf_str(&t->out, " on ");
    qs_tables_text(t, g->device);
    qs_buf_str(&t->out, g->simulated ? " (simulated)\n\n" : "\n\n");
    qs_tables_head(t, titles, "lrrrrrll", arms > 1 ? 8 : 5);
    for (size_t a = 0; a < arms; a++)
        put_arm(t, g, a);
    qs_tables_end(t);
    if (arms > 1)
        qs_buf_char(&t->out, '\n');
    for (size_t p = 0; p < g->pair_count; p++) {
        QS_BUF(sentence);
        qs_comparison_sentence(&sentence, &g->metrics[0].pairs[p]);
        qs_buf_str(&t->out, "- ");
        qs_tables_text(t, sentence.data);
        qs_buf_char(&t->out, '\n');
    }
    for (size_t a = 0; a < arms; a++)
        qs_tables_views(t, g->in->spec->arms[a].name, &g->in->views, &g->metrics[0].arms[a].tally);
    put_metrics(t, g);
}

void qs_report_tables(const struct qs_report_input *in, const struct qs_report_group *groups, size_t count,
                      struct qs_tables *t)
{
    qs_tables_headline(t, 1);
    qs_tables_text(t, in->spec->name);
    qs_buf_char(&t->out, '\n');
    for (size_t i = 0; i < count; i++)
        put_result(t, &groups[i]);
}
