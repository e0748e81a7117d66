/* Windows as they were written. */
#include "base/mem.h"
#include "store/read/reader.h"
#include "store/read/shown.h"
#include "store/write/request.h"
#include "store/write/write.h"

struct window {
    struct qs_window_row row;
    struct qs_gate_row gate;
    struct qs_arena arena; /* owned: texts */
};

static void take_head(struct qs_stmt *s, struct qs_window_row *w)
{
    w->ord = (uint32_t)qs_stmt_get_int(s);
    w->attempt = (uint32_t)qs_stmt_get_int(s);
    w->phase = (enum qs_phase)qs_stmt_get_int(s);
    w->first_seq = (uint64_t)qs_stmt_get_int(s);
    w->n = (size_t)qs_stmt_get_int(s);
    w->opened_ns = qs_stmt_get_int(s);
    w->closed_ns = qs_stmt_get_int(s);
    w->evals = (uint32_t)qs_stmt_get_int(s);
    w->silence = (enum qs_silence)qs_stmt_get_int(s);
    w->taint = (uint32_t)qs_stmt_get_int(s);
    w->how = qs_stmt_get_text(s);
    w->failure = qs_stmt_get_text(s);
    w->output = qs_stmt_get_text(s);
    w->output_bytes = (uint64_t)qs_stmt_get_int(s);
}

static bool read_gate(struct qs_store_reader *r, int64_t window, struct window *w, struct qs_err *err)
{
    struct qs_stmt s;
    bool ok = qs_stmt_begin(
        &r->db, &s, "SELECT outcome, began_ns, decided_ns, polls, busiest FROM gate WHERE window_id = ?",
        err);
    if (!ok)
        return false;
    qs_stmt_int(&s, window);
    while (qs_stmt_next(&s, &ok, err)) {
        w->gate = (struct qs_gate_row){.outcome = qs_arena_text(&w->arena, qs_stmt_get_text(&s))};
        w->gate.began_ns = qs_stmt_get_int(&s);
        w->gate.decided_ns = qs_stmt_get_int(&s);
        w->gate.polls = (uint32_t)qs_stmt_get_int(&s);
        w->gate.busiest = qs_arena_text(&w->arena, qs_stmt_get_text(&s));
        w->row.gate = &w->gate;
    }
    return ok;
}

static bool read_deciding(struct qs_store_reader *r, int64_t window, struct window *w,
                          struct qs_reading_row **ret, struct qs_err *err)
{
    struct qs_stmt s;
    bool ok =
        qs_stmt_begin(&r->db, &s,
                      "SELECT n.name, d.status, d.value, d.age_ns,"
                      " (SELECT nullif(json_group_array(json_array(p.value ->> 0, p.value ->> 2)), '[]')"
                      "  FROM gate g, json_each(g.trace) p"
                      "  WHERE g.window_id = d.window_id AND p.value ->> 1 = d.idx)"
                      " FROM reading d"
                      " JOIN sensor n ON n.id = d.sensor_id WHERE d.window_id = ? ORDER BY d.idx",
                      err);
    if (!ok)
        return false;
    qs_stmt_int(&s, window);
    while (qs_stmt_next(&s, &ok, err)) {
        *ret = qs_grow(*ret, w->gate.deciding_count, sizeof **ret);
        struct qs_reading_row *row = &(*ret)[w->gate.deciding_count++];
        *row = (struct qs_reading_row){.sensor = qs_arena_text(&w->arena, qs_stmt_get_text(&s))};
        row->status = (uint8_t)qs_stmt_get_int(&s);
        row->value = qs_stmt_get_int(&s);
        row->age_ns = qs_stmt_get_int(&s);
        row->trace = qs_arena_text(&w->arena, qs_stmt_get_text(&s));
    }
    w->gate.deciding = *ret;
    return ok;
}

static bool read_evidence(struct qs_store_reader *r, int64_t window, struct window *w,
                          struct qs_evidence_row **ret, struct qs_err *err)
{
    struct qs_stmt s;
    bool ok = qs_stmt_begin(&r->db, &s,
                            "SELECT n.name, e.before, e.after FROM evidence e"
                            " JOIN sensor n ON n.id = e.sensor_id WHERE e.window_id = ? ORDER BY n.name",
                            err);
    if (!ok)
        return false;
    qs_stmt_int(&s, window);
    while (qs_stmt_next(&s, &ok, err)) {
        *ret = qs_grow(*ret, w->row.evidence_count, sizeof **ret);
        struct qs_evidence_row *row = &(*ret)[w->row.evidence_count++];
        *row = (struct qs_evidence_row){.kind = qs_arena_text(&w->arena, qs_stmt_get_text(&s))};
        row->present = qs_stmt_get_maybe(&s, &row->before);
        row->after = qs_stmt_get_int(&s);
    }
    w->row.evidence = *ret;
    return ok;
}

static bool read_taints(struct qs_store_reader *r, int64_t window, struct window *w,
                        struct qs_taint_row **ret, struct qs_err *err)
{
    struct qs_stmt s;
    bool ok = qs_stmt_begin(
        &r->db, &s, "SELECT coalesce(i, -1), code, value, bound FROM taint WHERE window_id = ? ORDER BY idx",
        err);
    if (!ok)
        return false;
    qs_stmt_int(&s, window);
    while (qs_stmt_next(&s, &ok, err)) {
        *ret = qs_grow(*ret, w->row.taint_count, sizeof **ret);
        struct qs_taint_row *row = &(*ret)[w->row.taint_count++];
        *row = (struct qs_taint_row){.i = (int32_t)qs_stmt_get_int(&s)};
        row->code = qs_arena_text(&w->arena, qs_stmt_get_text(&s));
        row->value = qs_stmt_get_int(&s);
        row->bound = qs_stmt_get_int(&s);
    }
    w->row.taints = *ret;
    return ok;
}

static bool show(struct qs_store_reader *r, struct qs_stmt *s, qs_window_shown_fn *fn, void *user,
                 struct qs_err *err)
{
    struct window w = {.row = {.ord = 0}};
    QS_FREED struct qs_reading_row *deciding = NULL;
    QS_FREED struct qs_evidence_row *evidence = NULL;
    QS_FREED struct qs_taint_row *taints = NULL;
    int64_t id = qs_stmt_get_int(s);
    bool of_stream = qs_stmt_get_int(s) != 0;
    take_head(s, &w.row);
    bool ok = read_gate(r, id, &w, err) && read_deciding(r, id, &w, &deciding, err) &&
              read_evidence(r, id, &w, &evidence, err) && read_taints(r, id, &w, &taints, err);
    if (ok)
        fn(&w.row, of_stream, user);
    qs_arena_done(&w.arena);
    return ok;
}

bool qs_read_windows_shown(struct qs_store_reader *r, const uint8_t run_uid[16], qs_window_shown_fn *fn,
                           void *user, struct qs_err *err)
{
    struct qs_stmt s;
    int64_t run = 0;
    if (!qs_find_run(&r->db, run_uid, &run, err) ||
        !qs_stmt_begin(&r->db, &s,
                       "SELECT w.id, r.stream IS NOT NULL, w.ord, w.attempt,"
                       " CASE WHEN w.traced = 1 THEN 3 WHEN w.evals_step > 0 THEN 2 ELSE w.phase END,"
                       " w.first_seq, w.n, w.opened_ns, w.closed_ns, w.evals, w.silence, w.taint, w.how,"
                       " w.failure, w.output, w.output_bytes FROM window w JOIN run r ON r.id = w.run_id"
                       " WHERE w.run_id = ? ORDER BY w.first_seq, w.id",
                       err))
        return false;
    qs_stmt_int(&s, run);
    bool ok = true;
    while (ok && qs_stmt_next(&s, &ok, err))
        ok = show(r, &s, fn, user, err);
    qs_stmt_end(&s);
    return ok;
}
