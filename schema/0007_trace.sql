-- Traced windows, in no statistic, and what their tracers wrote.
ALTER TABLE window ADD COLUMN traced INT NOT NULL DEFAULT 0 CHECK(traced IN (0, 1));

-- Artifacts have one kind more: the table is made again, because a CHECK cannot grow.
DROP VIEW v_artifact;
ALTER TABLE artifact RENAME TO artifact_before;
DROP INDEX artifact_file;
CREATE TABLE artifact(
  run_id INT NOT NULL REFERENCES run,
  idx INT NOT NULL,
  kind TEXT NOT NULL CHECK(kind IN ('output', 'kernel-log', 'file', 'trace')),
  name TEXT NOT NULL,
  sha256 BLOB REFERENCES file,
  total_bytes INT NOT NULL CHECK(total_bytes >= 0),
  why TEXT,
  PRIMARY KEY(run_id, idx)
) STRICT, WITHOUT ROWID;
INSERT INTO artifact(run_id, idx, kind, name, sha256, total_bytes, why)
  SELECT run_id, idx, kind, name, sha256, total_bytes, why FROM artifact_before;
DROP TABLE artifact_before;
CREATE INDEX artifact_file ON artifact(sha256) WHERE sha256 IS NOT NULL;

CREATE VIEW v_artifact AS
SELECT lower(hex(r.uid)) AS run, r.job_id AS job, a.idx AS idx, a.kind AS kind, a.name AS name,
       lower(hex(a.sha256)) AS sha256, f.bytes AS kept_bytes, a.total_bytes AS total_bytes, a.why AS why
FROM artifact a
JOIN run r ON r.id = a.run_id
LEFT JOIN file f ON f.sha256 = a.sha256;

CREATE TABLE trace(
  run_id INT NOT NULL,
  idx INT NOT NULL,
  window_id INT REFERENCES window,
  flags INT NOT NULL,
  started_ns INT NOT NULL,
  stopped_ns INT NOT NULL,
  PRIMARY KEY(run_id, idx),
  FOREIGN KEY(run_id, idx) REFERENCES artifact(run_id, idx)
) STRICT, WITHOUT ROWID;
CREATE INDEX trace_window ON trace(window_id) WHERE window_id IS NOT NULL;

DROP VIEW v_iteration;
CREATE VIEW v_iteration AS
SELECT lower(hex(r.uid)) AS run, r.job_id AS job, a.name AS arm, p.label AS point, d.name AS device,
       r.block AS block, w.ord AS window,
       CASE WHEN w.traced = 1 THEN 'traced' WHEN w.evals_step > 0 THEN 'tune' WHEN w.phase = 0 THEN 'warmup' ELSE 'measure' END AS phase,
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

DROP VIEW v_window;
CREATE VIEW v_window AS
SELECT w.id AS id, lower(hex(r.uid)) AS run, r.job_id AS job, a.name AS arm, r.block AS block, w.ord AS window,
       w.attempt AS attempt,
       CASE WHEN w.traced = 1 THEN 'traced' WHEN w.evals_step > 0 THEN 'tune' WHEN w.phase = 0 THEN 'warmup' ELSE 'measure' END AS phase,
       w.first_seq AS first_seq, w.n AS n, w.opened_ns AS opened_ns, w.closed_ns - w.opened_ns AS length_ns,
       w.evals AS evals,
       CASE w.silence WHEN 0 THEN 'none' WHEN 1 THEN 'claimed' WHEN 2 THEN 'observed' ELSE 'proven' END AS silence,
       w.taint AS taint, w.how AS how, w.failure AS failure
FROM window w
JOIN run r ON r.id = w.run_id
JOIN arm a ON a.job_id = r.job_id AND a.idx = r.arm_idx;

CREATE VIEW v_trace AS
SELECT lower(hex(r.uid)) AS run, r.job_id AS job, t.idx AS idx, a.name AS tool, w.ord AS window,
       t.started_ns AS started_ns, t.stopped_ns AS stopped_ns, t.flags AS flags, lower(hex(a.sha256)) AS sha256,
       f.bytes AS kept_bytes, a.why AS why
FROM trace t
JOIN artifact a ON a.run_id = t.run_id AND a.idx = t.idx
JOIN run r ON r.id = t.run_id
LEFT JOIN window w ON w.id = t.window_id
LEFT JOIN file f ON f.sha256 = a.sha256;
