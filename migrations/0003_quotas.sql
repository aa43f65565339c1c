-- Limits and usage of an object. scope_id is the id in the table that scope_kind names; a global quota has scope_id 0.

CREATE TABLE quota (
  id INTEGER PRIMARY KEY,
  uuid TEXT NOT NULL UNIQUE,
  scope_kind TEXT NOT NULL,                      -- 'customer', 'project', 'global', …
  scope_id INTEGER NOT NULL,
  name TEXT NOT NULL,
  "limit" ANY NOT NULL DEFAULT -1,               -- a number; -1: unlimited
  usage ANY NOT NULL DEFAULT 0,
  threshold ANY NOT NULL DEFAULT 0,              -- 0: off
  UNIQUE (scope_kind, scope_id, name)
) STRICT;
