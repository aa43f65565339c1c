-- Links that the operator gives to users who cannot log in.
CREATE TABLE recovery_link (
  id INTEGER PRIMARY KEY,
  user_id INTEGER NOT NULL UNIQUE REFERENCES user ON DELETE CASCADE, -- a newer link replaces the last one
  digest BLOB NOT NULL UNIQUE,                                       -- SHA-256 of its secret
  expires INTEGER NOT NULL
) STRICT;

CREATE INDEX recovery_link_expires ON recovery_link (expires);

ALTER TABLE token ADD COLUMN ends INTEGER; -- the session ends then, however often it is used; null: only by token_lifetime

-- The program has the list of login methods, so that another one needs no migration.
ALTER TABLE token RENAME COLUMN method TO former_method;
ALTER TABLE token ADD COLUMN method TEXT; -- null: from before this was stored
UPDATE token SET method = former_method;
ALTER TABLE token DROP COLUMN former_method;
