-- Who creates or sends an invitation gets a link to pass on, whose secret is not the one of the mail: it proves no email address.

ALTER TABLE invitation ADD COLUMN link_digest BLOB;         -- SHA-256; null: from before there was such a link
CREATE UNIQUE INDEX invitation_link ON invitation (link_digest) WHERE link_digest IS NOT NULL;
