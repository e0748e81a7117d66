-- What a job's verdicts come to, in one; and in each view that shows a run its arm and its build.
ALTER TABLE job ADD COLUMN verdict TEXT;

DROP VIEW v_iteration;
CREATE VIEW v_iteration AS
SELECT lower(hex(r.uid)) AS run, r.job_id AS job, a.name AS arm, g.label AS build, p.label AS point, d.name AS device,
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
LEFT JOIN session e ON e.id = r.session_id
LEFT JOIN boot b ON b.id = e.boot_id
LEFT JOIN device d ON d.id = b.device_id
JOIN window w ON w.run_id = r.id
JOIN iteration t ON t.window_id = w.id
LEFT JOIN iteration_status s ON s.window_id = t.window_id AND s.i = t.i
LEFT JOIN iteration_rusage u ON u.window_id = t.window_id AND u.i = t.i;

DROP VIEW v_run;
CREATE VIEW v_run AS
SELECT r.id AS id, lower(hex(r.uid)) AS run, r.job_id AS job, a.name AS arm, g.label AS build, p.label AS point,
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
LEFT JOIN session e ON e.id = r.session_id
LEFT JOIN boot b ON b.id = e.boot_id
LEFT JOIN device d ON d.id = b.device_id
LEFT JOIN window w ON w.run_id = r.id AND w.phase = 1
LEFT JOIN iteration t ON t.window_id = w.id
GROUP BY r.id;

DROP VIEW v_job;
CREATE VIEW v_job AS
SELECT j.id AS id, j.name AS name, j.owner AS owner, j.state AS state, j.reason AS reason, json_extract(j.verdict, '$.text') AS verdict,
       strftime('%Y-%m-%dT%H:%M:%SZ', j.submitted_wall_ns / 1000000000, 'unixepoch') AS submitted,
       (j.ended_wall_ns - j.started_wall_ns) AS took_ns,
       (SELECT count(*) FROM arm a WHERE a.job_id = j.id) AS arms,
       (SELECT group_concat(label, ', ') FROM (SELECT g.label AS label FROM arm a JOIN build g ON g.id = a.build_id
        WHERE a.job_id = j.id ORDER BY a.idx)) AS builds,
       (SELECT count(*) FROM job_point p WHERE p.job_id = j.id) AS points,
       (SELECT count(*) FROM run r WHERE r.job_id = j.id) AS runs,
       (SELECT coalesce(sum(w.n), 0) FROM run r JOIN window w ON w.run_id = r.id
        WHERE r.job_id = j.id) AS iterations
FROM job j;

DROP VIEW v_window;
CREATE VIEW v_window AS
SELECT w.id AS id, lower(hex(r.uid)) AS run, r.job_id AS job, a.name AS arm, g.label AS build, r.block AS block, w.ord AS window,
       w.attempt AS attempt,
       CASE WHEN w.traced = 1 THEN 'traced' WHEN w.evals_step > 0 THEN 'tune' WHEN w.phase = 0 THEN 'warmup' ELSE 'measure' END AS phase,
       w.first_seq AS first_seq, w.n AS n, w.opened_ns AS opened_ns, w.closed_ns - w.opened_ns AS length_ns,
       w.evals AS evals,
       CASE w.silence WHEN 0 THEN 'none' WHEN 1 THEN 'claimed' WHEN 2 THEN 'observed' ELSE 'proven' END AS silence,
       w.taint AS taint, w.how AS how, w.failure AS failure
FROM window w
JOIN run r ON r.id = w.run_id
JOIN arm a ON a.job_id = r.job_id AND a.idx = r.arm_idx
LEFT JOIN build g ON g.id = a.build_id;

DROP VIEW v_gate;
CREATE VIEW v_gate AS
SELECT t.window_id AS window_id, lower(hex(r.uid)) AS run, r.job_id AS job, a.name AS arm, g.label AS build, w.ord AS window,
       t.outcome AS outcome, t.decided_ns - t.began_ns AS waited_ns, t.polls AS polls, t.busiest AS busiest, n.name AS sensor,
       CASE d.status WHEN 0 THEN 'ok' WHEN 1 THEN 'unreadable' WHEN 2 THEN 'stale' WHEN 3 THEN 'missing' END AS status,
       d.value AS value, d.age_ns AS age_ns
FROM gate t
JOIN window w ON w.id = t.window_id
JOIN run r ON r.id = w.run_id
JOIN arm a ON a.job_id = r.job_id AND a.idx = r.arm_idx
LEFT JOIN build g ON g.id = a.build_id
LEFT JOIN reading d ON d.window_id = t.window_id
LEFT JOIN sensor n ON n.id = d.sensor_id;

DROP VIEW v_evidence;
CREATE VIEW v_evidence AS
SELECT e.window_id AS window_id, lower(hex(r.uid)) AS run, r.job_id AS job, a.name AS arm, g.label AS build, w.ord AS window,
       n.name AS kind, e.before AS before, e.after AS after, e.after - e.before AS change
FROM evidence e
JOIN sensor n ON n.id = e.sensor_id
JOIN window w ON w.id = e.window_id
JOIN run r ON r.id = w.run_id
JOIN arm a ON a.job_id = r.job_id AND a.idx = r.arm_idx
LEFT JOIN build g ON g.id = a.build_id;

DROP VIEW v_taint;
CREATE VIEW v_taint AS
SELECT t.window_id AS window_id, lower(hex(r.uid)) AS run, r.job_id AS job, a.name AS arm, g.label AS build, r.block AS block,
       w.ord AS window, t.i AS i, w.first_seq + t.i AS seq, t.code AS code, t.value AS value, t.bound AS bound
FROM taint t
JOIN window w ON w.id = t.window_id
JOIN run r ON r.id = w.run_id
JOIN arm a ON a.job_id = r.job_id AND a.idx = r.arm_idx
LEFT JOIN build g ON g.id = a.build_id;

DROP VIEW v_tuning;
CREATE VIEW v_tuning AS
SELECT lower(hex(t.key)) AS key, json_extract(t.depends, '$.device') AS device, json_extract(t.depends, '$.executable') AS executable,
       json_extract(t.depends, '$.benchmark') AS benchmark, t.evals AS evals, t.oracle AS oracle,
       t.precision_ns AS precision_ns, t.accuracy_ns AS accuracy_ns, t.tries AS tries,
       t.evaluation_ps / 1000.0 AS evaluation_ns, t.table_evals AS table_evals, t.logistic_evals AS logistic_evals,
       lower(hex(r.uid)) AS run, a.name AS arm, g.label AS build,
       strftime('%Y-%m-%dT%H:%M:%SZ', t.found_wall_ns / 1000000000, 'unixepoch') AS found
FROM tuning t
JOIN run r ON r.id = t.run_id
JOIN arm a ON a.job_id = r.job_id AND a.idx = r.arm_idx
LEFT JOIN build g ON g.id = a.build_id;

DROP VIEW v_artifact;
CREATE VIEW v_artifact AS
SELECT lower(hex(r.uid)) AS run, r.job_id AS job, m.name AS arm, g.label AS build, a.idx AS idx, a.kind AS kind, a.name AS name,
       lower(hex(a.sha256)) AS sha256, f.bytes AS kept_bytes, a.total_bytes AS total_bytes, a.why AS why
FROM artifact a
JOIN run r ON r.id = a.run_id
JOIN arm m ON m.job_id = r.job_id AND m.idx = r.arm_idx
LEFT JOIN build g ON g.id = m.build_id
LEFT JOIN file f ON f.sha256 = a.sha256;

DROP VIEW v_trace;
CREATE VIEW v_trace AS
SELECT lower(hex(r.uid)) AS run, r.job_id AS job, m.name AS arm, g.label AS build, t.idx AS idx, a.name AS tool, w.ord AS window,
       t.started_ns AS started_ns, t.stopped_ns AS stopped_ns, t.flags AS flags, lower(hex(a.sha256)) AS sha256,
       f.bytes AS kept_bytes, a.why AS why
FROM trace t
JOIN artifact a ON a.run_id = t.run_id AND a.idx = t.idx
JOIN run r ON r.id = t.run_id
JOIN arm m ON m.job_id = r.job_id AND m.idx = r.arm_idx
LEFT JOIN build g ON g.id = m.build_id
LEFT JOIN window w ON w.id = t.window_id
LEFT JOIN file f ON f.sha256 = a.sha256;
