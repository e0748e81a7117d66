#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "config/job_read.h"
#include "config/scalar.h"
#include "config/selector.h"
#include "proto/limits.h"

enum { BLOCKS_MAX = 10000, TAKE_MAX = 10000, RULES_MAX = 32 };

void qs_job_read_version(struct qs_schema_reader *r, const struct qs_key *key, const struct qs_node *node,
                         void *at)
{
    (void)key;
    (void)at;
    const char *text = qs_schema_text(r, node, "the version of the language, 1");
    if (text != NULL && strcmp(text, "1") != 0)
        qs_schema_problem(r, node, "write `quiesce: 1`", "version `%s` of the language is not known here",
                          qs_show(text).text);
}

/* A whole number within [min, max] from a node that is not in quotes. */
static bool read_whole(struct qs_schema_reader *r, const struct qs_node *node, const char *expected,
                       int64_t min, int64_t max, uint32_t *ret)
{
    struct qs_scalar_why why = {0};
    int64_t v = 0;
    const char *text = qs_schema_text(r, node, expected);
    if (text == NULL)
        return false;
    if (node->quoted || !qs_scalar_int(text, &v, &why)) {
        qs_schema_problem(r, node, node->quoted ? "leave the quotes out" : NULL, "expected %s, found `%s`",
                          expected, qs_show(text).text);
        return false;
    }
    if (v < min || v > max) {
        qs_schema_problem(r, node, NULL, "`%s` is out of range: %" PRId64 " to %" PRId64, qs_show(text).text,
                          min, max);
        return false;
    }
    *ret = (uint32_t)v;
    return true;
}

void qs_job_read_where(struct qs_schema_reader *r, const struct qs_key *key, const struct qs_node *node,
                       void *at)
{
    (void)key;
    struct qs_job_draft *draft = at;
    struct qs_selector *selector = NULL;
    struct qs_selector_why why = {0};
    const char *text = qs_schema_text(r, node, "an expression such as name == \"bench1\"");
    if (text == NULL)
        return;
    if (!qs_selector_parse(text, &selector, &why)) {
        struct qs_shown rest = qs_show(text + why.offset);
        if (rest.text[0] != '\0')
            qs_schema_problem(r, node, why.suggestion, "%s, at `%s`", why.text, rest.text);
        else
            qs_schema_problem(r, node, why.suggestion, "%s", why.text);
        return;
    }
    qs_selector_free(selector);
    draft->spec.where = qs_strdup(text);
}

void qs_job_read_take(struct qs_schema_reader *r, const struct qs_key *key, const struct qs_node *node,
                      void *at)
{
    (void)key;
    struct qs_job_spec *spec = &((struct qs_job_draft *)at)->spec;
    if (node->kind == QS_NODE_TEXT && strcmp(node->text, "any") == 0) {
        spec->take = QS_TAKE_ANY;
    } else if (node->kind == QS_NODE_TEXT && strcmp(node->text, "all") == 0) {
        spec->take = QS_TAKE_ALL;
    } else if (read_whole(r, node, "any, all, or a whole number", 1, TAKE_MAX, &spec->take_count)) {
        spec->take = QS_TAKE_COUNT;
    }
}

/* `min` alone above the usual maximum raises it, `max` alone below the usual minimum lowers that. */
void qs_job_read_blocks(struct qs_schema_reader *r, const struct qs_key *key, const struct qs_node *node,
                        void *at)
{
    struct qs_job_plan *plan = at;
    if (plan->blocks_max > 0) {
        qs_schema_problem(r, node, "keep one of the two", "`blocks` and `runs` say the same");
        return;
    }
    if (node->kind == QS_NODE_TEXT) {
        if (read_whole(r, node, "a whole number, or {min: 6, max: 30}", 1, BLOCKS_MAX, &plan->blocks_min))
            plan->blocks_max = plan->blocks_min;
        return;
    }
    if (!qs_schema_is(r, node, QS_NODE_MAP, "a whole number, or {min: 6, max: 30}"))
        return;
    size_t before = r->count;
    qs_schema_map(r, key->table, node, plan);
    const struct qs_node *min = qs_node_get(node, "min", NULL);
    const struct qs_node *max = qs_node_get(node, "max", NULL);
    if (plan->blocks_min <= plan->blocks_max)
        return;
    if (max == NULL)
        plan->blocks_max = plan->blocks_min;
    else if (min == NULL)
        plan->blocks_min = plan->blocks_max;
    else if (r->count == before)
        qs_schema_problem(r, min, NULL, "`min` (%" PRIu32 ") is above `max` (%" PRIu32 ")", plan->blocks_min,
                          plan->blocks_max);
}

void qs_job_read_looks(struct qs_schema_reader *r, const struct qs_key *key, const struct qs_node *node,
                       void *at)
{
    (void)key;
    struct qs_job_plan *plan = at;
    if (!qs_schema_is(r, node, QS_NODE_LIST, "a list of block counts"))
        return;
    if (node->count == 0 || node->count > BLOCKS_MAX) {
        qs_schema_problem(r, node, NULL, "a list of 1 to %d block counts", BLOCKS_MAX);
        return;
    }
    plan->looks = qs_calloc(node->count, sizeof(*plan->looks));
    for (size_t i = 0; i < node->count; i++) {
        size_t mark = qs_schema_enter_index(r, i);
        uint32_t v = 0;
        bool ok = read_whole(r, &node->items[i], "a block count", 1, BLOCKS_MAX, &v);
        if (ok && i > 0 && v <= plan->looks[i - 1])
            qs_schema_problem(r, &node->items[i], NULL, "looks rise: `%" PRIu32 "` after `%" PRIu32 "`", v,
                              plan->looks[i - 1]);
        plan->looks[plan->look_count++] = v;
        qs_schema_leave(r, mark);
    }
}

void qs_job_read_window(struct qs_schema_reader *r, const struct qs_key *key, const struct qs_node *node,
                        void *at)
{
    (void)key;
    struct qs_job_plan *plan = at;
    if (node->kind != QS_NODE_TEXT || strcmp(node->text, "auto") != 0)
        read_whole(r, node, "auto, or a whole number", 1, QS_ITERATIONS_MAX, &plan->window_iterations);
}

static void read_rule(struct qs_schema_reader *r, const struct qs_node *node, struct qs_stop *stop,
                      unsigned *left);

static void read_cov(struct qs_schema_reader *r, const struct qs_node *node, struct qs_stop *stop)
{
    static const struct qs_key keys[] = {{.name = "last",
                                          .type = QS_KEY_U32,
                                          .offset = offsetof(struct qs_stop, n),
                                          .min = 2,
                                          .max = 100000,
                                          .fallback = "20",
                                          .help = "The last so many iterations."},
                                         {.name = "at_most",
                                          .type = QS_KEY_RATIO,
                                          .offset = offsetof(struct qs_stop, at_most_ratio),
                                          .min = 1,
                                          .max = 10000000,
                                          .fallback = "5%",
                                          .help = "Their standard deviation over their mean."},
                                         {0}};
    static const struct qs_table table = {.keys = keys};
    if (qs_schema_is(r, node, QS_NODE_MAP, "a map such as {last: 20, at_most: 5%}"))
        qs_schema_map(r, &table, node, stop);
}

static void read_joined(struct qs_schema_reader *r, const struct qs_node *node, struct qs_stop *stop,
                        unsigned *left)
{
    if (!qs_schema_is(r, node, QS_NODE_LIST, "a list of rules"))
        return;
    if (node->count == 0 || node->count > *left) {
        qs_schema_problem(r, node, NULL, "%s", node->count == 0 ? "no rule here" : "too many rules");
        return;
    }
    stop->child = qs_calloc(node->count, sizeof(*stop->child));
    for (size_t i = 0; i < node->count; i++) {
        size_t mark = qs_schema_enter_index(r, i);
        read_rule(r, &node->items[i], &stop->child[stop->child_count++], left);
        qs_schema_leave(r, mark);
    }
}

static void read_rule_value(struct qs_schema_reader *r, const struct qs_node *node, struct qs_stop *stop,
                            unsigned *left)
{
    static const struct qs_key time = {.name = "time",
                                       .type = QS_KEY_DURATION,
                                       .offset = offsetof(struct qs_stop, time_ns),
                                       .min = 1,
                                       .max = QS_SPAN_MAX_NS};
    switch (stop->kind) {
    case QS_STOP_FIXED:
        read_whole(r, node, "a whole number of iterations", 1, 1000000, &stop->n);
        break;
    case QS_STOP_TIME:
        qs_schema_value(r, &time, node, stop);
        break;
    case QS_STOP_COV_WINDOW:
        read_cov(r, node, stop);
        break;
    case QS_STOP_ANY:
    case QS_STOP_ALL:
        read_joined(r, node, stop, left);
        break;
    case QS_STOP_NOT:
        stop->child = qs_calloc(1, sizeof(*stop->child));
        stop->child_count = 1;
        read_rule(r, node, stop->child, left);
        break;
    }
}

static void read_rule(struct qs_schema_reader *r, const struct qs_node *node, struct qs_stop *stop,
                      unsigned *left)
{
    static const char *const words[] = {"fixed", "time", "cov_window", "any", "all", "not"};
    enum { WORDS = sizeof(words) / sizeof(words[0]) };
    if (*left == 0 || !qs_schema_is(r, node, QS_NODE_MAP, "a rule such as {fixed: 50}"))
        return;
    --*left;
    if (node->count != 1) {
        qs_schema_problem(r, node, "join rules as {any: [...]} or {all: [...]}",
                          "a rule has exactly one key, this has %zu", node->count);
        return;
    }
    size_t k = 0;
    while (k < WORDS && strcmp(words[k], node->keys[0].text) != 0)
        k++;
    size_t mark = qs_schema_enter(r, node->keys[0].text);
    if (k < WORDS) {
        stop->kind = (enum qs_stop_kind)k;
        read_rule_value(r, &node->items[0], stop, left);
    } else {
        struct qs_buf out;
        qs_buf_init(&out);
        qs_schema_suggest(&out, node->keys[0].text, "the rules are", words, WORDS);
        qs_schema_problem(r, &node->keys[0], out.data, "unknown rule");
        qs_buf_done(&out);
    }
    qs_schema_leave(r, mark);
}

void qs_job_read_stop(struct qs_schema_reader *r, const struct qs_key *key, const struct qs_node *node,
                      void *at)
{
    (void)key;
    struct qs_job_plan *plan = at;
    unsigned left = RULES_MAX;
    size_t before = r->count;
    plan->stop = qs_calloc(1, sizeof(*plan->stop));
    read_rule(r, node, plan->stop, &left);
    if (left == 0 && r->count == before)
        qs_schema_problem(r, node, NULL, "more than %d rules", RULES_MAX - 1);
}
