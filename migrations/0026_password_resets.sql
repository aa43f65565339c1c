-- Links in mails that set another password, and the outbox of these mails. A request for an address that nobody has is a row
-- like any other: whether there is a user is looked up when the mail is sent.

CREATE TABLE password_reset (
  id INTEGER PRIMARY KEY AUTOINCREMENT,          -- a queue of the outbox, never used twice
  uuid TEXT NOT NULL UNIQUE,                     -- names the mail on every attempt; what the secret is encrypted for
  email TEXT NOT NULL,
  user_id INTEGER REFERENCES user ON DELETE CASCADE, -- whose password it sets, once the mail is made; null: nobody's
  secret_digest BLOB UNIQUE,                     -- SHA-256; null once the link is over
  secret BLOB,                                   -- encrypted, until the mail is sent or given up
  status TEXT NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'delivered', 'failed', 'skipped')),
  attempts INTEGER NOT NULL DEFAULT 0,
  response_code INTEGER,
  error_message TEXT NOT NULL DEFAULT '',
  created INTEGER NOT NULL,
  last_attempt INTEGER,
  next_attempt INTEGER,                          -- null once finished
  finished INTEGER
) STRICT;
CREATE INDEX password_reset_due ON password_reset (next_attempt) WHERE status = 'pending';
CREATE INDEX password_reset_user ON password_reset (user_id, created) WHERE user_id IS NOT NULL;
CREATE INDEX password_reset_created ON password_reset (created);

-- In whatever way another password or email comes, no link is left that sets a password.
CREATE TRIGGER password_reset_ended AFTER UPDATE OF password_hash, email ON user
WHEN OLD.password_hash IS NOT NEW.password_hash OR OLD.email <> NEW.email BEGIN
  UPDATE password_reset SET secret_digest = NULL WHERE user_id = NEW.id AND secret_digest IS NOT NULL;
END;
