/* A program that ends when its standard input does. */
#ifndef QS_BASE_INPUT_H
#define QS_BASE_INPUT_H

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

#endif
