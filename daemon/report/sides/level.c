/* Which units of two series count, and what counts once: a block that both sides share, a build, a session,
 * or a block of one side. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/sides/impl.h"

/* As many shared blocks as a job wants by default are enough, however many others there are. */
enum { PAIRS_ENOUGH = 6, PAIRS_LEAST = 2, SESSIONS_LEAST = 2, BUILDS_LEAST = 2 };

struct sample { /* the units of one side */
    const struct qs_side_series *series;
    struct qs_side_units units;
    bool *eligible, *used; /* owned */
};

static bool counts(const struct sample *s, size_t i)
{
    return s->eligible[i] && isfinite(s->units.at[i].value);
}

/* How many of a kind the side has that has fewer. */
static size_t fewest(const struct sample side[2], bool disturbed)
{
    size_t n[2] = {0, 0};
    for (int k = 0; k < 2; k++)
        for (size_t i = 0; i < side[k].units.count; i++)
            n[k] += counts(&side[k], i) && side[k].units.at[i].disturbed == disturbed;
    return n[0] < n[1] ? n[0] : n[1];
}

/* Marks the units that count; true where disturbed ones are among them. Each for what it is worth
 * (stats/mixed.h) where like meets like: in shared blocks what disturbed both sides cancels, in blocks of two
 * sides that have some of both kinds it is in the differences of neither kind. Where the sides have too few
 * of one kind to compare, and where blocks fold into sessions of one kind each, nothing cancels: clean ones
 * count alone where there are enough. */
static bool choose(struct sample side[2], bool by_kind, bool paired)
{
    size_t clean = fewest(side, false);
    bool alike = by_kind && clean >= QS_MIXED_LEAST && fewest(side, true) >= QS_MIXED_LEAST;
    bool take_disturbed = paired || alike || clean < QS_MIXED_ENOUGH, disturbed = false;
    for (int k = 0; k < 2; k++)
        for (size_t i = 0; i < side[k].units.count; i++) {
            bool is_disturbed = side[k].units.at[i].disturbed;
            side[k].used[i] = counts(&side[k], i) && (!is_disturbed || take_disturbed);
            disturbed = disturbed || (side[k].used[i] && is_disturbed);
        }
    return disturbed;
}

static int compare_blocks(const struct qs_side_unit *a, const struct qs_side_unit *b)
{
    if (a->job != b->job)
        return a->job < b->job ? -1 : 1;
    return (a->block > b->block) - (a->block < b->block);
}

/* One past the last unit of the block that begins there; whether one of them has a value. */
static size_t block_end(const struct qs_side_units *units, size_t from, bool *ret_finite, bool *ret_disturbed)
{
    size_t end = from;
    *ret_finite = false;
    for (; end < units->count && compare_blocks(&units->at[end], &units->at[from]) == 0; end++) {
        *ret_finite = *ret_finite || isfinite(units->at[end].value);
        *ret_disturbed = *ret_disturbed || units->at[end].disturbed;
    }
    return end;
}

static void take_block(struct sample *s, size_t from, size_t end, bool disturbed)
{
    for (size_t i = from; i < end; i++) {
        s->units.at[i].disturbed = disturbed;
        s->eligible[i] = true;
    }
}

static bool unit_has(const struct sample *s, const struct qs_side_unit *unit, const uint8_t *uid)
{
    for (size_t i = 0; i < unit->count; i++)
        if (memcmp(s->series->runs[unit->first + i]->uid, uid, 16) == 0)
            return true;
    return false;
}

/* Whether a run of the one side's units is one of the other's, too. */
static bool share_runs(const struct sample side[2], const size_t from[2], const size_t end[2])
{
    for (size_t i = from[0]; i < end[0]; i++)
        for (size_t k = from[1]; k < end[1]; k++) {
            const struct qs_side_unit *x = &side[0].units.at[i];
            for (size_t r = 0; r < x->count; r++)
                if (unit_has(&side[1], &side[1].units.at[k], side[0].series->runs[x->first + r]->uid))
                    return true;
        }
    return false;
}

/* Blocks that have both sides: eligible of each. A pair is as clean as its worse half. Runs that stand on
 * both sides are no pair unless `themselves`: they differ from themselves in nothing. */
static size_t find_pairs(struct sample side[2], bool themselves)
{
    const struct qs_side_units *x = &side[0].units, *y = &side[1].units;
    size_t pairs = 0;
    for (size_t i = 0, k = 0; i < x->count && k < y->count;) {
        bool disturbed = false, finite[2] = {false, false};
        int order = compare_blocks(&x->at[i], &y->at[k]);
        size_t next_i = order <= 0 ? block_end(x, i, &finite[0], &disturbed) : i;
        size_t next_k = order >= 0 ? block_end(y, k, &finite[1], &disturbed) : k;
        if (finite[0] && finite[1] &&
            (themselves || !share_runs(side, (size_t[]){i, k}, (size_t[]){next_i, next_k}))) {
            take_block(&side[0], i, next_i, disturbed);
            take_block(&side[1], k, next_k, disturbed);
            pairs++;
        }
        i = next_i;
        k = next_k;
    }
    return pairs;
}

static size_t finite_units(const struct qs_side_units *units)
{
    size_t n = 0;
    for (size_t i = 0; i < units->count; i++)
        n += isfinite(units->at[i].value) ? 1 : 0;
    return n;
}

static size_t sessions_of(const struct sample *s)
{
    size_t n = 0;
    int64_t last = -1;
    for (size_t i = 0; i < s->units.count; i++) {
        if (!s->used[i])
            continue;
        n += n == 0 || s->units.at[i].session != last;
        last = s->units.at[i].session;
    }
    return n;
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static size_t builds_of(const struct sample *s)
{
    const char **names = qs_malloc(s->units.count * sizeof *names);
    size_t n = 0, builds = 0;
    for (size_t i = 0; i < s->units.count; i++)
        if (s->used[i])
            names[n++] = s->units.at[i].build;
    if (n > 1)
        qsort((void *)names, n, sizeof *names, compare_texts);
    for (size_t i = 0; i < n; i++)
        builds += i == 0 || strcmp(names[i], names[i - 1]) != 0;
    free((void *)names);
    return builds;
}

static bool has_crowds(const struct sample *s)
{
    for (size_t i = 1; i < s->units.count; i++)
        if (s->used[i] && s->used[i - 1] && compare_blocks(&s->units.at[i], &s->units.at[i - 1]) == 0)
            return true;
    return false;
}

/* Where builds met in blocks, one of `by` goes with what the other side measured beside it: those units bear
 * its name, so that both sides fold alike. */
static void name_pairs(const struct sample *by, struct sample *other)
{
    for (size_t i = 0, k = 0; i < by->units.count && k < other->units.count;) {
        int order = compare_blocks(&by->units.at[i], &other->units.at[k]);
        if (order == 0)
            other->units.at[k].build = by->units.at[i].build;
        i += order < 0;
        k += order >= 0;
    }
}

/* What builds differ by is not seen in the blocks of one: where a side has several, each counts once. Pairs
 * stay pairs where each build met one of the other side; the side that has fewer of them says how many. */
static void fold_builds(struct sample side[2], const size_t builds[2], struct qs_comparison *ret,
                        enum qs_units fold[2])
{
    ret->units = QS_UNITS_BUILDS;
    ret->paired = ret->paired && !has_crowds(&side[0]) && !has_crowds(&side[1]);
    if (ret->paired) {
        int by = builds[0] < BUILDS_LEAST || (builds[1] >= BUILDS_LEAST && builds[1] < builds[0]) ? 1 : 0;
        name_pairs(&side[by], &side[1 - by]);
        fold[0] = fold[1] = QS_UNITS_BUILDS;
        return;
    }
    for (int k = 0; k < 2; k++) {
        fold[k] = builds[k] >= BUILDS_LEAST                 ? QS_UNITS_BUILDS
                  : sessions_of(&side[k]) >= SESSIONS_LEAST ? QS_UNITS_SESSIONS
                                                            : QS_UNITS_BLOCKS;
        ret->one_session = ret->one_session || fold[k] == QS_UNITS_BLOCKS;
    }
}

/* The level and what counts once on each side, of the units that are used. */
static void choose_level(struct sample side[2], size_t pairs, struct qs_comparison *ret,
                         enum qs_units fold[2])
{
    const size_t builds[2] = {builds_of(&side[0]), builds_of(&side[1])};
    fold[0] = fold[1] = QS_UNITS_BLOCKS;
    if (builds[0] >= BUILDS_LEAST || builds[1] >= BUILDS_LEAST) {
        fold_builds(side, builds, ret, fold);
    } else if (ret->paired) {
        ret->units = QS_UNITS_BLOCKS;
    } else if (sessions_of(&side[0]) >= SESSIONS_LEAST && sessions_of(&side[1]) >= SESSIONS_LEAST) {
        ret->units = QS_UNITS_SESSIONS;
        fold[0] = fold[1] = QS_UNITS_SESSIONS;
    } else {
        ret->units = QS_UNITS_RUNS;
        ret->one_session = pairs == 0;
    }
    for (int k = 0; k < 2; k++)
        ret->side[k].builds = builds[k];
}

/* Six blocks that both sides ran in say more than any number of others; where most of both sides is the same
 * runs, they are compared with themselves. */
static size_t choose_pairs(struct sample side[2], struct qs_comparison *ret)
{
    size_t a = finite_units(&side[0].units), b = finite_units(&side[1].units);
    size_t pairs = find_pairs(side, false);
    ret->paired = pairs >= PAIRS_LEAST && (pairs >= PAIRS_ENOUGH || 2 * pairs >= (a < b ? a : b));
    if (!ret->paired) {
        pairs = find_pairs(side, true);
        ret->paired = pairs >= PAIRS_LEAST && 2 * pairs >= (a > b ? a : b);
    }
    for (int k = 0; k < 2 && !ret->paired; k++)
        for (size_t i = 0; i < side[k].units.count; i++)
            side[k].eligible[i] = true;
    return pairs;
}

/* All units that have a value; true where disturbed ones are among them. */
static bool choose_all(struct sample side[2])
{
    bool disturbed = false;
    for (int k = 0; k < 2; k++)
        for (size_t i = 0; i < side[k].units.count; i++) {
            side[k].used[i] = counts(&side[k], i);
            disturbed = disturbed || (side[k].used[i] && side[k].units.at[i].disturbed);
        }
    return disturbed;
}

/* Which units count depends on what counts once. */
static void choose_units(struct sample side[2], double alpha, struct qs_comparison *ret,
                         enum qs_units fold[2])
{
    size_t pairs = choose_pairs(side, ret);
    bool paired = ret->paired;
    ret->uses_tainted = choose(side, true, paired);
    choose_level(side, pairs, ret, fold);
    if (paired || (fold[0] == QS_UNITS_BLOCKS && fold[1] == QS_UNITS_BLOCKS))
        return;
    ret->one_session = false;
    ret->uses_tainted = choose_all(side);
    choose_level(side, pairs, ret, fold);
    if (!ret->uses_tainted ||
        qs_sides_shift((struct qs_side_units *[]){&side[0].units, &side[1].units},
                       (const bool *[]){side[0].used, side[1].used}, fold, 1 - alpha, &ret->shift))
        return;
    ret->one_session = false;
    ret->uses_tainted = choose(side, false, false);
    choose_level(side, pairs, ret, fold);
}

void qs_sides_gather(const struct qs_sides_pair *pair, size_t metric, double alpha, struct qs_comparison *ret)
{
    struct sample side[2];
    enum qs_units fold[2];
    for (int k = 0; k < 2; k++) {
        side[k].series = pair->series[k];
        qs_sides_units(pair->series[k], metric, &side[k].units);
        side[k].eligible = qs_calloc(side[k].units.count, sizeof *side[k].eligible);
        side[k].used = qs_calloc(side[k].units.count, sizeof *side[k].used);
    }
    choose_units(side, alpha, ret, fold);
    for (int k = 0; k < 2; k++) {
        size_t builds = ret->side[k].builds;
        qs_sides_fill(pair->series[k], metric, &side[k].units, side[k].used, fold[k], &ret->side[k]);
        ret->side[k].builds = builds;
        free(side[k].units.at);
        free(side[k].eligible);
        free(side[k].used);
    }
}
