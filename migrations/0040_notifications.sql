-- Notifications are addressed to people. They are listed, mailed at once or once a day, and sent to web hooks.
CREATE TABLE notification (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  uuid TEXT NOT NULL UNIQUE,
  user_id INTEGER NOT NULL REFERENCES user ON DELETE CASCADE,
  kind TEXT NOT NULL,
  level TEXT NOT NULL,
  message TEXT NOT NULL,
  detail TEXT NOT NULL,                -- the part of the message that the context does not have
  context TEXT NOT NULL,               -- JSON
  about TEXT NOT NULL,                 -- what it is about; one mail an hour for each
  created INTEGER NOT NULL,
  read INTEGER,
  waits INTEGER NOT NULL DEFAULT 0,    -- for the daily mail
  mail_id INTEGER REFERENCES notification_mail ON DELETE SET NULL
) STRICT;

CREATE INDEX notification_user ON notification (user_id, id);
CREATE INDEX notification_waiting ON notification (user_id, created) WHERE waits;
CREATE INDEX notification_mail_id ON notification (mail_id) WHERE mail_id IS NOT NULL;
CREATE INDEX notification_created ON notification (created);

-- A mail with one or more notifications.
CREATE TABLE notification_mail (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  uuid TEXT NOT NULL UNIQUE,
  user_id INTEGER NOT NULL REFERENCES user ON DELETE CASCADE,
  kind TEXT NOT NULL CHECK (kind IN ('immediate', 'gathered', 'daily')),
  created INTEGER NOT NULL,
  status TEXT NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'delivered', 'failed', 'skipped')),
  attempts INTEGER NOT NULL DEFAULT 0,
  response_code INTEGER,
  error_message TEXT NOT NULL DEFAULT '',
  last_attempt INTEGER,
  next_attempt INTEGER,                -- null once finished
  finished INTEGER
) STRICT;

CREATE INDEX notification_mail_due ON notification_mail (next_attempt) WHERE status = 'pending';
CREATE INDEX notification_mail_user ON notification_mail (user_id, created);

CREATE TABLE notification_preference (
  user_id INTEGER NOT NULL REFERENCES user ON DELETE CASCADE,
  kind TEXT NOT NULL,
  preference TEXT NOT NULL CHECK (preference IN ('none', 'immediate', 'daily')),
  PRIMARY KEY (user_id, kind)
) STRICT, WITHOUT ROWID;

-- The highest share of a limit that was reported since the usage was last 5 points below it.
ALTER TABLE quota ADD COLUMN reported_percent INTEGER NOT NULL DEFAULT 0;

-- Kinds of notifications that a web hook gets: JSON list, sorted.
ALTER TABLE hook ADD COLUMN notification_types TEXT NOT NULL DEFAULT '[]';

-- Reminders of the end of a role up to this instant were sent or are no longer due; null: up to its creation.
ALTER TABLE customer_role ADD COLUMN reminded INTEGER;
ALTER TABLE project_role ADD COLUMN reminded INTEGER;

-- The same of the end of the server's certificate, and whether staff know that the disk is nearly full.
ALTER TABLE deployment ADD COLUMN certificate_reminded INTEGER;
ALTER TABLE deployment ADD COLUMN is_disk_low INTEGER NOT NULL DEFAULT 0;

DROP VIEW outbox_message;
CREATE VIEW outbox_message AS
SELECT d.id * 5 AS id, d.uuid, 'hooks' AS outbox, h.kind, d.event_type AS subject, d.hook_id AS queue, d.id AS row,
  iif(h.kind = 'web', h.destination_url, iif(h.kind = 'email', h.email, h.type)) AS receiver,
  d.attempts, d.response_code, d.error_message, d.created, d.last_attempt, d.next_attempt
FROM delivery d JOIN hook h ON h.id = d.hook_id
WHERE d.status = 'pending'
UNION ALL
SELECT m.id * 5 + 1, m.uuid, 'invitations', 'email', 'invitation', m.id, m.id, i.email,
  m.attempts, m.response_code, m.error_message, m.created, m.last_attempt, m.next_attempt
FROM invitation_mail m LEFT JOIN invitation i ON i.id = m.invitation_id
WHERE m.status = 'pending'
UNION ALL
SELECT n.id * 5 + 2, n.uuid, 'notices', 'email', 'changed ' || n.what, n.id, n.id, n.email,
  n.attempts, n.response_code, n.error_message, n.created, n.last_attempt, n.next_attempt
FROM user_notice n
WHERE n.status = 'pending'
UNION ALL
SELECT p.id * 5 + 3, p.uuid, 'passwords', 'email', 'forgotten password', p.id, p.id, p.email,
  p.attempts, p.response_code, p.error_message, p.created, p.last_attempt, p.next_attempt
FROM password_reset p
WHERE p.status = 'pending'
UNION ALL
SELECT m.id * 5 + 4, m.uuid, 'notifications', 'email', m.kind || ' notification', m.id, m.id, u.email,
  m.attempts, m.response_code, m.error_message, m.created, m.last_attempt, m.next_attempt
FROM notification_mail m JOIN user u ON u.id = m.user_id
WHERE m.status = 'pending';
