/* System calls that are refused: the test is linked with --wrap for each of them (meson.build). */
#ifndef QS_TESTS_AGENT_REFUSALS_H
#define QS_TESTS_AGENT_REFUSALS_H

#include <stdbool.h>
#include <stddef.h>

#include "core/port.h"

/* The nth call of this name from now on fails with this error; each other is done. NULL: none. */
void refuse_call(const char *name, int nth, int error);
/* It was reached. */
bool was_refused(void);
/* Beside that: all calls of this name fail. NULL: none. */
void refuse_always(const char *name, int error);
/* Runs before each flock; NULL: nothing. */
void before_flock(void (*act)(void));

/* Gives each write other bytes of the same number, or its own; NULL: nothing. */
void before_write(const void *(*act)(const void *bytes, size_t n));

/* Something that may be refused: fills *fault in where it returns false. `undo` runs after each success. */
struct deed {
    bool (*act)(struct qs_port_fault *fault);
    void (*undo)(void);
    bool starts; /* a process or an agent, which need 0, 1 and 2 for themselves: no descriptor of it is 0 */
};

int open_descriptors(void);

/* What becomes of the deed where each of its calls is refused in turn: names in the order of the table in
 * refusals.c, and a sign for each call. '!': it fails, with that call's error as its code and in its words.
 * '?': it fails with something else. '.': it succeeds all the same. Fails the test where a descriptor stays
 * open, or where it does not succeed when one of its descriptors is 0. Valid until the next call. */
const char *refuse_each(const struct deed *deed);

#endif
