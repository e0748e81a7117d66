/* Only in the static agents: what a failed assert() says, for musl's own way brings all of printf along. */
#include <stdio.h>
#include <stdlib.h>

#include "core/print.h"

/* musl's assert.h declares it so. */
_Noreturn void __assert_fail(const char *what, const char *file, int line, const char *function)
{
    char text[512];
    qs_print(text, sizeof text, "Assertion failed: %s (%s: %s: %d)\n", what, file, function, line);
    fputs(text, stderr);
    abort();
}
