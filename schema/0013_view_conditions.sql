-- The set of conditions in the views that people read most. Before version 12 a job had its own alone.
DROP VIEW v_iteration;
CREATE VIEW v_iteration AS
SELECT lower(hex(r.uid)) AS run, r.job_id AS job, a.name AS arm, g.label AS build,
       coalesce(json_extract(coalesce(a.conditions, q.conditions), '$.name'), 'default') AS conditions, p.label AS point, d.name AS device,
       r.block AS block, w.ord AS window,
       CASE WHEN w.traced = 1 THEN 'traced' WHEN w.evals_step > 0 THEN 'tune' WHEN w.phase = 0 THEN 'warmup' ELSE 'measure' END AS phase,
       w.first_seq + t.i AS seq, CASE WHEN t.start_off_ns >= 0 THEN w.opened_ns + t.start_off_ns END AS start_ns, t.duration_ns AS duration_ns,
       w.evals + w.evals_step * t.i AS evals, r.taint | w.taint | t.taint AS taint,
       coalesce(s.status, 0) AS status, u.user_time_us AS user_time_us, u.system_time_us AS system_time_us,
       u.max_rss_bytes AS max_rss_bytes
FROM run r
JOIN arm a ON a.job_id = r.job_id AND a.idx = r.arm_idx
LEFT JOIN build g ON g.id = a.build_id
JOIN job_point p ON p.job_id = r.job_id AND p.idx = r.point_idx
LEFT JOIN point q ON q.id = p.point_id
LEFT JOIN session e ON e.id = r.session_id
LEFT JOIN boot b ON b.id = e.boot_id
LEFT JOIN device d ON d.id = b.device_id
JOIN window w ON w.run_id = r.id
JOIN iteration t ON t.window_id = w.id
LEFT JOIN iteration_status s ON s.window_id = t.window_id AND s.i = t.i
LEFT JOIN iteration_rusage u ON u.window_id = t.window_id AND u.i = t.i;

DROP VIEW v_run;
CREATE VIEW v_run AS
SELECT r.id AS id, lower(hex(r.uid)) AS run, r.job_id AS job, a.name AS arm, g.label AS build,
       coalesce(json_extract(coalesce(a.conditions, q.conditions), '$.name'), 'default') AS conditions, p.label AS point,
       d.name AS device, r.block AS block, r.pos AS pos, r.attempt AS attempt, r.state AS state,
       r.stop_reason AS stop_reason, r.taint AS taint, count(t.i) AS n,
       count(t.i) FILTER (WHERE w.taint | t.taint <> 0) AS n_tainted, max(w.evals) AS evals,
       avg(1.0 * t.duration_ns / w.evals) FILTER (WHERE w.taint | t.taint = 0) AS mean_ns,
       min(CASE w.evals WHEN 1 THEN t.duration_ns ELSE 1.0 * t.duration_ns / w.evals END)
         FILTER (WHERE w.taint | t.taint = 0) AS min_ns,
       max(CASE w.evals WHEN 1 THEN t.duration_ns ELSE 1.0 * t.duration_ns / w.evals END)
         FILTER (WHERE w.taint | t.taint = 0) AS max_ns,
       r.started_wall_ns AS started_wall_ns, r.ended_wall_ns AS ended_wall_ns
FROM run r
JOIN arm a ON a.job_id = r.job_id AND a.idx = r.arm_idx
LEFT JOIN build g ON g.id = a.build_id
JOIN job_point p ON p.job_id = r.job_id AND p.idx = r.point_idx
LEFT JOIN point q ON q.id = p.point_id
LEFT JOIN session e ON e.id = r.session_id
LEFT JOIN boot b ON b.id = e.boot_id
LEFT JOIN device d ON d.id = b.device_id
LEFT JOIN window w ON w.run_id = r.id AND w.phase = 1
LEFT JOIN iteration t ON t.window_id = w.id
GROUP BY r.id;
