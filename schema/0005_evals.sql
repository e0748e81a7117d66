-- Evaluations: windows in which they rise from iteration to iteration, and what was found with them.
ALTER TABLE window ADD COLUMN evals_step INT NOT NULL DEFAULT 0 CHECK(evals_step IN (0, 1));

CREATE TABLE tuning(
  key BLOB NOT NULL PRIMARY KEY CHECK(length(key) = 32),
  depends TEXT NOT NULL,
  run_id INT NOT NULL REFERENCES run,
  oracle TEXT NOT NULL CHECK(oracle IN ('table', 'logistic')),
  precision_ns INT,
  accuracy_ns INT,
  tries INT NOT NULL,
  evaluation_ps INT NOT NULL,
  table_evals INT NOT NULL,
  logistic_evals INT NOT NULL,
  evals INT NOT NULL CHECK(evals >= 1),
  found_wall_ns INT NOT NULL
) STRICT, WITHOUT ROWID;

DROP VIEW v_iteration;
CREATE VIEW v_iteration AS
SELECT lower(hex(r.uid)) AS run, r.job_id AS job, a.name AS arm, p.label AS point, d.name AS device,
       r.block AS block, w.ord AS window,
       CASE WHEN w.evals_step > 0 THEN 'tune' WHEN w.phase = 0 THEN 'warmup' ELSE 'measure' END AS phase,
       w.first_seq + t.i AS seq, w.opened_ns + t.start_off_ns AS start_ns, t.duration_ns AS duration_ns,
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

-- Of one evaluation, as the reports have it; a mean, a least and a greatest integer where there is one.
DROP VIEW v_run;
CREATE VIEW v_run AS
SELECT r.id AS id, lower(hex(r.uid)) AS run, r.job_id AS job, a.name AS arm, p.label AS point,
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
JOIN job_point p ON p.job_id = r.job_id AND p.idx = r.point_idx
LEFT JOIN session e ON e.id = r.session_id
LEFT JOIN boot b ON b.id = e.boot_id
LEFT JOIN device d ON d.id = b.device_id
LEFT JOIN window w ON w.run_id = r.id AND w.phase = 1
LEFT JOIN iteration t ON t.window_id = w.id
GROUP BY r.id;

DROP VIEW v_window;
CREATE VIEW v_window AS
SELECT w.id AS id, lower(hex(r.uid)) AS run, r.job_id AS job, a.name AS arm, r.block AS block, w.ord AS window,
       w.attempt AS attempt,
       CASE WHEN w.evals_step > 0 THEN 'tune' WHEN w.phase = 0 THEN 'warmup' ELSE 'measure' END AS phase,
       w.first_seq AS first_seq, w.n AS n, w.opened_ns AS opened_ns, w.closed_ns - w.opened_ns AS length_ns,
       w.evals AS evals,
       CASE w.silence WHEN 0 THEN 'none' WHEN 1 THEN 'claimed' WHEN 2 THEN 'observed' ELSE 'proven' END AS silence,
       w.taint AS taint, w.how AS how, w.failure AS failure
FROM window w
JOIN run r ON r.id = w.run_id
JOIN arm a ON a.job_id = r.job_id AND a.idx = r.arm_idx;

CREATE VIEW v_tuning AS
SELECT lower(hex(t.key)) AS key, json_extract(t.depends, '$.device') AS device, json_extract(t.depends, '$.executable') AS executable,
       json_extract(t.depends, '$.benchmark') AS benchmark, t.evals AS evals, t.oracle AS oracle,
       t.precision_ns AS precision_ns, t.accuracy_ns AS accuracy_ns, t.tries AS tries,
       t.evaluation_ps / 1000.0 AS evaluation_ns, t.table_evals AS table_evals, t.logistic_evals AS logistic_evals,
       lower(hex(r.uid)) AS run, strftime('%Y-%m-%dT%H:%M:%SZ', t.found_wall_ns / 1000000000, 'unixepoch') AS found
FROM tuning t
JOIN run r ON r.id = t.run_id;
