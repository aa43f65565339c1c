-- What monitoring items were before: the newest 1,000 values of each, kept by whoever stores another.

CREATE TABLE monitoring_value (
  resource_id INTEGER NOT NULL REFERENCES resource ON DELETE CASCADE,
  name TEXT NOT NULL,
  at INTEGER NOT NULL,                           -- instant it was told
  value NUMERIC NOT NULL,
  PRIMARY KEY (resource_id, name, at)
) WITHOUT ROWID;
