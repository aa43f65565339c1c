-- Provider accounts (settings), their use by a customer (service), and by a project (link).

CREATE TABLE service_settings (
  id INTEGER PRIMARY KEY,
  uuid TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  type TEXT NOT NULL,
  state TEXT NOT NULL DEFAULT 'New',
  error_message TEXT NOT NULL DEFAULT '',
  shared INTEGER NOT NULL DEFAULT 0,
  customer_id INTEGER REFERENCES customer,
  created INTEGER NOT NULL
) STRICT;
CREATE INDEX service_settings_customer ON service_settings (customer_id) WHERE customer_id IS NOT NULL;

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
