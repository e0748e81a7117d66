/* A program and its system: the end of its input, its standard descriptors, the clock, programs beside it. */
#ifndef QS_BASE_PROCESS_H
#define QS_BASE_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "base/err.h"

struct qs_loop;
struct qs_input;

/* Reads what comes on fd (borrowed) and forgets it; on_end, once, when there is no more, whyever: stop it
 * there or later. Others who share fd find it as it was, a socket's description after the stop. NULL:
 * QS_E_USAGE where fd cannot be waited for (a file, /dev/null), QS_E_RESOURCE. */
struct qs_input *qs_input_watch(struct qs_loop *loop, int fd, void (*on_end)(void *user), void *user,
                                struct qs_err *err);
/* NULL is allowed. */
void qs_input_stop(struct qs_input *input);

/* CLOCK_MONOTONIC for how long something takes, CLOCK_REALTIME for when it is; without a loop. */
int64_t qs_clock_ns(clockid_t clock);

/* Opens /dev/null as each of the descriptors 0, 1 and 2 that is closed, so that no socket or database gets
 * the number that somebody prints to. Called first in main(). False where /dev/null cannot be opened. */
bool qs_std_fds_fill(void);

/* A regular file that may be executed. */
bool qs_program_is(const char *path);

/* The first of `places` that is a program; they are paths from the folder of the running program, and NULL
 * ends them. Where there is none, a copy of `otherwise`, which may be NULL. Owned by the caller. */
char *qs_program_beside(const char *const *places, const char *otherwise);

#endif
