-- What JIRA projects hold: issues with their comments and attachments. They are no resources, but have the same states.

CREATE TABLE jira_issue (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  uuid TEXT NOT NULL UNIQUE,
  settings_id INTEGER NOT NULL REFERENCES service_settings,
  jira_project_id INTEGER NOT NULL REFERENCES resource ON DELETE CASCADE,
  parent_id INTEGER REFERENCES jira_issue ON DELETE SET NULL,    -- of a subtask
  user_id INTEGER REFERENCES user ON DELETE SET NULL,            -- who made it here; null: somebody at JIRA
  summary TEXT NOT NULL,
  description TEXT NOT NULL DEFAULT '',
  type_name TEXT NOT NULL DEFAULT '',            -- names of properties of the settings, which may go
  priority_name TEXT NOT NULL DEFAULT '',
  state TEXT NOT NULL,                           -- as of resources
  error_message TEXT NOT NULL DEFAULT '',
  backend_id TEXT NOT NULL DEFAULT '',           -- the key, such as WEB-1
  details TEXT NOT NULL DEFAULT '{}',            -- JSON: status, resolution, and the people at JIRA
  created INTEGER NOT NULL,
  updated INTEGER NOT NULL
) STRICT;
CREATE INDEX jira_issue_user ON jira_issue (user_id, created);
CREATE INDEX jira_issue_created ON jira_issue (created);
CREATE INDEX jira_issue_project ON jira_issue (jira_project_id);
CREATE INDEX jira_issue_parent ON jira_issue (parent_id) WHERE parent_id IS NOT NULL;
CREATE INDEX jira_issue_backend ON jira_issue (settings_id, backend_id);

CREATE TABLE jira_comment (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  uuid TEXT NOT NULL UNIQUE,
  settings_id INTEGER NOT NULL REFERENCES service_settings,
  issue_id INTEGER NOT NULL REFERENCES jira_issue ON DELETE CASCADE,
  user_id INTEGER REFERENCES user ON DELETE SET NULL,
  message TEXT NOT NULL,
  author_username TEXT NOT NULL DEFAULT '',
  state TEXT NOT NULL,
  error_message TEXT NOT NULL DEFAULT '',
  backend_id TEXT NOT NULL DEFAULT '',
  created INTEGER NOT NULL
) STRICT;
CREATE INDEX jira_comment_issue ON jira_comment (issue_id);
CREATE INDEX jira_comment_user ON jira_comment (user_id, created);
CREATE INDEX jira_comment_created ON jira_comment (created);
CREATE INDEX jira_comment_backend ON jira_comment (settings_id, backend_id);

CREATE TABLE jira_attachment (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  uuid TEXT NOT NULL UNIQUE,
  settings_id INTEGER NOT NULL REFERENCES service_settings,
  issue_id INTEGER NOT NULL REFERENCES jira_issue ON DELETE CASCADE,
  user_id INTEGER REFERENCES user ON DELETE SET NULL,
  name TEXT NOT NULL,
  size INTEGER NOT NULL,                         -- in bytes
  state TEXT NOT NULL,
  error_message TEXT NOT NULL DEFAULT '',
  backend_id TEXT NOT NULL DEFAULT '',
  created INTEGER NOT NULL
) STRICT;
CREATE INDEX jira_attachment_settings ON jira_attachment (settings_id);
CREATE INDEX jira_attachment_issue ON jira_attachment (issue_id);
CREATE INDEX jira_attachment_user ON jira_attachment (user_id, created);
CREATE INDEX jira_attachment_created ON jira_attachment (created);
CREATE INDEX jira_attachment_backend ON jira_attachment (settings_id, backend_id);

-- In a table of its own: lists and searches never read the bytes.
CREATE TABLE jira_attachment_file (
  attachment_id INTEGER PRIMARY KEY REFERENCES jira_attachment ON DELETE CASCADE,
  content BLOB NOT NULL
) STRICT;

CREATE TRIGGER jira_issue_deleted AFTER DELETE ON jira_issue BEGIN
  DELETE FROM job WHERE entity_kind = 'JIRA.Issue' AND entity_id = old.id;
END;
CREATE TRIGGER jira_comment_deleted AFTER DELETE ON jira_comment BEGIN
  DELETE FROM job WHERE entity_kind = 'JIRA.Comment' AND entity_id = old.id;
END;
CREATE TRIGGER jira_attachment_deleted AFTER DELETE ON jira_attachment BEGIN
  DELETE FROM job WHERE entity_kind = 'JIRA.Attachment' AND entity_id = old.id;
END;
