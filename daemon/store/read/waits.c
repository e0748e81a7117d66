#include "store/read/reader.h"
#include "store/read/shown.h"

bool qs_read_gate_waits(struct qs_store_reader *r, int64_t job, size_t most, qs_gate_wait_fn *fn, void *user,
                        struct qs_err *err)
{
    struct qs_stmt s;
    bool ok = qs_stmt_begin(
        &r->db, &s,
        "WITH longest AS MATERIALIZED ("
        " SELECT g.window_id AS id, g.decided_ns - g.began_ns AS waited_ns, count(*) OVER () AS gates,"
        "  sum(g.decided_ns - g.began_ns) OVER () AS total_ns, r.block AS block, d.name AS device"
        " FROM run r JOIN window w ON w.run_id = r.id JOIN gate g ON g.window_id = w.id"
        " LEFT JOIN session e ON e.id = r.session_id LEFT JOIN boot b ON b.id = e.boot_id"
        " LEFT JOIN device d ON d.id = b.device_id"
        " WHERE r.job_id = ?1 AND g.trace IS NOT NULL ORDER BY waited_ns DESC, id LIMIT ?2)"
        "SELECT v.run, v.arm, l.device, v.outcome, v.busiest, l.id, l.block, v.window, l.waited_ns,"
        " v.sensor, v.trace, v.trace ->> '$[0][1]', v.trace ->> '$[#-1][1]', l.gates, l.total_ns"
        " FROM longest l CROSS JOIN v_gate v ON v.window_id = l.id WHERE v.trace IS NOT NULL"
        " ORDER BY l.waited_ns DESC, l.id, v.sensor",
        err);
    if (!ok)
        return false;
    qs_stmt_int(&s, job);
    qs_stmt_int(&s, (int64_t)most);
    while (qs_stmt_next(&s, &ok, err)) {
        struct qs_gate_wait w = {.run = qs_stmt_get_text(&s)};
        w.arm = qs_stmt_get_text(&s);
        w.device = qs_stmt_get_text(&s);
        w.outcome = qs_stmt_get_text(&s);
        w.busiest = qs_stmt_get_text(&s);
        w.window_id = qs_stmt_get_int(&s);
        w.block = qs_stmt_get_int(&s);
        w.window = qs_stmt_get_int(&s);
        w.waited_ns = qs_stmt_get_int(&s);
        w.sensor = qs_stmt_get_text(&s);
        w.trace = qs_stmt_get_text(&s);
        w.first = qs_stmt_get_int(&s);
        w.last = qs_stmt_get_int(&s);
        w.gates = qs_stmt_get_int(&s);
        w.total_ns = qs_stmt_get_int(&s);
        fn(&w, user);
    }
    return ok;
}

bool qs_read_cooling_waits(struct qs_store_reader *r, const char *device, qs_cooling_wait_fn *fn, void *user,
                           struct qs_err *err)
{
    struct qs_stmt s;
    bool ok = qs_stmt_begin(
        &r->db, &s,
        "SELECT r.started_wall_ns, e.id, e.body, n.name,"
        " (SELECT nullif(json_group_array(json_array(p.value ->> 0, p.value ->> 2)), '[]')"
        "  FROM json_each(g.trace) p WHERE p.value ->> 1 = d.idx) AS trace"
        " FROM gate g CROSS JOIN window w ON w.id = g.window_id CROSS JOIN run r ON r.id = w.run_id"
        " CROSS JOIN session o ON o.id = r.session_id CROSS JOIN boot b ON b.id = o.boot_id"
        " CROSS JOIN env e ON e.id = b.fingerprint_id CROSS JOIN reading d ON d.window_id = g.window_id"
        " CROSS JOIN sensor n ON n.id = d.sensor_id"
        " WHERE g.trace IS NOT NULL AND g.window_id > (SELECT max(window_id) FROM gate) - 200000"
        " AND b.device_id = (SELECT id FROM device WHERE name = ?1) AND n.name GLOB 'thermal:*'"
        " ORDER BY g.window_id DESC, d.idx LIMIT 1000",
        err);
    if (!ok)
        return false;
    qs_stmt_text(&s, device);
    while (qs_stmt_next(&s, &ok, err)) {
        struct qs_cooling_wait w = {.wall_ns = qs_stmt_get_int(&s)};
        w.facts_id = qs_stmt_get_int(&s);
        w.facts_json = qs_stmt_get_text(&s);
        w.sensor = qs_stmt_get_text(&s);
        w.trace = qs_stmt_get_text(&s);
        if (w.trace)
            fn(&w, user);
    }
    return ok;
}
