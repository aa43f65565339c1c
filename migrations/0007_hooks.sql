-- Where events are sent to, and the outbox of what is to be sent.

CREATE TABLE hook (
  id INTEGER PRIMARY KEY,
  uuid TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL CHECK (kind IN ('web', 'push', 'email')),
  user_id INTEGER NOT NULL REFERENCES user ON DELETE CASCADE,
  is_active INTEGER NOT NULL DEFAULT 1,
  event_types TEXT NOT NULL,                     -- JSON list, sorted
  event_groups TEXT NOT NULL,                    -- JSON list, sorted
  created INTEGER NOT NULL,
  modified INTEGER NOT NULL,
  destination_url TEXT,                          -- web
  content_type TEXT,                             -- web: json, form
  secret BLOB,                                   -- web: encrypted signing secret
  old_secret BLOB,                               -- web: signs along until old_secret_ends
  old_secret_ends INTEGER,
  type TEXT,                                     -- push: Android, iOS
  device_id TEXT UNIQUE,
  token TEXT UNIQUE,
  device_manufacturer TEXT,
  device_model TEXT,
  email TEXT                                     -- email
) STRICT;
CREATE INDEX hook_author ON hook (user_id);

-- The types a hook wants, for the look-up at every event.
CREATE TABLE hook_event_type (
  type TEXT NOT NULL,
  hook_id INTEGER NOT NULL REFERENCES hook ON DELETE CASCADE,
  PRIMARY KEY (type, hook_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX hook_event_type_hook ON hook_event_type (hook_id);

-- One row for each hook an event goes to; written with the event.
CREATE TABLE delivery (
  id INTEGER PRIMARY KEY AUTOINCREMENT,          -- order of the events
  uuid TEXT NOT NULL UNIQUE,                     -- the webhook-id
  hook_id INTEGER NOT NULL REFERENCES hook ON DELETE CASCADE,
  event_id INTEGER,                              -- null for a test
  event_type TEXT NOT NULL,
  payload TEXT,                                  -- JSON of a test's event; others are read from the event
  status TEXT NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'delivered', 'failed', 'canceled', 'skipped')),
  attempts INTEGER NOT NULL DEFAULT 0,
  schedule_from INTEGER NOT NULL DEFAULT 0,      -- attempts made before the schedule was started anew
  response_code INTEGER,
  error_message TEXT NOT NULL DEFAULT '',
  created INTEGER NOT NULL,
  last_attempt INTEGER,
  next_attempt INTEGER,                          -- null once finished
  delivered INTEGER
) STRICT;
CREATE INDEX delivery_due ON delivery (next_attempt, id) WHERE status = 'pending';
CREATE INDEX delivery_hook ON delivery (hook_id, id);
CREATE INDEX delivery_pending ON delivery (hook_id, next_attempt, id) WHERE status = 'pending';
CREATE INDEX delivery_finished ON delivery (last_attempt) WHERE status <> 'pending';
