/* All verdicts of a job in one: the one that weighs most, and how many there are of its kind. */
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "report/job/metrics.h"

enum { NAME_CHARS = 20 };

enum weight { NO_CHANGE, UNCLEAR, PROBABLY_BETTER, BETTER, PROBABLY_WORSE, WORSE };

struct brief {
    const struct qs_report_group *group; /* these three of the verdict that is told */
    const struct qs_comparison *verdict;
    enum weight weight;
    size_t of_kind, comparisons;
};

/* What is expected by chance among so many is not clear. */
static enum weight weigh(const struct qs_comparison *c)
{
    bool doubtful = qs_comparison_is_doubtful(c);
    switch (c->v.kind) {
    case QS_VERDICT_REGRESSION:
        return doubtful ? UNCLEAR : WORSE;
    case QS_VERDICT_PROBABLE_REGRESSION:
        return doubtful ? UNCLEAR : PROBABLY_WORSE;
    case QS_VERDICT_IMPROVEMENT:
        return doubtful ? UNCLEAR : BETTER;
    case QS_VERDICT_PROBABLE_IMPROVEMENT:
        return doubtful ? UNCLEAR : PROBABLY_BETTER;
    case QS_VERDICT_NEGLIGIBLE:
    case QS_VERDICT_EQUIVALENT:
        return NO_CHANGE;
    case QS_VERDICT_INCONCLUSIVE:
        break;
    }
    return UNCLEAR;
}

/* Of one kind the largest change; one that is no ratio (from 0) is larger than any. */
static double size_of(const struct qs_verdict *v)
{
    return v->ratio > 0 && isfinite(v->ratio) ? fabs(log(v->ratio)) : INFINITY;
}

static void look(struct brief *b, const struct qs_report_group *g, const struct qs_comparison *c)
{
    enum weight weight = weigh(c);
    b->comparisons++;
    if (b->verdict && weight < b->weight)
        return;
    bool more = !b->verdict || weight > b->weight;
    b->of_kind = more ? 1 : b->of_kind + 1;
    if (!more && !(size_of(&c->v) > size_of(&b->verdict->v)))
        return;
    b->group = g;
    b->verdict = c;
    b->weight = weight;
}

static void look_at_group(struct brief *b, const struct qs_report_group *g)
{
    for (size_t p = 0; p < g->pair_count; p++)
        for (size_t m = 0; m < g->metric_count; m++)
            look(b, g, &g->metrics[m].pairs[p]);
}

/* A long name leaves room for the number behind it. */
static void add_name(struct qs_buf *out, const char *name)
{
    size_t n = strlen(name), at = 0;
    bool valid = true;
    for (int c = 0; c < NAME_CHARS && at < n; c++)
        at += qs_utf8_next(name + at, n - at, &valid);
    qs_buf_add(out, name, at);
    qs_buf_str(out, at < n ? "…" : "");
}

static void add_change(struct qs_buf *out, const struct brief *b)
{
    const struct qs_arm_metric *metric = b->verdict->metric;
    const double large = 10, tenths = 100;
    double ratio = b->verdict->v.ratio, percent = fabs(ratio - 1) * 100;
    bool times = metric == &qs_duration_metric;
    bool probable = b->weight == PROBABLY_WORSE || b->weight == PROBABLY_BETTER;
    add_name(out, b->verdict->names[QS_CAND]);
    qs_buf_char(out, ' ');
    if (!times) {
        add_name(out, metric->name);
        qs_buf_char(out, ' ');
    }
    qs_buf_str(out, probable ? "probably " : "");
    if (!(ratio > 0) || !isfinite(ratio))
        qs_buf_str(out, b->weight == WORSE || b->weight == PROBABLY_WORSE ? "worse" : "better");
    else if (ratio >= large)
        qs_buf_fmt(out, "%.3g times %s", ratio, times ? "as long" : "as high");
    else
        qs_buf_fmt(out, "%.*f %% %s", percent < tenths ? 1 : 0, percent,
                   !times      ? ratio > 1 ? "higher" : "lower"
                   : ratio > 1 ? "slower"
                               : "faster");
}

static void add_text(struct qs_buf *out, const struct brief *b)
{
    if (b->weight == NO_CHANGE)
        qs_buf_str(out, "no change");
    else if (b->weight == UNCLEAR)
        qs_buf_str(out, "unclear");
    else
        add_change(out, b);
    if (b->comparisons > 1 && b->weight != NO_CHANGE)
        qs_buf_fmt(out, " (%zu of %zu)", b->of_kind, b->comparisons);
}

static void put(struct qs_json *j, const struct brief *b)
{
    const struct qs_report_group *g = b->group;
    const struct qs_comparison *c = b->verdict;
    QS_BUF(text);
    add_text(&text, b);
    qs_json_object(j);
    qs_json_kstring(j, "text", text.data);
    qs_json_kstring(j, "verdict", qs_verdict_name(c->v.kind));
    qs_json_kbool(j, "stands", b->weight != UNCLEAR || c->v.kind == QS_VERDICT_INCONCLUSIVE);
    qs_json_kstring(j, "base", c->names[QS_BASE]);
    qs_json_kstring(j, "arm", c->names[QS_CAND]);
    qs_json_kstring(j, "label", g->in->spec->points[g->point].label);
    qs_json_kstring(j, "device", g->device);
    qs_json_kstring(j, "metric", c->metric->name);
    qs_json_kdouble(j, "ratio", c->v.ratio);
    qs_json_kint(j, "of_kind", (int64_t)b->of_kind);
    qs_json_kint(j, "comparisons", (int64_t)b->comparisons);
    qs_json_object_end(j);
}

void qs_report_put_brief(struct qs_buf *out, const struct qs_report_group *groups, size_t count)
{
    struct brief b = {0};
    for (size_t i = 0; i < count; i++)
        look_at_group(&b, &groups[i]);
    if (!b.verdict)
        return;
    struct qs_json j = qs_json_to(out);
    put(&j, &b);
}
