-- Version 1. Every column has a sentence and a unit in README.md beside this file; a test compares the two.
-- The caller wraps this in one transaction together with application_id and user_version.

CREATE TABLE farm(
  uid BLOB PRIMARY KEY CHECK(length(uid) = 16),
  created_wall_ns INT NOT NULL
) STRICT;

CREATE TABLE file(
  sha256 BLOB PRIMARY KEY CHECK(length(sha256) = 32),
  bytes INT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE env(
  id INTEGER PRIMARY KEY,
  sha256 BLOB NOT NULL UNIQUE CHECK(length(sha256) = 32),
  body TEXT NOT NULL
) STRICT;

CREATE TABLE device(
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  serial TEXT NOT NULL,
  port_path TEXT NOT NULL,
  profile TEXT,
  simulated INT NOT NULL CHECK(simulated IN (0, 1))
) STRICT;

CREATE TABLE boot(
  id INTEGER PRIMARY KEY,
  device_id INT NOT NULL REFERENCES device,
  boot_uuid TEXT NOT NULL,
  fingerprint_id INT NOT NULL REFERENCES env,
  clock TEXT NOT NULL,
  seen_wall_ns INT NOT NULL,
  UNIQUE(device_id, boot_uuid)
) STRICT;

CREATE TABLE clock_pair(
  boot_id INT NOT NULL REFERENCES boot,
  host_ns INT NOT NULL,
  device_ns INT NOT NULL,
  rtt_ns INT NOT NULL,
  wall_ns INT NOT NULL,
  PRIMARY KEY(boot_id, host_ns)
) STRICT, WITHOUT ROWID;

CREATE TABLE benchmark(
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE point(
  id INTEGER PRIMARY KEY,
  benchmark_id INT NOT NULL REFERENCES benchmark,
  params TEXT NOT NULL,
  conditions TEXT NOT NULL,
  UNIQUE(benchmark_id, params, conditions)
) STRICT;

CREATE TABLE metric(
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  unit TEXT NOT NULL,
  lower_is_better INT NOT NULL CHECK(lower_is_better IN (0, 1))
) STRICT;

CREATE TABLE sensor(
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE build(
  id INTEGER PRIMARY KEY,
  label TEXT NOT NULL UNIQUE,
  content BLOB CHECK(content IS NULL OR length(content) = 32)
) STRICT;

CREATE TABLE job(
  id INTEGER PRIMARY KEY,
  idem TEXT UNIQUE,
  owner TEXT NOT NULL,
  name TEXT NOT NULL,
  spec TEXT NOT NULL,
  seed INT NOT NULL,
  state TEXT NOT NULL CHECK(state IN ('queued', 'running', 'done', 'failed', 'cancelled')),
  reason TEXT,
  submitted_wall_ns INT NOT NULL,
  started_wall_ns INT,
  ended_wall_ns INT
) STRICT;
CREATE INDEX job_live ON job(id) WHERE state IN ('queued', 'running');

CREATE TABLE arm(
  job_id INT NOT NULL REFERENCES job,
  idx INT NOT NULL,
  name TEXT NOT NULL,
  build_id INT REFERENCES build,
  argv TEXT NOT NULL,
  PRIMARY KEY(job_id, idx),
  UNIQUE(job_id, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE job_point(
  job_id INT NOT NULL REFERENCES job,
  idx INT NOT NULL,
  point_id INT NOT NULL REFERENCES point,
  label TEXT NOT NULL,
  PRIMARY KEY(job_id, idx)
) STRICT, WITHOUT ROWID;
CREATE INDEX job_point_point ON job_point(point_id);

CREATE TABLE session(
  id INTEGER PRIMARY KEY,
  uid BLOB NOT NULL UNIQUE CHECK(length(uid) = 16),
  job_id INT NOT NULL REFERENCES job,
  boot_id INT NOT NULL REFERENCES boot,
  env_id INT NOT NULL REFERENCES env,
  started_wall_ns INT NOT NULL,
  ended_wall_ns INT,
  end_reason TEXT
) STRICT;

CREATE TABLE run(
  id INTEGER PRIMARY KEY,
  uid BLOB NOT NULL UNIQUE CHECK(length(uid) = 16),
  job_id INT NOT NULL REFERENCES job,
  arm_idx INT NOT NULL,
  point_idx INT NOT NULL,
  session_id INT REFERENCES session,
  block INT NOT NULL,
  pos INT NOT NULL,
  attempt INT NOT NULL,
  exe_path TEXT,
  exe_sha256 BLOB CHECK(exe_sha256 IS NULL OR length(exe_sha256) = 32),
  state TEXT NOT NULL CHECK(state IN ('running', 'done', 'failed', 'interrupted', 'cancelled')),
  stop_reason TEXT,
  taint INT NOT NULL DEFAULT 0,
  error_code TEXT,
  error_text TEXT,
  started_wall_ns INT NOT NULL,
  ended_wall_ns INT,
  FOREIGN KEY(job_id, arm_idx) REFERENCES arm(job_id, idx),
  FOREIGN KEY(job_id, point_idx) REFERENCES job_point(job_id, idx)
) STRICT;
CREATE INDEX run_job ON run(job_id);
CREATE INDEX run_open ON run(id) WHERE state = 'running';

CREATE TABLE window(
  id INTEGER PRIMARY KEY,
  run_id INT NOT NULL REFERENCES run,
  ord INT NOT NULL,
  attempt INT NOT NULL,
  phase INT NOT NULL CHECK(phase IN (0, 1)),
  first_seq INT NOT NULL,
  n INT NOT NULL CHECK(n >= 0),
  opened_ns INT NOT NULL,
  closed_ns INT NOT NULL,
  evals INT NOT NULL,
  silence INT NOT NULL CHECK(silence BETWEEN 0 AND 3),
  taint INT NOT NULL,
  how TEXT NOT NULL,
  failure TEXT,
  output TEXT,
  output_bytes INT NOT NULL
) STRICT;
CREATE INDEX window_run ON window(run_id, first_seq);

-- No foreign keys below this line where a row is written for every iteration: they cost 22 % of ingest,
-- and only the writer, which has just inserted the window, writes there.
CREATE TABLE iteration(
  window_id INT NOT NULL,
  i INT NOT NULL,
  start_off_ns INT NOT NULL,
  duration_ns INT NOT NULL,
  taint INT NOT NULL DEFAULT 0,
  PRIMARY KEY(window_id, i)
) STRICT, WITHOUT ROWID;

CREATE TABLE iteration_status(
  window_id INT NOT NULL,
  i INT NOT NULL,
  status INT NOT NULL,
  PRIMARY KEY(window_id, i)
) STRICT, WITHOUT ROWID;

CREATE TABLE iteration_rusage(
  window_id INT NOT NULL,
  i INT NOT NULL,
  user_time_us INT,
  system_time_us INT,
  max_rss_bytes INT,
  minor_faults INT,
  major_faults INT,
  voluntary_switches INT,
  involuntary_switches INT,
  block_in INT,
  block_out INT,
  PRIMARY KEY(window_id, i)
) STRICT, WITHOUT ROWID;

CREATE TABLE iteration_metric(
  window_id INT NOT NULL,
  metric_id INT NOT NULL,
  i INT NOT NULL,
  value INT NOT NULL,
  PRIMARY KEY(window_id, metric_id, i)
) STRICT, WITHOUT ROWID;

CREATE TABLE gate(
  window_id INTEGER PRIMARY KEY REFERENCES window,
  began_ns INT NOT NULL,
  decided_ns INT NOT NULL,
  outcome TEXT NOT NULL,
  polls INT NOT NULL,
  busiest TEXT
) STRICT;

CREATE TABLE reading(
  window_id INT NOT NULL REFERENCES gate,
  idx INT NOT NULL,
  sensor_id INT NOT NULL REFERENCES sensor,
  status INT NOT NULL,
  value INT NOT NULL,
  age_ns INT NOT NULL,
  PRIMARY KEY(window_id, idx)
) STRICT, WITHOUT ROWID;

CREATE TABLE evidence(
  window_id INT NOT NULL REFERENCES window,
  sensor_id INT NOT NULL REFERENCES sensor,
  before INT,
  after INT,
  PRIMARY KEY(window_id, sensor_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE taint(
  window_id INT NOT NULL REFERENCES window,
  idx INT NOT NULL,
  i INT,
  code TEXT NOT NULL,
  value INT NOT NULL,
  bound INT NOT NULL,
  PRIMARY KEY(window_id, idx)
) STRICT, WITHOUT ROWID;

CREATE TABLE event(
  id INTEGER PRIMARY KEY,
  wall_ns INT NOT NULL,
  kind TEXT NOT NULL,
  device TEXT,
  job_id INT,
  run_uid BLOB CHECK(run_uid IS NULL OR length(run_uid) = 16),
  body TEXT NOT NULL
) STRICT;
CREATE INDEX event_job ON event(job_id) WHERE job_id IS NOT NULL;

INSERT INTO metric(id, name, unit, lower_is_better) VALUES
  (1, 'user_time_us', 'us', 1),
  (2, 'system_time_us', 'us', 1),
  (3, 'max_rss_bytes', 'bytes', 1),
  (4, 'minor_faults', 'count', 1),
  (5, 'major_faults', 'count', 1),
  (6, 'voluntary_switches', 'count', 1),
  (7, 'involuntary_switches', 'count', 1),
  (8, 'block_in', 'count', 1),
  (9, 'block_out', 'count', 1);

CREATE VIEW v_iteration AS
SELECT lower(hex(r.uid)) AS run, r.job_id AS job, a.name AS arm, p.label AS point, d.name AS device,
       r.block AS block, w.ord AS window, CASE w.phase WHEN 0 THEN 'warmup' ELSE 'measure' END AS phase,
       w.first_seq + t.i AS seq, w.opened_ns + t.start_off_ns AS start_ns, t.duration_ns AS duration_ns,
       w.evals AS evals, r.taint | w.taint | t.taint AS taint, coalesce(s.status, 0) AS status,
       u.user_time_us AS user_time_us, u.system_time_us AS system_time_us, u.max_rss_bytes AS max_rss_bytes
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

CREATE VIEW v_run AS
SELECT r.id AS id, lower(hex(r.uid)) AS run, r.job_id AS job, a.name AS arm, p.label AS point,
       d.name AS device, r.block AS block, r.pos AS pos, r.attempt AS attempt, r.state AS state,
       r.stop_reason AS stop_reason, r.taint AS taint, count(t.i) AS n,
       count(t.i) FILTER (WHERE w.taint | t.taint <> 0) AS n_tainted,
       avg(t.duration_ns) FILTER (WHERE w.taint | t.taint = 0) AS mean_ns,
       min(t.duration_ns) FILTER (WHERE w.taint | t.taint = 0) AS min_ns,
       max(t.duration_ns) FILTER (WHERE w.taint | t.taint = 0) AS max_ns,
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

CREATE VIEW v_job AS
SELECT j.id AS id, j.name AS name, j.owner AS owner, j.state AS state, j.reason AS reason,
       strftime('%Y-%m-%dT%H:%M:%SZ', j.submitted_wall_ns / 1000000000, 'unixepoch') AS submitted,
       (j.ended_wall_ns - j.started_wall_ns) AS took_ns,
       (SELECT count(*) FROM arm a WHERE a.job_id = j.id) AS arms,
       (SELECT count(*) FROM job_point p WHERE p.job_id = j.id) AS points,
       (SELECT count(*) FROM run r WHERE r.job_id = j.id) AS runs,
       (SELECT coalesce(sum(w.n), 0) FROM run r JOIN window w ON w.run_id = r.id
        WHERE r.job_id = j.id) AS iterations
FROM job j;

CREATE VIEW v_window AS
SELECT w.id AS id, lower(hex(r.uid)) AS run, r.job_id AS job, a.name AS arm, r.block AS block, w.ord AS window,
       w.attempt AS attempt, CASE w.phase WHEN 0 THEN 'warmup' ELSE 'measure' END AS phase,
       w.first_seq AS first_seq, w.n AS n, w.opened_ns AS opened_ns, w.closed_ns - w.opened_ns AS length_ns,
       w.evals AS evals,
       CASE w.silence WHEN 0 THEN 'none' WHEN 1 THEN 'claimed' WHEN 2 THEN 'observed' ELSE 'proven' END AS silence,
       w.taint AS taint, w.how AS how, w.failure AS failure
FROM window w
JOIN run r ON r.id = w.run_id
JOIN arm a ON a.job_id = r.job_id AND a.idx = r.arm_idx;

CREATE VIEW v_gate AS
SELECT g.window_id AS window_id, lower(hex(r.uid)) AS run, r.job_id AS job, w.ord AS window, g.outcome AS outcome,
       g.decided_ns - g.began_ns AS waited_ns, g.polls AS polls, g.busiest AS busiest, n.name AS sensor,
       CASE d.status WHEN 0 THEN 'ok' WHEN 1 THEN 'unreadable' WHEN 2 THEN 'stale' WHEN 3 THEN 'missing' END AS status,
       d.value AS value, d.age_ns AS age_ns
FROM gate g
JOIN window w ON w.id = g.window_id
JOIN run r ON r.id = w.run_id
LEFT JOIN reading d ON d.window_id = g.window_id
LEFT JOIN sensor n ON n.id = d.sensor_id;

CREATE VIEW v_evidence AS
SELECT e.window_id AS window_id, lower(hex(r.uid)) AS run, r.job_id AS job, w.ord AS window, n.name AS kind,
       e.before AS before, e.after AS after, e.after - e.before AS change
FROM evidence e
JOIN sensor n ON n.id = e.sensor_id
JOIN window w ON w.id = e.window_id
JOIN run r ON r.id = w.run_id;

CREATE VIEW v_taint AS
SELECT t.window_id AS window_id, lower(hex(r.uid)) AS run, r.job_id AS job, a.name AS arm, r.block AS block,
       w.ord AS window, t.i AS i, w.first_seq + t.i AS seq, t.code AS code, t.value AS value, t.bound AS bound
FROM taint t
JOIN window w ON w.id = t.window_id
JOIN run r ON r.id = w.run_id
JOIN arm a ON a.job_id = r.job_id AND a.idx = r.arm_idx;
