/* A store with many nights, written through the store itself: what histories and comparisons are measured
 * on. The values are made up: nothing was measured. */
#ifndef QS_TESTS_BENCH_STORED_H
#define QS_TESTS_BENCH_STORED_H

#include <sqlite3.h>

#include "base/loop.h"
#include "scale.h"
#include "stats/rng.h"
#include "store/read/history.h"
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
    sqlite3 *bare;               /* owned */
    sqlite3_stmt *scan;          /* owned: all iterations of one benchmark */
    int64_t sum;                 /* of what was scanned, so that nothing is left out */
    struct qs_median_row *fresh; /* owned: medians that a history had to compute */
    size_t fresh_count;
};

_Noreturn void stored_die(const char *what);
/* Of every write to the store; user: int64_t for the new row's number, or NULL. */
void stored_on_done(const struct qs_err *err, int64_t id, void *user);
void stored_open(struct stored *s, const struct stored_size *size);
/* Reads the iterations of the first benchmark past the store: what everything is measured in. */
void stored_scan(struct stored *s);
/* The medians that nobody had kept, of the last history that was read; the data has none then. */
void stored_take_fresh(struct stored *s, struct qs_history_data *data);
/* No median is kept any more: as before anybody has asked. */
void stored_forget(struct stored *s);

enum { STORED_SIDES_MOST = 8, STORED_ROUNDS = 7 };

struct stored_side {
    const char *name;
    void (*prepare)(void *user); /* outside of what is measured, or NULL */
    void (*run)(void *user);
};
/* Each side once in each round, in an order that is drawn; what a side found fresh is kept after it. Prints
 * the CPU time of each, and its ratio to the first. */
void stored_rounds(struct stored *s, const struct stored_side *sides, size_t count, void *user);

/* The folder is removed. */
void stored_close(struct stored *s);

#endif
