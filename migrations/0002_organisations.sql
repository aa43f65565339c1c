-- Customers, their projects, and the roles that connect people with both.

CREATE TABLE customer (
  id INTEGER PRIMARY KEY,
  uuid TEXT NOT NULL UNIQUE,
  created INTEGER NOT NULL,
  name TEXT NOT NULL,
  native_name TEXT NOT NULL DEFAULT '',
  abbreviation TEXT NOT NULL DEFAULT '',
  contact_details TEXT NOT NULL DEFAULT '',
  agreement_number INTEGER UNIQUE,
  email TEXT NOT NULL DEFAULT '',
  phone_number TEXT NOT NULL DEFAULT '',
  registration_code TEXT NOT NULL DEFAULT '',
  country TEXT NOT NULL DEFAULT '',
  vat_code TEXT NOT NULL DEFAULT '',
  is_company INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX customer_by_name ON customer (name COLLATE NOCASE);
CREATE INDEX customer_abbreviation ON customer (abbreviation) WHERE abbreviation <> '';

CREATE TABLE customer_image (
  customer_id INTEGER PRIMARY KEY REFERENCES customer ON DELETE CASCADE,
  content_type TEXT NOT NULL,
  content BLOB NOT NULL
) STRICT;

CREATE TABLE project (
  id INTEGER PRIMARY KEY,
  uuid TEXT NOT NULL UNIQUE,
  customer_id INTEGER NOT NULL REFERENCES customer,
  name TEXT NOT NULL,
  description TEXT NOT NULL DEFAULT '',
  created INTEGER NOT NULL,
  moved INTEGER NOT NULL DEFAULT 0               -- whether it ever belonged to another customer
) STRICT;
CREATE INDEX project_customer ON project (customer_id, name COLLATE NOCASE);
CREATE INDEX project_by_name ON project (name COLLATE NOCASE);

CREATE TABLE service_certification (
  id INTEGER PRIMARY KEY,
  uuid TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL UNIQUE,
  description TEXT NOT NULL DEFAULT '',
  link TEXT NOT NULL DEFAULT ''
) STRICT;

-- What a project demands of the providers linked to it.
CREATE TABLE project_certification (
  project_id INTEGER NOT NULL REFERENCES project ON DELETE CASCADE,
  certification_id INTEGER NOT NULL REFERENCES service_certification ON DELETE CASCADE,
  PRIMARY KEY (project_id, certification_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX project_certification_used ON project_certification (certification_id);

-- A role is active while "ended" is null. Roles that ended stay as the permission log.
-- A role past its expiry is ended before the next request is served, so no read compares with the clock.
CREATE TABLE customer_role (
  id INTEGER PRIMARY KEY AUTOINCREMENT,          -- the pk of the permission; never used twice
  customer_id INTEGER NOT NULL REFERENCES customer ON DELETE CASCADE,
  user_id INTEGER NOT NULL REFERENCES user ON DELETE CASCADE,
  role TEXT NOT NULL CHECK (role IN ('owner', 'support')),
  created INTEGER NOT NULL,
  created_by INTEGER REFERENCES user ON DELETE SET NULL,
  expires INTEGER,
  ended INTEGER
) STRICT;
CREATE UNIQUE INDEX customer_role_active ON customer_role (user_id, customer_id, role) WHERE ended IS NULL;
CREATE UNIQUE INDEX customer_role_members ON customer_role (customer_id, user_id) WHERE ended IS NULL;
CREATE INDEX customer_role_due ON customer_role (expires) WHERE ended IS NULL AND expires IS NOT NULL;
CREATE INDEX customer_role_customer ON customer_role (customer_id, created);
CREATE INDEX customer_role_user ON customer_role (user_id);
CREATE INDEX customer_role_created ON customer_role (created);
CREATE INDEX customer_role_author ON customer_role (created_by) WHERE created_by IS NOT NULL;

CREATE TABLE project_role (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  project_id INTEGER NOT NULL REFERENCES project ON DELETE CASCADE,
  user_id INTEGER NOT NULL REFERENCES user ON DELETE CASCADE,
  role TEXT NOT NULL CHECK (role IN ('admin', 'manager', 'support')),
  created INTEGER NOT NULL,
  created_by INTEGER REFERENCES user ON DELETE SET NULL,
  expires INTEGER,
  ended INTEGER
) STRICT;
CREATE UNIQUE INDEX project_role_active ON project_role (user_id, project_id, role) WHERE ended IS NULL;
CREATE UNIQUE INDEX project_role_members ON project_role (project_id, user_id) WHERE ended IS NULL;
CREATE INDEX project_role_due ON project_role (expires) WHERE ended IS NULL AND expires IS NOT NULL;
CREATE INDEX project_role_project ON project_role (project_id, created);
CREATE INDEX project_role_user ON project_role (user_id);
CREATE INDEX project_role_created ON project_role (created);
CREATE INDEX project_role_author ON project_role (created_by) WHERE created_by IS NOT NULL;
