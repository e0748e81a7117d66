#include "store/read/recent.h"

#include "store/write/write.h"
#include "store/read/reader.h"

bool qs_read_last_session(struct qs_store_reader *r, const char *device, qs_last_session_fn *fn, void *user,
                          struct qs_err *err)
{
    struct qs_stmt s;
    bool found = false;
    if (!qs_stmt_begin(
            &r->db, &s,
            "WITH last AS MATERIALIZED (SELECT e.* FROM session e JOIN boot b ON b.id = e.boot_id"
            "  JOIN device d ON d.id = b.device_id WHERE d.name = ?1 ORDER BY e.id DESC LIMIT 1),"
            " own AS MATERIALIZED (SELECT w.id, w.n, w.taint, r.id AS run FROM last e JOIN run r ON r.job_id "
            "= e.job_id"
            "  AND r.session_id = e.id JOIN window w ON w.run_id = r.id AND w.phase = 1)"
            "SELECT e.uid, j.name, j.state, e.end_reason, e.job_id, e.started_wall_ns, e.ended_wall_ns,"
            " (SELECT count(*) FROM run r WHERE r.job_id = e.job_id AND r.session_id = e.id),"
            " (SELECT count(*) FROM own), (SELECT count(*) FROM own WHERE taint <> 0),"
            " (SELECT total(n) FROM own) FROM last e JOIN job j ON j.id = e.job_id",
            err))
        return false;
    qs_stmt_text(&s, device);
    bool ok = qs_stmt_step(&s, &found, err);
    if (found) {
        struct qs_last_session e;
        qs_stmt_get_blob(&s, e.uid, sizeof e.uid);
        e.job_name = qs_stmt_get_text(&s);
        e.job_state = qs_stmt_get_text(&s);
        e.end_reason = qs_stmt_get_text(&s);
        e.job = qs_stmt_get_int(&s);
        e.started_wall_ns = qs_stmt_get_int(&s);
        e.ended_wall_ns = qs_stmt_get_int(&s);
        e.runs = qs_stmt_get_int(&s);
        e.windows = qs_stmt_get_int(&s);
        e.tainted = qs_stmt_get_int(&s);
        e.iterations = qs_stmt_get_int(&s);
        fn(&e, user);
    }
    qs_stmt_end(&s);
    return ok;
}

bool qs_read_session_taints(struct qs_store_reader *r, const uint8_t session_uid[16], qs_taint_count_fn *fn,
                            void *user, struct qs_err *err)
{
    struct qs_stmt s;
    int64_t session = 0;
    if (!qs_find_session(&r->db, session_uid, &session, err) ||
        !qs_stmt_begin(&r->db, &s,
                       "SELECT t.code, count(DISTINCT t.window_id) AS windows FROM session e"
                       " JOIN run r ON r.job_id = e.job_id AND r.session_id = e.id"
                       " JOIN window w ON w.run_id = r.id AND w.phase = 1 JOIN taint t ON t.window_id = w.id"
                       " WHERE e.id = ? GROUP BY t.code ORDER BY windows DESC, t.code LIMIT 100",
                       err))
        return false;
    qs_stmt_int(&s, session);
    bool ok = true;
    while (qs_stmt_next(&s, &ok, err)) {
        const char *code = qs_stmt_get_text(&s);
        fn(code, qs_stmt_get_int(&s), user);
    }
    return ok;
}

#define WATCHED "(n.name GLOB 'thermal:*' OR n.name GLOB 'freq:*')"

bool qs_read_recent(struct qs_store_reader *r, const char *device, qs_recent_reading_fn *fn, void *user,
                    struct qs_err *err)
{
    struct qs_stmt s;
    if (!qs_stmt_begin(
            &r->db, &s,
            "WITH last AS MATERIALIZED (SELECT e.id, e.job_id, (SELECT c.wall_ns - c.device_ns FROM "
            "clock_pair c"
            "   WHERE c.boot_id = e.boot_id ORDER BY c.host_ns DESC LIMIT 1) AS off"
            "  FROM session e JOIN boot b ON b.id = e.boot_id JOIN device d ON d.id = b.device_id"
            "  WHERE d.name = ?1 ORDER BY e.id DESC LIMIT ?2),"
            " own AS MATERIALIZED (SELECT w.id, w.opened_ns + e.off AS opened, w.closed_ns + e.off AS "
            "closed, e.off"
            "  FROM last e JOIN run r ON r.job_id = e.job_id AND r.session_id = e.id"
            "  JOIN window w ON w.run_id = r.id WHERE e.off IS NOT NULL ORDER BY w.id DESC LIMIT ?3) "
            "SELECT n.name AS name, o.opened AS at, v.before AS value FROM own o"
            " JOIN evidence v ON v.window_id = o.id JOIN sensor n ON n.id = v.sensor_id"
            " WHERE v.before IS NOT NULL AND " WATCHED
            " UNION ALL SELECT n.name, o.closed, v.after FROM own o"
            " JOIN evidence v ON v.window_id = o.id JOIN sensor n ON n.id = v.sensor_id"
            " WHERE v.after IS NOT NULL AND " WATCHED " UNION ALL SELECT n.name, g.began_ns + o.off + "
            "(p.value ->> 0) * 1000000, p.value ->> 2 FROM own o"
            " JOIN gate g ON g.window_id = o.id JOIN json_each(g.trace) p"
            " JOIN reading d ON d.window_id = o.id AND d.idx = p.value ->> 1 JOIN sensor n ON n.id = "
            "d.sensor_id"
            " WHERE " WATCHED " ORDER BY name, at",
            err))
        return false;
    qs_stmt_text(&s, device);
    qs_stmt_int(&s, QS_RECENT_SESSIONS);
    qs_stmt_int(&s, QS_RECENT_WINDOWS);
    bool ok = true;
    while (qs_stmt_next(&s, &ok, err)) {
        struct qs_recent_reading reading = {.sensor = qs_stmt_get_text(&s)};
        reading.wall_ns = qs_stmt_get_int(&s);
        reading.value = qs_stmt_get_int(&s);
        fn(&reading, user);
    }
    return ok;
}
