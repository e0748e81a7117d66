/* A store with many nights, written through the store itself: what histories and comparisons are measured
 * on. The values are made up: nothing was measured. */
#ifndef QS_TESTS_BENCH_STORED_H
#define QS_TESTS_BENCH_STORED_H

#include "base/loop.h"
#include "scale.h"
#include "stats/rng.h"
#include "store/store.h"

struct stored_size { /* a night is a job of one arm and one session: so many runs of each benchmark */
    uint32_t nights, benchmarks, runs, windows, per_window;
    bool has_builds; /* the arm has the build `old` in the first half of the nights, `new` in the second */
};

struct stored {
    struct stored_size size;
    char dir[32], path[64];
    struct qs_loop *loop;
    struct qs_store *store;
    struct qs_rng rng;
};

_Noreturn void stored_die(const char *what);
/* Of every write to the store; user: int64_t for the new row's number, or NULL. */
void stored_on_done(const struct qs_err *err, int64_t id, void *user);
void stored_open(struct stored *s, const struct stored_size *size);
/* The folder is removed. */
void stored_close(struct stored *s);

#endif
