-- The rights of staff apply in their networks only (core.md 2.14). At other addresses a bound key of staff acts under another id, with
-- only the roles that its owner was granted.

DROP VIEW bound_customer_role;
DROP VIEW bound_project_role;

ALTER TABLE api_key_bound ADD COLUMN restricted INTEGER GENERATED ALWAYS AS (-key_id - 1073741824) VIRTUAL;
CREATE INDEX api_key_bound_restricted ON api_key_bound (restricted);

-- The roles that were granted to the owners of bound keys.
CREATE VIEW bound_customer_grant AS
  SELECT b.caller, b.restricted, b.customer_id, r.role, r.expires
  FROM api_key_bound b JOIN api_key k ON k.id = b.key_id
    JOIN customer_role r ON r.user_id = k.user_id AND r.customer_id = b.customer_id AND r.ended IS NULL;

CREATE VIEW bound_project_grant AS
  SELECT b.caller, b.restricted, r.project_id, r.role, r.expires
  FROM api_key_bound b JOIN api_key k ON k.id = b.key_id
    JOIN project_role r ON r.user_id = k.user_id AND r.project_id = b.project_id AND r.ended IS NULL
  UNION ALL
  SELECT b.caller, b.restricted, r.project_id, r.role, r.expires
  FROM api_key_bound b JOIN api_key k ON k.id = b.key_id JOIN project p ON p.customer_id = b.customer_id
    JOIN project_role r ON r.user_id = k.user_id AND r.project_id = p.id AND r.ended IS NULL
  UNION ALL
  SELECT b.caller, b.restricted, b.project_id, iif(r.role = 'owner', 'manager', 'support'), r.expires
  FROM api_key_bound b JOIN api_key k ON k.id = b.key_id JOIN project p ON p.id = b.project_id
    JOIN customer_role r ON r.user_id = k.user_id AND r.customer_id = p.customer_id AND r.ended IS NULL;

-- The roles of bound keys. Staff count as owners of what their key is bound to, global support as its support.
CREATE VIEW bound_customer_role AS
  SELECT caller AS user_id, customer_id, role, expires FROM bound_customer_grant
  UNION ALL
  SELECT restricted, customer_id, role, expires FROM bound_customer_grant
  UNION ALL
  SELECT b.caller, b.customer_id, iif(u.is_staff, 'owner', 'support'), NULL
  FROM api_key_bound b JOIN api_key k ON k.id = b.key_id JOIN user u ON u.id = k.user_id AND (u.is_staff OR u.is_support)
  WHERE b.customer_id IS NOT NULL;

CREATE VIEW bound_project_role AS
  SELECT caller AS user_id, project_id, role, expires FROM bound_project_grant
  UNION ALL
  SELECT restricted, project_id, role, expires FROM bound_project_grant
  UNION ALL
  SELECT b.caller, b.project_id, iif(u.is_staff, 'manager', 'support'), NULL
  FROM api_key_bound b JOIN api_key k ON k.id = b.key_id JOIN user u ON u.id = k.user_id AND (u.is_staff OR u.is_support)
  WHERE b.project_id IS NOT NULL;
