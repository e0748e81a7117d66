-- What a device is like: how it warms up and cools down, what its sensors are worth, what it sustains.
CREATE TABLE device_model(
  device_id INT NOT NULL REFERENCES device,
  fingerprint TEXT NOT NULL,
  kind TEXT NOT NULL CHECK(kind IN ('sensor', 'warms', 'cools', 'sustained')),
  domain TEXT NOT NULL,
  sensor TEXT NOT NULL,
  says TEXT NOT NULL,
  why TEXT,
  tau_s REAL,
  tau_lo_s REAL,
  tau_hi_s REAL,
  end_mc REAL,
  end_lo_mc REAL,
  end_hi_mc REAL,
  sd_mc REAL,
  low_mc REAL,
  high_mc REAL,
  khz INT,
  readings INT NOT NULL,
  span_s REAL NOT NULL,
  trace TEXT,
  job_id INT REFERENCES job,
  found_wall_ns INT NOT NULL,
  PRIMARY KEY(device_id, fingerprint, kind, domain, sensor)
) STRICT;

CREATE VIEW v_model AS
SELECT d.name AS device, m.fingerprint AS fingerprint, m.kind AS kind, m.domain AS domain, m.sensor AS sensor, m.says AS says, m.why AS why,
       m.tau_s AS tau_s, m.tau_lo_s AS tau_lo_s, m.tau_hi_s AS tau_hi_s, m.end_mc AS end_mc, m.end_lo_mc AS end_lo_mc, m.end_hi_mc AS end_hi_mc,
       m.khz AS khz, m.readings AS readings, m.job_id AS job,
       strftime('%Y-%m-%dT%H:%M:%SZ', m.found_wall_ns / 1000000000, 'unixepoch') AS found
FROM device_model m
JOIN device d ON d.id = m.device_id;
