#include "store/read/reader.h"

#include <assert.h>
#include <stdlib.h>

#include "base/loop.h"
#include "base/mem.h"
#include "store/migrate.h"
#include "store/values.h"

void qs_readers_init(struct qs_readers *pool, const char *path)
{
    *pool = (struct qs_readers){.path = path};
    pthread_mutex_init(&pool->mutex, NULL);
}

static void reader_free(struct qs_store_reader *r)
{
    qs_db_close(&r->db);
    free(r);
}

void qs_readers_done(struct qs_readers *pool)
{
    while (pool->idle) {
        struct qs_store_reader *r = pool->idle;
        pool->idle = r->next;
        reader_free(r);
    }
    pthread_mutex_destroy(&pool->mutex);
}

static bool open_empty(struct qs_db *db, struct qs_err *err)
{
    if (!qs_db_open(db, ":memory:", false, err))
        return false;
    if (qs_migrate(db, qs_migrations, qs_migration_count, err))
        return true;
    qs_db_close(db);
    return false;
}

static struct qs_store_reader *take(struct qs_readers *pool, struct qs_err *err)
{
    pthread_mutex_lock(&pool->mutex);
    struct qs_store_reader *r = pool->idle;
    if (r)
        pool->idle = r->next;
    pthread_mutex_unlock(&pool->mutex);
    if (r)
        return r;
    r = qs_calloc(1, sizeof *r);
    bool open = pool->path ? qs_db_open(&r->db, pool->path, true, err) : open_empty(&r->db, err);
    if (open && qs_worth_in_sql(&r->db, err))
        return r;
    reader_free(r);
    return NULL;
}

static void give_back(struct qs_readers *pool, struct qs_store_reader *r)
{
    pthread_mutex_lock(&pool->mutex);
    r->next = pool->idle;
    pool->idle = r;
    pthread_mutex_unlock(&pool->mutex);
}

/* Between two steps of a statement. */
static int on_steps(void *user)
{
    qs_loop_rest(user);
    return 0;
}

bool qs_readers_run(struct qs_readers *pool, struct qs_loop *rests, qs_store_read_fn *read, void *user,
                    struct qs_err *err)
{
    enum { STEPS = 10000 }; /* of SQLite's machine: below a millisecond */
    struct qs_store_reader *r = take(pool, err);
    if (!r)
        return false;
    sqlite3_progress_handler(r->db.sqlite, STEPS, rests ? on_steps : NULL, rests);
    bool ok = qs_db_exec(&r->db, "BEGIN", err) && read(r, user, err);
    assert(r->db.open == 0); /* a statement that is left keeps its parameters for the next who begins it */
    bool ended = sqlite3_exec(r->db.sqlite, "ROLLBACK", NULL, NULL, NULL) == SQLITE_OK;
    if (ended && !r->db.broken)
        give_back(pool, r);
    else
        reader_free(r);
    return ok;
}
