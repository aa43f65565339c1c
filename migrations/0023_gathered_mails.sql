-- Mails of hooks are limited by hour and author: events beyond the limit are sent in one mail when the hour is over.

ALTER TABLE delivery ADD COLUMN gathered INTEGER NOT NULL DEFAULT 0;

-- The hour that an author's mails are counted in: it begins with a mail that is queued after the last one has ended.
CREATE TABLE hook_mail_hour (
  user_id INTEGER PRIMARY KEY REFERENCES user ON DELETE CASCADE,
  since INTEGER NOT NULL,
  mails INTEGER NOT NULL
) STRICT;
