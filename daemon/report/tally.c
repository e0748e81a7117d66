#include "report/tally.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

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

void qs_tally_put(struct qs_json *j, const struct qs_tally *tally)
{
    qs_json_key(j, "tally");
    qs_json_object(j);
    qs_json_key(j, "verdicts");
    qs_json_array(j);
    for (enum qs_verdict_kind v = QS_VERDICT_REGRESSION; v <= QS_VERDICT_INCONCLUSIVE; v++) {
        if (tally->verdicts[v] == 0)
            continue;
        qs_json_object(j);
        qs_json_kstring(j, "verdict", qs_verdict_name(v));
        qs_json_kint(j, "n", (int64_t)tally->verdicts[v]);
        qs_json_object_end(j);
    }
    qs_json_array_end(j);
    qs_json_key(j, "ratios");
    qs_json_array(j);
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
