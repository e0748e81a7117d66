/* The rows that all sides of bench_ingest write, and the sides. */
#ifndef QS_TESTS_BENCH_INGEST_H
#define QS_TESTS_BENCH_INGEST_H

#include "scale.h"
#include "store/store.h"

enum {
    PER_WINDOW = 50,
    WINDOWS = QS_FULL_OR_SMOKE(2000, 20),
    PER_TRANSACTION = QS_FULL_OR_SMOKE(100, 10),
    METRICS = 9
};

extern const char *const ingest_metrics[METRICS];

/* One window; allocated in one block of WINDOWS. */
struct ingest_window {
    int64_t opened_ns, closed_ns;
    struct qs_iteration_row rows[PER_WINDOW];
};

struct ingest_spent {
    double wall_s, cpu_s; /* of the whole process */
};

void ingest_die(const char *what);
void ingest_begin(struct ingest_spent *s);
void ingest_end(struct ingest_spent *s);
/* A store at path with one job and one run {1}, ready for windows. */
struct qs_store *ingest_open_world(struct qs_loop *loop, const char *path);
/* What the store is asked for window w. Borrows *window. */
struct qs_window_row ingest_window_row(uint32_t w, const struct ingest_window *window);

/* Each writes all windows into a new database at path, PER_TRANSACTION windows in each transaction. */
struct ingest_spent ingest_bare(const char *path, struct ingest_window *windows);
struct ingest_spent ingest_store(const char *path, struct ingest_window *windows);
/* A simulated device measures them in virtual time: agent core, codec, link, session, store, commit, ACK.
 * Fills in *windows, the same on each call. */
struct ingest_spent ingest_line(const char *path, struct ingest_window *windows);

#endif
