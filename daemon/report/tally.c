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

void qs_tally_put(struct qs_json *j, const struct qs_tally *tally)
{
    QS_BUF(words);
    qs_tally_words(tally, &words);
    qs_json_kobject(j, "tally");
    qs_json_kstring(j, "sentence", words.len > 0 ? words.data : NULL);
    qs_json_karray(j, "verdicts");
    for (enum qs_verdict_kind v = QS_VERDICT_REGRESSION; v <= QS_VERDICT_INCONCLUSIVE; v++) {
        if (tally->verdicts[v] == 0)
            continue;
        qs_json_object(j);
        qs_json_kstring(j, "verdict", qs_verdict_name(v));
        qs_json_kint(j, "n", (int64_t)tally->verdicts[v]);
        qs_json_object_end(j);
    }
    qs_json_array_end(j);
    qs_json_karray(j, "ratios");
    for (size_t i = 0; i < tally->metric_count; i++) {
        const struct qs_tally_metric *m = &tally->metrics[i];
        qs_json_object(j);
        qs_json_kstring(j, "metric", m->name);
        qs_json_kint(j, "n", (int64_t)m->n);
        qs_json_kdouble(j, "geometric_mean", exp(m->log_sum / (double)m->n));
        qs_json_object_end(j);
    }
    qs_json_array_end(j);
    qs_json_object_end(j);
}

void qs_tally_done(struct qs_tally *tally)
{
    free(tally->metrics);
    *tally = (struct qs_tally){0};
}
