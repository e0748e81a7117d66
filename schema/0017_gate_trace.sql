-- What the sensors said while a gate waited: a wait to cool down is a cooling curve.
ALTER TABLE gate ADD COLUMN trace TEXT;

DROP VIEW v_gate;
CREATE VIEW v_gate AS
SELECT t.window_id AS window_id, lower(hex(r.uid)) AS run, r.job_id AS job, a.name AS arm, g.label AS build, w.ord AS window,
       t.outcome AS outcome, t.decided_ns - t.began_ns AS waited_ns, t.polls AS polls, t.busiest AS busiest, n.name AS sensor,
       CASE d.status WHEN 0 THEN 'ok' WHEN 1 THEN 'unreadable' WHEN 2 THEN 'stale' WHEN 3 THEN 'missing' WHEN 4 THEN 'spoilt' END AS status,
       d.value AS value, d.age_ns AS age_ns,
       (SELECT nullif(json_group_array(json_array(json_extract(p.value, '$[0]'), json_extract(p.value, '$[2]'))), '[]')
          FROM json_each(t.trace) p WHERE json_extract(p.value, '$[1]') = d.idx) AS trace
FROM gate t
JOIN window w ON w.id = t.window_id
JOIN run r ON r.id = w.run_id
JOIN arm a ON a.job_id = r.job_id AND a.idx = r.arm_idx
LEFT JOIN build g ON g.id = a.build_id
LEFT JOIN reading d ON d.window_id = t.window_id
LEFT JOIN sensor n ON n.id = d.sensor_id;
