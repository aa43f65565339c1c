-- Mails that tell a user of a changed email or password. One row a mail; the address is the one that is told.

CREATE TABLE user_notice (
  id INTEGER PRIMARY KEY AUTOINCREMENT,          -- a queue of the outbox, never used twice
  uuid TEXT NOT NULL UNIQUE,                     -- names the mail on every attempt
  user_id INTEGER NOT NULL REFERENCES user ON DELETE CASCADE,
  what TEXT NOT NULL CHECK (what IN ('email', 'password')),
  email TEXT NOT NULL,
  status TEXT NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'delivered', 'failed', 'skipped')),
  attempts INTEGER NOT NULL DEFAULT 0,
  response_code INTEGER,
  error_message TEXT NOT NULL DEFAULT '',
  created INTEGER NOT NULL,
  last_attempt INTEGER,
  next_attempt INTEGER,                          -- null once finished
  finished INTEGER                               -- instant at which it was no longer pending
) STRICT;
CREATE INDEX user_notice_due ON user_notice (next_attempt) WHERE status = 'pending';
CREATE INDEX user_notice_recent ON user_notice (user_id, created);
CREATE INDEX user_notice_finished ON user_notice (finished) WHERE finished IS NOT NULL;
