-- Which runs count, said once: of a block that was begun again, the runs of its last attempt.
CREATE INDEX run_again ON run(job_id, point_idx, block) WHERE attempt > 0;

CREATE VIEW v_superseded AS
SELECT r.id AS id
FROM run r
LEFT JOIN session e ON e.id = r.session_id
LEFT JOIN boot b ON b.id = e.boot_id
WHERE EXISTS (
  SELECT 1
  FROM run q
  LEFT JOIN session f ON f.id = q.session_id
  LEFT JOIN boot c ON c.id = f.boot_id
  WHERE q.job_id = r.job_id AND q.point_idx = r.point_idx AND q.block = r.block AND q.attempt > 0 AND q.attempt > r.attempt
    AND c.device_id IS b.device_id);
