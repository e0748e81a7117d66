/* The store between the loop and its connections.
 *
 * Who touches what: everything here belongs to the loop's thread, but for two things that are lent to the
 * pool. The group under way and the writer belong to the work item from qs_loop_work until `landed`; a read
 * belongs to its work item until `landed`. Both flags are set and read under the mutex, so that close can
 * wait for them without the loop. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/loop.h"
#include "base/mem.h"
#include "store/lock.h"
#include "store/read/reader.h"
#include "store/test_hooks.h"
#include "store/write/write.h"
#include "store/write/writer.h"

struct read_work {
    struct qs_store *store;
    struct read_work *prev, *next;
    qs_store_read_fn *read;
    qs_store_after_fn *after;
    void *user;
    enum qs_lane lane;
    bool ok, started, landed, told;
    struct qs_err err;
};

struct qs_store {
    struct qs_loop *loop; /* borrowed */
    struct qs_store_events events;
    uint8_t farm_uid[16];
    struct qs_lock lock;
    unsigned refs; /* the owner, and each post and work that will call back */
    unsigned held;
    bool kicked, in_flight, closed;
    struct qs_request *first, *last; /* waiting */
    struct qs_request *flight;       /* lent with the writer; NULL: it tidies */
    struct qs_timer *tidy;           /* while the log is blocked */
    int64_t log_bytes;               /* as of the last landing */
    int64_t log_full_bytes;          /* from there on nothing should be measured */
    bool log_blocked, tidy_due;
    struct qs_store_writer writer;
    bool flight_ok;
    struct qs_err trouble; /* lent with the writer */
    struct qs_err told;    /* of the last commit; code 0: it went well */
    struct qs_readers readers;
    struct read_work *reads;
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    bool landed;
};

static void unref(struct qs_store *store)
{
    if (--store->refs > 0)
        return;
    pthread_cond_destroy(&store->cond);
    pthread_mutex_destroy(&store->mutex);
    free(store);
}

static void land(struct qs_store *store, bool *flag)
{
    pthread_mutex_lock(&store->mutex);
    *flag = true;
    pthread_cond_broadcast(&store->cond);
    pthread_mutex_unlock(&store->mutex);
}

static void wait_landed(struct qs_store *store, const bool *flag)
{
    pthread_mutex_lock(&store->mutex);
    while (!*flag)
        pthread_cond_wait(&store->cond, &store->mutex);
    pthread_mutex_unlock(&store->mutex);
}

/* ---- writing ---- */

/* Moves the oldest requests to the flight: all, or as many as fit into one transaction. */
static void load_flight(struct qs_store *store)
{
    size_t bytes = 0;
    struct qs_request *last = store->first;
    for (bytes = last->arena.bytes; last->next && bytes + last->next->arena.bytes <= QS_GROUP_MAX_BYTES;
         last = last->next)
        bytes += last->next->arena.bytes;
    store->flight = store->first;
    store->first = last->next;
    last->next = NULL;
    if (!store->first)
        store->last = NULL;
    store->landed = false;
    store->in_flight = true;
}

static void commit_flight(void *user)
{
    struct qs_store *store = user;
    store->flight_ok = qs_store_writer_commit(&store->writer, store->flight, &store->trouble);
    for (struct qs_request *req = store->flight; req; req = req->next)
        qs_arena_done(&req->arena); /* here and not on the loop: it may be large */
    land(store, &store->landed);
}

/* A done callback may close the store: the rest of the group is told there. */
static void tell_flight(struct qs_store *store)
{
    if (!store->flight && store->flight_ok) { /* it tidied: that says nothing of commits */
        store->in_flight = false;
        return;
    }
    bool trouble = !store->flight_ok, news = trouble != (store->told.code != QS_E_NONE);
    store->flight_ok = true;
    store->told = trouble ? store->trouble : QS_ERR_INIT;
    if (news && trouble && store->events.on_trouble)
        store->events.on_trouble(&store->told, store->events.user);
    if (news && !trouble && store->events.on_recovered)
        store->events.on_recovered(store->events.user);
    while (store->flight) {
        struct qs_request *req = store->flight;
        store->flight = req->next;
        if (req->done)
            req->done(req->ok ? NULL : &req->err, req->ok ? req->id : 0, req->user);
        qs_request_free(req);
    }
    store->in_flight = false;
}

static void kick(struct qs_store *store);

static void on_tidy_time(void *user)
{
    struct qs_store *store = user;
    store->tidy = NULL;
    store->tidy_due = true;
    kick(store);
}

/* What became of the log. While it is blocked it is tried anew each second, but not in a silence. */
static void look_at_log(struct qs_store *store)
{
    const int64_t pause_ns = INT64_C(1000000000);
    bool was = store->log_blocked;
    store->log_blocked = store->writer.blocked;
    store->log_bytes = (int64_t)store->writer.wal_pages * QS_WAL_PAGE_BYTES;
    QS_FREED char *notice = qs_store_notice(store);
    if (was != store->log_blocked && store->events.on_log)
        store->events.on_log(store->log_bytes, notice, store->events.user);
    if (store->log_blocked && !store->tidy && !store->tidy_due)
        store->tidy = qs_timer_start(store->loop, pause_ns, on_tidy_time, store);
}

static void on_committed(void *user)
{
    struct qs_store *store = user;
    if (!store->closed)
        tell_flight(store);
    if (!store->closed) {
        look_at_log(store);
        kick(store);
    }
    unref(store);
}

static void tidy(void *user)
{
    struct qs_store *store = user;
    store->flight_ok = qs_store_writer_tidy(&store->writer, &store->trouble);
    land(store, &store->landed);
}

/* A turn later, so that what is asked for in one turn is one group. */
static void on_kick(void *user)
{
    struct qs_store *store = user;
    store->kicked = false;
    bool free = !store->closed && !store->in_flight && store->held == 0;
    if (free && store->tidy_due) {
        store->tidy_due = false;
        store->landed = false;
        store->in_flight = true;
        store->refs++;
        qs_loop_work(store->loop, QS_LANE_WRITE, tidy, on_committed, store);
    } else if (free && store->first) {
        load_flight(store);
        store->refs++;
        qs_loop_work(store->loop, QS_LANE_WRITE, commit_flight, on_committed, store);
    }
    unref(store);
}

/* on_kick sees whether anything may begin. */
static void kick(struct qs_store *store)
{
    if (store->kicked || !(store->first || store->tidy_due))
        return;
    store->kicked = true;
    store->refs++;
    qs_loop_post(store->loop, on_kick, store);
}

void qs_store_enqueue(struct qs_store *store, struct qs_request *req)
{
    if (store->last)
        store->last->next = req;
    else
        store->first = req;
    store->last = req;
    kick(store);
}

void qs_store_hold(struct qs_store *store)
{
    store->held++;
}

bool qs_store_log_is_full(const struct qs_store *store)
{
    return store->log_blocked && store->log_bytes >= store->log_full_bytes;
}

char *qs_store_notice(const struct qs_store *store)
{
    const int mb = 1000000;
    if (!store->log_blocked)
        return NULL;
    return qs_asprintf("the database's log has %lld MB, because somebody keeps a transaction open on it "
                       "(`lsof %s-wal` shows who); at %lld MB new windows wait",
                       (long long)(store->log_bytes / mb), qs_store_path(store),
                       (long long)(store->log_full_bytes / mb));
}

bool qs_store_is_busy(const struct qs_store *store)
{
    return store->in_flight;
}

const struct qs_err *qs_store_trouble(const struct qs_store *store)
{
    return store->told.code != QS_E_NONE ? &store->told : NULL;
}

/* ---- reading ---- */

static void run_read(void *user)
{
    struct read_work *r = user;
    r->ok = qs_readers_run(&r->store->readers, r->started ? r->store->loop : NULL, r->read, r->user, &r->err);
    land(r->store, &r->landed);
}

static void tell_read(struct read_work *r)
{
    if (r->told)
        return;
    r->told = true;
    if (r->prev)
        r->prev->next = r->next;
    else
        r->store->reads = r->next;
    if (r->next)
        r->next->prev = r->prev;
    r->after(r->ok ? NULL : &r->err, r->user);
}

static void on_read(void *user)
{
    struct read_work *r = user;
    tell_read(r);
    unref(r->store);
    free(r);
}

static void start_read(struct read_work *r)
{
    r->started = true;
    r->store->refs++;
    qs_loop_work(r->store->loop, r->lane, run_read, on_read, r);
}

/* Those that waited for the end of a silence, oldest first. */
static void start_reads(struct qs_store *store)
{
    struct read_work *r = store->reads;
    while (r && r->next)
        r = r->next;
    for (; r; r = r->prev) {
        if (!r->started)
            start_read(r);
    }
}

static void add_read(struct qs_store *store, enum qs_lane lane, qs_store_read_fn *read,
                     qs_store_after_fn *after, void *user)
{
    struct read_work *r = qs_calloc(1, sizeof *r);
    *r = (struct read_work){
        .store = store, .next = store->reads, .read = read, .after = after, .user = user, .lane = lane};
    if (store->reads)
        store->reads->prev = r;
    store->reads = r;
    if (store->held == 0)
        start_read(r);
}

void qs_store_read(struct qs_store *store, qs_store_read_fn *read, qs_store_after_fn *after, void *user)
{
    add_read(store, QS_LANE_QUICK, read, after, user);
}

void qs_store_read_long(struct qs_store *store, qs_store_read_fn *read, qs_store_after_fn *after, void *user)
{
    add_read(store, QS_LANE_LONG, read, after, user);
}

void qs_store_release(struct qs_store *store)
{
    if (store->held > 0)
        store->held--;
    kick(store);
    if (store->held == 0)
        start_reads(store);
}

bool qs_store_read_now(struct qs_store *store, qs_store_read_fn *read, void *user, struct qs_err *err)
{
    return qs_readers_run(&store->readers, NULL, read, user, err);
}

/* ---- opening and closing ---- */

/* With the lock held. Refused files are looked at before SQLite sees them. */
static bool open_locked(struct qs_store *store, const struct qs_migration *list, size_t count,
                        struct qs_err *err)
{
    struct qs_lock *lock = &store->lock;
    if (!qs_migrate_check_file(lock->db_path, (int)count, err))
        return false;
    if (qs_lock_database(lock, err) &&
        qs_store_writer_open(&store->writer, lock->db_path, list, count, err)) {
        if (qs_lock_is_same(lock, err) &&
            qs_intern_farm(&store->writer.db, store->loop, store->farm_uid, err))
            return true;
        qs_store_writer_close(&store->writer);
    }
    if (lock->made)
        unlink(lock->db_path);
    return false;
}

static struct qs_store *new_store(struct qs_loop *loop)
{
    struct qs_store *store = qs_calloc(1, sizeof *store);
    *store = (struct qs_store){
        .loop = loop, .refs = 1, .landed = true, .flight_ok = true, .log_full_bytes = QS_STORE_LOG_MAX_BYTES};
    store->lock.fd = store->lock.db_fd = -1;
    pthread_mutex_init(&store->mutex, NULL);
    pthread_cond_init(&store->cond, NULL);
    return store;
}

bool qs_store_open_list(struct qs_loop *loop, const char *path, const struct qs_store_events *events,
                        const struct qs_migration *list, size_t count, struct qs_store **ret_store,
                        struct qs_err *err)
{
    *ret_store = NULL;
    if (path[0] == 0 || strcmp(path, ":memory:") == 0)
        return qs_fail(err, QS_E_STORE, "a database needs a file, and \"%s\" is not one", path);
    struct qs_lock lock;
    if (!qs_lock_take(path, events ? events->contact : NULL, QS_LOCK_PATIENCE_MS, &lock, err))
        return false;
    struct qs_store *store = new_store(loop);
    store->lock = lock;
    if (events)
        store->events = *events;
    if (!open_locked(store, list, count, err)) {
        qs_lock_drop(&store->lock);
        unref(store);
        return false;
    }
    qs_readers_init(&store->readers, store->lock.db_path);
    *ret_store = store;
    return true;
}

bool qs_store_open(struct qs_loop *loop, const char *path, const struct qs_store_events *events,
                   struct qs_store **ret_store, struct qs_err *err)
{
    return qs_store_open_list(loop, path, events, qs_migrations, qs_migration_count, ret_store, err);
}

/* What an older version left gets an owner for a moment. */
static bool bring_up_to_date(struct qs_loop *loop, const char *path, struct qs_err *err)
{
    struct qs_store *store = NULL;
    bool due, ok = qs_migrate_is_due(path, qs_migration_count, &due, err);
    if (ok && due)
        ok = qs_store_open(loop, path, NULL, &store, err);
    qs_store_close(store);
    return ok;
}

bool qs_store_open_reading(struct qs_loop *loop, const char *path, struct qs_store **ret_store,
                           struct qs_err *err)
{
    QS_FREED char *whole = realpath(path, NULL);
    bool ok = whole ? bring_up_to_date(loop, whole, err)
                    : errno == ENOENT || qs_fail(err, QS_E_STORE, "%s: %s", path, strerror(errno));
    *ret_store = ok ? new_store(loop) : NULL;
    if (ok) {
        (*ret_store)->lock.db_path = qs_strdup(whole ? whole : path);
        qs_readers_init(&(*ret_store)->readers, whole ? (*ret_store)->lock.db_path : NULL);
    }
    return ok;
}

static void end_write(struct qs_store *store)
{
    if (!store->in_flight) {
        load_flight(store);
        commit_flight(store);
    }
    wait_landed(store, &store->landed);
    tell_flight(store);
}

static void end_read(struct qs_store *store)
{
    struct read_work *r = store->reads;
    bool started = r->started;
    if (started)
        wait_landed(store, &r->landed);
    else
        run_read(r);
    tell_read(r);
    if (!started)
        free(r);
}

/* What is under way lands and is told, then what waits is committed here; who is told may ask for more. */
static void drain(struct qs_store *store)
{
    while (store->in_flight || store->first || store->reads)
        if (store->in_flight || store->first)
            end_write(store);
        else
            end_read(store);
}

void qs_store_close(struct qs_store *store)
{
    if (!store)
        return;
    drain(store);
    store->closed = true;
    qs_timer_stop(store->tidy);
    store->tidy = NULL;
    qs_readers_done(&store->readers);
    qs_store_writer_close(&store->writer);
    qs_lock_drop(&store->lock);
    unref(store);
}

const char *qs_store_path(const struct qs_store *store)
{
    return store->lock.db_path;
}

void qs_store_farm_uid(const struct qs_store *store, uint8_t ret_uid[16])
{
    memcpy(ret_uid, store->farm_uid, sizeof store->farm_uid);
}

void qs_store_bound_log(struct qs_store *store, int pages, int64_t full_bytes)
{
    store->writer.truncate_pages = pages;
    store->log_full_bytes = full_bytes;
}

int64_t qs_store_test_pragma(struct qs_store *store, const char *pragma)
{
    QS_FREED char *sql = qs_asprintf("PRAGMA %s", pragma);
    int64_t value = -1;
    qs_db_number(&store->writer.db, sql, &value, NULL);
    return value;
}
