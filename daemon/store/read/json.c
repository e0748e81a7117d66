/* JSON texts for people and the API, written with the canonical writer: equal rows give equal bytes. */
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "store/read/read.h"
#include "store/read/reader.h"
#include "store/write/write.h"

/* Writes one object for each row, inside an array. */
typedef bool write_row_fn(struct qs_store_reader *r, struct qs_stmt *s, struct qs_json *j,
                          struct qs_err *err);

static bool write_rows(struct qs_store_reader *r, struct qs_stmt *s, struct qs_json *j,
                       write_row_fn *write_row, struct qs_err *err)
{
    qs_json_array(j);
    bool row = false, ok = qs_stmt_step(s, &row, err);
    while (ok && row) {
        qs_json_object(j);
        ok = write_row(r, s, j, err);
        qs_json_object_end(j);
        ok = ok && qs_stmt_step(s, &row, err);
    }
    qs_stmt_end(s);
    qs_json_array_end(j);
    return ok;
}

/* The text of a whole array. */
static bool write_text(struct qs_store_reader *r, struct qs_stmt *s, write_row_fn *write_row, char **ret_json,
                       struct qs_err *err)
{
    QS_BUF(out);
    struct qs_json j = qs_json_to(&out);
    bool ok = write_rows(r, s, &j, write_row, err);
    *ret_json = ok ? qs_buf_take(&out) : NULL;
    return ok;
}

static void key_int(struct qs_json *j, const char *key, struct qs_stmt *s)
{
    int64_t v = 0;
    bool has = qs_stmt_get_maybe(s, &v);
    qs_json_key(j, key);
    if (has)
        qs_json_int(j, v);
    else
        qs_json_null(j);
}

static bool write_reading(struct qs_store_reader *r, struct qs_stmt *s, struct qs_json *j, struct qs_err *err)
{
    (void)r;
    (void)err;
    qs_json_kstring(j, "sensor", qs_stmt_get_text(s));
    qs_json_kstring(j, "status", qs_stmt_get_text(s));
    key_int(j, "value", s);
    key_int(j, "age_ns", s);
    return true;
}

static bool write_evidence(struct qs_store_reader *r, struct qs_stmt *s, struct qs_json *j,
                           struct qs_err *err)
{
    (void)r;
    (void)err;
    qs_json_kstring(j, "kind", qs_stmt_get_text(s));
    key_int(j, "before", s);
    key_int(j, "after", s);
    return true;
}

static bool write_taint(struct qs_store_reader *r, struct qs_stmt *s, struct qs_json *j, struct qs_err *err)
{
    (void)r;
    (void)err;
    key_int(j, "i", s);
    qs_json_kstring(j, "code", qs_stmt_get_text(s));
    key_int(j, "value", s);
    key_int(j, "bound", s);
    return true;
}

static bool write_gate(struct qs_store_reader *r, int64_t window, struct qs_json *j, struct qs_err *err)
{
    struct qs_stmt s, readings;
    bool row = false;
    if (!qs_stmt_begin(&r->db, &s,
                       "SELECT outcome, decided_ns - began_ns, polls, busiest FROM gate WHERE window_id = ?",
                       err))
        return false;
    qs_stmt_int(&s, window);
    qs_json_key(j, "gate");
    bool ok = qs_stmt_step(&s, &row, err);
    if (!row) {
        qs_json_null(j);
        qs_stmt_end(&s);
        return ok;
    }
    qs_json_object(j);
    qs_json_kstring(j, "outcome", qs_stmt_get_text(&s));
    key_int(j, "waited_ns", &s);
    key_int(j, "polls", &s);
    qs_json_kstring(j, "busiest", qs_stmt_get_text(&s));
    qs_stmt_end(&s);
    ok = qs_stmt_begin(
        &r->db, &readings,
        "SELECT n.name, CASE d.status WHEN 0 THEN 'ok' WHEN 1 THEN 'unreadable' WHEN 2 THEN 'stale'"
        " ELSE 'missing' END, d.value, d.age_ns FROM reading d JOIN sensor n ON n.id = d.sensor_id"
        " WHERE d.window_id = ? ORDER BY d.idx",
        err);
    if (ok) {
        qs_stmt_int(&readings, window);
        qs_json_key(j, "deciding");
        ok = write_rows(r, &readings, j, write_reading, err);
    }
    qs_json_object_end(j);
    return ok;
}

static bool write_list(struct qs_store_reader *r, int64_t window, struct qs_json *j, const char *key,
                       const char *sql, write_row_fn *write_row, struct qs_err *err)
{
    struct qs_stmt s;
    if (!qs_stmt_begin(&r->db, &s, sql, err))
        return false;
    qs_stmt_int(&s, window);
    qs_json_key(j, key);
    return write_rows(r, &s, j, write_row, err);
}

static bool write_window(struct qs_store_reader *r, struct qs_stmt *s, struct qs_json *j, struct qs_err *err)
{
    static const char evidence_sql[] =
        "SELECT n.name, e.before, e.after FROM evidence e JOIN sensor n ON n.id = e.sensor_id"
        " WHERE e.window_id = ? ORDER BY n.name";
    static const char taint_sql[] =
        "SELECT i, code, value, bound FROM taint WHERE window_id = ? ORDER BY idx";
    char names[128];
    int64_t id = qs_stmt_get_int(s);
    key_int(j, "window", s);
    key_int(j, "attempt", s);
    qs_json_kstring(j, "phase", qs_stmt_get_text(s));
    key_int(j, "first_seq", s);
    key_int(j, "n", s);
    key_int(j, "opened_ns", s);
    key_int(j, "closed_ns", s);
    key_int(j, "evals", s);
    qs_json_kstring(j, "silence", qs_stmt_get_text(s));
    const char *why = qs_stmt_get_text(s);
    if (why && why[0])
        qs_json_kstring(j, "silence_why", why);
    uint32_t taint = (uint32_t)qs_stmt_get_int(s);
    qs_json_kint(j, "taint", taint);
    qs_json_kstring(j, "taint_names", qs_taint_names(taint, names, sizeof names));
    qs_json_kstring(j, "how", qs_stmt_get_text(s));
    qs_json_kstring(j, "failure", qs_stmt_get_text(s));
    qs_json_kstring(j, "output", qs_stmt_get_text(s));
    key_int(j, "output_bytes", s);
    return write_gate(r, id, j, err) && write_list(r, id, j, "evidence", evidence_sql, write_evidence, err) &&
           write_list(r, id, j, "taints", taint_sql, write_taint, err);
}

bool qs_read_windows_json(struct qs_store_reader *r, const uint8_t run_uid[16], char **ret_json,
                          struct qs_err *err)
{
    struct qs_stmt s;
    int64_t run = 0;
    *ret_json = NULL;
    if (!qs_find_run(&r->db, run_uid, &run, err) ||
        !qs_stmt_begin(
            &r->db, &s,
            "SELECT w.id, w.ord, w.attempt, v.phase, w.first_seq, w.n, w.opened_ns, w.closed_ns, w.evals,"
            " v.silence, CASE WHEN w.silence = 0 AND r.stream IS NOT NULL THEN ?2 END, w.taint, w.how, "
            "w.failure, w.output, w.output_bytes FROM window w"
            " JOIN v_window v ON v.id = w.id JOIN run r ON r.id = w.run_id WHERE w.run_id = ?1"
            " ORDER BY w.first_seq, w.id",
            err))
        return false;
    qs_stmt_int(&s, run);
    qs_stmt_text(&s, QS_SILENCE_WHY_STREAM);
    return write_text(r, &s, write_window, ret_json, err);
}

/* What is known of a trace beside its content. */
static void write_trace_times(struct qs_stmt *s, struct qs_json *j)
{
    static const char *const flags[] = {"killed", "cut", "ended-early", "left-children"};
    int64_t started_ns = 0;
    if (!qs_stmt_get_maybe(s, &started_ns))
        return;
    qs_json_kint(j, "started_ns", started_ns);
    key_int(j, "stopped_ns", s);
    int64_t bits = qs_stmt_get_int(s);
    key_int(j, "window", s);
    qs_json_karray(j, "flags");
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (bits & (INT64_C(1) << i))
            qs_json_string(j, flags[i]);
    qs_json_array_end(j);
}

static bool write_artifact(struct qs_store_reader *r, struct qs_stmt *s, struct qs_json *j,
                           struct qs_err *err)
{
    (void)r;
    (void)err;
    qs_json_kstring(j, "kind", qs_stmt_get_text(s));
    qs_json_kstring(j, "name", qs_stmt_get_text(s));
    qs_json_kstring(j, "sha256", qs_stmt_get_text(s));
    key_int(j, "kept_bytes", s);
    key_int(j, "total_bytes", s);
    qs_json_kstring(j, "why", qs_stmt_get_text(s));
    write_trace_times(s, j);
    return true;
}

bool qs_read_artifacts_json(struct qs_store_reader *r, const uint8_t run_uid[16], char **ret_json,
                            struct qs_err *err)
{
    struct qs_stmt s;
    int64_t run = 0;
    *ret_json = NULL;
    if (!qs_find_run(&r->db, run_uid, &run, err) ||
        !qs_stmt_begin(
            &r->db, &s,
            "SELECT a.kind, a.name, lower(hex(a.sha256)), f.bytes, a.total_bytes, a.why, t.started_ns,"
            " t.stopped_ns, t.flags, w.ord FROM artifact a LEFT JOIN file f ON f.sha256 = a.sha256"
            " LEFT JOIN trace t ON t.run_id = a.run_id AND t.idx = a.idx LEFT JOIN window w ON w.id = "
            "t.window_id WHERE a.run_id = ? ORDER BY a.idx",
            err))
        return false;
    qs_stmt_int(&s, run);
    return write_text(r, &s, write_artifact, ret_json, err);
}

static bool write_device(struct qs_store_reader *r, struct qs_stmt *s, struct qs_json *j, struct qs_err *err)
{
    (void)r;
    (void)err;
    qs_json_kstring(j, "name", qs_stmt_get_text(s));
    qs_json_kstring(j, "serial", qs_stmt_get_text(s));
    qs_json_kstring(j, "port_path", qs_stmt_get_text(s));
    qs_json_kstring(j, "profile", qs_stmt_get_text(s));
    qs_json_kbool(j, "simulated", qs_stmt_get_int(s) != 0);
    key_int(j, "boots", s);
    const char *fingerprint = qs_stmt_get_text(s);
    qs_json_kraw(j, "fingerprint", fingerprint ? fingerprint : "null");
    return true;
}

bool qs_read_devices_json(struct qs_store_reader *r, char **ret_json, struct qs_err *err)
{
    struct qs_stmt s;
    *ret_json = NULL;
    if (!qs_stmt_begin(
            &r->db, &s,
            "SELECT d.name, d.serial, d.port_path, d.profile, d.simulated,"
            " (SELECT count(*) FROM boot b WHERE b.device_id = d.id),"
            " (SELECT v.body FROM boot b JOIN env v ON v.id = b.fingerprint_id WHERE b.device_id = d.id"
            "  ORDER BY b.id DESC LIMIT 1) FROM device d ORDER BY d.name",
            err))
        return false;
    return write_text(r, &s, write_device, ret_json, err);
}

static bool write_taint_count(struct qs_store_reader *r, struct qs_stmt *s, struct qs_json *j,
                              struct qs_err *err)
{
    (void)r;
    (void)err;
    qs_json_kstring(j, "arm", qs_stmt_get_text(s));
    qs_json_kstring(j, "code", qs_stmt_get_text(s));
    key_int(j, "windows", s);
    key_int(j, "iterations", s);
    qs_json_kstring(j, "example", qs_stmt_get_text(s));
    (void)qs_stmt_get_int(s); /* the key that chose the example */
    qs_json_kstring(j, "busiest", qs_stmt_get_text(s));
    return true;
}

bool qs_read_taints_json(struct qs_store_reader *r, int64_t job, char **ret_json, struct qs_err *err)
{
    struct qs_stmt s;
    *ret_json = NULL;
    /* The example is that of the first such taint: with one min() SQLite takes the bare columns from its row.
     */
    if (!qs_stmt_begin(
            &r->db, &s,
            "SELECT a.name, t.code, count(DISTINCT t.window_id), count(t.i),"
            " 'block ' || r.block || ', window ' || w.ord || ': ' || t.value || ' (bound ' || t.bound || ')',"
            " min(t.window_id * 65536 + t.idx),"
            /* Of the processes that kept gates of this job shut, the one that was named most often. */
            " CASE WHEN t.code LIKE 'gate:%' THEN (SELECT substr(g.busiest, 1, instr(g.busiest || '[', '[') "
            "- 1)"
            "  FROM run r2 JOIN window w2 ON w2.run_id = r2.id JOIN gate g ON g.window_id = w2.id"
            "  WHERE r2.job_id = r.job_id AND w2.traced = 0 AND g.outcome = 'tainted' AND g.busiest <> ''"
            "  GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT 1) END"
            " FROM run r JOIN arm a ON a.job_id = r.job_id AND a.idx = r.arm_idx"
            " JOIN window w ON w.run_id = r.id JOIN taint t ON t.window_id = w.id"
            " WHERE r.job_id = ? AND w.traced = 0 GROUP BY a.idx, t.code ORDER BY a.idx, t.code",
            err))
        return false;
    qs_stmt_int(&s, job);
    return write_text(r, &s, write_taint_count, ret_json, err);
}
