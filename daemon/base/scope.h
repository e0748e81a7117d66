/* Clean-up bound to a scope: what a variable owns goes when its block ends, by whichever way, the last
 * declared first. For what a function uses itself; what it hands out or stores keeps its explicit _free. The
 * value returned is computed before the clean-up. A variable must have its value where it is declared.
 * Buffers: QS_BUF (base/buf.h); jansson: json_auto_t. */
#ifndef QS_BASE_SCOPE_H
#define QS_BASE_SCOPE_H

#include <stdlib.h>
#include <string.h>

/* `done` gets the variable's address: QS_SCOPED(qs_strings_done) struct qs_strings names = {0}; */
#define QS_SCOPED(done) __attribute__((cleanup(done)))

/* A pointer for free(): QS_FREED char *path = qs_asprintf(...); */
#define QS_FREED QS_SCOPED(qs_free_at)

static inline void qs_free_at(void *pointer_at)
{
    void *p;
    memcpy(&p, pointer_at, sizeof p);
    free(p);
}

/* Defines `name`, for pointers that `release` takes: QS_SCOPED(qs_job_free_at) struct qs_job *job = ...; */
#define QS_RELEASE_AT(name, type, release)                                                                   \
    static inline void name(type **pointer_at)                                                               \
    {                                                                                                        \
        release(*pointer_at);                                                                                \
    }

#endif
