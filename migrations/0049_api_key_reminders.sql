-- Owners of API keys are reminded before a key expires.

ALTER TABLE api_key ADD COLUMN reminded INTEGER; -- when the last reminder was sent, or the end was changed
