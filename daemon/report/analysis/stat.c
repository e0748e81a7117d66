#include "report/analysis/stat.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

const char *const qs_flag_names[] = {"exact", "ties", "clamped", "percentile", "few-units", NULL};

const struct qs_stat *qs_stat_at(const struct qs_stat_table *tables, size_t i)
{
    for (; tables->first; tables++) {
        const char *at = (const char *)tables->first;
        for (const struct qs_stat *stat; (stat = (const void *)at)->name; at += tables->bytes)
            if (i-- == 0)
                return stat;
    }
    return NULL;
}

bool qs_stat_row(const void *tables, size_t i, struct qs_field *ret)
{
    const struct qs_stat *stat = qs_stat_at(tables, i);
    if (stat)
        *ret = (struct qs_field){.name = stat->name,
                                 .kind = QS_FIELD_WITHIN,
                                 .optional = stat->runs_only,
                                 .ref = "statistics.schema.json#/$defs/"};
    return stat;
}

const struct qs_field qs_ci_rows[] = {
    QS_ROW(qs_ci, lo, DOUBLE, "lower bound"),
    QS_ROW(qs_ci, hi, DOUBLE, "upper bound"),
    QS_ROW(qs_ci, level, DOUBLE, "confidence; for order statistics the one that is reached"),
    QS_ROW(qs_ci, flags, FLAGS, QS_FLAGS_MEANING, .words = qs_flag_names),
    {.name = NULL}};

const struct qs_field qs_estimate_rows[] = {QS_ROW(qs_estimate, estimate, DOUBLE, "the estimate"),
                                            QS_ROWS_OF(qs_estimate, ci, qs_ci_rows),
                                            {.name = NULL}};

const struct qs_field qs_indexes_rows[] = {
    QS_ROW(qs_indexes, indexes, COUNTS, "the first value of each segment but the first, from 0"),
    {.name = NULL}};

struct head {
    const char *method, *seed;
    size_t n_used, n_dropped;
    enum qs_status status;
};
const struct qs_field qs_stat_head_rows[] = {
    QS_ROW(head, method, TEXT, "how it is computed", .known = true),
    QS_ROW(head, n_used, COUNT, "values (or runs) that entered"),
    QS_ROW(head, n_dropped, COUNT, "values of the file that were left out before"),
    {.name = NULL}};
const struct qs_field qs_stat_seed_rows[] = {
    QS_ROW(head, seed, TEXT, "of the random numbers: equal seeds give equal results", .known = true),
    {.name = NULL}};
const struct qs_field qs_stat_status_rows[] = {
    QS_ROW(
        head, status, WORD,
        "ok, or why numbers are null: too few values, outside of the method's domain (a logarithm of 0, more "
        "values than the method takes), degenerate (nothing varies)",
        .words = qs_status_names),
    {.name = NULL}};

void qs_put_stat(struct qs_json *j, const struct qs_stat *stat, const struct qs_stat_head *head, void *told)
{
    char seed[24];
    const struct head written = {stat->method, seed, head->n_used, head->n_dropped, head->status};
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)head->seed);
    qs_json_kobject(j, stat->name);
    qs_put_fields(j, qs_stat_head_rows, &written);
    if (stat->random)
        qs_put_fields(j, qs_stat_seed_rows, &written);
    qs_put_fields(j, stat->rows, told);
    qs_put_fields(j, qs_stat_status_rows, &written);
    qs_json_object_end(j);
    qs_fields_free(stat->rows, told);
}

struct qs_field_list qs_numbers_of(const double *v, size_t n)
{
    double *copy = qs_calloc(n, sizeof *copy);
    if (n > 0)
        memcpy(copy, v, n * sizeof *copy);
    return (struct qs_field_list){copy, n};
}
