-- The networks that each API key has been used from, the last 100: the first use from another one is recorded (audit.md 2).

CREATE TABLE api_key_network (
  id INTEGER PRIMARY KEY,
  key_id INTEGER NOT NULL REFERENCES api_key ON DELETE CASCADE,
  network TEXT NOT NULL,                         -- /24 or /48
  first_used INTEGER NOT NULL,
  UNIQUE (key_id, network)
) STRICT;
