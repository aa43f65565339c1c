-- The key of the digests by which secrets are recognised without being readable. One row, made when it is first needed, and
-- never changed: what was digested before would not be found again. Encrypted as other secrets are.

CREATE TABLE digest_key (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  sealed BLOB NOT NULL
) STRICT;
