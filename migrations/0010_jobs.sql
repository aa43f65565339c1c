-- Work at providers. A job is written with the request that causes it, survives restarts, and is removed when it is done.

CREATE TABLE job (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  settings_id INTEGER NOT NULL REFERENCES service_settings ON DELETE CASCADE,
  resource_id INTEGER REFERENCES resource ON DELETE CASCADE,     -- null: synchronisation of the settings, removal of a key
  entity_kind TEXT,                              -- of work about an object of a type's own, <Type>.<Kind>, such as JIRA.Issue
  entity_id INTEGER,                             -- that object; null: whatever the parameters name at the provider
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
CREATE UNIQUE INDEX job_entity ON job (entity_kind, entity_id) WHERE entity_id IS NOT NULL;
CREATE UNIQUE INDEX job_sync ON job (settings_id) WHERE operation = 'sync';

-- SSH keys of users that were given to a provider which keeps them, so that they can be taken away again.
CREATE TABLE uploaded_key (
  settings_id INTEGER NOT NULL REFERENCES service_settings ON DELETE CASCADE,
  user_id INTEGER NOT NULL REFERENCES user ON DELETE CASCADE,
  fingerprint TEXT NOT NULL,                     -- MD5, as in ssh_key
  PRIMARY KEY (settings_id, fingerprint, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX uploaded_key_user ON uploaded_key (user_id);

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
