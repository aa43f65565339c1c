-- What the provider called and described a resource when it last told. Only another value than that overwrites ours, so that
-- what was changed here alone survives. Until now every synchronisation overwrote: its listing, else our value, is the last.

ALTER TABLE resource ADD COLUMN backend_name TEXT NOT NULL DEFAULT '';
ALTER TABLE resource ADD COLUMN backend_description TEXT NOT NULL DEFAULT '';

UPDATE resource AS r
SET backend_name = ifnull(
    (SELECT i.name FROM inventory i
     WHERE i.settings_id = r.settings_id AND i.kind = r.kind AND i.backend_id = r.backend_id), r.name),
  backend_description = ifnull(
    (SELECT i."values" ->> '$.description' FROM inventory i
     WHERE i.settings_id = r.settings_id AND i.kind = r.kind AND i.backend_id = r.backend_id), r.description);
