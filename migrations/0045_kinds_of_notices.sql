-- Notices of more kinds, such as those about second factors: the program has the list, so that another kind needs no migration.
DROP VIEW outbox_message;

CREATE TABLE user_notice_new (
  id INTEGER PRIMARY KEY AUTOINCREMENT,          -- a queue of the outbox, never used twice
  uuid TEXT NOT NULL UNIQUE,                     -- names the mail on every attempt
  user_id INTEGER NOT NULL REFERENCES user ON DELETE CASCADE,
  what TEXT NOT NULL,
  email TEXT NOT NULL,
  status TEXT NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'delivered', 'failed', 'skipped')),
  attempts INTEGER NOT NULL DEFAULT 0,
  response_code INTEGER,
  error_message TEXT NOT NULL DEFAULT '',
  created INTEGER NOT NULL,
  last_attempt INTEGER,
  next_attempt INTEGER,                          -- null once finished
  finished INTEGER                               -- instant at which it was no longer pending
) STRICT;

INSERT INTO user_notice_new
SELECT id, uuid, user_id, what, email, status, attempts, response_code, error_message, created, last_attempt, next_attempt, finished
FROM user_notice;
-- The number of the last mail, which may have been removed.
DELETE FROM sqlite_sequence WHERE name = 'user_notice_new';
UPDATE sqlite_sequence SET name = 'user_notice_new' WHERE name = 'user_notice';
DROP TABLE user_notice;
ALTER TABLE user_notice_new RENAME TO user_notice;

CREATE INDEX user_notice_due ON user_notice (next_attempt) WHERE status = 'pending';
CREATE INDEX user_notice_recent ON user_notice (user_id, created);
CREATE INDEX user_notice_finished ON user_notice (finished) WHERE finished IS NOT NULL;

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
SELECT n.id * 5 + 2, n.uuid, 'notices', 'email', iif(n.what IN ('email', 'password'), 'changed ' || n.what, replace(n.what, '_', ' ')), n.id, n.id, n.email,
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
