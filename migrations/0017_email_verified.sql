-- Whether somebody else than the user vouches for his email address: staff, an identity provider, or a mail that reached him.
-- Addresses stored so far count as verified.

ALTER TABLE user ADD COLUMN email_verified INTEGER NOT NULL DEFAULT 1;
