-- What of a device was found, and what a session changed of it and put back.
CREATE TABLE device_board(
  device_id INT NOT NULL REFERENCES device,
  fingerprint TEXT NOT NULL,
  board TEXT NOT NULL,
  probed_wall_ns INT NOT NULL,
  PRIMARY KEY(device_id, fingerprint)
) STRICT;

CREATE TABLE control(
  session_id INT NOT NULL REFERENCES session,
  seq INT NOT NULL,
  run_id INT REFERENCES run,
  kind TEXT NOT NULL CHECK(kind IN ('set', 'restore')),
  path TEXT NOT NULL,
  wanted TEXT,
  before TEXT,
  now TEXT,
  outcome TEXT NOT NULL,
  error INT NOT NULL,
  at_wall_ns INT NOT NULL,
  PRIMARY KEY(session_id, seq)
) STRICT, WITHOUT ROWID;

CREATE VIEW v_control AS
SELECT lower(hex(e.uid)) AS session, e.job_id AS job, d.name AS device, lower(hex(r.uid)) AS run, c.seq AS seq, c.kind AS kind,
       c.path AS path, c.wanted AS wanted, c.before AS before, c.now AS now, c.outcome AS outcome, c.error AS error,
       strftime('%Y-%m-%dT%H:%M:%SZ', c.at_wall_ns / 1000000000, 'unixepoch') AS at
FROM control c
JOIN session e ON e.id = c.session_id
JOIN boot b ON b.id = e.boot_id
JOIN device d ON d.id = b.device_id
LEFT JOIN run r ON r.id = c.run_id;
