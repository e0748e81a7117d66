/* Read-only connections: as many as reads ran at once, each used by one read at a time. Internal to store.
 * The pool is the only thing in store that several threads touch at once; its mutex guards the list of idle
 * readers and nothing else. */
#ifndef QS_STORE_READ_READER_H
#define QS_STORE_READ_READER_H

#include <pthread.h>

#include "store/db.h"
#include "store/store.h"

struct qs_loop;

struct qs_store_reader {
    struct qs_db db;
    struct qs_store_reader *next; /* idle */
};

struct qs_readers {
    const char *path; /* borrowed; NULL: each reads an empty database of its own, in memory */
    pthread_mutex_t mutex;
    struct qs_store_reader *idle; /* owned */
};

void qs_readers_init(struct qs_readers *pool, const char *path);
void qs_readers_done(struct qs_readers *pool); /* no read is running */
/* Runs read() on one snapshot. Any thread. `rests` is the loop whose works may be held (base/loop.h): the
 * read rests then; NULL on the loop's own thread, which must not. */
bool qs_readers_run(struct qs_readers *pool, struct qs_loop *rests, qs_store_read_fn *read, void *user,
                    struct qs_err *err);

#endif
