-- Keys that have signed heads of the audit trail, and checkpoints that replace removed records (audit.md 5). The private key is in
-- the file audit.key.

CREATE TABLE audit_key (
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL UNIQUE,                      -- the first 32 hexadecimal digits of the SHA-256 of the public key
  public_key TEXT NOT NULL,                      -- 32 bytes in base64
  created INTEGER NOT NULL                       -- when it first signed
) STRICT;

CREATE TABLE audit_checkpoint (
  id INTEGER PRIMARY KEY,                        -- of the last removed record
  head TEXT NOT NULL                             -- the signed head of that record, with `removed`
) STRICT;
