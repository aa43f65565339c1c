-- Who has been made a member of what at a provider, so that members follow the roles here and others are left alone.

CREATE TABLE backend_member (
  resource_id INTEGER NOT NULL REFERENCES resource ON DELETE CASCADE,
  email TEXT NOT NULL,                           -- folded, as in user
  account TEXT NOT NULL DEFAULT '',              -- id of the person at the provider
  -- asked: is to be added next; added: by us; found: was a member already, and stays one; refused: tried again when due
  state TEXT NOT NULL,
  due INTEGER NOT NULL,                          -- no call about it before
  PRIMARY KEY (resource_id, email)
) STRICT, WITHOUT ROWID;
