-- What followers, and servers that take each other's place, need to know.

ALTER TABLE deployment ADD COLUMN version INTEGER NOT NULL DEFAULT 0;  -- grows with every request that writes, where the setting replicated is on
ALTER TABLE deployment ADD COLUMN epoch INTEGER NOT NULL DEFAULT 1;  -- grows when a copy is promoted
ALTER TABLE deployment ADD COLUMN fenced INTEGER;  -- the epoch of the server that has taken the place of this one
