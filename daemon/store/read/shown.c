#include "store/read/shown.h"

#include "store/read/reader.h"
#include "store/write/write.h"

static int64_t get_known(struct qs_stmt *s)
{
    int64_t v = INT64_MIN;
    (void)qs_stmt_get_maybe(s, &v);
    return v;
}

bool qs_read_artifacts(struct qs_store_reader *r, const uint8_t run_uid[16], qs_artifact_fn *fn, void *user,
                       struct qs_err *err)
{
    struct qs_stmt s;
    int64_t run = 0;
    bool ok = qs_find_run(&r->db, run_uid, &run, err) &&
              qs_stmt_begin(&r->db, &s,
                            "SELECT a.kind, a.name, lower(hex(a.sha256)), f.bytes, a.total_bytes, a.why,"
                            " t.started_ns, t.stopped_ns, t.flags, w.ord FROM artifact a"
                            " LEFT JOIN file f ON f.sha256 = a.sha256"
                            " LEFT JOIN trace t ON t.run_id = a.run_id AND t.idx = a.idx"
                            " LEFT JOIN window w ON w.id = t.window_id WHERE a.run_id = ? ORDER BY a.idx",
                            err);
    if (!ok)
        return false;
    qs_stmt_int(&s, run);
    while (qs_stmt_next(&s, &ok, err)) {
        struct qs_artifact_info a = {.kind = qs_stmt_get_text(&s)};
        a.name = qs_stmt_get_text(&s);
        a.sha256 = qs_stmt_get_text(&s);
        a.kept_bytes = get_known(&s);
        a.total_bytes = get_known(&s);
        a.why = qs_stmt_get_text(&s);
        a.is_trace = qs_stmt_get_maybe(&s, &a.started_ns);
        a.stopped_ns = get_known(&s);
        a.flags = (uint32_t)qs_stmt_get_int(&s);
        a.window = get_known(&s);
        fn(&a, user);
    }
    return ok;
}

bool qs_read_taints(struct qs_store_reader *r, int64_t job, qs_taint_count_fn *fn, void *user,
                    struct qs_err *err)
{
    struct qs_stmt s;
    /* The example is that of the first such taint: with one min() SQLite takes the bare columns from its row.
     */
    bool ok = qs_stmt_begin(
        &r->db, &s,
        "SELECT a.name, t.code, count(DISTINCT t.window_id), count(t.i),"
        " 'block ' || r.block || ', window ' || w.ord || ': ' || t.value || ' (bound ' || t.bound || ')',"
        " CASE WHEN t.code LIKE 'gate:%' THEN (SELECT substr(g.busiest, 1, instr(g.busiest || '[', '[') - 1)"
        "  FROM run r2 JOIN window w2 ON w2.run_id = r2.id JOIN gate g ON g.window_id = w2.id"
        "  WHERE r2.job_id = r.job_id AND w2.traced = 0 AND g.outcome = 'tainted' AND g.busiest <> ''"
        "  GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT 1) END, min(t.window_id * 65536 + t.idx)"
        " FROM run r JOIN arm a ON a.job_id = r.job_id AND a.idx = r.arm_idx"
        " JOIN window w ON w.run_id = r.id JOIN taint t ON t.window_id = w.id"
        " WHERE r.job_id = ? AND w.traced = 0 GROUP BY a.idx, t.code ORDER BY a.idx, t.code",
        err);
    if (!ok)
        return false;
    qs_stmt_int(&s, job);
    while (qs_stmt_next(&s, &ok, err)) {
        struct qs_taint_count c = {.arm = qs_stmt_get_text(&s)};
        c.code = qs_stmt_get_text(&s);
        c.windows = qs_stmt_get_int(&s);
        c.iterations = qs_stmt_get_int(&s);
        c.example = qs_stmt_get_text(&s);
        c.busiest = qs_stmt_get_text(&s);
        fn(&c, user);
    }
    return ok;
}

bool qs_read_evals_found(struct qs_store_reader *r, int64_t job, qs_evals_found_fn *fn, void *user,
                         struct qs_err *err)
{
    struct qs_stmt s;
    /* With one min() SQLite takes the bare columns from its row. */
    bool ok = qs_stmt_begin(
        &r->db, &s,
        "SELECT r.point_idx, p.label, coalesce(d.name, ''), json_extract(r.harness, '$.evals'), min(r.id)"
        " FROM run r JOIN job_point p ON p.job_id = r.job_id AND p.idx = r.point_idx"
        " LEFT JOIN session e ON e.id = r.session_id LEFT JOIN boot b ON b.id = e.boot_id"
        " LEFT JOIN device d ON d.id = b.device_id"
        " WHERE r.job_id = ? AND json_extract(r.harness, '$.evals') IS NOT NULL"
        " GROUP BY r.point_idx, d.name ORDER BY r.point_idx, d.name",
        err);
    if (!ok)
        return false;
    qs_stmt_int(&s, job);
    while (qs_stmt_next(&s, &ok, err)) {
        struct qs_evals_found found = {.point = qs_stmt_get_int(&s)};
        found.label = qs_stmt_get_text(&s);
        found.device = qs_stmt_get_text(&s);
        found.evals_json = qs_stmt_get_text(&s);
        fn(&found, user);
    }
    return ok;
}
