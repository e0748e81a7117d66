#include "store/read/medians.h"

#include <math.h>

#include "store/write/request.h"

struct list {
    const struct qs_median_row *at; /* in the arena */
    size_t count;
};

static bool put(struct qs_db *db, const struct qs_median_row *row, struct qs_err *err)
{
    struct qs_stmt s;
    if (!qs_stmt_begin(db, &s,
                       "INSERT OR REPLACE INTO run_median(run_id, metric_id, method, median, n, soft)"
                       " SELECT r.id, ?2, ?3, ?4, ?5, ?6 FROM run r WHERE r.uid = ?1 AND r.warmup_n = ?7"
                       " AND (SELECT count(*) FROM window w WHERE w.run_id = r.id) = ?8",
                       err))
        return false;
    qs_stmt_blob(&s, row->run_uid, sizeof row->run_uid);
    qs_stmt_int(&s, row->metric);
    qs_stmt_int(&s, QS_MEDIAN_METHOD);
    qs_stmt_double(&s, row->median);
    qs_stmt_int(&s, row->n);
    qs_stmt_int(&s, row->disturbed);
    qs_stmt_int(&s, row->warmup_n);
    qs_stmt_int(&s, row->windows);
    return qs_stmt_run(&s, err);
}

static bool apply(struct qs_db *db, const void *row, int64_t *ret_id, struct qs_err *err)
{
    const struct list *list = row;
    bool ok = true;
    (void)ret_id;
    for (size_t i = 0; ok && i < list->count; i++)
        ok = put(db, &list->at[i], err);
    return ok;
}

void qs_store_medians(struct qs_store *store, const struct qs_median_row *rows, size_t count,
                      qs_store_done_fn *done, void *user)
{
    struct qs_request *req = qs_request_new(apply, done, user);
    const struct list list = {.at = qs_arena_copy(&req->arena, rows, count * sizeof *rows), .count = count};
    req->row = qs_arena_copy(&req->arena, &list, sizeof list);
    qs_store_enqueue(store, req);
}
