-- Logout tokens that OpenID Connect providers have sent: each works once.

CREATE TABLE oidc_logout_token (
  digest BLOB PRIMARY KEY,             -- SHA-256 of issuer and jti
  expires INTEGER NOT NULL             -- the token itself is too old from then on
) STRICT, WITHOUT ROWID;
CREATE INDEX oidc_logout_token_expires ON oidc_logout_token (expires);
CREATE INDEX oidc_session_sid ON oidc_session (issuer, sid) WHERE sid IS NOT NULL;
