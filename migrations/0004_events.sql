-- What happened. Rows are written in the transaction of the change that caused them and never changed.

CREATE TABLE event (
  id INTEGER PRIMARY KEY AUTOINCREMENT,          -- in the order they were recorded
  uuid TEXT NOT NULL,                            -- told, but nothing is looked up by it
  at INTEGER NOT NULL,
  type TEXT NOT NULL,
  level TEXT NOT NULL,
  message TEXT NOT NULL,
  context TEXT NOT NULL,                         -- JSON object of strings
  actor TEXT,                                    -- user_username of the context, folded
  resource_type TEXT                             -- of the context
) STRICT;
CREATE INDEX event_at ON event (at);
CREATE INDEX event_type ON event (type, at);
CREATE INDEX event_actor ON event (actor, at) WHERE actor IS NOT NULL;
CREATE INDEX event_resource ON event (resource_type, at) WHERE resource_type IS NOT NULL;

-- The objects that events are about, by the uuid in their context; they outlive the objects themselves.
CREATE TABLE event_subject (
  id INTEGER PRIMARY KEY,
  kind TEXT NOT NULL,                            -- user, key, quota, customer, project, settings, service, resource
  uuid TEXT NOT NULL,
  UNIQUE (kind, uuid)
) STRICT;

-- Which events are about a subject, in order of time: what one may see, and the filters by scope, are read from here.
-- Customer and project of the event are repeated, so that events found under several subjects are counted once.
CREATE TABLE event_about (
  subject_id INTEGER NOT NULL REFERENCES event_subject,
  at INTEGER NOT NULL,
  event_id INTEGER NOT NULL,
  customer INTEGER,                              -- subject of the customer the event names
  project INTEGER,                               -- subject of the project the event names
  PRIMARY KEY (subject_id, at, event_id)
) STRICT, WITHOUT ROWID;

-- The words of an event's searchable texts, normalised and cut by the program; '|' stands between texts, so that no
-- phrase is found across two of them.
CREATE VIRTUAL TABLE event_words USING fts5 (words, content = '', contentless_delete = 1, tokenize = "ascii tokenchars '_|'");
