#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "config/job/read_params.h"
#include "config/document/scalar.h"

enum { AXES_MAX = 16, VALUES_MAX = 1000, POINTS_MAX = 10000, VALUE_BYTES = 1000, NAMES_MAX = 64 };
enum { LABELS_BYTES = 4 << 20 }; /* of all points together: their values are no more */

static void check_name(struct qs_schema_reader *r, const struct qs_node *key)
{
    if (!qs_job_is_param_name(key->text, strlen(key->text)))
        qs_schema_problem(r, key, "letters, digits, `_`, `-` and `.`, beginning with a letter",
                          "`%s` cannot be a parameter's name", qs_show(key->text).text);
}

static bool check_value(struct qs_schema_reader *r, const struct qs_node *node)
{
    const char *text = qs_schema_text(r, node, "a value");
    if (text != NULL && strlen(text) > VALUE_BYTES)
        qs_schema_problem(r, node, NULL, "a parameter's value has at most %d bytes", VALUE_BYTES);
    return text != NULL;
}

void qs_job_read_fixed(struct qs_schema_reader *r, const struct qs_key *key, const struct qs_node *node,
                       void *at)
{
    (void)key;
    struct qs_params *out = at;
    if (!qs_schema_is(r, node, QS_NODE_MAP, "a map of values"))
        return;
    if (node->count > AXES_MAX) {
        qs_schema_problem(r, node, NULL, "%zu parameters are too many (at most %d)", node->count, AXES_MAX);
        return;
    }
    out->at = qs_calloc(node->count, sizeof(*out->at));
    for (size_t i = 0; i < node->count; i++) {
        size_t mark = qs_schema_enter(r, node->keys[i].text);
        check_name(r, &node->keys[i]);
        if (node->items[i].kind == QS_NODE_LIST)
            qs_schema_problem(r, &node->items[i], "lists belong in the benchmark's `params`",
                              "an arm fixes one value for a parameter");
        else if (check_value(r, &node->items[i]))
            out->at[out->count++] =
                (struct qs_param){qs_strdup(node->keys[i].text), qs_strdup(node->items[i].text)};
        qs_schema_leave(r, mark);
    }
}

/* A single value is an axis of one. */
static size_t axis_count(const struct qs_node *axis)
{
    return axis->kind == QS_NODE_LIST ? axis->count : 1;
}

static const struct qs_node *axis_value(const struct qs_node *axis, size_t i)
{
    return axis->kind == QS_NODE_LIST ? &axis->items[i] : axis;
}

static void check_axis(struct qs_schema_reader *r, const struct qs_node *axis)
{
    if (axis->kind == QS_NODE_LIST && (axis->count == 0 || axis->count > VALUES_MAX)) {
        qs_schema_problem(r, axis, NULL,
                          axis->count == 0 ? "this list has no value: nothing would be measured"
                                           : "more than 1000 values");
        return;
    }
    for (size_t i = 0; i < axis_count(axis); i++) {
        size_t mark = axis->kind == QS_NODE_LIST ? qs_schema_enter_index(r, i) : r->path.len;
        const struct qs_node *value = axis_value(axis, i);
        bool text = check_value(r, value);
        for (size_t k = 0; text && k < i; k++)
            if (axis_value(axis, k)->kind == QS_NODE_TEXT &&
                strcmp(axis_value(axis, k)->text, value->text) == 0) {
                qs_schema_problem(r, value, NULL, "`%s` appears twice", qs_show(value->text).text);
                break;
            }
        qs_schema_leave(r, mark);
    }
}

void qs_job_read_axes(struct qs_schema_reader *r, const struct qs_key *key, const struct qs_node *node,
                      void *at)
{
    (void)key;
    (void)at;
    if (!qs_schema_is(r, node, QS_NODE_MAP, "a map of values or lists of values"))
        return;
    if (node->count > AXES_MAX) {
        qs_schema_problem(r, node, NULL, "%zu parameters are too many (at most %d)", node->count, AXES_MAX);
        return;
    }
    size_t points = 1;
    for (size_t i = 0; i < node->count; i++) {
        size_t mark = qs_schema_enter(r, node->keys[i].text);
        check_name(r, &node->keys[i]);
        check_axis(r, &node->items[i]);
        qs_schema_leave(r, mark);
        size_t n = axis_count(&node->items[i]);
        points = points > POINTS_MAX || n > POINTS_MAX ? POINTS_MAX + 1 : points * n;
    }
    if (points > POINTS_MAX)
        qs_schema_problem(r, node, "split the job, or fix some parameters",
                          "the lists multiply to more than %d points", POINTS_MAX);
}

void qs_job_read_exclude(struct qs_schema_reader *r, const struct qs_key *key, const struct qs_node *node,
                         void *at)
{
    (void)key;
    (void)at;
    if (!qs_schema_is(r, node, QS_NODE_LIST, "a list of maps"))
        return;
    if (node->count > VALUES_MAX)
        qs_schema_problem(r, node, NULL, "more than %d excludes", VALUES_MAX);
    for (size_t i = 0; i < node->count; i++) {
        size_t mark = qs_schema_enter_index(r, i);
        if (qs_schema_is(r, &node->items[i], QS_NODE_MAP, "a map such as {threads: 4}") &&
            node->items[i].count == 0)
            qs_schema_problem(r, &node->items[i], NULL, "an empty map would leave out every point");
        qs_schema_leave(r, mark);
    }
}

/* Behind the `n` that are there. */
static size_t key_names(const struct qs_node *map, const char *names[NAMES_MAX], size_t n)
{
    for (size_t i = 0; map != NULL && map->kind == QS_NODE_MAP && i < map->count && n < NAMES_MAX; i++)
        names[n++] = map->keys[i].text;
    return n;
}

void qs_job_suggest_param(struct qs_buf *out, const char *name, const struct qs_node *axes,
                          const struct qs_node *fixed)
{
    const char *names[NAMES_MAX];
    size_t count = key_names(fixed, names, key_names(axes, names, 0));
    if (count > 0)
        qs_schema_suggest(out, name, "the parameters are", names, count);
    else
        qs_buf_fmt(out, "declare it under `params`, or write `{{%s}` for the text itself",
                   qs_show(name).text);
}

struct word { /* a value of an axis, by its text */
    const char *text;
    size_t i;
};

struct axis {
    const struct qs_node *node; /* borrowed */
    struct word *words;         /* owned, sorted */
    size_t count;
    uint64_t *fits; /* owned, or NULL: for each value a set of the excludes that name it, */
    uint64_t *any;  /* and one of those that name none of this axis */
};

/* The axes of a benchmark, and what its excludes say of their values. */
struct cuts {
    struct axis axes[AXES_MAX];
    size_t axis_count, blocks; /* blocks: 64-bit words of a set */
};

static int compare_words(const void *a, const void *b)
{
    return strcmp(((const struct word *)a)->text, ((const struct word *)b)->text);
}

/* The index of a value, or the number of values where there is no such. */
static size_t find_value(const struct axis *axis, const char *text)
{
    const struct word wanted = {.text = text};
    const struct word *found =
        axis->count ? bsearch(&wanted, axis->words, axis->count, sizeof wanted, compare_words) : NULL;
    return found ? found->i : axis_count(axis->node);
}

static void cuts_init(struct cuts *c, const struct qs_node *axes)
{
    *c = (struct cuts){0};
    for (size_t k = 0; axes != NULL && k < axes->count && k < AXES_MAX; k++) {
        struct axis *axis = &c->axes[c->axis_count++];
        axis->node = &axes->items[k];
        axis->words = qs_calloc(axis_count(axis->node) + 1, sizeof *axis->words);
        for (size_t i = 0; i < axis_count(axis->node); i++)
            if (axis_value(axis->node, i)->kind == QS_NODE_TEXT)
                axis->words[axis->count++] = (struct word){axis_value(axis->node, i)->text, i};
        qsort(axis->words, axis->count, sizeof *axis->words, compare_words);
    }
}

static void cuts_done(struct cuts *c)
{
    for (size_t k = 0; k < c->axis_count; k++) {
        free(c->axes[k].words);
        free(c->axes[k].fits);
        free(c->axes[k].any);
    }
}

static void cuts_apply(struct cuts *c, const struct qs_node *axes, const struct qs_node *exclude)
{
    c->blocks = (exclude->count + 63) / 64;
    for (size_t k = 0; k < c->axis_count; k++) {
        struct axis *axis = &c->axes[k];
        size_t values = axis_count(axis->node);
        axis->fits = qs_calloc(values * c->blocks + 1, sizeof *axis->fits);
        axis->any = qs_calloc(c->blocks + 1, sizeof *axis->any);
        for (size_t e = 0; e < exclude->count; e++) {
            const struct qs_node *named = qs_node_get(&exclude->items[e], axes->keys[k].text, NULL);
            size_t i = named ? find_value(axis, named->text) : 0;
            uint64_t *set = named ? axis->fits + i * c->blocks : axis->any;
            if (i < values)
                set[e / 64] |= UINT64_C(1) << (e % 64);
        }
    }
}

/* Does any exclude fit the i-th point in all of its axes? The last axis turns fastest. */
static bool is_excluded(const struct cuts *c, size_t i)
{
    size_t at[AXES_MAX];
    for (size_t k = c->axis_count; k > 0; k--) {
        size_t n = axis_count(c->axes[k - 1].node);
        at[k - 1] = i % n;
        i /= n;
    }
    for (size_t b = 0; b < c->blocks; b++) {
        uint64_t fit = UINT64_MAX;
        for (size_t k = 0; k < c->axis_count; k++)
            fit &= c->axes[k].any[b] | c->axes[k].fits[at[k] * c->blocks + b];
        if (fit != 0 && c->axis_count > 0)
            return true;
    }
    return false;
}

static bool has_value(const struct cuts *c, const struct qs_node *node, const char *text)
{
    for (size_t k = 0; k < c->axis_count; k++)
        if (c->axes[k].node == node)
            return find_value(&c->axes[k], text) < axis_count(node);
    return true; /* beyond the most axes that are read: told already */
}

/* A slip in an exclude would silently leave nothing out. */
static void check_one_exclude(struct qs_schema_reader *r, const struct qs_node *axes, const struct cuts *cuts,
                              const struct qs_node *map)
{
    const char *names[NAMES_MAX];
    size_t count = key_names(axes, names, 0);
    for (size_t i = 0; i < map->count; i++) {
        size_t mark = qs_schema_enter(r, map->keys[i].text);
        const struct qs_node *axis = qs_node_get(axes, map->keys[i].text, NULL);
        if (axis == NULL) {
            QS_BUF(out);
            if (count > 0)
                qs_schema_suggest(&out, map->keys[i].text, "the parameters are", names, count);
            qs_schema_problem(r, &map->keys[i], count > 0 ? out.data : "this benchmark has no `params`",
                              "no such parameter in `params`");
        } else if (check_value(r, &map->items[i]) && !has_value(cuts, axis, map->items[i].text)) {
            qs_schema_problem(r, &map->items[i], "a value is compared as it is written",
                              "`%s` is not one of its values", qs_show(map->items[i].text).text);
        }
        qs_schema_leave(r, mark);
    }
}

void qs_job_check_exclude(struct qs_schema_reader *r, const struct qs_node *benchmark)
{
    const struct qs_node *axes = qs_node_get(benchmark, "params", NULL);
    const struct qs_node *exclude = qs_node_get(benchmark, "exclude", NULL);
    if (exclude == NULL || exclude->kind != QS_NODE_LIST || exclude->count > VALUES_MAX)
        return;
    struct cuts cuts;
    cuts_init(&cuts, axes != NULL && axes->kind == QS_NODE_MAP ? axes : NULL);
    size_t mark = qs_schema_enter(r, "exclude");
    for (size_t i = 0; i < exclude->count; i++) {
        size_t inner = qs_schema_enter_index(r, i);
        if (exclude->items[i].kind == QS_NODE_MAP)
            check_one_exclude(r, axes, &cuts, &exclude->items[i]);
        qs_schema_leave(r, inner);
    }
    qs_schema_leave(r, mark);
    cuts_done(&cuts);
}

/* Returns the bytes of its label. */
static size_t add_point(struct qs_job_spec *spec, size_t benchmark, struct qs_params params)
{
    QS_BUF(label);
    qs_buf_str(&label, spec->benchmarks[benchmark].name);
    for (size_t i = 0; i < params.count; i++)
        qs_buf_fmt(&label, " %s=%s", params.at[i].name, params.at[i].value);
    size_t bytes = label.len;
    spec->points = qs_grow(spec->points, spec->point_count, sizeof(*spec->points));
    spec->points[spec->point_count++] =
        (struct qs_job_point){.benchmark = benchmark,
                              .conditions = spec->benchmarks[benchmark].conditions,
                              .params = params,
                              .label = qs_buf_take(&label)};
    return bytes;
}

/* The i-th of the product, the last axis turning fastest. */
static struct qs_params nth(const struct qs_node *axes, size_t i)
{
    struct qs_params p = {0};
    if (axes == NULL || axes->count == 0)
        return p;
    p.count = axes->count;
    p.at = qs_calloc(p.count, sizeof(*p.at));
    for (size_t k = p.count; k > 0; k--) {
        size_t n = axis_count(&axes->items[k - 1]);
        p.at[k - 1].name = qs_strdup(axes->keys[k - 1].text);
        p.at[k - 1].value = qs_strdup(axis_value(&axes->items[k - 1], i % n)->text);
        i /= n;
    }
    return p;
}

static size_t multiply_one(struct qs_job_spec *spec, size_t benchmark, const struct qs_node *map,
                           size_t *label_bytes)
{
    const struct qs_node *axes = qs_node_get(map, "params", NULL);
    const struct qs_node *exclude = qs_node_get(map, "exclude", NULL);
    struct cuts cuts;
    size_t total = 1;
    size_t before = spec->point_count;
    cuts_init(&cuts, axes);
    if (exclude != NULL)
        cuts_apply(&cuts, axes, exclude);
    for (size_t i = 0; axes != NULL && i < axes->count; i++)
        total *= axis_count(&axes->items[i]);
    for (size_t i = 0; i < total && spec->point_count <= POINTS_MAX && *label_bytes <= LABELS_BYTES; i++) {
        if (!is_excluded(&cuts, i))
            *label_bytes += add_point(spec, benchmark, nth(axes, i));
    }
    cuts_done(&cuts);
    return spec->point_count - before;
}

bool qs_job_multiply(struct qs_schema_reader *r, const struct qs_node *root, struct qs_job_spec *spec)
{
    const struct qs_node *list = qs_node_get(root, "benchmarks", NULL);
    size_t before = r->count, label_bytes = 0;
    size_t mark = qs_schema_enter(r, "benchmarks");
    for (size_t i = 0; i < spec->benchmark_count && label_bytes <= LABELS_BYTES; i++) {
        size_t inner = qs_schema_enter_index(r, i);
        const struct qs_node *map = list != NULL ? &list->items[i] : NULL;
        const struct qs_node *axes = qs_node_get(map, "params", NULL);
        if (multiply_one(spec, i, map, &label_bytes) == 0)
            qs_schema_problem(r, qs_node_get(map, "exclude", NULL), NULL,
                              "no point is left: `exclude` removes all of them");
        if (label_bytes > LABELS_BYTES) {
            qs_schema_enter(r, "params");
            qs_schema_problem(
                r, axes != NULL ? axes : map, "give the parameters shorter values, or split the job",
                "with these the names and values of all points have more than %d MiB", LABELS_BYTES >> 20);
        }
        qs_schema_leave(r, inner);
    }
    if (spec->point_count > POINTS_MAX)
        qs_schema_problem(r, list, "split the job", "more than %d points", POINTS_MAX);
    qs_schema_leave(r, mark);
    return r->count == before;
}
