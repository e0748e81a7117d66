#include "store/knob.h"

#include "store/read/reader.h"
#include "store/write/write.h"

static bool insert(struct qs_db *db, int64_t device, const struct qs_knob_rows *of,
                   const struct qs_knob_row *row, struct qs_err *err)
{
    struct qs_stmt s;
    const char *const texts[] = {of->fingerprint, row->name,   row->kind, row->path,
                                 row->sticks,     row->effect, row->why};
    const int64_t numbers[] = {row->after_ms, row->low_khz, row->high_khz, row->seen_low_khz,
                               row->seen_high_khz};
    if (!qs_stmt_begin(
            db, &s,
            "INSERT INTO device_knob(device_id, fingerprint, name, kind, path, sticks, effect, why,"
            " after_ms, low_khz, high_khz, seen_low_khz, seen_high_khz, loop_ratio, job_id,"
            " found_wall_ns) VALUES(?, ?, ?, ?, ?, ?, ?, ?, nullif(?, 0), nullif(?, 0),"
            " nullif(?, 0), nullif(?, 0), nullif(?, 0), ?, nullif(?, 0), ?)",
            err))
        return false;
    qs_stmt_int(&s, device);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        qs_stmt_text(&s, texts[i]);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        qs_stmt_int(&s, numbers[i]);
    qs_stmt_double(&s, row->loop_ratio);
    qs_stmt_int(&s, of->job);
    qs_stmt_int(&s, of->found_wall_ns);
    return qs_stmt_run(&s, err);
}

static bool apply_knobs(struct qs_db *db, const void *at, int64_t *ret_id, struct qs_err *err)
{
    const struct qs_knob_rows *knobs = at;
    int64_t device = 0;
    struct qs_stmt s;
    (void)ret_id;
    if (!qs_find_device(db, knobs->device, &device, err) ||
        !qs_stmt_begin(db, &s, "DELETE FROM device_knob WHERE device_id = ? AND fingerprint = ?", err))
        return false;
    qs_stmt_int(&s, device);
    qs_stmt_text(&s, knobs->fingerprint);
    if (!qs_stmt_run(&s, err))
        return false;
    for (size_t i = 0; i < knobs->count; i++)
        if (!insert(db, device, knobs, &knobs->rows[i], err))
            return false;
    return true;
}

void qs_store_knobs(struct qs_store *store, const struct qs_knob_rows *knobs, qs_store_done_fn *done,
                    void *user)
{
    struct qs_request *req = qs_request_new(apply_knobs, done, user);
    struct qs_arena *a = &req->arena;
    struct qs_knob_row *copies = qs_arena_copy(a, knobs->rows, knobs->count * sizeof *copies);
    for (size_t i = 0; i < knobs->count; i++) {
        copies[i].name = qs_arena_text(a, copies[i].name);
        copies[i].kind = qs_arena_text(a, copies[i].kind);
        copies[i].path = qs_arena_text(a, copies[i].path);
        copies[i].sticks = qs_arena_text(a, copies[i].sticks);
        copies[i].effect = qs_arena_text(a, copies[i].effect);
        copies[i].why = qs_arena_text(a, copies[i].why);
    }
    struct qs_knob_rows row = *knobs;
    row.device = qs_arena_text(a, knobs->device);
    row.fingerprint = qs_arena_text(a, knobs->fingerprint);
    row.rows = copies;
    req->row = qs_arena_copy(a, &row, sizeof row);
    qs_store_enqueue(store, req);
}

static void take(struct qs_stmt *s, struct qs_knob_info *k)
{
    k->fingerprint = qs_stmt_get_text(s);
    k->row.name = qs_stmt_get_text(s);
    k->row.kind = qs_stmt_get_text(s);
    k->row.path = qs_stmt_get_text(s);
    k->row.sticks = qs_stmt_get_text(s);
    k->row.effect = qs_stmt_get_text(s);
    k->row.why = qs_stmt_get_text(s);
    k->row.after_ms = qs_stmt_get_int(s);
    k->row.low_khz = qs_stmt_get_int(s);
    k->row.high_khz = qs_stmt_get_int(s);
    k->row.seen_low_khz = qs_stmt_get_int(s);
    k->row.seen_high_khz = qs_stmt_get_int(s);
    k->row.loop_ratio = qs_stmt_get_double(s);
    k->job = qs_stmt_get_int(s);
    k->found_wall_ns = qs_stmt_get_int(s);
}

bool qs_read_knobs(struct qs_store_reader *r, const char *device, qs_knob_fn *fn, void *user,
                   struct qs_err *err)
{
    struct qs_stmt s;
    if (!qs_stmt_begin(&r->db, &s,
                       "SELECT fingerprint, name, kind, path, sticks, effect, why, after_ms, low_khz,"
                       " high_khz, seen_low_khz, seen_high_khz, loop_ratio, job_id, found_wall_ns"
                       " FROM device_knob k WHERE device_id = (SELECT id FROM device WHERE name = ?1)"
                       " AND fingerprint = (SELECT fingerprint FROM device_knob WHERE device_id = k.device_id"
                       " ORDER BY found_wall_ns DESC LIMIT 1) ORDER BY name",
                       err))
        return false;
    qs_stmt_text(&s, device);
    bool ok = true;
    while (qs_stmt_next(&s, &ok, err)) {
        struct qs_knob_info knob;
        take(&s, &knob);
        fn(&knob, user);
    }
    return ok;
}
