-- What providers run for projects: virtual machines, applications, private clouds, storages, and the parts of private
-- clouds (sub-resources). Every kind is a row here; what only one kind has is in "details".

CREATE TABLE resource (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  uuid TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL,                            -- <Type>.<Kind>, such as DigitalOcean.Droplet
  is_part INTEGER NOT NULL DEFAULT 0,            -- a sub-resource: absent from the summary and its quotas
  link_id INTEGER NOT NULL REFERENCES service_project_link,
  service_id INTEGER NOT NULL REFERENCES service,          -- of the link, as are settings, project and customer
  settings_id INTEGER NOT NULL REFERENCES service_settings,
  project_id INTEGER NOT NULL REFERENCES project,
  customer_id INTEGER NOT NULL REFERENCES customer,
  parent_id INTEGER REFERENCES resource,         -- the tenant of OpenStack kinds, the group of a GitLab project
  instance_id INTEGER REFERENCES resource,       -- the instance a volume or floating IP is attached to
  name TEXT NOT NULL,
  description TEXT NOT NULL DEFAULT '',
  state TEXT NOT NULL,
  runtime_state TEXT NOT NULL DEFAULT '',
  error_message TEXT NOT NULL DEFAULT '',
  backend_id TEXT NOT NULL DEFAULT '',
  created INTEGER NOT NULL,
  action TEXT NOT NULL DEFAULT '',
  action_details TEXT NOT NULL DEFAULT '{}',     -- JSON
  start_time INTEGER,
  cores INTEGER NOT NULL DEFAULT 0,
  ram INTEGER NOT NULL DEFAULT 0,                -- MiB, as are disk and size
  disk INTEGER NOT NULL DEFAULT 0,
  min_ram INTEGER NOT NULL DEFAULT 0,
  min_disk INTEGER NOT NULL DEFAULT 0,
  size INTEGER NOT NULL DEFAULT 0,
  image_name TEXT NOT NULL DEFAULT '',
  key_name TEXT NOT NULL DEFAULT '',
  key_fingerprint TEXT NOT NULL DEFAULT '',
  user_data TEXT NOT NULL DEFAULT '',
  external_ips TEXT NOT NULL DEFAULT '[]',       -- JSON list
  internal_ips TEXT NOT NULL DEFAULT '[]',       -- JSON list
  details TEXT NOT NULL DEFAULT '{}',            -- JSON: values of one kind
  secrets BLOB,                                  -- encrypted JSON: passwords of one kind
  revision INTEGER NOT NULL DEFAULT 0            -- grows with every change; a pull leaves rows alone that changed meanwhile
) STRICT;
CREATE INDEX resource_project ON resource (project_id, is_part, created, kind);
CREATE INDEX resource_customer ON resource (customer_id, is_part, created);
CREATE INDEX resource_link ON resource (link_id, kind);
CREATE INDEX resource_service ON resource (service_id, kind);
CREATE INDEX resource_settings ON resource (settings_id, kind, backend_id);
CREATE INDEX resource_created ON resource (is_part, created, kind);
CREATE INDEX resource_kind ON resource (kind, created);
CREATE INDEX resource_counted ON resource (is_part, kind);
CREATE INDEX resource_parent ON resource (parent_id) WHERE parent_id IS NOT NULL;
CREATE INDEX resource_instance ON resource (instance_id) WHERE instance_id IS NOT NULL;

CREATE TABLE resource_tag (
  resource_id INTEGER NOT NULL REFERENCES resource ON DELETE CASCADE,
  tag TEXT NOT NULL,
  prefix TEXT,                                   -- before the first ':'; null without one
  value TEXT,
  PRIMARY KEY (resource_id, tag)
) STRICT, WITHOUT ROWID;
CREATE INDEX resource_tag_tag ON resource_tag (tag);
CREATE INDEX resource_tag_prefix ON resource_tag (prefix, value) WHERE prefix IS NOT NULL;

CREATE TABLE resource_sla (
  resource_id INTEGER NOT NULL REFERENCES resource ON DELETE CASCADE,
  period TEXT NOT NULL,                          -- YYYY-MM or YYYY
  value NUMERIC,
  agreed_value NUMERIC,
  PRIMARY KEY (resource_id, period)
) WITHOUT ROWID;
CREATE INDEX resource_sla_value ON resource_sla (period, value);

CREATE TABLE monitoring_item (
  resource_id INTEGER NOT NULL REFERENCES resource ON DELETE CASCADE,
  name TEXT NOT NULL,
  value NUMERIC NOT NULL,
  PRIMARY KEY (resource_id, name)
) WITHOUT ROWID;
CREATE INDEX monitoring_item_value ON monitoring_item (name, value);

CREATE TRIGGER resource_deleted AFTER DELETE ON resource BEGIN
  DELETE FROM quota WHERE scope_kind = 'resource' AND scope_id = old.id;
  DELETE FROM alert WHERE scope_kind = 'resource' AND scope_id = old.id;
END;
