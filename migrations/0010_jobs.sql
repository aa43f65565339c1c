-- Work at providers. A job is written with the request that causes it, survives restarts, and is removed when it is done.

CREATE TABLE job (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  settings_id INTEGER NOT NULL REFERENCES service_settings ON DELETE CASCADE,
  resource_id INTEGER REFERENCES resource ON DELETE CASCADE,     -- null: synchronisation of the settings, removal of a key
  operation TEXT NOT NULL,                       -- sync, create, update, delete, pull, forget_key, or the name of an action
  parameters TEXT NOT NULL DEFAULT '{}',         -- JSON given to the driver
  secrets BLOB,                                  -- encrypted JSON: parameters that are secrets
  memo TEXT NOT NULL DEFAULT '{}',               -- JSON: what the driver has finished so far
  created INTEGER NOT NULL,
  due INTEGER NOT NULL,
  started INTEGER,                               -- first call; limits of time count from here
  lease INTEGER,                                 -- taken by a worker until then
  retries INTEGER NOT NULL DEFAULT 0             -- failed calls of the present step
) STRICT;
CREATE INDEX job_due ON job (due);
CREATE UNIQUE INDEX job_resource ON job (resource_id) WHERE resource_id IS NOT NULL;
CREATE UNIQUE INDEX job_sync ON job (settings_id) WHERE operation = 'sync';

-- The simulator's worlds: objects at pretended providers.
CREATE TABLE simulated_object (
  id INTEGER PRIMARY KEY,
  settings_id INTEGER NOT NULL REFERENCES service_settings ON DELETE CASCADE,
  kind TEXT NOT NULL,
  ordinal INTEGER NOT NULL,
  backend_id TEXT NOT NULL,
  "values" TEXT NOT NULL,                        -- JSON
  UNIQUE (settings_id, kind, ordinal)
) STRICT;
CREATE INDEX simulated_object_backend ON simulated_object (settings_id, kind, backend_id);

-- How often an operation has run, and how many objects have been made: what the simulator's draws depend on.
CREATE TABLE simulated_counter (
  settings_id INTEGER NOT NULL REFERENCES service_settings ON DELETE CASCADE,
  name TEXT NOT NULL,
  value INTEGER NOT NULL,
  PRIMARY KEY (settings_id, name)
) STRICT, WITHOUT ROWID;
