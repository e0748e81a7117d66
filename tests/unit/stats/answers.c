#include "answers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

void answer_put(struct answer *a, const char *name, enum answer_kind kind, double v)
{
    assert_true(a->count < ANSWER_NUMBERS);
    a->number[a->count++] = (struct answer_number){.name = name, .kind = kind, .v = v};
}

void answer_put_share(struct answer *a, const char *name, enum answer_kind kind, double v)
{
    answer_put(a, name, kind, v);
    a->number[a->count - 1].share = true;
}

void answer_put_wide(struct answer *a, const char *name, enum answer_kind kind, double v)
{
    answer_put(a, name, kind, v);
    a->number[a->count - 1].infinite = true;
}

void answer_put_ci(struct answer *a, enum answer_kind kind, const struct qs_ci *ci)
{
    assert_true(a->count > 0 && a->intervals < ANSWER_INTERVALS);
    size_t estimate = a->count - 1;
    answer_put(a, "lo", kind, ci->lo);
    answer_put(a, "hi", kind, ci->hi);
    a->interval[a->intervals].estimate = estimate;
    a->interval[a->intervals].lo = estimate + 1;
    a->interval[a->intervals++].hi = estimate + 2;
}
