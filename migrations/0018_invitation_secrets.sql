-- Whoever knows the secret of an invitation may accept it; it stands in its mail alone.

ALTER TABLE invitation ADD COLUMN secret_digest BLOB;       -- SHA-256; null: from before there were secrets, the mail names the uuid
CREATE UNIQUE INDEX invitation_secret ON invitation (secret_digest) WHERE secret_digest IS NOT NULL;

-- The secret itself, encrypted for the mail's uuid, until the mail is sent or given up.
ALTER TABLE invitation_mail ADD COLUMN secret BLOB;

-- Who invites is who created it, or sent it last.
ALTER TABLE invitation RENAME COLUMN created_by TO inviter_id;
UPDATE invitation SET inviter_id = (
  SELECT m.user_id FROM invitation_mail m WHERE m.invitation_id = invitation.id ORDER BY m.id DESC LIMIT 1
)
WHERE state = 'pending' AND EXISTS (SELECT 1 FROM invitation_mail m WHERE m.invitation_id = invitation.id);
