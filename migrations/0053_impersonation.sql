-- Staff act for a user with a token of that user, which ends with the session of the staff user (core.md 2.13).

ALTER TABLE token ADD COLUMN creator_id INTEGER REFERENCES token ON DELETE CASCADE; -- null: a session of the user
CREATE INDEX token_creator ON token (creator_id) WHERE creator_id IS NOT NULL;
