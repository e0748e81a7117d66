-- What people have said of a device: that it is held, what is to be known of it, tags for selectors.
CREATE TABLE device_word(
  device TEXT NOT NULL,
  kind TEXT NOT NULL CHECK(kind IN ('hold', 'note', 'tag')),
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  by TEXT NOT NULL,
  at_wall_ns INT NOT NULL,
  until_wall_ns INT,
  PRIMARY KEY(device, kind, key)
) STRICT, WITHOUT ROWID;
