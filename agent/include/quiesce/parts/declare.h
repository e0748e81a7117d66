/* For the author of a benchmark: what a program offers. */
#ifndef QUIESCE_PARTS_DECLARE_H
#define QUIESCE_PARTS_DECLARE_H

#include "quiesce/parts/author.h"

/* An error for a person; the first one counts. It ends the program once the step that calls this returns. */
QUIESCE_FN __attribute__((format(printf, 2, 3))) void quiesce_fail(struct quiesce *q, const char *format, ...)
{
    va_list args;
    if (q->failed) {
        return;
    }
    q->failed = true;
    va_start(args, format);
    vsnprintf(q->error, sizeof q->error, format, args);
    va_end(args);
}

QUIESCE_FN void quiesce_init(struct quiesce *q, const char *title)
{
    memset(q, 0, sizeof *q);
    q->title = title;
    q->program = "benchmark";
    q->clock = CLOCK_MONOTONIC;
}

/* A benchmark of this program; names and texts are borrowed. Further steps are set in what is returned. */
QUIESCE_FN struct quiesce_benchmark *quiesce_add(struct quiesce *q, const char *name, const char *help,
                                                 quiesce_step *run)
{
    struct quiesce_benchmark *b = &q->benchmarks[q->benchmarks_count];
    if (q->benchmarks_count == QUIESCE_BENCHMARKS_MAX - 1) {
        quiesce_fail(q, "more than %d benchmarks in one program", QUIESCE_BENCHMARKS_MAX - 1);
        return b;
    }
    if (strlen(name) >= QUIESCE_BENCH_NAME_BYTES) {
        quiesce_fail(q, "the benchmark's name %.20s... has more than %d bytes", name,
                     QUIESCE_BENCH_NAME_BYTES - 1);
    }
    q->benchmarks_count++;
    b->name = name;
    b->help = help;
    b->run = run;
    return b;
}

/* A further metric, a whole number per iteration; its number for quiesce_record(). */
QUIESCE_FN uint32_t quiesce_metric(struct quiesce *q, struct quiesce_benchmark *b, const char *name,
                                   const char *unit, enum quiesce_bench_direction direction,
                                   enum quiesce_bench_flag flag)
{
    struct quiesce_metric_of *m = &b->metrics[b->metrics_count % QUIESCE_BENCH_METRICS_MAX];
    for (uint32_t i = 0; i < b->metrics_count; i++) {
        if (strcmp(b->metrics[i].name, name) == 0) {
            quiesce_fail(q, "%s declares the metric %.20s twice", b->name, name);
            return i;
        }
    }
    if (b->metrics_count == QUIESCE_BENCH_METRICS_MAX || strlen(name) >= QUIESCE_BENCH_NAME_BYTES || !*name ||
        strlen(unit) >= QUIESCE_BENCH_UNIT_BYTES) {
        quiesce_fail(q, "%s: the metric `%.20s` is one too many, or its name or unit is too long or empty",
                     b->name, name);
        return 0;
    }
    m->name = name;
    m->unit = unit;
    m->direction = direction;
    m->flag = flag;
    return b->metrics_count++;
}

/* In run or conclude: the value of this iteration; the last one counts. */
static inline void quiesce_record(struct quiesce *q, uint32_t metric, int64_t value)
{
    if (metric < q->current->metrics_count) {
        q->values[(size_t)metric * q->capacity + q->iteration] = value;
    }
}

/* The job's seed for the benchmark's own random numbers, and the number of the iteration in its window. */
static inline uint64_t quiesce_seed(const struct quiesce *q)
{
    return q->shared->seed;
}

static inline uint32_t quiesce_iteration(const struct quiesce *q)
{
    return q->iteration;
}

QUIESCE_FN struct quiesce_param *quiesce_i_param(struct quiesce *q, const char *name, const char *help)
{
    struct quiesce_param *p = &q->params[q->params_count];
    if (q->params_count == QUIESCE_PARAMS_MAX - 1) {
        quiesce_fail(q, "more than %d parameters in one program", QUIESCE_PARAMS_MAX - 1);
    } else {
        q->params_count++;
    }
    p->name = name;
    p->help = help;
    return p;
}

/* Parameters by name. The variable holds the default, and once setup runs what was asked for. */
QUIESCE_FN void quiesce_param_text(struct quiesce *q, const char *name, const char **value, const char *help)
{
    struct quiesce_param *p = quiesce_i_param(q, name, help);
    p->kind = QUIESCE_TEXT;
    p->value = (void *)value;
    snprintf(p->shown, sizeof p->shown, "%s", *value);
}

QUIESCE_FN void quiesce_param_int(struct quiesce *q, const char *name, int64_t *value, int64_t min,
                                  int64_t max, const char *help)
{
    struct quiesce_param *p = quiesce_i_param(q, name, help);
    p->kind = QUIESCE_INT;
    p->value = value;
    p->int_min = min;
    p->int_max = max;
    snprintf(p->shown, sizeof p->shown, "%lld", (long long)*value);
}

QUIESCE_FN void quiesce_param_double(struct quiesce *q, const char *name, double *value, double min,
                                     double max, const char *help)
{
    struct quiesce_param *p = quiesce_i_param(q, name, help);
    p->kind = QUIESCE_DOUBLE;
    p->value = value;
    p->min = min;
    p->max = max;
    snprintf(p->shown, sizeof p->shown, "%g", *value);
}

#endif
