/* From the fastest and the slowest iteration to the traces: what a person looks at next. */
#include "store/read/reader.h"
#include "store/read/shown.h"
#include "store/read/util.h"

/* The shortest and the longest of each point, arm, device and phase (1 measured, 3 traced). Of measured ones
 * those that count (qs_counts) of the runs that summaries count, and of a run that is asked for by itself its
 * own; of traced ones those that ran to their end. */
static const char extremes_sql[] =
    "WITH seen AS MATERIALIZED (SELECT r.*, ?2 <> 0 OR (" QS_RUN_GIVES " AND NOT " QS_RUN_SUPERSEDED
    ") AS counts FROM run r"
    "  WHERE r.job_id = ?1 AND (?2 = 0 OR r.id = ?2) AND r.block >= 1 AND r.state IN ('done', 'running')),"
    " it AS (SELECT r.id AS run, r.uid AS uid, r.point_idx AS point, r.arm_idx AS arm, a.name AS "
    "arm_name,"
    "  coalesce(d.name, '') AS device, d.id AS device_id, r.block AS block, r.started_wall_ns AS wall_ns,"
    "  r.warmup_n AS warmup_n, w.id AS window, w.ord AS ord, w.phase + 3 * w.traced AS phase, w.first_seq + "
    "t.i AS seq,"
    "  w.opened_ns + t.start_off_ns AS start_ns, t.duration_ns AS duration_ns, w.evals AS evals,"
    "  w.taint | t.taint AS taint,"
    "  sum(w.taint | t.taint = 0) OVER (PARTITION BY r.id, w.traced ORDER BY w.first_seq, w.id, t.i) AS nth"
    "  FROM seen r JOIN arm a ON a.job_id = r.job_id AND a.idx = r.arm_idx"
    "  LEFT JOIN session e ON e.id = r.session_id LEFT JOIN boot b ON b.id = e.boot_id"
    "  LEFT JOIN device d ON d.id = b.device_id"
    "  JOIN window w ON w.run_id = r.id JOIN iteration t ON t.window_id = w.id"
    "  WHERE (w.phase = 1 AND r.counts) OR (w.traced = 1 AND t.taint = 0)),"
    " ranked AS (SELECT *,"
    "  row_number() OVER (PARTITION BY point, arm, device, phase ORDER BY 1.0 * duration_ns / evals, run, "
    "seq)"
    "  AS fast,"
    "  row_number() OVER (PARTITION BY point, arm, device, phase ORDER BY 1.0 * duration_ns / evals DESC, "
    "run,"
    "  seq) AS slow FROM it"
    "  WHERE phase = 3 OR qs_counts(taint, nth, warmup_n))"
    " SELECT point, arm, arm_name, device, phase, fast = 1, slow = 1, run, uid, block, ord, seq, start_ns,"
    "  duration_ns, evals, window, device_id, wall_ns FROM ranked WHERE fast = 1 OR slow = 1"
    "  ORDER BY point, arm, device, phase, fast <> 1";

/* The trace of the iteration's own window where that is traced, else the nearest one in time under the same
 * conditions: of its run, or of the run that began nearest to it. */
static const char nearest_sql[] =
    "SELECT r.uid, a.name, lower(hex(a.sha256)), t.started_ns FROM trace t"
    " JOIN artifact a ON a.run_id = t.run_id AND a.idx = t.idx JOIN run r ON r.id = t.run_id"
    " LEFT JOIN session e ON e.id = r.session_id LEFT JOIN boot b ON b.id = e.boot_id"
    " WHERE r.job_id = ?1 AND r.point_idx = ?2 AND r.arm_idx = ?3 AND b.device_id IS ?4 AND a.sha256 IS NOT "
    "NULL"
    " AND (?5 = 1 OR t.window_id = ?6)"
    " ORDER BY r.id <> ?7, abs(r.started_wall_ns - ?8), abs(t.started_ns - ?9), r.id, t.idx LIMIT 1";

struct place { /* what leads from an iteration to a trace */
    int64_t job, run, window, device, wall_ns;
    bool has_device;
};

static bool show(struct qs_store_reader *r, const struct place *at, struct qs_extreme *x, qs_extreme_fn *fn,
                 void *user, struct qs_err *err)
{
    struct qs_stmt s;
    if (!qs_stmt_begin(&r->db, &s, nearest_sql, err))
        return false;
    qs_stmt_int(&s, at->job);
    qs_stmt_int(&s, x->point);
    qs_stmt_int(&s, x->arm);
    at->has_device ? qs_stmt_int(&s, at->device) : qs_stmt_null(&s);
    qs_stmt_int(&s, x->traced ? QS_PHASE_TRACED : QS_PHASE_MEASURE);
    qs_stmt_int(&s, at->window);
    qs_stmt_int(&s, at->run);
    qs_stmt_int(&s, at->wall_ns);
    qs_stmt_int(&s, x->start_ns);
    bool ok = qs_stmt_step(&s, &x->trace.found, err);
    if (x->trace.found) {
        qs_stmt_get_blob(&s, x->trace.run_uid, sizeof x->trace.run_uid);
        x->trace.name = qs_stmt_get_text(&s);
        x->trace.sha256 = qs_stmt_get_text(&s);
        x->trace.started_ns = qs_stmt_get_int(&s);
    }
    if (ok)
        fn(x, user);
    qs_stmt_end(&s);
    return ok;
}

static bool show_row(struct qs_store_reader *r, int64_t job, struct qs_stmt *s, qs_extreme_fn *fn, void *user,
                     struct qs_err *err)
{
    struct qs_extreme x = {.point = qs_stmt_get_int(s)};
    struct place at = {.job = job};
    x.arm = qs_stmt_get_int(s);
    x.arm_name = qs_stmt_get_text(s);
    x.device = qs_stmt_get_text(s);
    x.traced = qs_stmt_get_int(s) == QS_PHASE_TRACED;
    x.fastest = qs_stmt_get_int(s) != 0;
    x.slowest = qs_stmt_get_int(s) != 0;
    at.run = qs_stmt_get_int(s);
    qs_stmt_get_blob(s, x.run_uid, sizeof x.run_uid);
    x.block = qs_stmt_get_int(s);
    x.window = qs_stmt_get_int(s);
    x.seq = qs_stmt_get_int(s);
    x.start_ns = qs_stmt_get_int(s);
    x.duration_ns = qs_stmt_get_int(s);
    x.evals = qs_stmt_get_int(s);
    at.window = qs_stmt_get_int(s);
    at.has_device = qs_stmt_get_maybe(s, &at.device);
    at.wall_ns = qs_stmt_get_int(s);
    return show(r, &at, &x, fn, user, err);
}

static bool has_traces(struct qs_store_reader *r, int64_t job, bool *ret_has, struct qs_err *err)
{
    struct qs_stmt s;
    if (!qs_stmt_begin(&r->db, &s,
                       "SELECT 1 FROM run r JOIN trace t ON t.run_id = r.id WHERE r.job_id = ? LIMIT 1", err))
        return false;
    qs_stmt_int(&s, job);
    bool ok = qs_stmt_step(&s, ret_has, err);
    qs_stmt_end(&s);
    return ok;
}

bool qs_read_extremes(struct qs_store_reader *r, int64_t job, int64_t run, bool *ret_has, qs_extreme_fn *fn,
                      void *user, struct qs_err *err)
{
    struct qs_stmt s;
    *ret_has = false;
    bool ok = has_traces(r, job, ret_has, err);
    if (!ok || !*ret_has)
        return ok;
    if (!qs_stmt_begin(&r->db, &s, extremes_sql, err))
        return false;
    qs_stmt_int(&s, job);
    qs_stmt_int(&s, run);
    while (ok && qs_stmt_next(&s, &ok, err))
        ok = show_row(r, job, &s, fn, user, err);
    qs_stmt_end(&s);
    return ok;
}
