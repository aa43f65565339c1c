-- The complete backups at the target of the setting backup_target, and what the schedule has done.
CREATE TABLE backup (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL UNIQUE,
  target TEXT NOT NULL,                -- the folder, or the s3 URL, that it is in
  size INTEGER NOT NULL,
  sha256 TEXT NOT NULL,                -- of the file
  is_encrypted INTEGER NOT NULL,
  created INTEGER NOT NULL,
  verified INTEGER                     -- instant of the last successful verification
) STRICT;

ALTER TABLE deployment ADD COLUMN installation TEXT;             -- 8 hexadecimal digits in the names of backups
ALTER TABLE deployment ADD COLUMN backup_handled INTEGER;        -- the last scheduled time for which a backup was made or skipped
ALTER TABLE deployment ADD COLUMN backup_overdue INTEGER;        -- the instant of the backup whose age was reported
ALTER TABLE deployment ADD COLUMN verification_at INTEGER;       -- the last verification
ALTER TABLE deployment ADD COLUMN verification_error TEXT NOT NULL DEFAULT '';
