-- Metrics that a program declares to be the same at every execution are compared exactly.
ALTER TABLE metric ADD COLUMN deterministic INT NOT NULL DEFAULT 0 CHECK(deterministic IN (0, 1));
