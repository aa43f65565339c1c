-- The sinks of the audit trail: which records each destination has received (audit.md 9).

CREATE TABLE audit_sink (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  destination TEXT NOT NULL,                     -- SHA-256 of its address, which may contain a secret
  received INTEGER NOT NULL,                     -- id of the last audit_record that it has received
  batch_end INTEGER,                             -- id of the last record of the batch that is sent until it is received; null: none
  error_message TEXT NOT NULL DEFAULT '',        -- of the last attempt; empty if it succeeded
  is_behind INTEGER NOT NULL DEFAULT 0 CHECK (is_behind IN (0, 1)),   -- staff know that it is behind
  UNIQUE (name, destination)
) STRICT;
