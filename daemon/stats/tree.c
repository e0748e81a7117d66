#include "stats/tree.h"

#include "stats/interval.h"
#include "stats/sum.h"

#include <stdlib.h>

enum qs_status qs_tree_check(const struct qs_tree *tree)
{
    if (tree->depth > QS_DEPTH_MAX)
        return QS_EDOM;
    if (tree->depth == 0)
        return QS_ENODATA;
    for (size_t g = 0; g < tree->depth; g++) {
        const size_t *off = tree->off[g];
        if (tree->count[g] == 0)
            return QS_ENODATA;
        for (size_t u = 0; u < tree->count[g]; u++)
            if (off[u + 1] <= off[u])
                return QS_ENODATA;
        if (g > 0 && (off[0] != 0 || off[tree->count[g]] != tree->count[g - 1]))
            return QS_EDOM;
    }
    return QS_OK;
}

size_t qs_tree_size(const struct qs_tree *tree)
{
    return tree->off[0][tree->count[0]] - tree->off[0][0];
}

static double even_mean(const struct qs_tree *tree, size_t g, size_t first, size_t end)
{
    struct qs_acc acc = {0};
    for (size_t i = first; i < end; i++)
        qs_acc_add(&acc, g == 0 ? tree->v[i]
                                : even_mean(tree, g - 1, tree->off[g - 1][i], tree->off[g - 1][i + 1]));
    return qs_acc_value(&acc) / (double)(end - first);
}

double qs_tree_mean(const struct qs_tree *tree)
{
    return even_mean(tree, tree->depth, 0, tree->count[tree->depth - 1]);
}

/* Per unit of each grouping level, means relative to the grand mean: digits common to all values are gone
 * before anything is squared (NIST SmLs07 has twelve of them). */
struct work {
    double *n[QS_DEPTH_MAX];    /* values below the unit; n[0] owns all four */
    double *mean[QS_DEPTH_MAX]; /* each value counts once */
    double *even[QS_DEPTH_MAX]; /* each unit counts once in the one above */
    double *q;                  /* scratch: one level */
    double total, root;         /* values; what the rounded grand mean missed */
    double ss[QS_DEPTH_MAX + 1];
};

static bool work_init(struct work *w, const struct qs_tree *tree)
{
    size_t units = 0;
    for (size_t g = 0; g < tree->depth; g++)
        units += tree->count[g];
    double *p = malloc(4 * units * sizeof *p);
    if (!p)
        return false;
    for (size_t g = 0; g < tree->depth; g++) {
        w->n[g] = p;
        w->mean[g] = p + tree->count[g];
        w->even[g] = p + 2 * tree->count[g];
        p += 3 * tree->count[g];
    }
    w->q = p;
    return true;
}

/* Run means, and what varies within the runs. */
static enum qs_status read_runs(const struct qs_tree *tree, double grand, struct work *w)
{
    struct qs_acc within = {0};
    for (size_t j = 0; j < tree->count[0]; j++) {
        const double *x = tree->v + tree->off[0][j];
        size_t n = tree->off[0][j + 1] - tree->off[0][j];
        struct qs_moments m;
        enum qs_status status = qs_moments(x, n, &m);
        if (status != QS_OK)
            return status;
        struct qs_acc shift = {0};
        for (size_t i = 0; i < n; i++)
            qs_acc_add(&shift, x[i] - grand);
        w->n[0][j] = (double)n;
        w->mean[0][j] = w->even[0][j] = qs_acc_value(&shift) / (double)n;
        qs_acc_add(&within, n > 1 ? m.var * ((double)n - 1) : 0);
    }
    w->ss[0] = qs_acc_value(&within);
    return QS_OK;
}

struct unit {
    double n, mean, even;
};

/* The unit that holds units first .. end-1 of level g. */
static struct unit unit_above(const struct work *w, size_t g, size_t first, size_t end)
{
    struct qs_acc n = {0}, mean = {0}, even = {0};
    for (size_t i = first; i < end; i++) {
        qs_acc_add(&n, w->n[g][i]);
        qs_acc_add(&mean, w->n[g][i] * w->mean[g][i]);
        qs_acc_add(&even, w->even[g][i]);
    }
    double total = qs_acc_value(&n);
    return (struct unit){total, qs_acc_value(&mean) / total, qs_acc_value(&even) / (double)(end - first)};
}

static void add_squares(const struct work *w, size_t g, size_t first, size_t end, double about,
                        struct qs_acc *ss)
{
    for (size_t i = first; i < end; i++) {
        double d = w->mean[g][i] - about;
        qs_acc_add(ss, w->n[g][i] * d * d);
    }
}

static void climb(const struct qs_tree *tree, struct work *w)
{
    for (size_t g = 0; g + 1 < tree->depth; g++) {
        const size_t *off = tree->off[g + 1];
        struct qs_acc ss = {0};
        for (size_t u = 0; u < tree->count[g + 1]; u++) {
            struct unit above = unit_above(w, g, off[u], off[u + 1]);
            w->n[g + 1][u] = above.n;
            w->mean[g + 1][u] = above.mean;
            w->even[g + 1][u] = above.even;
            add_squares(w, g, off[u], off[u + 1], above.mean, &ss);
        }
        w->ss[g + 1] = qs_acc_value(&ss);
    }
    size_t top = tree->depth - 1;
    struct unit root = unit_above(w, top, 0, tree->count[top]);
    struct qs_acc ss = {0};
    add_squares(w, top, 0, tree->count[top], root.mean, &ss);
    w->ss[tree->depth] = qs_acc_value(&ss);
    w->total = root.n;
    w->root = root.mean;
}

static double sum_of_quotients(const double *q, const double *n, size_t count)
{
    struct qs_acc acc = {0};
    for (size_t u = 0; u < count; u++)
        qs_acc_add(&acc, q[u] / n[u]);
    return qs_acc_value(&acc);
}

/* s[a], a = j .. depth+1: sum over units A of level a of (sum over units u of level j in A of n_u^2) / n_A.
 * Level 0 are the values, level depth+1 is everything. s[a] - s[a+1] is what the variance of level j counts
 * in the expected sum of squares of level a. */
static void expectations(const struct qs_tree *tree, const struct work *w, size_t j, double *s)
{
    double *q = w->q;
    s[j] = w->total;
    size_t g = j == 0 ? 0 : j - 1; /* the grouping level that q speaks of */
    for (size_t u = 0; u < tree->count[g]; u++)
        q[u] = j == 0 ? w->n[0][u] : w->n[g][u] * w->n[g][u];
    for (;; g++) {
        if (g + 1 > j)
            s[g + 1] = sum_of_quotients(q, w->n[g], tree->count[g]);
        if (g + 1 == tree->depth)
            break;
        for (size_t u = 0; u < tree->count[g + 1]; u++) {
            struct qs_acc acc = {0};
            for (size_t i = tree->off[g + 1][u]; i < tree->off[g + 1][u + 1]; i++)
                qs_acc_add(&acc, q[i]);
            q[u] = qs_acc_value(&acc);
        }
    }
    struct qs_acc all = {0};
    for (size_t u = 0; u < tree->count[g]; u++)
        qs_acc_add(&all, q[u]);
    s[tree->depth + 1] = qs_acc_value(&all) / w->total;
}

/* Sums of squares are equated to their expectations, from the values upwards. */
static enum qs_status solve(const struct qs_tree *tree, const struct work *w, struct qs_components *out)
{
    double s[QS_DEPTH_MAX + 1][QS_DEPTH_MAX + 2] = {{0}};
    enum qs_status status = QS_OK;
    for (size_t a = 0; a <= tree->depth; a++) {
        struct qs_component *c = &out->level[a];
        expectations(tree, w, a, s[a]);
        size_t above = a == tree->depth ? 1 : tree->count[a];
        c->units = a == 0 ? out->n : tree->count[a - 1];
        c->df = (double)(c->units - above);
        if (c->units == above) {
            status = QS_ETOOFEW;
            continue;
        }
        c->ms = w->ss[a] / c->df;
        double below = 0;
        for (size_t j = 0; j < a; j++)
            below += (s[j][a] - s[j][a + 1]) / c->df * out->level[j].var_raw;
        c->size = (s[a][a] - s[a][a + 1]) / c->df;
        c->var_raw = (c->ms - below) / c->size;
        if (a > 0) /* 0/0 where nothing varies */
            c->f = c->ms / out->level[a - 1].ms;
        c->var = c->var_raw;
        if (c->var_raw < 0) {
            c->flags |= QS_FLAG_CLAMPED;
            c->var = 0;
        }
    }
    return status;
}

static void shares(struct qs_components *out)
{
    double total = 0;
    for (size_t a = 0; a <= out->depth; a++)
        total += out->level[a].var;
    for (size_t a = 0; a <= out->depth && total > 0; a++)
        out->level[a].share = out->level[a].var / total;
}

static bool is_balanced(const struct qs_tree *tree)
{
    for (size_t g = 0; g < tree->depth; g++)
        for (size_t u = 0; u < tree->count[g]; u++)
            if (tree->off[g][u + 1] - tree->off[g][u] != tree->off[g][1] - tree->off[g][0])
                return false;
    return true;
}

static enum qs_status fill(const struct qs_tree *tree, double grand, struct qs_components *out)
{
    struct work w = {0};
    if (!work_init(&w, tree))
        return QS_ENOMEM;
    enum qs_status status = read_runs(tree, grand, &w);
    struct qs_moments top;
    if (status == QS_OK) {
        climb(tree, &w);
        status = qs_moments(w.even[tree->depth - 1], tree->count[tree->depth - 1], &top);
    }
    if (status == QS_OK) {
        out->mean = grand + top.mean;
        out->s2_top = top.var;
        status = solve(tree, &w, out);
        shares(out);
    }
    free(w.n[0]);
    return status;
}

enum qs_status qs_tree_components(const struct qs_tree *tree, struct qs_components *out)
{
    *out = (struct qs_components){.depth = tree->depth, .grand_mean = NAN, .mean = NAN, .s2_top = NAN};
    for (size_t a = 0; a <= QS_DEPTH_MAX; a++)
        out->level[a] = (struct qs_component){
            .df = NAN, .ms = NAN, .size = NAN, .var_raw = NAN, .var = NAN, .share = NAN, .f = NAN};
    enum qs_status status = qs_tree_check(tree);
    if (status != QS_OK)
        return status;
    struct qs_moments all;
    out->n = qs_tree_size(tree);
    out->balanced = is_balanced(tree);
    status = qs_moments(tree->v + tree->off[0][0], out->n, &all);
    if (status != QS_OK)
        return status;
    out->grand_mean = all.mean;
    return fill(tree, all.mean, out);
}

enum qs_status qs_tree_ci(const struct qs_tree *tree, double level, struct qs_ci *out)
{
    struct qs_components c;
    *out = qs_ci_none(level);
    if (!(level > 0 && level < 1))
        return QS_EDOM;
    enum qs_status status = qs_tree_components(tree, &c);
    size_t top = status == QS_OK || status == QS_ETOOFEW ? tree->count[tree->depth - 1] : 0;
    if (status == QS_ETOOFEW && top >= 2)
        status = QS_OK; /* a level below has no degree of freedom: no components, but an interval */
    if (status == QS_OK)
        *out = qs_t_interval(c.mean, sqrt(c.s2_top), (double)top, level);
    return status;
}
