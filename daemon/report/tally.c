#include "report/tally.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { TALLY_LEAST = 2, METRICS_MOST = 4 };

static struct qs_tally_metric *metric_of(struct qs_tally *tally, const char *name)
{
    for (size_t i = 0; i < tally->metric_count; i++)
        if (strcmp(tally->metrics[i].name, name) == 0)
            return &tally->metrics[i];
    tally->metrics = qs_grow(tally->metrics, tally->metric_count, sizeof *tally->metrics);
    tally->metrics[tally->metric_count] = (struct qs_tally_metric){.name = name};
    return &tally->metrics[tally->metric_count++];
}

void qs_tally_add(struct qs_tally *tally, const char *metric, enum qs_verdict_kind verdict, double ratio)
{
    tally->verdicts[verdict]++;
    if (!(ratio > 0) || isinf(ratio))
        return;
    struct qs_tally_metric *m = metric_of(tally, metric);
    m->log_sum += log(ratio);
    m->n++;
}

static bool is_noun(const char *word)
{
    return strstr(word, "regression") != NULL || strstr(word, "improvement") != NULL;
}

static void add_verdicts(const struct qs_tally *tally, struct qs_buf *out)
{
    const char *comma = "";
    for (enum qs_verdict_kind v = QS_VERDICT_REGRESSION; v <= QS_VERDICT_INCONCLUSIVE; v++) {
        size_t n = tally->verdicts[v];
        const char *word = qs_verdict_name(v);
        if (n > 0)
            qs_buf_fmt(out, "%s%zu %s%s", comma, n, word, n > 1 && is_noun(word) ? "s" : "");
        comma = n > 0 ? ", " : comma;
    }
}

static void add_mean(const struct qs_tally_metric *m, struct qs_buf *out)
{
    static const char *const times[] = {"", "duration_ns", "time", "ns"};
    bool time = false;
    if (m->n < TALLY_LEAST)
        return;
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        time = time || strcmp(m->name, times[i]) == 0;
    qs_buf_fmt(out, "; geometric mean of %zu ratios", m->n);
    if (!time)
        qs_buf_fmt(out, " (%s)", m->name);
    qs_buf_fmt(out, " %+.1f %%", (exp(m->log_sum / (double)m->n) - 1) * 100);
}

void qs_tally_words(const struct qs_tally *tally, struct qs_buf *out)
{
    size_t all = 0;
    for (enum qs_verdict_kind v = QS_VERDICT_REGRESSION; v <= QS_VERDICT_INCONCLUSIVE; v++)
        all += tally->verdicts[v];
    if (all < TALLY_LEAST)
        return;
    qs_buf_fmt(out, "%zu verdicts: ", all);
    add_verdicts(tally, out);
    for (size_t i = 0; i < tally->metric_count && i < METRICS_MOST; i++)
        add_mean(&tally->metrics[i], out);
}

struct told_verdict {
    const char *verdict;
    size_t n;
};
static const struct qs_field verdict_rows[] = {
    QS_ROW(told_verdict, verdict, TEXT, "as in results", .known = true),
    QS_ROW(told_verdict, n, COUNT, "how many"),
    {.name = NULL}};

struct told_ratio {
    const char *metric;
    size_t n;
    double geometric_mean;
};
static const struct qs_field ratio_rows[] = {
    QS_ROW(told_ratio, metric, TEXT, "its name, or the unit", .known = true),
    QS_ROW(told_ratio, n, COUNT, "verdicts that have a ratio"),
    QS_ROW(told_ratio, geometric_mean, DOUBLE, "of these ratios"),
    {.name = NULL}};

struct told {
    const char *sentence;
    struct qs_field_list verdicts, ratios;
};
const struct qs_field qs_tally_rows[] = {
    QS_ROW(told, sentence, TEXT, "the same in words; null of fewer than two"),
    QS_ROW(told, verdicts, OBJECTS, "how many of each there are, the worst first", .of = verdict_rows,
           .bytes = sizeof(struct told_verdict)),
    QS_ROW(told, ratios, OBJECTS,
           "of each metric, or of a file whose columns are the benchmarks of each unit", .of = ratio_rows,
           .bytes = sizeof(struct told_ratio)),
    {.name = NULL}};

void qs_tally_put(struct qs_json *j, const struct qs_tally *tally)
{
    QS_BUF(words);
    qs_tally_words(tally, &words);
    struct told_verdict *verdicts = qs_calloc(QS_VERDICT_INCONCLUSIVE + 1, sizeof *verdicts);
    struct told_ratio *ratios = qs_calloc(tally->metric_count, sizeof *ratios);
    struct told told = {words.len > 0 ? words.data : NULL, {verdicts, 0}, {ratios, tally->metric_count}};
    for (enum qs_verdict_kind v = QS_VERDICT_REGRESSION; v <= QS_VERDICT_INCONCLUSIVE; v++)
        if (tally->verdicts[v] > 0)
            verdicts[told.verdicts.n++] = (struct told_verdict){qs_verdict_name(v), tally->verdicts[v]};
    for (size_t i = 0; i < tally->metric_count; i++) {
        const struct qs_tally_metric *m = &tally->metrics[i];
        ratios[i] = (struct told_ratio){m->name, m->n, exp(m->log_sum / (double)m->n)};
    }
    qs_put_object(j, qs_tally_rows, &told);
    qs_fields_free(qs_tally_rows, &told);
}

void qs_tally_done(struct qs_tally *tally)
{
    free(tally->metrics);
    *tally = (struct qs_tally){0};
}
