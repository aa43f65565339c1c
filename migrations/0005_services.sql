-- Provider accounts (settings), their use by a customer (service), and by a project (link).
-- Secrets are encrypted: key id, nonce, ciphertext and tag in one blob, bound to the row's uuid.

CREATE TABLE service_settings (
  id INTEGER PRIMARY KEY,
  uuid TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  type TEXT NOT NULL,                            -- OpenStack, DigitalOcean, Amazon, JIRA, GitLab, Oracle
  state TEXT NOT NULL DEFAULT 'New',
  error_message TEXT NOT NULL DEFAULT '',
  shared INTEGER NOT NULL DEFAULT 0,
  customer_id INTEGER REFERENCES customer,
  homepage TEXT NOT NULL DEFAULT '',
  terms_of_services TEXT NOT NULL DEFAULT '',
  backend_url TEXT,                              -- null or simulator://…: the simulator
  username TEXT,
  password BLOB,                                 -- secret
  token BLOB,                                    -- secret
  certificate BLOB,                              -- secret, PEM
  certificate_name TEXT,                         -- file name shown for it
  domain TEXT,
  options TEXT NOT NULL DEFAULT '{}',            -- JSON: option fields of the type and of the simulator
  secret_options BLOB,                           -- secret, JSON: option fields that are secrets, such as webhook_secret
  scope_id INTEGER,                              -- the resource that hosts the backend
  by_staff INTEGER NOT NULL DEFAULT 0,           -- last written by staff: private addresses are allowed
  synced INTEGER,                                -- instant of the last finished synchronisation
  created INTEGER NOT NULL
) STRICT;
CREATE INDEX service_settings_customer ON service_settings (customer_id) WHERE customer_id IS NOT NULL;
CREATE INDEX service_settings_order ON service_settings (type, name COLLATE NOCASE);
CREATE INDEX service_settings_scope ON service_settings (scope_id) WHERE scope_id IS NOT NULL;

CREATE TABLE settings_certification (
  settings_id INTEGER NOT NULL REFERENCES service_settings ON DELETE CASCADE,
  certification_id INTEGER NOT NULL REFERENCES service_certification ON DELETE CASCADE,
  PRIMARY KEY (settings_id, certification_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX settings_certification_used ON settings_certification (certification_id);

CREATE TABLE service (
  id INTEGER PRIMARY KEY,
  uuid TEXT NOT NULL UNIQUE,
  customer_id INTEGER NOT NULL REFERENCES customer,
  settings_id INTEGER NOT NULL REFERENCES service_settings,
  available_for_all INTEGER NOT NULL DEFAULT 0,
  UNIQUE (customer_id, settings_id)
) STRICT;
CREATE INDEX service_of_settings ON service (settings_id);

CREATE TABLE service_project_link (
  id INTEGER PRIMARY KEY,
  uuid TEXT NOT NULL UNIQUE,
  service_id INTEGER NOT NULL REFERENCES service,
  project_id INTEGER NOT NULL REFERENCES project ON DELETE CASCADE,
  UNIQUE (service_id, project_id)
) STRICT;
CREATE INDEX service_project_link_project ON service_project_link (project_id);
