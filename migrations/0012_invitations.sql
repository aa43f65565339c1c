-- Invitations to a customer or a project, and the outbox of their mails.

CREATE TABLE invitation (
  id INTEGER PRIMARY KEY,
  uuid TEXT NOT NULL UNIQUE,                     -- whoever knows it may accept
  link_template TEXT NOT NULL,
  email TEXT NOT NULL,
  civil_number TEXT NOT NULL DEFAULT '',         -- '': any user may accept
  project_id INTEGER REFERENCES project ON DELETE CASCADE,
  project_role TEXT,
  customer_id INTEGER REFERENCES customer ON DELETE CASCADE,
  customer_role TEXT,
  state TEXT NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'accepted', 'canceled', 'expired')),
  error_message TEXT NOT NULL DEFAULT '',        -- why the last mail could not be sent
  created INTEGER NOT NULL,
  created_by INTEGER REFERENCES user ON DELETE SET NULL,
  expires INTEGER NOT NULL,
  CHECK ((project_id IS NULL) = (project_role IS NULL)),
  CHECK ((customer_id IS NULL) = (customer_role IS NULL)),
  CHECK ((project_id IS NULL) <> (customer_id IS NULL))
) STRICT;
CREATE INDEX invitation_project ON invitation (project_id) WHERE project_id IS NOT NULL;
CREATE INDEX invitation_customer ON invitation (customer_id) WHERE customer_id IS NOT NULL;
CREATE INDEX invitation_created ON invitation (created);
CREATE INDEX invitation_author ON invitation (created_by) WHERE created_by IS NOT NULL;
CREATE INDEX invitation_due ON invitation (expires) WHERE state = 'pending';

-- One row a mail. It says no more than which invitation it tells of; the text is made when it is sent.
CREATE TABLE invitation_mail (
  id INTEGER PRIMARY KEY AUTOINCREMENT,          -- a queue of the outbox, never used twice
  uuid TEXT NOT NULL UNIQUE,                     -- names the mail on every attempt
  invitation_id INTEGER REFERENCES invitation ON DELETE SET NULL,
  user_id INTEGER REFERENCES user ON DELETE SET NULL, -- who caused it; counted for the limit also when the invitation is gone
  status TEXT NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'delivered', 'failed', 'canceled', 'skipped')),
  attempts INTEGER NOT NULL DEFAULT 0,
  response_code INTEGER,
  error_message TEXT NOT NULL DEFAULT '',
  created INTEGER NOT NULL,
  last_attempt INTEGER,
  next_attempt INTEGER,                          -- null once finished
  finished INTEGER                               -- instant at which it was no longer pending
) STRICT;
CREATE INDEX invitation_mail_invitation ON invitation_mail (invitation_id, id);
CREATE INDEX invitation_mail_due ON invitation_mail (next_attempt) WHERE status = 'pending';
CREATE INDEX invitation_mail_recent ON invitation_mail (user_id, created);
