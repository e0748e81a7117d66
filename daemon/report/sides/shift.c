/* Blocks that fold into sessions or builds: what a disturbance adds inside sessions is taken off the
 * disturbed ones, so that all count (stats/mixed.h). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/sides/impl.h"

/* The first of the values that counts once together with this unit: it names the group. */
static size_t group_of(const struct qs_side_unit *const *units, const struct qs_fold_value *values, size_t n,
                       enum qs_units fold)
{
    for (size_t i = 0; i < n && fold == QS_UNITS_BUILDS; i++)
        if (values[i].group == i && values[i].side == values[n].side &&
            strcmp(units[i]->build, units[n]->build) == 0)
            return i;
    return fold == QS_UNITS_SESSIONS ? values[n].cell : n;
}

static size_t take_side(const struct qs_side_units *from, const bool *used, int side, enum qs_units fold,
                        struct qs_side_unit const **units, struct qs_fold_value *values, size_t n)
{
    for (size_t i = 0; i < from->count; i++) {
        const struct qs_side_unit *unit = &from->at[i];
        if (!used[i])
            continue;
        bool same = n > 0 && values[n - 1].side == side && units[n - 1]->session == unit->session;
        units[n] = unit;
        values[n] = (struct qs_fold_value){.v = log(unit->value),
                                           .disturbed = unit->disturbed,
                                           .cell = same ? values[n - 1].cell : n,
                                           .side = side};
        values[n].group = group_of(units, values, n, fold);
        n++;
    }
    return n;
}

static void take_off(struct qs_side_units *units, const struct qs_mixed_fold *shift)
{
    for (size_t i = 0; i < units->count; i++) {
        struct qs_side_unit *unit = &units->at[i];
        if (!unit->disturbed)
            continue;
        unit->disturbed = false; /* as if it were clean */
        unit->factor = exp(-shift->shift);
        unit->weight = shift->worth;
    }
}

bool qs_sides_shift(struct qs_side_units *const units[2], const bool *const used[2],
                    const enum qs_units fold[2], double level, struct qs_mixed_fold *ret)
{
    size_t most = units[0]->count + units[1]->count, n = 0;
    const struct qs_side_unit **order = qs_malloc((most + 1) * sizeof *order);
    struct qs_fold_value *values = qs_malloc((most + 1) * sizeof *values);
    for (int k = 0; k < 2; k++)
        n = take_side(units[k], used[k], k, fold[k], order, values, n);
    bool known = qs_mixed_fold(values, n, level, ret) == QS_OK;
    for (int k = 0; k < 2 && known; k++)
        take_off(units[k], ret);
    free((void *)order);
    free(values);
    return known;
}
