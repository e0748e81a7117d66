/* The same test on the real and on the virtual loop: the loop under test is *state. */
#ifndef QS_TESTS_UNIT_BASE_BOTH_LOOPS_H
#define QS_TESTS_UNIT_BASE_BOTH_LOOPS_H

#include "cm.h"

#include "base/loop.h"

static inline int new_real(void **state)
{
    *state = qs_loop_new_real(NULL);
    return *state ? 0 : -1;
}

static inline int new_virtual(void **state)
{
    *state = qs_loop_new_virtual(1000000000, 42);
    return 0;
}

/* Every test leaves a clean loop. */
static inline int free_clean(void **state)
{
    return qs_loop_free(*state) == 0 ? 0 : -1;
}

#define ON_BOTH(test)                                                                                        \
    {"real: " #test, test, new_real, free_clean, NULL},                                                      \
    {                                                                                                        \
        "virtual: " #test, test, new_virtual, free_clean, NULL                                               \
    }

#endif
