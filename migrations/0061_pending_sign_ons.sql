-- A login at an identity provider can wait for a second factor as well.
ALTER TABLE pending_login ADD COLUMN uuid TEXT;    -- the session is sealed for it; null: a login by password
ALTER TABLE pending_login ADD COLUMN session BLOB; -- the session at the identity provider, as JSON, sealed
