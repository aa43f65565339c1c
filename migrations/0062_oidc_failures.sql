-- Identity providers that failed at their last use, so that a restart and other processes know.
CREATE TABLE oidc_failure (
  issuer TEXT PRIMARY KEY,
  since INTEGER NOT NULL, -- microseconds: the first failure after the last success
  message TEXT NOT NULL   -- the last reason
) STRICT, WITHOUT ROWID;
