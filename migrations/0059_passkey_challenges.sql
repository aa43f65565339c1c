-- Challenges for passkeys: a response, valid or not, uses its challenge up.
CREATE TABLE passkey_challenge (
  id INTEGER PRIMARY KEY,
  digest BLOB NOT NULL UNIQUE,         -- SHA-256 of the challenge
  purpose TEXT NOT NULL CHECK (purpose IN ('enrol', 'confirm', 'login')),
  token_id INTEGER REFERENCES token ON DELETE CASCADE, -- the session; null: a login
  expires INTEGER NOT NULL
) STRICT;

CREATE INDEX passkey_challenge_token ON passkey_challenge (token_id);
CREATE INDEX passkey_challenge_expires ON passkey_challenge (expires);
