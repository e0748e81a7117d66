#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "config/job/read.h"
#include "config/document/scalar.h"
#include "config/job/selector.h"
#include "proto/limits.h"

enum { BLOCKS_MAX = 10000, TAKE_MAX = 10000 };

void qs_job_read_version(struct qs_schema_reader *r, const struct qs_key *key, const struct qs_node *node,
                         void *at)
{
    (void)key;
    (void)at;
    const char *text = qs_schema_text(r, node, "the version of the language, 1");
    if (text != NULL && strcmp(text, "1") != 0)
        qs_schema_problem(r, node, "write `quiesce: 1`", "version `%s` of the language is not known",
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
        qs_schema_problem(r, node, node->quoted ? "leave out the quotes" : NULL, "expected %s, found `%s`",
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

void qs_job_read_evals(struct qs_schema_reader *r, const struct qs_key *key, const struct qs_node *node,
                       void *at)
{
    (void)key;
    if (node->kind != QS_NODE_TEXT || strcmp(node->text, "auto") != 0)
        read_whole(r, node, "auto, or a whole number", 1, QS_JOB_EVALS_MAX, at);
}
