#include <stdlib.h>

#include "base/text.h"
#include "store/read/read.h"
#include "store/read/util.h"
#include "store/read/reader.h"

#define EVENT_SELECT                                                                                         \
    "SELECT id, wall_ns, coalesce(job_id, 0), kind, device, lower(hex(run_uid)), run_uid, body FROM event"

static void take_event(struct qs_stmt *s, struct qs_event_info *event)
{
    event->id = qs_stmt_get_int(s);
    event->wall_ns = qs_stmt_get_int(s);
    event->job = qs_stmt_get_int(s);
    event->kind = qs_stmt_dup_text(s);
    event->device = qs_stmt_dup_text(s);
    const char *hex = qs_stmt_get_text(s);
    uint8_t uid[16];
    event->run = qs_stmt_get_blob(s, uid, sizeof uid) ? qs_strdup(hex) : NULL;
    event->body_json = qs_stmt_dup_text(s);
}

bool qs_read_events(struct qs_store_reader *r, int64_t job, int64_t after_id, size_t limit,
                    struct qs_event_list *ret, struct qs_err *err)
{
    struct qs_stmt s;
    *ret = (struct qs_event_list){0};
    if (!qs_stmt_begin(&r->db, &s,
                       job ? EVENT_SELECT " WHERE id > ? AND job_id = ?3 ORDER BY id LIMIT ?2"
                           : EVENT_SELECT " WHERE id > ? ORDER BY id LIMIT ?2",
                       err))
        return false;
    qs_stmt_int(&s, after_id);
    qs_stmt_int(&s, limit > INT32_MAX ? INT32_MAX : (int64_t)limit);
    if (job)
        qs_stmt_int(&s, job);
    bool ok = true;
    while (qs_stmt_next(&s, &ok, err)) {
        ret->at = qs_grow(ret->at, ret->count, sizeof *ret->at);
        take_event(&s, &ret->at[ret->count++]);
    }
    if (!ok)
        qs_events_free(ret);
    return ok;
}

bool qs_read_cancel(struct qs_store_reader *r, int64_t job, char **ret_why, struct qs_err *err)
{
    struct qs_stmt s;
    bool row = false;
    *ret_why = NULL;
    if (!qs_stmt_begin(&r->db, &s,
                       "SELECT coalesce(body ->> '$.why', '') FROM event WHERE job_id = ? AND kind = ?"
                       " ORDER BY id LIMIT 1",
                       err))
        return false;
    qs_stmt_int(&s, job);
    qs_stmt_text(&s, QS_EVENT_CANCEL);
    bool ok = qs_stmt_step(&s, &row, err);
    if (row)
        *ret_why = qs_stmt_dup_text(&s);
    qs_stmt_end(&s);
    return ok;
}

bool qs_read_was_prepared(struct qs_store_reader *r, int64_t job, const char *device, bool *ret,
                          struct qs_err *err)
{
    struct qs_stmt s;
    if (!qs_stmt_begin(&r->db, &s,
                       "SELECT 1 FROM event WHERE job_id = ? AND device = ? AND kind = ?"
                       " AND body ->> '$.stage' = 'before_job' AND body ->> '$.outcome' = 'done' LIMIT 1",
                       err))
        return false;
    qs_stmt_int(&s, job);
    qs_stmt_text(&s, device);
    qs_stmt_text(&s, QS_EVENT_ACTIONS);
    bool ok = qs_stmt_step(&s, ret, err);
    qs_stmt_end(&s);
    return ok;
}

void qs_events_free(struct qs_event_list *events)
{
    for (size_t i = 0; i < events->count; i++) {
        free(events->at[i].kind);
        free(events->at[i].device);
        free(events->at[i].run);
        free(events->at[i].body_json);
    }
    free(events->at);
    *events = (struct qs_event_list){0};
}
