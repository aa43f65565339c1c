-- Limits and usage of an object. scope_id is the id in the table that scope_kind names; a global quota has scope_id 0.

CREATE TABLE quota (
  id INTEGER PRIMARY KEY,
  uuid TEXT NOT NULL UNIQUE,
  scope_kind TEXT NOT NULL,                      -- customer, project, settings, service, link, resource, global
  scope_id INTEGER NOT NULL,
  name TEXT NOT NULL,
  "limit" ANY NOT NULL DEFAULT -1,               -- a number; -1: unlimited
  usage ANY NOT NULL DEFAULT 0,
  threshold ANY NOT NULL DEFAULT 0,              -- 0: off
  is_backend INTEGER NOT NULL DEFAULT 0,         -- copied from a provider, never edited here
  created INTEGER NOT NULL,
  initial_limit ANY NOT NULL DEFAULT -1,         -- with usage 0 the first version of its history
  UNIQUE (scope_kind, scope_id, name)
) STRICT;

-- Limit and usage from an instant on; the version at creation is in the quota itself.
CREATE TABLE quota_version (
  quota_id INTEGER NOT NULL REFERENCES quota ON DELETE CASCADE,
  at INTEGER NOT NULL,
  "limit" ANY NOT NULL,
  usage ANY NOT NULL,
  PRIMARY KEY (quota_id, at)
) STRICT, WITHOUT ROWID;
