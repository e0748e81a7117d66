#include "device/job/steps.h"

#include <assert.h>

void qs_steps_begin(struct qs_steps *steps, enum qs_stage stage, const struct qs_actions *list)
{
    *steps = (struct qs_steps){.stage = stage, .depth = 1};
    steps->levels[0].list = list;
}

static void enter(struct qs_steps *steps, const struct qs_actions *list, const char *word)
{
    assert(steps->depth < QS_ACTIONS_DEEP_MAX);
    steps->levels[steps->depth++] = (struct qs_steps_level){.list = list, .word = word};
}

const struct qs_action *qs_steps_now(struct qs_steps *steps)
{
    while (steps->depth > 0) {
        struct qs_steps_level *level = &steps->levels[steps->depth - 1];
        if (level->at == level->list->count) {
            steps->depth--;
            qs_steps_next(steps);
            continue;
        }
        const struct qs_action *a = &level->list->at[level->at];
        if (a->kind != QS_ACTION_DO)
            return a;
        enter(steps, &a->then, "do");
    }
    return NULL;
}

void qs_steps_next(struct qs_steps *steps)
{
    if (steps->depth > 0)
        steps->levels[steps->depth - 1].at++;
}

void qs_steps_branch(struct qs_steps *steps, bool then)
{
    const struct qs_action *a = qs_steps_now(steps);
    assert(a && a->kind == QS_ACTION_IF);
    enter(steps, then ? &a->then : &a->other, then ? "then" : "else");
}

void qs_steps_place(const struct qs_steps *steps, struct qs_buf *out)
{
    const char *name = NULL;
    qs_buf_str(out, qs_stage_name(steps->stage));
    for (size_t i = 0; i < steps->depth; i++) {
        const struct qs_steps_level *level = &steps->levels[i];
        if (i > 0)
            qs_buf_fmt(out, ".%s", level->word);
        qs_buf_fmt(out, "[%zu]", level->at);
        const struct qs_action *a = level->at < level->list->count ? &level->list->at[level->at] : NULL;
        name = a && a->kind == QS_ACTION_DO && a->text ? a->text : name;
    }
    if (name)
        qs_buf_fmt(out, " (%s)", name);
}
