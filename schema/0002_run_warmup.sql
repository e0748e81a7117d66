-- What a run's stop rule set aside: accepted iterations at its beginning, kept and not summarised.
ALTER TABLE run ADD COLUMN warmup_n INT NOT NULL DEFAULT 0 CHECK(warmup_n >= 0);
