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

void qs_put_family(struct qs_json *j, const struct qs_family *family, const struct qs_analysis_opts *opts)
{
    static const enum qs_multi_method methods[] = {QS_MULTI_BH, QS_MULTI_BY, QS_MULTI_HOLM};
    double q = 1 - opts->level, *adjusted = qs_calloc(family->count, sizeof *adjusted);
    size_t selected = 0;
    const struct qs_stat_head head = {
        .name = "family", .method = "p of the verdicts, adjusted", .n_used = family->count};
    qs_stat_begin(j, &head);
    qs_put_numbers(j, "p", family->p, family->count);
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
        (void)qs_adjust(family->p, family->count, methods[m], adjusted);
        for (size_t i = 0; i < family->count && methods[m] == QS_MULTI_BH; i++)
            selected += adjusted[i] <= q;
        qs_put_numbers(j, qs_multi_name(methods[m]), adjusted, family->count);
    }
    qs_json_kint(j, "selected", (int64_t)selected);
    qs_json_kdouble(j, "fcr_level", qs_fcr_level(selected, family->count, q));
    qs_stat_end(j, family->count > 0 ? QS_OK : QS_ENODATA);
    free(adjusted);
    qs_tally_put(j, &family->tally);
}
