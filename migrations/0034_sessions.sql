-- People see and end their sessions: each has a name that is no secret, and what they know it by.

ALTER TABLE token ADD COLUMN uuid TEXT;
ALTER TABLE token ADD COLUMN method TEXT CHECK (method IN ('password', 'saml', 'operator')); -- null: from before this was kept
ALTER TABLE token ADD COLUMN user_agent TEXT NOT NULL DEFAULT '';      -- of the request that logged in
UPDATE token SET uuid = lower(hex(randomblob(16)));
CREATE UNIQUE INDEX token_uuid ON token (uuid);
