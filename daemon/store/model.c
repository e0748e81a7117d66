#include "store/model.h"

#include "store/read/reader.h"
#include "store/write/write.h"

static void bind_some(struct qs_stmt *s, int64_t v)
{
    if (v != 0)
        qs_stmt_int(s, v);
    else
        qs_stmt_null(s);
}

static bool insert(struct qs_db *db, int64_t device, const struct qs_model_rows *of,
                   const struct qs_model_row *row, struct qs_err *err)
{
    struct qs_stmt s;
    const double numbers[] = {row->tau_s,     row->tau_lo_s, row->tau_hi_s, row->end_mc, row->end_lo_mc,
                              row->end_hi_mc, row->sd_mc,    row->low_mc,   row->high_mc};
    const char *const texts[] = {of->fingerprint, row->kind, row->domain, row->sensor, row->says, row->why};
    if (!qs_stmt_begin(
            db, &s,
            "INSERT OR REPLACE INTO device_model(device_id, fingerprint, kind, domain, sensor, says,"
            " why, tau_s, tau_lo_s, tau_hi_s, end_mc, end_lo_mc, end_hi_mc, sd_mc, low_mc, high_mc,"
            " khz, readings, span_s, trace, job_id, found_wall_ns)"
            " VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            err))
        return false;
    qs_stmt_int(&s, device);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        qs_stmt_text(&s, texts[i]);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        qs_stmt_double(&s, numbers[i]);
    bind_some(&s, row->khz);
    qs_stmt_int(&s, row->readings);
    qs_stmt_double(&s, row->span_s);
    qs_stmt_text(&s, row->trace);
    bind_some(&s, of->job);
    qs_stmt_int(&s, of->found_wall_ns);
    return qs_stmt_run(&s, err);
}

static bool apply_models(struct qs_db *db, const void *at, int64_t *ret_id, struct qs_err *err)
{
    const struct qs_model_rows *models = at;
    int64_t device = 0;
    (void)ret_id;
    if (!qs_find_device(db, models->device, &device, err))
        return false;
    for (size_t i = 0; i < models->count; i++)
        if (!insert(db, device, models, &models->rows[i], err))
            return false;
    return true;
}

void qs_store_models(struct qs_store *store, const struct qs_model_rows *models, qs_store_done_fn *done,
                     void *user)
{
    struct qs_request *req = qs_request_new(apply_models, done, user);
    struct qs_arena *a = &req->arena;
    struct qs_model_row *copies = qs_arena_copy(a, models->rows, models->count * sizeof *copies);
    for (size_t i = 0; i < models->count; i++) {
        copies[i].kind = qs_arena_text(a, copies[i].kind);
        copies[i].domain = qs_arena_text(a, copies[i].domain);
        copies[i].sensor = qs_arena_text(a, copies[i].sensor);
        copies[i].says = qs_arena_text(a, copies[i].says);
        copies[i].why = qs_arena_text(a, copies[i].why);
        copies[i].trace = qs_arena_text(a, copies[i].trace);
    }
    struct qs_model_rows row = *models;
    row.device = qs_arena_text(a, models->device);
    row.fingerprint = qs_arena_text(a, models->fingerprint);
    row.rows = copies;
    req->row = qs_arena_copy(a, &row, sizeof row);
    qs_store_enqueue(store, req);
}

static void take(struct qs_stmt *s, struct qs_model_info *m)
{
    m->row.kind = qs_stmt_get_text(s);
    m->row.domain = qs_stmt_get_text(s);
    m->row.sensor = qs_stmt_get_text(s);
    m->row.says = qs_stmt_get_text(s);
    m->row.why = qs_stmt_get_text(s);
    m->row.tau_s = qs_stmt_get_double(s);
    m->row.tau_lo_s = qs_stmt_get_double(s);
    m->row.tau_hi_s = qs_stmt_get_double(s);
    m->row.end_mc = qs_stmt_get_double(s);
    m->row.end_lo_mc = qs_stmt_get_double(s);
    m->row.end_hi_mc = qs_stmt_get_double(s);
    m->row.sd_mc = qs_stmt_get_double(s);
    m->row.low_mc = qs_stmt_get_double(s);
    m->row.high_mc = qs_stmt_get_double(s);
    m->row.khz = qs_stmt_get_int(s);
    m->row.readings = qs_stmt_get_int(s);
    m->row.span_s = qs_stmt_get_double(s);
    m->row.trace = qs_stmt_get_text(s);
    m->job = qs_stmt_get_int(s);
    m->found_wall_ns = qs_stmt_get_int(s);
    m->fingerprint = qs_stmt_get_text(s);
}

bool qs_read_models(struct qs_store_reader *r, const char *device, const char *fingerprint, bool with_traces,
                    qs_model_fn *fn, void *user, struct qs_err *err)
{
    struct qs_stmt s;
    if (!qs_stmt_begin(
            &r->db, &s,
            "SELECT kind, domain, sensor, says, why, tau_s, tau_lo_s, tau_hi_s, end_mc, end_lo_mc,"
            " end_hi_mc, sd_mc, low_mc, high_mc, khz, readings, span_s, iif(?3, trace, NULL),"
            " job_id, found_wall_ns, fingerprint FROM device_model"
            " WHERE device_id = (SELECT id FROM device WHERE name = ?1) AND (?2 IS NULL OR fingerprint = ?2)"
            " ORDER BY found_wall_ns, kind, domain, sensor",
            err))
        return false;
    qs_stmt_text(&s, device);
    qs_stmt_text(&s, fingerprint);
    qs_stmt_int(&s, with_traces);
    bool ok = true;
    while (qs_stmt_next(&s, &ok, err)) {
        struct qs_model_info model;
        take(&s, &model);
        fn(&model, user);
    }
    return ok;
}
