-- Whether the receiver of an email hook wants it. Hooks that are there already count as wanted.

ALTER TABLE hook ADD COLUMN is_confirmed INTEGER NOT NULL DEFAULT 1;

-- The mails that ask receivers. Rows outlive their hook, for the limits by address and author.
CREATE TABLE hook_confirmation (
  id INTEGER PRIMARY KEY,
  uuid TEXT NOT NULL UNIQUE,                     -- what the secret is encrypted for
  hook_id INTEGER REFERENCES hook ON DELETE SET NULL,
  user_id INTEGER REFERENCES user ON DELETE SET NULL,  -- author of the hook
  email TEXT NOT NULL,
  email_folded TEXT NOT NULL,
  digest BLOB NOT NULL UNIQUE,                   -- SHA-256 of the secret in the link
  secret BLOB,                                   -- encrypted, until the mail is sent or given up
  created INTEGER NOT NULL,
  used INTEGER                                   -- instant of the confirmation
) STRICT;
CREATE INDEX hook_confirmation_hook ON hook_confirmation (hook_id);
CREATE INDEX hook_confirmation_author ON hook_confirmation (user_id, created);
CREATE INDEX hook_confirmation_email ON hook_confirmation (email_folded, created);
CREATE INDEX hook_confirmation_created ON hook_confirmation (created);
