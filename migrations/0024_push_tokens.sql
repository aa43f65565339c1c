-- Tokens of push hooks are encrypted, and known by a digest; they and device ids are unique for each user only. What was unique
-- over all users was so by its column, which SQLite cannot change: both get another one.

ALTER TABLE hook RENAME COLUMN device_id TO former_device_id;  -- null from now on
ALTER TABLE hook RENAME COLUMN token TO plain_token;           -- of earlier versions; the next start encrypts them into `token`
ALTER TABLE hook ADD COLUMN device_id TEXT;
ALTER TABLE hook ADD COLUMN token BLOB;                        -- encrypted
ALTER TABLE hook ADD COLUMN token_digest BLOB;

UPDATE hook SET device_id = former_device_id, former_device_id = NULL WHERE former_device_id IS NOT NULL;

CREATE UNIQUE INDEX hook_device ON hook (device_id, user_id) WHERE device_id IS NOT NULL;
CREATE UNIQUE INDEX hook_token ON hook (token_digest, user_id) WHERE token_digest IS NOT NULL;
