-- What of a device takes what is written to it, and does what it then says.
CREATE TABLE device_knob(
  device_id INT NOT NULL REFERENCES device,
  fingerprint TEXT NOT NULL,
  name TEXT NOT NULL,
  kind TEXT NOT NULL,
  path TEXT NOT NULL,
  sticks TEXT NOT NULL,
  effect TEXT NOT NULL,
  why TEXT,
  after_ms INT,
  low_khz INT,
  high_khz INT,
  seen_low_khz INT,
  seen_high_khz INT,
  loop_ratio REAL,
  job_id INT REFERENCES job,
  found_wall_ns INT NOT NULL,
  PRIMARY KEY(device_id, fingerprint, name)
) STRICT;
