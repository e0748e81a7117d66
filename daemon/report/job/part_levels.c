/* Which level of the experiment the variance of a point comes from: device > boot > session > block > run >
 * iteration. Each duration is taken over the median of its arm, so that the arms are one sample. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/job/parts.h"
#include "stats/describe.h"
#include "stats/tree.h"

enum level { ITERATION, RUN, BLOCK, SESSION, BOOT, DEVICE, LEVELS };

static const struct {
    const char *name, *advice;
} words[LEVELS] = {
    [ITERATION] = {"iteration", "more iterations narrow the interval as much as more runs do"},
    [RUN] = {"run", "more runs narrow the interval; more iterations per run hardly do"},
    [BLOCK] = {"block", "the machine changes from block to block: that affects the interval of one arm, but "
                        "not arms compared within blocks"},
    [SESSION] = {"session", "one session says little about the next: repeat the job"},
    [BOOT] = {"boot", "one boot says little about the next: reboot between jobs"},
    [DEVICE] = {"device", "devices differ: one does not represent the others"},
};

struct found { /* of one level */
    size_t units;
    const char *why; /* NULL: told apart from the others */
    double var, share, impact;
};

static int compare_numbers(int64_t a, int64_t b)
{
    return a < b ? -1 : a > b;
}

static int by_place(const void *a, const void *b)
{
    const struct qs_part_run *x = *(const struct qs_part_run *const *)a,
                             *y = *(const struct qs_part_run *const *)b;
    int order = strcmp(x->device, y->device);
    order = order != 0 ? order : compare_numbers(x->boot, y->boot);
    order = order != 0 ? order : compare_numbers(x->session, y->session);
    order = order != 0 ? order : compare_numbers(x->block, y->block);
    return order != 0 ? order : compare_numbers(x->pos, y->pos);
}

/* Whether two runs that follow each other are in one unit of this level. */
static bool is_same(const struct qs_part_run *a, const struct qs_part_run *b, enum level level)
{
    bool device = strcmp(a->device, b->device) == 0, boot = device && a->boot == b->boot;
    bool session = boot && a->session == b->session;
    switch (level) {
    case DEVICE:
        return device;
    case BOOT:
        return boot;
    case SESSION:
        return session;
    case BLOCK:
        return session && a->block == b->block;
    case RUN:
    case ITERATION:
    case LEVELS:
        break;
    }
    return false;
}

struct shape {
    size_t *off[LEVELS]; /* owned; off[level] in units of the level below */
    size_t units[LEVELS];
    double *v; /* owned */
};

static double arm_median(const struct qs_part_run *runs, size_t count, size_t arm)
{
    double *x = qs_calloc(count, sizeof *x), median = NAN;
    size_t n = 0;
    for (size_t i = 0; i < count; i++)
        if (runs[i].arm == arm)
            x[n++] = runs[i].median;
    if (qs_median(x, n, &median) != QS_OK)
        median = NAN;
    free(x);
    return median;
}

static void fill_values(struct shape *s, const struct qs_part_run *const *order, size_t count,
                        const double *medians)
{
    s->off[RUN] = qs_calloc(count + 1, sizeof *s->off[RUN]);
    for (size_t i = 0; i < count; i++) {
        const struct qs_part_run *run = order[i];
        s->v = qs_realloc(s->v, (s->units[ITERATION] + run->n) * sizeof *s->v);
        for (size_t k = 0; k < run->n; k++)
            s->v[s->units[ITERATION]++] = run->v[k] / medians[run->arm];
        s->off[RUN][i + 1] = s->units[ITERATION];
    }
    s->units[RUN] = count;
}

/* Boundaries of a level in runs, then in units of the level below. */
static void fill_level(struct shape *s, const struct qs_part_run *const *order, size_t count,
                       enum level level)
{
    size_t below = 0, *off = qs_calloc(count + 1, sizeof *off);
    for (size_t i = 1; i <= count; i++) {
        below += i == count || level - 1 == RUN || !is_same(order[i - 1], order[i], level - 1);
        if (i == count || !is_same(order[i - 1], order[i], level))
            off[++s->units[level]] = below;
    }
    s->off[level] = off;
}

/* A level with one unit for each unit below, or with one unit in all, cannot be told from others. Offsets of
 * kept levels count units of the kept level below, which has equally many. */
static void choose(const struct shape *s, struct qs_tree *tree, enum level *kept, struct found *found)
{
    size_t below = s->units[ITERATION];
    *tree = (struct qs_tree){.v = s->v};
    for (enum level level = RUN; level < LEVELS; level++) {
        found[level].units = s->units[level];
        if (s->units[level] < 2)
            found[level].why = "one unit";
        else if (s->units[level] == below)
            found[level].why = "one unit for each unit of the level below";
        if (found[level].why)
            continue;
        tree->off[tree->depth] = s->off[level];
        tree->count[tree->depth] = s->units[level];
        kept[tree->depth++] = level;
        below = s->units[level];
    }
    found[ITERATION].units = s->units[ITERATION];
}

static void estimate(const struct qs_tree *tree, const enum level *kept, struct found *found)
{
    struct qs_components parts;
    double below = 0;
    for (enum level level = ITERATION; level < LEVELS; level++)
        found[level].var = found[level].share = found[level].impact = NAN;
    if (tree->depth == 0 || qs_tree_components(tree, &parts) != QS_OK)
        return;
    for (size_t g = 0; g <= tree->depth; g++) {
        struct found *f = &found[g == 0 ? ITERATION : kept[g - 1]];
        f->var = parts.level[g].var;
        f->share = parts.level[g].share;
        f->impact = g > 0 && below > 0 ? sqrt((below + f->var) / below) : NAN;
        below += f->var;
    }
}

static void put_level(struct qs_json *j, enum level level, const struct found *f)
{
    qs_json_object(j);
    qs_json_kstring(j, "level", words[level].name);
    qs_json_kint(j, "units", (int64_t)f->units);
    qs_json_kdouble(j, "sd_ratio", sqrt(f->var));
    qs_json_kdouble(j, "share", f->share);
    qs_json_kdouble(j, "impact", f->impact);
    qs_json_kstring(j, "why", f->why);
    qs_json_object_end(j);
}

static void put_sentence(struct qs_json *j, const struct found *found)
{
    enum level most = LEVELS;
    for (enum level level = ITERATION; level < LEVELS; level++)
        if (isfinite(found[level].share) && (most == LEVELS || found[level].share > found[most].share))
            most = level;
    QS_BUF(text);
    if (most == LEVELS)
        qs_buf_str(&text, "too few units to tell which level the variance comes from");
    else
        qs_buf_fmt(&text, "most of the variance (%.0f %%) is between %ss: %s", found[most].share * 100,
                   words[most].name, words[most].advice);
    qs_json_kstring(j, "levels_sentence", text.data);
}

void qs_put_part_levels(struct qs_json *j, const struct qs_part_run *runs, size_t count, size_t arm_count)
{
    const struct qs_part_run **order = qs_calloc(count, sizeof *order);
    double *medians = qs_calloc(arm_count, sizeof *medians);
    struct shape s = {.v = NULL};
    struct found found[LEVELS] = {{0}};
    struct qs_tree tree;
    enum level kept[LEVELS];
    for (size_t a = 0; a < arm_count; a++)
        medians[a] = arm_median(runs, count, a);
    for (size_t i = 0; i < count; i++)
        order[i] = &runs[i];
    if (count > 1)
        qsort(order, count, sizeof *order, by_place);
    fill_values(&s, order, count, medians);
    for (enum level level = BLOCK; level < LEVELS; level++)
        fill_level(&s, order, count, level);
    choose(&s, &tree, kept, found);
    estimate(&tree, kept, found);
    qs_json_karray(j, "levels");
    for (int level = DEVICE; level >= ITERATION; level--)
        put_level(j, (enum level)level, &found[level]);
    qs_json_array_end(j);
    put_sentence(j, found);
    for (int level = RUN; level < LEVELS; level++)
        free(s.off[level]);
    free(s.v);
    free(order);
    free(medians);
}
