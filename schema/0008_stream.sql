-- Mode stream: how the documents of a run are read, and what a window's values are to the device: one process. Their
-- starts are not known.
ALTER TABLE run ADD COLUMN stream TEXT;
ALTER TABLE window ADD COLUMN device_n INT;

DROP VIEW v_iteration;
CREATE VIEW v_iteration AS
SELECT lower(hex(r.uid)) AS run, r.job_id AS job, a.name AS arm, p.label AS point, d.name AS device,
       r.block AS block, w.ord AS window,
       CASE WHEN w.traced = 1 THEN 'traced' WHEN w.evals_step > 0 THEN 'tune' WHEN w.phase = 0 THEN 'warmup' ELSE 'measure' END AS phase,
       w.first_seq + t.i AS seq, CASE WHEN t.start_off_ns >= 0 THEN w.opened_ns + t.start_off_ns END AS start_ns, t.duration_ns AS duration_ns,
       w.evals + w.evals_step * t.i AS evals, r.taint | w.taint | t.taint AS taint,
       coalesce(s.status, 0) AS status, u.user_time_us AS user_time_us, u.system_time_us AS system_time_us,
       u.max_rss_bytes AS max_rss_bytes
FROM run r
JOIN arm a ON a.job_id = r.job_id AND a.idx = r.arm_idx
JOIN job_point p ON p.job_id = r.job_id AND p.idx = r.point_idx
LEFT JOIN session e ON e.id = r.session_id
LEFT JOIN boot b ON b.id = e.boot_id
LEFT JOIN device d ON d.id = b.device_id
JOIN window w ON w.run_id = r.id
JOIN iteration t ON t.window_id = w.id
LEFT JOIN iteration_status s ON s.window_id = t.window_id AND s.i = t.i
LEFT JOIN iteration_rusage u ON u.window_id = t.window_id AND u.i = t.i;
