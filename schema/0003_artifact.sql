-- What a run has left beside its iterations: contents by hash, linked to the run.
CREATE TABLE artifact(
  run_id INT NOT NULL REFERENCES run,
  idx INT NOT NULL,
  kind TEXT NOT NULL CHECK(kind IN ('output', 'kernel-log', 'file')),
  name TEXT NOT NULL,
  sha256 BLOB REFERENCES file,
  total_bytes INT NOT NULL CHECK(total_bytes >= 0),
  why TEXT,
  PRIMARY KEY(run_id, idx)
) STRICT, WITHOUT ROWID;
CREATE INDEX artifact_file ON artifact(sha256) WHERE sha256 IS NOT NULL;

CREATE VIEW v_artifact AS
SELECT lower(hex(r.uid)) AS run, r.job_id AS job, a.idx AS idx, a.kind AS kind, a.name AS name,
       lower(hex(a.sha256)) AS sha256, f.bytes AS kept_bytes, a.total_bytes AS total_bytes, a.why AS why
FROM artifact a
JOIN run r ON r.id = a.run_id
LEFT JOIN file f ON f.sha256 = a.sha256;
