-- What the program of a run in harness mode was given, and how it ended.
ALTER TABLE run ADD COLUMN harness TEXT;
