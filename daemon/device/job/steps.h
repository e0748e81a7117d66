/* Where a stage of actions stands: a place in a tree of steps. Pure; it borrows the tree. */
#ifndef QS_DEVICE_JOB_STEPS_H
#define QS_DEVICE_JOB_STEPS_H

#include "config/job/actions.h"

struct qs_steps {
    enum qs_stage stage;
    size_t depth; /* 0: all is done */
    struct qs_steps_level {
        const struct qs_actions *list;
        size_t at;
        const char *word; /* the key that the list stands under: "then", "else", "do" */
    } levels[QS_ACTIONS_DEEP_MAX];
};

void qs_steps_begin(struct qs_steps *steps, enum qs_stage stage, const struct qs_actions *list);
/* The step in hand, of any kind but DO, whose steps are gone into; NULL: there is none any more. */
const struct qs_action *qs_steps_now(struct qs_steps *steps);
/* The step in hand is over. */
void qs_steps_next(struct qs_steps *steps);
/* The step in hand is an IF: one of its lists follows, and then what stands behind it. */
void qs_steps_branch(struct qs_steps *steps, bool then);
/* "before_run[1].then[0]", behind it the name of the innermost `do` that has one: " (calm down)". */
void qs_steps_place(const struct qs_steps *steps, struct qs_buf *out);

#endif
