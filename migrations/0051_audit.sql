-- The audit trail (audit.md 1). A record is appended in the transaction of its change and never changes, apart from `private`,
-- which a redaction removes. No index besides the key: appending costs one page, and a list scans at most 50,000 records.

CREATE TABLE audit_chain (
  id INTEGER PRIMARY KEY,
  uuid TEXT NOT NULL UNIQUE,
  first_id INTEGER NOT NULL                      -- the id that its first record had: the record `sequence` has first_id + sequence - 1
) STRICT;

CREATE TABLE audit_record (
  id INTEGER PRIMARY KEY,                        -- the order of the trail, without gaps over all chains
  chain_id INTEGER NOT NULL,                     -- of audit_chain
  sequence INTEGER NOT NULL,                     -- from 1 in each chain
  at INTEGER NOT NULL,
  operation TEXT NOT NULL,
  outcome TEXT NOT NULL CHECK (outcome IN ('done', 'refused')),
  actor TEXT,                                    -- uuid
  acts_as TEXT,                                  -- uuid of the impersonated user
  object TEXT,                                   -- uuid or pk
  customers TEXT NOT NULL,                       -- uuids, separated by blanks, as are projects
  projects TEXT NOT NULL,
  hash TEXT NOT NULL,                            -- SHA-256 of record
  record TEXT NOT NULL,                          -- the canonical JSON that was hashed
  private TEXT                                   -- the canonical JSON of the private part; null once redacted
) STRICT;
