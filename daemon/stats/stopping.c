#include "stats/stopping.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stats/stopping_impl.h"
#include "stats/pick.h"

enum { REASON_BYTES = 512, DEPTH_MAX = 32 };

struct leaf {
    const struct qs_rule *rule;
    struct qs_leaf_state state;
    bool holds;
};

struct qs_stopping {
    const struct qs_rule *rule; /* borrowed */
    struct qs_stopping_caps caps;
    struct leaf *leaves; /* owned, depth first */
    size_t leaf_count;
    double *x, *scratch; /* owned, of `room` values */
    size_t *breaks, *break_room;
    size_t n, n_breaks, room, kept_from;
    char reason[REASON_BYTES];
};

static qs_leaf_fn *const leaf_fns[QS_RULE_LEAVES] = {
    [QS_RULE_FIXED] = qs_leaf_fixed,       [QS_RULE_TIME] = qs_leaf_time,
    [QS_RULE_BUDGET] = qs_leaf_budget,     [QS_RULE_COV_WINDOW] = qs_leaf_cov_window,
    [QS_RULE_CI_WIDTH] = qs_leaf_ci_width, [QS_RULE_RSE] = qs_leaf_rse,
    [QS_RULE_FUTHARK] = qs_leaf_futhark,   [QS_RULE_STABLE] = qs_leaf_stable,
    [QS_RULE_SETTLED] = qs_leaf_settled,   [QS_RULE_PLANNER] = qs_leaf_planner,
    [QS_RULE_EXTERNAL] = qs_leaf_external,
};

struct qs_stopping_caps qs_stopping_default_caps(void)
{
    return (struct qs_stopping_caps){.time_ns = 300e9, .iterations = 10000, .resolution_ns = 1};
}

static bool leaf_is_whole(const struct qs_rule *rule)
{
    const struct qs_rule_row *row = qs_rule_row(rule->kind);
    bool whole = rule->child_count == 0 && (rule->name != NULL) == (rule->kind == QS_RULE_EXTERNAL);
    for (size_t i = 0; i < QS_RULE_ARGS && row->args[i].name; i++)
        whole = whole && rule->arg[i] >= row->args[i].min && rule->arg[i] <= row->args[i].max;
    return whole;
}

/* Leaves below the rule, 0 where something of it is not whole. */
static size_t count_leaves(const struct qs_rule *rule, int depth)
{
    if (!qs_rule_row(rule->kind) || depth > DEPTH_MAX)
        return 0;
    if (rule->kind < QS_RULE_LEAVES)
        return leaf_is_whole(rule) ? 1 : 0;
    if (rule->kind == QS_RULE_NOT && rule->child_count != 1)
        return 0;
    size_t sum = 0;
    for (size_t i = 0; i < rule->child_count; i++) {
        size_t n = count_leaves(&rule->child[i], depth + 1);
        if (n == 0)
            return 0;
        sum += n;
    }
    return sum;
}

static void fill_leaves(const struct qs_rule *rule, struct leaf **at)
{
    if (rule->kind < QS_RULE_LEAVES)
        (*at)++->rule = rule;
    for (size_t i = 0; i < rule->child_count; i++)
        fill_leaves(&rule->child[i], at);
}

struct qs_stopping *qs_stopping_new(const struct qs_rule *rule, const struct qs_stopping_caps *caps)
{
    size_t leaves = count_leaves(rule, 0);
    struct qs_stopping *c = leaves > 0 ? calloc(1, sizeof *c) : NULL;
    if (!c)
        return NULL;
    *c = (struct qs_stopping){.rule = rule, .caps = *caps, .leaf_count = leaves};
    c->leaves = calloc(leaves, sizeof *c->leaves);
    if (!c->leaves) {
        free(c);
        return NULL;
    }
    struct leaf *at = c->leaves;
    fill_leaves(rule, &at);
    return c;
}

void qs_stopping_free(struct qs_stopping *c)
{
    if (!c)
        return;
    free(c->leaves);
    free(c->x);
    free(c->scratch);
    free(c->breaks);
    free(c->break_room);
    free(c);
}

static bool grow_one(void **at, size_t room, size_t each)
{
    void *p = room <= SIZE_MAX / each ? realloc(*at, room * each) : NULL;
    if (p)
        *at = p;
    return p != NULL;
}

static bool grow(struct qs_stopping *c)
{
    if (c->n < c->room)
        return true;
    size_t room = c->room > 0 ? 2 * c->room : 64;
    void *at[4] = {c->x, c->scratch, c->breaks, c->break_room};
    bool ok = grow_one(&at[0], room, sizeof *c->x) && grow_one(&at[1], room, sizeof *c->scratch) &&
              grow_one(&at[2], room, sizeof *c->breaks) && grow_one(&at[3], room, sizeof *c->break_room);
    c->x = at[0];
    c->scratch = at[1];
    c->breaks = at[2];
    c->break_room = at[3];
    c->room = ok ? room : c->room;
    return ok;
}

enum qs_status qs_stopping_push(struct qs_stopping *c, double duration_ns, bool after_gap)
{
    if (!isfinite(duration_ns) || duration_ns < 0)
        return QS_EDOM;
    if (!grow(c))
        return QS_ENOMEM;
    if (after_gap && c->n > 0)
        c->breaks[c->n_breaks++] = c->n;
    c->x[c->n++] = duration_ns;
    return QS_OK;
}

/* Every leaf is asked each time, so that what one sets aside does not depend on the others. True where one
 * has set something aside. */
static bool ask_leaves(struct qs_stopping *c, const struct qs_stopping_now *now)
{
    bool moved = false;
    for (size_t i = 0; i < c->leaf_count; i++) {
        struct leaf *leaf = &c->leaves[i];
        struct qs_leaf_case one = {.rule = leaf->rule,
                                   .x = c->x,
                                   .n = c->n,
                                   .breaks = c->breaks,
                                   .n_breaks = c->n_breaks,
                                   .resolution_ns = c->caps.resolution_ns > 0 ? c->caps.resolution_ns : 1,
                                   .now = now,
                                   .scratch = c->scratch,
                                   .break_room = c->break_room,
                                   .state = &leaf->state};
        size_t start = leaf->state.start;
        leaf->state.tail = 0;
        leaf->holds = leaf_fns[leaf->rule->kind](&one);
        moved = moved || leaf->state.start != start;
    }
    return moved;
}

/* What a subtree came to; *at moves past its leaves. */
struct outcome {
    bool holds;
    size_t kept_from;
};

static size_t kept_from(const struct leaf *leaf)
{
    return qs_more(leaf->state.tail, leaf->state.start);
}

static struct outcome join(const struct qs_rule *rule, const struct leaf **at)
{
    if (rule->kind < QS_RULE_LEAVES) {
        const struct leaf *leaf = (*at)++;
        return (struct outcome){leaf->holds, leaf->holds ? kept_from(leaf) : 0};
    }
    size_t holding = 0, latest = 0, first = SIZE_MAX;
    for (size_t i = 0; i < rule->child_count; i++) {
        struct outcome o = join(&rule->child[i], at);
        holding += o.holds ? 1 : 0;
        latest = qs_more(latest, o.kept_from);
        first = o.holds && first == SIZE_MAX ? o.kept_from : first;
    }
    if (rule->kind == QS_RULE_ANY)
        return (struct outcome){holding > 0, holding > 0 ? first : 0};
    if (rule->kind == QS_RULE_ALL)
        return (struct outcome){holding == rule->child_count, latest};
    return (struct outcome){rule->kind == QS_RULE_NOT ? holding == 0 : holding % 2 == 1, 0};
}

static void append(struct qs_stopping *c, const struct qs_rule *rule)
{
    size_t len = strlen(c->reason);
    qs_rule_text(rule, c->reason + len, sizeof c->reason - len);
}

/* any: the first that holds; all: each; not, xor: the rule as it is written. */
static void explain(struct qs_stopping *c, const struct qs_rule *rule, const struct leaf **at)
{
    if (rule->kind != QS_RULE_ANY && rule->kind != QS_RULE_ALL) {
        (void)join(rule, at);
        append(c, rule);
        return;
    }
    bool found = false;
    for (size_t i = 0; i < rule->child_count; i++) {
        const struct leaf *before = *at;
        struct outcome o = join(&rule->child[i], at);
        if (rule->kind == QS_RULE_ANY && (found || !o.holds))
            continue;
        size_t len = strlen(c->reason);
        if (found)
            (void)snprintf(c->reason + len, sizeof c->reason - len, " and ");
        explain(c, &rule->child[i], &before);
        found = true;
    }
}

static bool is_capped(struct qs_stopping *c, const struct qs_stopping_now *now)
{
    if (c->n >= c->caps.iterations)
        (void)snprintf(c->reason, sizeof c->reason, "cap of %zu iterations", c->caps.iterations);
    else if (now->measured_ns >= c->caps.time_ns)
        (void)snprintf(c->reason, sizeof c->reason, "cap of %g s", c->caps.time_ns / 1e9);
    else
        return false;
    for (size_t i = 0; i < c->leaf_count; i++) {
        size_t from = kept_from(&c->leaves[i]);
        if (from > c->kept_from && from < c->n)
            c->kept_from = from;
    }
    return true;
}

enum qs_stopping_verdict qs_stopping_judge(struct qs_stopping *c, const struct qs_stopping_now *now)
{
    c->reason[0] = '\0';
    c->kept_from = 0;
    bool moved = ask_leaves(c, now);
    const struct leaf *at = c->leaves;
    struct outcome o = join(c->rule, &at);
    if (o.holds) {
        c->kept_from = o.kept_from < c->n ? o.kept_from : 0;
        at = c->leaves;
        explain(c, c->rule, &at);
        return QS_STOPPING_STOP;
    }
    if (is_capped(c, now))
        return QS_STOPPING_CAPPED;
    return moved ? QS_STOPPING_RESTART : QS_STOPPING_GO_ON;
}

const char *qs_stopping_reason(const struct qs_stopping *c)
{
    return c->reason;
}

size_t qs_stopping_kept_from(const struct qs_stopping *c)
{
    return c->kept_from;
}

size_t qs_stopping_n(const struct qs_stopping *c)
{
    return c->n;
}
