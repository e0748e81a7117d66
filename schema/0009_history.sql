-- What a history asks of a run, kept once it was computed, and the way from a job to its sessions.
CREATE INDEX session_job ON session(job_id);

CREATE TABLE run_median(
  run_id INT NOT NULL REFERENCES run,
  metric_id INT NOT NULL,
  method INT NOT NULL,
  median REAL,
  n INT NOT NULL CHECK(n >= 0),
  soft INT NOT NULL CHECK(soft IN (0, 1)),
  PRIMARY KEY(run_id, metric_id)
) STRICT, WITHOUT ROWID;

-- It is no second truth: whatever changes what it was computed from takes it away, whoever changes it. Iterations come
-- with their window.
CREATE TRIGGER run_median_window AFTER INSERT ON window
BEGIN DELETE FROM run_median WHERE run_id = NEW.run_id; END;
CREATE TRIGGER run_median_window_changed AFTER UPDATE ON window
BEGIN DELETE FROM run_median WHERE run_id IN (OLD.run_id, NEW.run_id); END;
CREATE TRIGGER run_median_window_gone AFTER DELETE ON window
BEGIN DELETE FROM run_median WHERE run_id = OLD.run_id; END;
CREATE TRIGGER run_median_warmup AFTER UPDATE OF warmup_n ON run WHEN NEW.warmup_n <> OLD.warmup_n
BEGIN DELETE FROM run_median WHERE run_id = NEW.id; END;
CREATE TRIGGER run_median_iteration_changed AFTER UPDATE ON iteration
BEGIN DELETE FROM run_median WHERE run_id = (SELECT run_id FROM window WHERE id = OLD.window_id); END;
CREATE TRIGGER run_median_iteration_gone AFTER DELETE ON iteration
BEGIN DELETE FROM run_median WHERE run_id = (SELECT run_id FROM window WHERE id = OLD.window_id); END;
CREATE TRIGGER run_median_rusage_changed AFTER UPDATE ON iteration_rusage
BEGIN DELETE FROM run_median WHERE run_id = (SELECT run_id FROM window WHERE id = OLD.window_id); END;
CREATE TRIGGER run_median_metric_changed AFTER UPDATE ON iteration_metric
BEGIN DELETE FROM run_median WHERE run_id = (SELECT run_id FROM window WHERE id = OLD.window_id); END;
CREATE TRIGGER run_median_rusage_gone AFTER DELETE ON iteration_rusage
BEGIN DELETE FROM run_median WHERE run_id = (SELECT run_id FROM window WHERE id = OLD.window_id); END;
CREATE TRIGGER run_median_metric_gone AFTER DELETE ON iteration_metric
BEGIN DELETE FROM run_median WHERE run_id = (SELECT run_id FROM window WHERE id = OLD.window_id); END;
