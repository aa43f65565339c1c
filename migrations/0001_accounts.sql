-- People, their credentials and their SSH keys.
-- Times are integers: microseconds since 1970-01-01 UTC. A uuid is 32 lower-case hex digits.

CREATE TABLE user (
  id INTEGER PRIMARY KEY,
  uuid TEXT NOT NULL UNIQUE,
  username TEXT NOT NULL,
  username_folded TEXT NOT NULL UNIQUE,          -- NFKC and lower case: what a login is compared with
  full_name TEXT NOT NULL DEFAULT '',
  native_name TEXT NOT NULL DEFAULT '',
  job_title TEXT NOT NULL DEFAULT '',
  email TEXT NOT NULL DEFAULT '',
  email_folded TEXT NOT NULL DEFAULT '',
  phone_number TEXT NOT NULL DEFAULT '',
  organization TEXT NOT NULL DEFAULT '',
  organization_approved INTEGER NOT NULL DEFAULT 0,
  civil_number TEXT UNIQUE,
  description TEXT NOT NULL DEFAULT '',
  is_staff INTEGER NOT NULL DEFAULT 0,
  is_active INTEGER NOT NULL DEFAULT 1,
  is_support INTEGER NOT NULL DEFAULT 0,
  token_lifetime INTEGER DEFAULT 3600,           -- seconds after the last use; null: for ever
  registration_method TEXT NOT NULL DEFAULT 'default',
  date_joined INTEGER NOT NULL,
  agreement_date INTEGER,
  preferred_language TEXT NOT NULL DEFAULT '',
  competence TEXT NOT NULL DEFAULT '',
  password_hash TEXT                             -- argon2id in PHC form; null: no login by password
) STRICT;
CREATE UNIQUE INDEX user_email ON user (email_folded) WHERE email_folded <> '';
CREATE INDEX user_by_username ON user (username COLLATE NOCASE);
CREATE INDEX user_organization ON user (organization) WHERE organization <> '';

-- One row a login. Only the SHA-256 digest of a token is kept.
CREATE TABLE token (
  id INTEGER PRIMARY KEY,
  digest BLOB NOT NULL UNIQUE,
  user_id INTEGER NOT NULL REFERENCES user ON DELETE CASCADE,
  created INTEGER NOT NULL,
  last_used INTEGER NOT NULL,                    -- written at most once a minute; the exact value is in memory
  revoked INTEGER                                -- instant of the revocation
) STRICT;
CREATE INDEX token_user ON token (user_id);

-- Failed logins of a username from a client address; at the limit the pair is locked until it expires.
CREATE TABLE login_failure (
  username_folded TEXT NOT NULL,
  address TEXT NOT NULL,
  failures INTEGER NOT NULL,
  expires INTEGER NOT NULL,
  PRIMARY KEY (username_folded, address)
) STRICT, WITHOUT ROWID;

-- Every counted failure of the last minutes by client address, for the lock of a whole address.
CREATE TABLE address_failure (
  id INTEGER PRIMARY KEY,
  address TEXT NOT NULL,
  at INTEGER NOT NULL
) STRICT;
CREATE INDEX address_failure_recent ON address_failure (address, at);

CREATE TABLE ssh_key (
  id INTEGER PRIMARY KEY,
  uuid TEXT NOT NULL UNIQUE,
  user_id INTEGER NOT NULL REFERENCES user ON DELETE CASCADE,
  name TEXT NOT NULL DEFAULT '',
  public_key TEXT NOT NULL,
  fingerprint TEXT NOT NULL,                     -- MD5, hex pairs joined with colons
  fingerprint_sha256 TEXT NOT NULL,
  created INTEGER NOT NULL,
  UNIQUE (user_id, fingerprint_sha256)
) STRICT;
CREATE UNIQUE INDEX ssh_key_name ON ssh_key (user_id, name) WHERE name <> '';
CREATE INDEX ssh_key_fingerprint ON ssh_key (fingerprint);
