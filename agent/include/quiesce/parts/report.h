/* By hand: what is printed. */
#ifndef QUIESCE_PARTS_REPORT_H
#define QUIESCE_PARTS_REPORT_H

#include "quiesce/parts/author.h"

QUIESCE_FN int quiesce_i_ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Quantile of type 7 of ascending values. */
QUIESCE_FN double quiesce_i_quantile(const double *sorted, uint32_t n, double p)
{
    double h = (n - 1) * p;
    uint32_t i = (uint32_t)h;
    return i + 1 < n ? sorted[i] + (h - i) * (sorted[i + 1] - sorted[i]) : sorted[n - 1];
}

QUIESCE_FN void quiesce_i_time(char *out, size_t bytes, double ns)
{
    static const char *const units[] = {"ns", "us", "ms", "s"};
    int unit = 0;
    while (ns >= 1000 && unit < 3) {
        ns /= 1000;
        unit++;
    }
    snprintf(out, bytes, "%.4g %s", ns, units[unit]);
}

/* A JSON string; bytes above 127 pass as they are. */
QUIESCE_FN void quiesce_i_json(const char *text)
{
    putchar('"');
    for (; *text; text++) {
        if (*text == '"' || *text == '\\') {
            printf("\\%c", *text);
        } else if ((unsigned char)*text < 32) {
            printf("\\u%04x", (unsigned)(unsigned char)*text);
        } else {
            putchar(*text);
        }
    }
    putchar('"');
}

QUIESCE_FN void quiesce_i_json_params(const struct quiesce *q)
{
    for (uint32_t i = 0; i < q->params_count; i++) {
        const struct quiesce_param *p = &q->params[i];
        printf(i ? ", " : "");
        quiesce_i_json(p->name);
        printf(": ");
        if (p->kind == QUIESCE_TEXT) {
            quiesce_i_json(*(const char **)p->value);
        } else if (p->kind == QUIESCE_INT) {
            printf("%lld", (long long)*(int64_t *)p->value);
        } else {
            printf("%.17g", *(double *)p->value);
        }
    }
}

/* One line per iteration; a metric that it did not record is left out. */
QUIESCE_FN void quiesce_i_json_rows(const struct quiesce *q)
{
    const struct quiesce_benchmark *b = q->current;
    for (uint32_t i = 0; i < q->shared->count; i++) {
        printf("%s\n      {\"start_ns\": %lld, \"duration_ns\": %lld", i ? "," : "",
               (long long)q->rows[i].start_ns, (long long)q->rows[i].duration_ns);
        for (uint32_t m = 0; m < b->metrics_count; m++) {
            int64_t value = q->values[(size_t)m * q->capacity + i];
            if (value != QUIESCE_BENCH_NONE) {
                printf(", ");
                quiesce_i_json(b->metrics[m].name);
                printf(": %lld", (long long)value);
            }
        }
        printf("}");
    }
}

QUIESCE_FN void quiesce_i_report_json(const struct quiesce *q, uint32_t evals, const double *sorted)
{
    static const struct {
        const char *name;
        double p;
    } at[] = {{"min", 0}, {"q05", 0.05}, {"q25", 0.25}, {"median", 0.5}, {"q75", 0.75}, {"q95", 0.95}};
    uint32_t n = q->shared->count;
    printf("    {\"name\": ");
    quiesce_i_json(q->current->name);
    printf(", \"params\": {");
    quiesce_i_json_params(q);
    printf("}, \"evals\": %u, \"per_evaluation_ns\": {", (unsigned)evals);
    for (size_t i = 0; i < sizeof at / sizeof at[0]; i++) {
        printf("%s\"%s\": %.3f", i ? ", " : "", at[i].name, quiesce_i_quantile(sorted, n, at[i].p));
    }
    printf("}, \"iterations\": [");
    quiesce_i_json_rows(q);
    printf("]}");
}

QUIESCE_FN void quiesce_i_report_metrics(const struct quiesce *q)
{
    const struct quiesce_benchmark *b = q->current;
    for (uint32_t m = 0; m < b->metrics_count; m++) {
        const int64_t *values = q->values + (size_t)m * q->capacity;
        int64_t low = INT64_MAX, high = INT64_MIN;
        for (uint32_t i = 0; i < q->shared->count; i++) {
            low = values[i] != QUIESCE_BENCH_NONE && values[i] < low ? values[i] : low;
            high = values[i] > high ? values[i] : high;
        }
        if (high == QUIESCE_BENCH_NONE) {
            printf("  %-10s not recorded\n", b->metrics[m].name);
        } else if (low == high) {
            printf("  %-10s %lld %s\n", b->metrics[m].name, (long long)low, b->metrics[m].unit);
        } else {
            printf("  %-10s %lld to %lld %s%s\n", b->metrics[m].name, (long long)low, (long long)high,
                   b->metrics[m].unit,
                   b->metrics[m].flag == QUIESCE_DETERMINISTIC ? ": not deterministic" : "");
        }
    }
}

QUIESCE_FN void quiesce_i_report_text(const struct quiesce *q, uint32_t evals, const double *sorted)
{
    static const double at[] = {0, 0.05, 0.25, 0.5, 0.75, 0.95};
    char shown[6][32];
    uint32_t n = q->shared->count;
    for (size_t i = 0; i < 6; i++) {
        quiesce_i_time(shown[i], sizeof shown[i], quiesce_i_quantile(sorted, n, at[i]));
    }
    printf("%s: %u iterations of %u evaluation%s, per evaluation:\n", q->current->name, (unsigned)n,
           (unsigned)evals, evals == 1 ? "" : "s");
    printf("  %-10s %s\n  %-10s %s\n", "min", shown[0], "median", shown[3]);
    printf("  %-10s 5 %% %s, 25 %% %s, 75 %% %s, 95 %% %s\n", "quantiles", shown[1], shown[2], shown[4],
           shown[5]);
    quiesce_i_report_metrics(q);
}

#endif
