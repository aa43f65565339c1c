-- Limits and usage of an object. scope_id is the id in the table that scope_kind names; a global quota has scope_id 0.
-- The numbers are NUMERIC, which STRICT tables do not know, so that a whole one is kept, and shown, without a fraction.

CREATE TABLE quota (
  id INTEGER PRIMARY KEY,
  uuid TEXT NOT NULL UNIQUE,
  scope_kind TEXT NOT NULL,                      -- customer, project, settings, service, link, resource, global
  scope_id INTEGER NOT NULL,
  name TEXT NOT NULL,
  "limit" NUMERIC NOT NULL DEFAULT -1,           -- a number; -1: unlimited
  usage NUMERIC NOT NULL DEFAULT 0,
  threshold NUMERIC NOT NULL DEFAULT 0,          -- 0: off
  is_backend INTEGER NOT NULL DEFAULT 0,         -- copied from a provider, never edited here
  first_at INTEGER NOT NULL,                     -- the first version of its history: at creation, or the oldest kept
  first_limit NUMERIC NOT NULL DEFAULT -1,
  first_usage NUMERIC NOT NULL DEFAULT 0,
  UNIQUE (scope_kind, scope_id, name)
);

-- Limit and usage from an instant on; the first version is in the quota itself.
CREATE TABLE quota_version (
  quota_id INTEGER NOT NULL REFERENCES quota ON DELETE CASCADE,
  at INTEGER NOT NULL,
  "limit" NUMERIC NOT NULL,
  usage NUMERIC NOT NULL,
  PRIMARY KEY (quota_id, at)
) WITHOUT ROWID;
CREATE INDEX quota_version_at ON quota_version (at);
