-- What people who operate the service look at: why a job has to be repeated, and everything that waits to be sent.

ALTER TABLE job ADD COLUMN error_message TEXT NOT NULL DEFAULT ''; -- of the last call that failed, until one succeeds

-- Four tables as one: the id tells which, and the row in it. `queue` is what the outbox is woken with.
CREATE VIEW outbox_message AS
SELECT d.id * 4 AS id, d.uuid, 'hooks' AS outbox, h.kind, d.event_type AS subject, d.hook_id AS queue, d.id AS row,
  iif(h.kind = 'web', h.destination_url, iif(h.kind = 'email', h.email, h.type)) AS receiver,
  d.attempts, d.response_code, d.error_message, d.created, d.last_attempt, d.next_attempt
FROM delivery d JOIN hook h ON h.id = d.hook_id
WHERE d.status = 'pending'
UNION ALL
SELECT m.id * 4 + 1, m.uuid, 'invitations', 'email', 'invitation', m.id, m.id, i.email,
  m.attempts, m.response_code, m.error_message, m.created, m.last_attempt, m.next_attempt
FROM invitation_mail m LEFT JOIN invitation i ON i.id = m.invitation_id
WHERE m.status = 'pending'
UNION ALL
SELECT n.id * 4 + 2, n.uuid, 'notices', 'email', 'changed ' || n.what, n.id, n.id, n.email,
  n.attempts, n.response_code, n.error_message, n.created, n.last_attempt, n.next_attempt
FROM user_notice n
WHERE n.status = 'pending'
UNION ALL
SELECT p.id * 4 + 3, p.uuid, 'passwords', 'email', 'forgotten password', p.id, p.id, p.email,
  p.attempts, p.response_code, p.error_message, p.created, p.last_attempt, p.next_attempt
FROM password_reset p
WHERE p.status = 'pending';
