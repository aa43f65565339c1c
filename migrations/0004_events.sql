-- What happened. Rows are written in the transaction of the change that caused them and never changed.

CREATE TABLE event (
  id INTEGER PRIMARY KEY,
  uuid TEXT NOT NULL UNIQUE,
  at INTEGER NOT NULL,
  type TEXT NOT NULL,
  level TEXT NOT NULL,
  message TEXT NOT NULL,
  context TEXT NOT NULL                          -- JSON object of strings
) STRICT;
CREATE INDEX event_at ON event (at);
