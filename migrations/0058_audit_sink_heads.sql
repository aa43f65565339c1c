-- Signed heads that the sinks of the audit trail receive behind the records that they sign (audit.md 9).

CREATE TABLE audit_head (
  id INTEGER PRIMARY KEY,
  record_id INTEGER NOT NULL,                    -- of audit_record: the signed record
  head TEXT NOT NULL                             -- JSON, as audit-heads.log has it
) STRICT;

ALTER TABLE audit_sink ADD COLUMN received_head INTEGER NOT NULL DEFAULT 0;   -- id of the last audit_head that it has received
