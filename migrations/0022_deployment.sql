-- What the deployment as a whole remembers: one row.

CREATE TABLE deployment (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  -- A known text sealed with the encryption key: a start with another key notices it.
  key_check BLOB
) STRICT;

INSERT INTO deployment (id) VALUES (1);
