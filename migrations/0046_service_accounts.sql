-- Service accounts are users for programs, with one role in a customer or project (core.md 4.7).

ALTER TABLE user ADD COLUMN is_service_account INTEGER NOT NULL DEFAULT 0;

CREATE TABLE service_account (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  uuid TEXT NOT NULL UNIQUE,
  user_id INTEGER NOT NULL UNIQUE REFERENCES user ON DELETE CASCADE, -- holds the role; its is_active is that of the account
  created INTEGER NOT NULL,
  created_by INTEGER REFERENCES user ON DELETE SET NULL,
  name TEXT NOT NULL,
  description TEXT NOT NULL DEFAULT '',
  customer_id INTEGER REFERENCES customer ON DELETE SET NULL,        -- both null: its customer or project was deleted
  project_id INTEGER REFERENCES project ON DELETE SET NULL,
  role TEXT NOT NULL,                                                -- also after the role has ended
  CHECK (customer_id IS NULL OR project_id IS NULL)
) STRICT;
CREATE INDEX service_account_customer ON service_account (customer_id) WHERE customer_id IS NOT NULL;
CREATE INDEX service_account_project ON service_account (project_id) WHERE project_id IS NOT NULL;
CREATE INDEX service_account_author ON service_account (created_by) WHERE created_by IS NOT NULL;
