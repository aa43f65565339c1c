-- Where events are sent to, and the outbox of what is to be sent.

CREATE TABLE hook (
  id INTEGER PRIMARY KEY AUTOINCREMENT,          -- never used twice: deliveries outlive their hook for a while
  uuid TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL CHECK (kind IN ('web', 'push', 'email')),
  user_id INTEGER NOT NULL REFERENCES user ON DELETE CASCADE,
  is_active INTEGER NOT NULL DEFAULT 1,
  pending INTEGER NOT NULL DEFAULT 0,            -- its pending deliveries; kept by the triggers below
  failing_since INTEGER,                         -- first failed attempt since the last successful one
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
  uuid TEXT NOT NULL UNIQUE,                     -- the webhook-id; starts with the time, so that new ones lie together
  hook_id INTEGER NOT NULL,                      -- when the hook is deleted, its rows are removed in small steps
  event_id INTEGER,                              -- null for a test
  event_type TEXT NOT NULL,
  payload TEXT,                                  -- JSON of a test's event; others are read from the event
  status TEXT NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'delivered', 'failed', 'canceled', 'skipped')),
  ready INTEGER NOT NULL DEFAULT 1,              -- pending and due; else pending ones wait for next_attempt
  attempts INTEGER NOT NULL DEFAULT 0,
  schedule_from INTEGER NOT NULL DEFAULT 0,      -- attempts made before the schedule was started anew
  response_code INTEGER,
  error_message TEXT NOT NULL DEFAULT '',
  created INTEGER NOT NULL,
  last_attempt INTEGER,
  next_attempt INTEGER,                          -- null once finished
  finished INTEGER                               -- instant at which it was no longer pending
) STRICT;
CREATE INDEX delivery_hook ON delivery (hook_id, id);
CREATE INDEX delivery_pending ON delivery (hook_id, ready, id) WHERE status = 'pending';
CREATE INDEX delivery_waiting ON delivery (next_attempt) WHERE status = 'pending' AND ready = 0;
CREATE INDEX delivery_finished ON delivery (finished) WHERE finished IS NOT NULL;

CREATE TRIGGER delivery_queued AFTER INSERT ON delivery BEGIN
  UPDATE hook SET pending = pending + 1 WHERE id = NEW.hook_id;
END;
CREATE TRIGGER delivery_status AFTER UPDATE OF status ON delivery WHEN (OLD.status = 'pending') <> (NEW.status = 'pending') BEGIN
  UPDATE hook SET pending = pending + iif(NEW.status = 'pending', 1, -1) WHERE id = NEW.hook_id;
END;

-- Hooks that are gone but for their deliveries, which may be many.
CREATE TABLE removed_hook (id INTEGER PRIMARY KEY) STRICT;
CREATE TRIGGER hook_removed AFTER DELETE ON hook BEGIN
  INSERT INTO removed_hook (id) VALUES (OLD.id);
END;
