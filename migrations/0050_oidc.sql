-- Login by OpenID Connect: users are known by the issuer and subject of their identities.

CREATE TABLE user_identity (
  id INTEGER PRIMARY KEY,
  user_id INTEGER NOT NULL REFERENCES user ON DELETE CASCADE,
  issuer TEXT NOT NULL,
  subject TEXT NOT NULL,
  provider TEXT NOT NULL,              -- the name of the provider that had this issuer
  UNIQUE (issuer, subject)
) STRICT;
CREATE INDEX user_identity_user ON user_identity (user_id);

-- Logins that providers have not responded to yet. A response, valid or not, uses its login up.
CREATE TABLE oidc_request (
  state_digest BLOB PRIMARY KEY,       -- SHA-256 of the state
  browser BLOB NOT NULL,               -- SHA-256 of the cookie
  provider TEXT NOT NULL,
  issuer TEXT NOT NULL,
  next TEXT NOT NULL,                  -- path in the web client; '': none
  expires INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX oidc_request_browser ON oidc_request (browser);
CREATE INDEX oidc_request_expires ON oidc_request (expires);

-- Which login at which provider a token comes from, until the token's row is removed.
CREATE TABLE oidc_session (
  id INTEGER PRIMARY KEY,
  uuid TEXT NOT NULL UNIQUE,           -- the ID token is sealed for it
  token_id INTEGER NOT NULL UNIQUE REFERENCES token ON DELETE CASCADE,
  browser BLOB NOT NULL,               -- SHA-256 of the cookie
  provider TEXT NOT NULL,
  issuer TEXT NOT NULL,
  subject TEXT NOT NULL,
  sid TEXT,                            -- the session at the provider; null: it named none
  id_token BLOB NOT NULL               -- sealed; a logout returns it to the provider
) STRICT;
CREATE INDEX oidc_session_browser ON oidc_session (browser);
CREATE INDEX oidc_session_subject ON oidc_session (issuer, subject);
