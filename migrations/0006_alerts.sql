-- Conditions attached to objects. (scope, alert_type) names one alert in every state.

CREATE TABLE alert (
  id INTEGER PRIMARY KEY,
  uuid TEXT NOT NULL UNIQUE,
  scope_kind TEXT NOT NULL,                      -- as in quota, and user, key, quota
  scope_id INTEGER NOT NULL,
  alert_type TEXT NOT NULL,
  message TEXT NOT NULL,
  severity INTEGER NOT NULL,                     -- 10 Debug, 20 Info, 30 Warning, 40 Error
  created INTEGER NOT NULL,
  closed INTEGER,
  acknowledged INTEGER NOT NULL DEFAULT 0,
  context TEXT NOT NULL,                         -- JSON object of strings
  UNIQUE (scope_kind, scope_id, alert_type)
) STRICT;
CREATE INDEX alert_created ON alert (created);
CREATE INDEX alert_closed ON alert (closed) WHERE closed IS NOT NULL;

-- Quotas and alerts go with the object they belong to, whichever way it is deleted.
CREATE TRIGGER quota_deleted AFTER DELETE ON quota BEGIN
  DELETE FROM alert WHERE scope_kind = 'quota' AND scope_id = old.id;
END;
CREATE TRIGGER customer_deleted AFTER DELETE ON customer BEGIN
  DELETE FROM quota WHERE scope_kind = 'customer' AND scope_id = old.id;
  DELETE FROM alert WHERE scope_kind = 'customer' AND scope_id = old.id;
END;
CREATE TRIGGER project_deleted AFTER DELETE ON project BEGIN
  DELETE FROM quota WHERE scope_kind = 'project' AND scope_id = old.id;
  DELETE FROM alert WHERE scope_kind = 'project' AND scope_id = old.id;
END;
CREATE TRIGGER user_deleted AFTER DELETE ON user BEGIN
  DELETE FROM alert WHERE scope_kind = 'user' AND scope_id = old.id;
END;
CREATE TRIGGER ssh_key_deleted AFTER DELETE ON ssh_key BEGIN
  DELETE FROM alert WHERE scope_kind = 'key' AND scope_id = old.id;
END;
CREATE TRIGGER service_settings_deleted AFTER DELETE ON service_settings BEGIN
  DELETE FROM quota WHERE scope_kind = 'settings' AND scope_id = old.id;
  DELETE FROM alert WHERE scope_kind = 'settings' AND scope_id = old.id;
END;
CREATE TRIGGER service_deleted AFTER DELETE ON service BEGIN
  DELETE FROM quota WHERE scope_kind = 'service' AND scope_id = old.id;
  DELETE FROM alert WHERE scope_kind = 'service' AND scope_id = old.id;
END;
CREATE TRIGGER service_project_link_deleted AFTER DELETE ON service_project_link BEGIN
  DELETE FROM quota WHERE scope_kind = 'link' AND scope_id = old.id;
  DELETE FROM alert WHERE scope_kind = 'link' AND scope_id = old.id;
END;
