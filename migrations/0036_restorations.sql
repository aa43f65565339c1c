-- Volumes by the snapshot that they were made from: each snapshot tells of them.

CREATE INDEX resource_restored ON resource (settings_id, details ->> '$.source_snapshot')
WHERE kind = 'OpenStack.Volume' AND details ->> '$.source_snapshot' IS NOT NULL;
