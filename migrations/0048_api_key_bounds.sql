-- API keys can be bound to customers and projects (core.md 2.10). A bound key acts as a separate member of these objects: under the
-- negated id of the key, with the roles of its owner there, and with no other right.

ALTER TABLE api_key ADD COLUMN is_bound INTEGER NOT NULL DEFAULT 0;
CREATE INDEX api_key_bound_keys ON api_key (id) WHERE is_bound AND revoked IS NULL;

CREATE TABLE api_key_bound (
  id INTEGER PRIMARY KEY,
  key_id INTEGER NOT NULL REFERENCES api_key ON DELETE CASCADE,
  caller INTEGER NOT NULL GENERATED ALWAYS AS (-key_id) STORED,
  customer_id INTEGER REFERENCES customer ON DELETE CASCADE,
  project_id INTEGER REFERENCES project ON DELETE CASCADE,
  CHECK ((customer_id IS NULL) <> (project_id IS NULL))
) STRICT;
CREATE INDEX api_key_bound_caller ON api_key_bound (caller);
CREATE INDEX api_key_bound_key ON api_key_bound (key_id);
CREATE INDEX api_key_bound_customer ON api_key_bound (customer_id) WHERE customer_id IS NOT NULL;
CREATE INDEX api_key_bound_project ON api_key_bound (project_id) WHERE project_id IS NOT NULL;

-- The roles of bound keys. Staff count as owners of what their key is bound to, global support as its support.
CREATE VIEW bound_customer_role AS
  SELECT b.caller AS user_id, b.customer_id, r.role, r.expires
  FROM api_key_bound b JOIN api_key k ON k.id = b.key_id
    JOIN customer_role r ON r.user_id = k.user_id AND r.customer_id = b.customer_id AND r.ended IS NULL
  UNION ALL
  SELECT b.caller, b.customer_id, iif(u.is_staff, 'owner', 'support'), NULL
  FROM api_key_bound b JOIN api_key k ON k.id = b.key_id JOIN user u ON u.id = k.user_id AND (u.is_staff OR u.is_support)
  WHERE b.customer_id IS NOT NULL;

CREATE VIEW bound_project_role AS
  SELECT b.caller AS user_id, r.project_id, r.role, r.expires
  FROM api_key_bound b JOIN api_key k ON k.id = b.key_id
    JOIN project_role r ON r.user_id = k.user_id AND r.project_id = b.project_id AND r.ended IS NULL
  UNION ALL
  SELECT b.caller, r.project_id, r.role, r.expires
  FROM api_key_bound b JOIN api_key k ON k.id = b.key_id JOIN project p ON p.customer_id = b.customer_id
    JOIN project_role r ON r.user_id = k.user_id AND r.project_id = p.id AND r.ended IS NULL
  UNION ALL
  SELECT b.caller, b.project_id, iif(r.role = 'owner', 'manager', 'support'), r.expires
  FROM api_key_bound b JOIN api_key k ON k.id = b.key_id JOIN project p ON p.id = b.project_id
    JOIN customer_role r ON r.user_id = k.user_id AND r.customer_id = p.customer_id AND r.ended IS NULL
  UNION ALL
  SELECT b.caller, b.project_id, iif(u.is_staff, 'manager', 'support'), NULL
  FROM api_key_bound b JOIN api_key k ON k.id = b.key_id JOIN user u ON u.id = k.user_id AND (u.is_staff OR u.is_support)
  WHERE b.project_id IS NOT NULL;
