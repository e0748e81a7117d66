/* From the fastest and the slowest iteration to the traces: what a person looks at next. */
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "store/read/read.h"
#include "store/read/reader.h"
#include "store/read/util.h"
#include "store/write/write.h"

/* The shortest and the longest of each point, arm, device and phase (1 measured, 3 traced). Of measured ones
 * those that summaries count, and of a run that is asked for by itself its own; of traced ones those that ran
 * to their end. */
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
    "  row_number() OVER (PARTITION BY r.id, w.traced ORDER BY w.first_seq, w.id, t.i) AS nth"
    "  FROM seen r JOIN arm a ON a.job_id = r.job_id AND a.idx = r.arm_idx"
    "  LEFT JOIN session e ON e.id = r.session_id LEFT JOIN boot b ON b.id = e.boot_id"
    "  LEFT JOIN device d ON d.id = b.device_id"
    "  JOIN window w ON w.run_id = r.id JOIN iteration t ON t.window_id = w.id"
    "  WHERE (w.phase = 1 AND r.counts AND w.taint | t.taint = 0) OR (w.traced = 1 AND t.taint = 0)),"
    " ranked AS (SELECT *,"
    "  row_number() OVER (PARTITION BY point, arm, device, phase ORDER BY 1.0 * duration_ns / evals, run, "
    "seq)"
    "  AS fast,"
    "  row_number() OVER (PARTITION BY point, arm, device, phase ORDER BY 1.0 * duration_ns / evals DESC, "
    "run,"
    "  seq) AS slow FROM it WHERE phase = 3 OR nth > warmup_n)"
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

struct extreme {
    int64_t point, arm, phase, run, block, window_ord, seq, start_ns, duration_ns, evals, window, wall_ns,
        device;
    bool fastest, slowest, has_device;
    uint8_t uid[16];
};

struct links {
    struct qs_store_reader *r;
    struct qs_json *j;
    int64_t job;
    bool open;            /* a group is */
    int64_t point, arm;   /* of it */
    struct qs_buf device; /* of it */
};

static void put_uid(struct qs_json *j, const char *key, const uint8_t uid[16])
{
    char hex[33];
    qs_hex(uid, 16, hex);
    qs_json_kstring(j, key, hex);
}

/* "trace": {"run", "name", "sha256", "offset_ns"}; null where there is none. */
static bool put_trace(const struct links *l, const struct extreme *x, struct qs_err *err)
{
    struct qs_stmt s;
    uint8_t uid[16];
    bool row = false;
    if (!qs_stmt_begin(&l->r->db, &s, nearest_sql, err))
        return false;
    qs_stmt_int(&s, l->job);
    qs_stmt_int(&s, x->point);
    qs_stmt_int(&s, x->arm);
    x->has_device ? qs_stmt_int(&s, x->device) : qs_stmt_null(&s);
    qs_stmt_int(&s, x->phase);
    qs_stmt_int(&s, x->window);
    qs_stmt_int(&s, x->run);
    qs_stmt_int(&s, x->wall_ns);
    qs_stmt_int(&s, x->start_ns);
    bool ok = qs_stmt_step(&s, &row, err);
    qs_json_key(l->j, "trace");
    if (row) {
        qs_json_object(l->j);
        qs_stmt_get_blob(&s, uid, sizeof uid);
        put_uid(l->j, "run", uid);
        qs_json_kstring(l->j, "name", qs_stmt_get_text(&s));
        qs_json_kstring(l->j, "sha256", qs_stmt_get_text(&s));
        int64_t started_ns = qs_stmt_get_int(&s);
        qs_json_kint(l->j, "started_ns", started_ns);
        if (x->phase == QS_PHASE_TRACED)
            qs_json_kint(l->j, "offset_ns", x->start_ns - started_ns);
        qs_json_object_end(l->j);
    } else {
        qs_json_null(l->j);
    }
    qs_stmt_end(&s);
    return ok;
}

static bool put_extreme(const struct links *l, const char *key, const struct extreme *x, struct qs_err *err)
{
    qs_json_kobject(l->j, key);
    put_uid(l->j, "run", x->uid);
    qs_json_kint(l->j, "block", x->block);
    qs_json_kint(l->j, "window", x->window_ord);
    qs_json_kint(l->j, "seq", x->seq);
    qs_json_kint(l->j, "start_ns", x->start_ns);
    qs_json_kint(l->j, "duration_ns", x->duration_ns);
    qs_json_kint(l->j, "evals", x->evals);
    bool ok = put_trace(l, x, err);
    qs_json_object_end(l->j);
    return ok;
}

static void enter_group(struct links *l, const struct extreme *x, const char *arm_name, const char *device)
{
    if (l->open && l->point == x->point && l->arm == x->arm && strcmp(l->device.data, device) == 0)
        return;
    if (l->open)
        qs_json_object_end(l->j);
    l->open = true;
    l->point = x->point;
    l->arm = x->arm;
    qs_buf_clear(&l->device);
    qs_buf_str(&l->device, device);
    qs_json_object(l->j);
    qs_json_kint(l->j, "point", x->point);
    qs_json_kint(l->j, "arm", x->arm);
    qs_json_kstring(l->j, "arm_name", arm_name);
    qs_json_kstring(l->j, "device", device);
}

static bool put_row(struct links *l, struct qs_stmt *s, struct qs_err *err)
{
    struct extreme x = {.point = qs_stmt_get_int(s)};
    x.arm = qs_stmt_get_int(s);
    const char *arm_name = qs_stmt_get_text(s), *device = qs_stmt_get_text(s);
    x.phase = qs_stmt_get_int(s);
    x.fastest = qs_stmt_get_int(s) != 0;
    x.slowest = qs_stmt_get_int(s) != 0;
    x.run = qs_stmt_get_int(s);
    qs_stmt_get_blob(s, x.uid, sizeof x.uid);
    x.block = qs_stmt_get_int(s);
    x.window_ord = qs_stmt_get_int(s);
    x.seq = qs_stmt_get_int(s);
    x.start_ns = qs_stmt_get_int(s);
    x.duration_ns = qs_stmt_get_int(s);
    x.evals = qs_stmt_get_int(s);
    x.window = qs_stmt_get_int(s);
    x.has_device = qs_stmt_get_maybe(s, &x.device);
    x.wall_ns = qs_stmt_get_int(s);
    bool traced = x.phase == QS_PHASE_TRACED;
    enter_group(l, &x, arm_name, device);
    return (!x.fastest || put_extreme(l, traced ? "traced_fastest" : "fastest", &x, err)) &&
           (!x.slowest || put_extreme(l, traced ? "traced_slowest" : "slowest", &x, err));
}

static bool put_groups(struct links *l, int64_t run, struct qs_err *err)
{
    struct qs_stmt s;
    if (!qs_stmt_begin(&l->r->db, &s, extremes_sql, err))
        return false;
    qs_stmt_int(&s, l->job);
    qs_stmt_int(&s, run);
    bool row = false, ok = qs_stmt_step(&s, &row, err);
    qs_json_array(l->j);
    while (ok && row)
        ok = put_row(l, &s, err) && qs_stmt_step(&s, &row, err);
    if (l->open)
        qs_json_object_end(l->j);
    qs_json_array_end(l->j);
    qs_stmt_end(&s);
    return ok;
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

bool qs_read_traces_json(struct qs_store_reader *r, int64_t job, int64_t run, char **ret_json,
                         struct qs_err *err)
{
    bool has = false;
    *ret_json = NULL;
    if (!has_traces(r, job, &has, err))
        return false;
    if (!has)
        return true;
    struct qs_json j;
    struct links l = {.r = r, .j = &j, .job = job};
    QS_BUF(out);
    qs_buf_init(&l.device);
    j = qs_json_to(&out);
    bool ok = put_groups(&l, run, err);
    if (ok)
        *ret_json = qs_buf_take(&out);
    qs_buf_done(&l.device);
    return ok;
}
