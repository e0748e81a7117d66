/* The one connection that writes: groups of requests in one transaction each, and the only checkpoints.
 * Internal to store. Used by one thread at a time (see store.c). */
#ifndef QS_STORE_WRITER_H
#define QS_STORE_WRITER_H

#include "store/migrate.h"
#include "store/request.h"

enum {
    QS_WAL_CHECKPOINT_PAGES = 1000, /* 4 MB: what is in the WAL is copied without waiting for readers */
    QS_WAL_TRUNCATE_PAGES = 32 * 1024 / 4, /* 32 MB: readers are waited for */
    QS_WAL_MAX_PAGES = 64 * 1024 / 4,      /* 64 MB: the bound that is promised */
    QS_GROUP_MAX_BYTES =
        8 * 1024 * 1024 /* of requests in one transaction, so that no commit comes near the bound */
};

struct qs_store_writer {
    const char *path; /* borrowed */
    struct qs_db db;
    int wal_pages; /* after the last commit */
};

/* Opens, migrates to the end of the list, and empties the WAL where nobody reads it. The file exists. */
bool qs_store_writer_open(struct qs_store_writer *w, const char *path, const struct qs_migration *list,
                          size_t count, struct qs_err *err);
/* Checkpoints what it can, then closes. */
void qs_store_writer_close(struct qs_store_writer *w);
/* Applies the group in order, each request on its own savepoint, commits, and fills ok, id and err of each.
 * False where the disk or the database failed: *ret_trouble says how; requests that are not ok were not
 * stored as far as anybody may know, and the next call starts with a new connection. */
bool qs_store_writer_commit(struct qs_store_writer *w, struct qs_request *group, struct qs_err *ret_trouble);

#endif
