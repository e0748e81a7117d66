/* One command of this machine: a text goes in, a short text comes out, within a time. It runs as this daemon
 * does, in a session of its own: what it leaves behind in that ends with it, and all of it ends where it is
 * too slow, or too talkative. Real time only. */
#ifndef QS_BASE_COMMAND_H
#define QS_BASE_COMMAND_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct qs_loop;
struct qs_command_run;

struct qs_command_spec {
    const char *const *argv; /* NULL-terminated; the first is searched in PATH */
    const char *input;       /* copied; its standard input ends behind it */
    size_t input_bytes;
    int64_t timeout_ns;
    size_t output_max_bytes; /* of its standard output; more is an error. Its standard error is ours. */
};

/* Once, in a turn of the loop. err NULL: it exited with 0, and output (terminated, borrowed) is all it wrote;
 * else QS_E_COMMAND with what went wrong. The pointer of the run is dead by then. */
typedef void qs_command_fn(const struct qs_err *err, const char *output, size_t bytes, void *user);

/* NULL: QS_E_COMMAND, QS_E_RESOURCE, or QS_E_INTERNAL in virtual time. */
struct qs_command_run *qs_command_start(struct qs_loop *loop, const struct qs_command_spec *spec,
                                        qs_command_fn *fn, void *user, struct qs_err *err);
/* Ends it; no callback comes. NULL is allowed. */
void qs_command_stop(struct qs_command_run *run);

#endif
