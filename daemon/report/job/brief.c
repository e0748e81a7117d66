/* All verdicts of a job in one: the one that weighs most, and how many there are of its kind. */
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "report/job/metrics.h"

enum { NAME_CHARS = 20 };

enum weight { NO_CHANGE, UNCLEAR, PROBABLY_BETTER, BETTER, PROBABLY_WORSE, WORSE };

struct brief {
    const struct qs_report_group *group; /* these four of the verdict that is told */
    const struct qs_verdict *verdict;
    const struct qs_arm_metric *metric; /* NULL: the duration */
    size_t pair;
    enum weight weight;
    size_t of_kind, comparisons;
};

/* What is expected by chance among so many is not clear. */
static enum weight weigh(const struct qs_verdict *v, bool doubtful)
{
    switch (v->kind) {
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

static void look(struct brief *b, const struct qs_report_group *g, size_t pair, const struct qs_verdict *v,
                 const struct qs_arm_metric *metric, bool doubtful)
{
    enum weight weight = weigh(v, doubtful);
    b->comparisons++;
    if (b->verdict && weight < b->weight)
        return;
    bool more = !b->verdict || weight > b->weight;
    b->of_kind = more ? 1 : b->of_kind + 1;
    if (!more && !(size_of(v) > size_of(b->verdict)))
        return;
    b->group = g;
    b->pair = pair;
    b->verdict = v;
    b->metric = metric;
    b->weight = weight;
}

static void look_at_group(struct brief *b, const struct qs_report_group *g)
{
    const struct qs_sides_how how = qs_report_metric_how(g);
    for (size_t p = 0; p < g->pair_count; p++) {
        look(b, g, p, &g->pairs[p].verdict, NULL, qs_report_pair_is_doubtful(g, &g->pairs[p]));
        for (size_t m = 0; m < g->metric_count; m++) {
            const struct qs_sides_verdict *v = &g->metrics[m].pairs[p];
            look(b, g, p, &v->v, g->metrics[m].metric, qs_sides_is_doubtful(&how, v));
        }
    }
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

static void add_change(struct qs_buf *out, const struct brief *b, const char *arm)
{
    const double times = 10, tenths = 100;
    double ratio = b->verdict->ratio, percent = fabs(ratio - 1) * 100;
    bool probable = b->weight == PROBABLY_WORSE || b->weight == PROBABLY_BETTER;
    add_name(out, arm);
    qs_buf_char(out, ' ');
    if (b->metric) {
        add_name(out, b->metric->name);
        qs_buf_char(out, ' ');
    }
    qs_buf_str(out, probable ? "probably " : "");
    if (!(ratio > 0) || !isfinite(ratio))
        qs_buf_str(out, b->weight == WORSE || b->weight == PROBABLY_WORSE ? "worse" : "better");
    else if (ratio >= times)
        qs_buf_fmt(out, "%.3g times %s", ratio, b->metric ? "as high" : "as long");
    else
        qs_buf_fmt(out, "%.*f %% %s", percent < tenths ? 1 : 0, percent,
                   b->metric   ? ratio > 1 ? "higher" : "lower"
                   : ratio > 1 ? "slower"
                               : "faster");
}

static void add_text(struct qs_buf *out, const struct brief *b, const char *arm)
{
    if (b->weight == NO_CHANGE)
        qs_buf_str(out, "no change");
    else if (b->weight == UNCLEAR)
        qs_buf_str(out, "unclear");
    else
        add_change(out, b, arm);
    if (b->comparisons > 1 && b->weight != NO_CHANGE)
        qs_buf_fmt(out, " (%zu of %zu)", b->of_kind, b->comparisons);
}

static void put(struct qs_json *j, const struct brief *b)
{
    const struct qs_report_group *g = b->group;
    const char *names[2];
    struct qs_buf text;
    qs_buf_init(&text);
    qs_report_pair_names(g, b->pair, names);
    add_text(&text, b, names[QS_CAND]);
    qs_json_object(j);
    qs_json_kstring(j, "text", text.data);
    qs_json_kstring(j, "verdict", qs_verdict_name(b->verdict->kind));
    qs_json_kbool(j, "stands", b->weight != UNCLEAR || b->verdict->kind == QS_VERDICT_INCONCLUSIVE);
    qs_json_kstring(j, "base", names[QS_BASE]);
    qs_json_kstring(j, "arm", names[QS_CAND]);
    qs_json_kstring(j, "label", g->in->spec->points[g->point].label);
    qs_json_kstring(j, "device", g->device);
    qs_json_kstring(j, "metric", b->metric ? b->metric->name : "duration_ns");
    qs_json_kdouble(j, "ratio", b->verdict->ratio);
    qs_json_kint(j, "of_kind", (int64_t)b->of_kind);
    qs_json_kint(j, "comparisons", (int64_t)b->comparisons);
    qs_json_object_end(j);
    qs_buf_done(&text);
}

void qs_report_put_brief(struct qs_buf *out, const struct qs_report_group *groups, size_t count)
{
    struct brief b = {0};
    struct qs_json j;
    for (size_t i = 0; i < count; i++)
        look_at_group(&b, &groups[i]);
    if (!b.verdict)
        return;
    qs_json_init(&j, out);
    put(&j, &b);
}
