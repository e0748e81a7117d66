-- Named conditions: an arm may have its own, in the form that those of a point have from this version on (README.md).
ALTER TABLE arm ADD COLUMN conditions TEXT;
