-- What providers offer: images, sizes, regions, flavors, templates. A set belongs to settings, or, for types with global
-- properties, to all settings with the same backend ('' is the simulator's).

CREATE TABLE property (
  id INTEGER PRIMARY KEY,
  uuid TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL,                            -- <Type>.<Kind>, such as DigitalOcean.Image
  settings_id INTEGER REFERENCES service_settings ON DELETE CASCADE,
  backend TEXT,                                  -- of global sets: '' or the backend_url
  backend_id TEXT NOT NULL,
  name TEXT NOT NULL,
  details TEXT NOT NULL DEFAULT '{}'             -- JSON: values of the kind
) STRICT;
CREATE UNIQUE INDEX property_of_settings ON property (settings_id, kind, backend_id) WHERE settings_id IS NOT NULL;
CREATE UNIQUE INDEX property_of_backend ON property (backend, kind, backend_id) WHERE backend IS NOT NULL;
CREATE INDEX property_by_name ON property (kind, name COLLATE NOCASE);

-- Objects the last synchronisation found at a provider: what can be imported, and what is managed here.
CREATE TABLE inventory (
  settings_id INTEGER NOT NULL REFERENCES service_settings ON DELETE CASCADE,
  kind TEXT NOT NULL,
  backend_id TEXT NOT NULL,
  name TEXT NOT NULL,
  "values" TEXT NOT NULL,                        -- JSON: the object as the driver described it
  PRIMARY KEY (settings_id, kind, backend_id)
) STRICT, WITHOUT ROWID;
