/* The one connection that writes: groups of requests in one transaction each, and the only checkpoints.
 * Internal to store. Used by one thread at a time (see store.c). */
#ifndef QS_STORE_WRITE_WRITER_H
#define QS_STORE_WRITE_WRITER_H

#include "store/migrate.h"
#include "store/write/request.h"

enum {
    QS_WAL_PAGE_BYTES = 4096,
    QS_WAL_CHECKPOINT_PAGES = 1000,        /* 4 MB: what is in the WAL is copied */
    QS_WAL_TRUNCATE_PAGES = 32 * 1024 / 4, /* 32 MB: it begins anew, unless a reader is in the way */
    QS_GROUP_MAX_BYTES =
        8 * 1024 * 1024 /* of requests in one transaction, so that no commit comes near the bound */
};

struct qs_store_writer {
    const char *path; /* borrowed */
    struct qs_db db;
    int wal_pages;      /* after the last commit */
    int truncate_pages; /* the log begins anew from there on: QS_WAL_TRUNCATE_PAGES */
    bool blocked;       /* above that, because a reader is in the way: qs_store_writer_tidy */
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

/* Tries again to begin the WAL anew. Waits for nobody, as no commit does: whoever keeps a transaction open is
 * in the way until it ends. False where the disk failed. */
bool qs_store_writer_tidy(struct qs_store_writer *w, struct qs_err *err);

#endif
