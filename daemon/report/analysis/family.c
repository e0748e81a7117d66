/* Many verdicts at once (statistics.md, section 8.12). */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "report/analysis/impl.h"
#include "stats/multi.h"

void qs_family_add(struct qs_family *family, const struct qs_import_series *series,
                   const struct qs_verdict *verdict)
{
    bool named = series->benchmark && series->benchmark[0] != '\0';
    family->p[family->count++] = isnan(verdict->p) ? 1 : verdict->p;
    qs_tally_add(&family->tally, named ? series->metric : series->unit, verdict->kind, verdict->ratio);
}

struct told {
    struct qs_field_list p, adjusted[3];
    size_t selected;
    double fcr_level;
};
static const struct qs_field rows[] = {
    QS_ROW(told, p, NUMBERS, "of each verdict"),
    QS_ROW_AS("bh", told, adjusted[QS_MULTI_BH], NUMBERS, "Benjamini-Hochberg"),
    QS_ROW_AS("by", told, adjusted[QS_MULTI_BY], NUMBERS, "Benjamini-Yekutieli"),
    QS_ROW_AS("holm", told, adjusted[QS_MULTI_HOLM], NUMBERS, "Holm"),
    QS_ROW(told, selected, COUNT, "how many BH leaves at 1 - level"),
    QS_ROW(told, fcr_level, DOUBLE, "the level that intervals of the selected need"),
    {.name = NULL}};
static const struct qs_stat stats[] = {
    QS_STAT(
        "family", told, rows, "p of the verdicts, adjusted",
        "The p of all verdicts, adjusted for their number, in the order of results; one that is not known "
        "counts as 1"),
    {.name = NULL}};
const struct qs_stat_table qs_family_tables[] = {{stats, sizeof *stats}, {NULL, 0}};

static void put_family(struct qs_json *j, const void *at)
{
    const struct qs_family *family = *(const struct qs_family *const *)at;
    double q = 1 - family->level;
    size_t n = family->count;
    struct told told = {.p = qs_numbers_of(family->p, n)};
    for (int m = QS_MULTI_BH; m <= QS_MULTI_HOLM; m++) {
        double *adjusted = qs_calloc(n, sizeof *adjusted);
        (void)qs_adjust(family->p, n, (enum qs_multi_method)m, adjusted);
        for (size_t i = 0; i < n && m == QS_MULTI_BH; i++)
            told.selected += adjusted[i] <= q;
        told.adjusted[m] = (struct qs_field_list){adjusted, n};
    }
    told.fcr_level = qs_fcr_level(told.selected, n, q);
    const struct qs_stat_head head = {.n_used = n, .status = n > 0 ? QS_OK : QS_ENODATA};
    qs_put_stat(j, stats, &head, &told);
}

static void put_tally(struct qs_json *j, const void *at)
{
    qs_tally_put(j, &(*(const struct qs_family *const *)at)->tally);
}

const struct qs_field qs_family_rows[] = {QS_STATS_PART(qs_family_tables, put_family),
                                          QS_ROW_PUT("tally", put_tally, WITHIN,
                                                     "the verdicts of all results in a few numbers",
                                                     .of = qs_tally_rows),
                                          {.name = NULL}};
