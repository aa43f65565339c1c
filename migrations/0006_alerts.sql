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
