-- Roles and rights that group rules of an OpenID Connect provider have granted, as oidc:<name of the provider>; null: by a user.

ALTER TABLE customer_role ADD COLUMN source TEXT;
ALTER TABLE project_role ADD COLUMN source TEXT;
ALTER TABLE user ADD COLUMN staff_source TEXT;
ALTER TABLE user ADD COLUMN support_source TEXT;
