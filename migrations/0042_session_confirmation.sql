-- A login, or presenting the password again, confirms a session for some minutes: operations that create lasting access need it.

ALTER TABLE token ADD COLUMN confirmed_until INTEGER; -- null: never confirmed, or ended for good when the clock jumped
