-- Single sign-on: the identity providers, and what is remembered of logins by SAML.

-- Where metadata of identity providers comes from.
CREATE TABLE saml_source (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,                     -- path of a file; URL, a blank and the SHA-256 of the certificate that signs it
  refreshed INTEGER,                             -- instant at which it was last read without an error
  error_message TEXT NOT NULL DEFAULT ''         -- why it could not be read the last time
) STRICT;

-- The identity providers of the last good document of each source.
CREATE TABLE saml_idp (
  id INTEGER PRIMARY KEY,
  source_id INTEGER NOT NULL REFERENCES saml_source ON DELETE CASCADE,
  entity_id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  login_url TEXT,                                -- single sign-on by HTTP-Redirect; null: not offered
  logout_url TEXT,                               -- single logout by HTTP-Redirect; null: not offered
  logout_response_url TEXT,                      -- where answers to its logout requests go; null: to logout_url
  certificates TEXT NOT NULL                     -- JSON: base64 of the certificates of its signing keys
) STRICT;
CREATE INDEX saml_idp_source ON saml_idp (source_id);
CREATE INDEX saml_idp_name ON saml_idp (name COLLATE NOCASE);

-- Requests that identity providers have not answered yet. An answer, good or bad, uses its request up.
CREATE TABLE saml_request (
  request_id TEXT PRIMARY KEY,                   -- the ID of the message
  browser BLOB NOT NULL,                         -- SHA-256 of the cookie
  entity_id TEXT NOT NULL,                       -- the identity provider that was asked
  session_id INTEGER REFERENCES saml_session ON DELETE CASCADE, -- the session to end; null: a login
  expires INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX saml_request_browser ON saml_request (browser);
CREATE INDEX saml_request_session ON saml_request (session_id) WHERE session_id IS NOT NULL;
CREATE INDEX saml_request_expires ON saml_request (expires);

-- Assertions and logout requests that were taken, for as long as they could be taken again.
CREATE TABLE saml_used_message (
  entity_id TEXT NOT NULL,
  message_id TEXT NOT NULL,
  expires INTEGER NOT NULL,
  PRIMARY KEY (entity_id, message_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX saml_used_message_expires ON saml_used_message (expires);

-- Which login at which identity provider a token comes from, until the token's row is removed.
CREATE TABLE saml_session (
  id INTEGER PRIMARY KEY,
  token_id INTEGER NOT NULL UNIQUE REFERENCES token ON DELETE CASCADE,
  browser BLOB NOT NULL,                         -- SHA-256 of the cookie
  entity_id TEXT NOT NULL,
  name_id TEXT,                                  -- null: it named nobody, so that it cannot be asked to log out
  name_id_format TEXT,
  name_qualifier TEXT,
  sp_name_qualifier TEXT,
  session_index TEXT
) STRICT;
CREATE INDEX saml_session_browser ON saml_session (browser);
CREATE INDEX saml_session_subject ON saml_session (entity_id, name_id);
