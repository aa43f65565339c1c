-- Second factors: secrets of authenticator apps, and passkeys.
CREATE TABLE second_factor (
  id INTEGER PRIMARY KEY,
  uuid TEXT NOT NULL UNIQUE,
  user_id INTEGER NOT NULL REFERENCES user ON DELETE CASCADE,
  kind TEXT NOT NULL CHECK (kind IN ('totp', 'passkey')),
  name TEXT NOT NULL,
  created INTEGER NOT NULL,
  last_used INTEGER,
  secret BLOB,                         -- totp: sealed
  accepted_until INTEGER,              -- totp: end of the time step of the last accepted code; only later codes are valid
  credential_id TEXT UNIQUE,           -- passkey: base64url
  public_key BLOB,                     -- passkey: COSE key
  counter INTEGER,                     -- passkey: signature counter of its last use
  transports TEXT                      -- passkey: JSON list, a hint for browsers
) STRICT;

CREATE INDEX second_factor_user ON second_factor (user_id);

-- The secret of an authenticator app that its user has not confirmed with a code yet.
CREATE TABLE totp_enrolment (
  id INTEGER PRIMARY KEY,
  uuid TEXT NOT NULL UNIQUE,           -- the secret is sealed for it
  user_id INTEGER NOT NULL UNIQUE REFERENCES user ON DELETE CASCADE,
  secret BLOB NOT NULL,
  expires INTEGER NOT NULL
) STRICT;

CREATE INDEX totp_enrolment_expires ON totp_enrolment (expires);

-- Codes that replace a second factor, each once.
CREATE TABLE recovery_code (
  id INTEGER PRIMARY KEY,
  user_id INTEGER NOT NULL REFERENCES user ON DELETE CASCADE,
  digest BLOB NOT NULL                 -- keyed: a code has only 50 bits
) STRICT;

CREATE INDEX recovery_code_user ON recovery_code (user_id);

-- Logins that wait for a second factor.
CREATE TABLE pending_login (
  id INTEGER PRIMARY KEY,
  digest BLOB NOT NULL UNIQUE,         -- SHA-256 of its token
  user_id INTEGER NOT NULL REFERENCES user ON DELETE CASCADE,
  method TEXT NOT NULL,                -- of the session that it becomes
  network TEXT NOT NULL,               -- prefix of the client's address
  attempts INTEGER NOT NULL DEFAULT 0,
  expires INTEGER NOT NULL
) STRICT;

CREATE INDEX pending_login_user ON pending_login (user_id);
CREATE INDEX pending_login_expires ON pending_login (expires);

-- Wrong second factors by user, from all addresses.
CREATE TABLE factor_failure (
  id INTEGER PRIMARY KEY,
  user_id INTEGER NOT NULL REFERENCES user ON DELETE CASCADE,
  at INTEGER NOT NULL
) STRICT;

CREATE INDEX factor_failure_user ON factor_failure (user_id, at);
CREATE INDEX factor_failure_at ON factor_failure (at);

ALTER TABLE user ADD COLUMN codes_locked_until INTEGER; -- null: not locked since the last removal
