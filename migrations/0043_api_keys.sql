-- API keys let programs act for a user (core.md 2.9). Only digests are stored: a key is shown once.

CREATE TABLE api_key (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  uuid TEXT NOT NULL UNIQUE,
  user_id INTEGER NOT NULL REFERENCES user ON DELETE CASCADE,      -- the owner, also of the keys of a service account
  created_by INTEGER REFERENCES user ON DELETE SET NULL,           -- the user who knows the key
  name TEXT NOT NULL,
  prefix TEXT NOT NULL,                                            -- the first characters, to recognise it by
  digest BLOB NOT NULL UNIQUE,
  scopes TEXT NOT NULL,                                            -- JSON lists
  networks TEXT NOT NULL DEFAULT '[]',                             -- empty: any address
  created INTEGER NOT NULL,
  issued INTEGER NOT NULL,                                         -- of the current key: the creation or last rotation
  expires INTEGER,
  ended INTEGER,                                                   -- when it was found to have expired, which is final
  revoked INTEGER,                                                 -- its owner was deactivated
  previous_digest BLOB UNIQUE,                                     -- the key before the last rotation, while it is valid
  previous_expires INTEGER,
  last_used INTEGER,
  last_used_address TEXT
) STRICT;
CREATE INDEX api_key_owner ON api_key (user_id);
CREATE INDEX api_key_author ON api_key (created_by) WHERE created_by IS NOT NULL;
CREATE UNIQUE INDEX api_key_name ON api_key (user_id, name) WHERE revoked IS NULL;
CREATE INDEX api_key_due ON api_key (expires) WHERE ended IS NULL AND expires IS NOT NULL;
CREATE INDEX api_key_overlap ON api_key (previous_expires) WHERE previous_expires IS NOT NULL;
