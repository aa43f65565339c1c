-- Settings with a real backend keep a set of properties of their own: what was one set for all accounts with the same
-- backend_url held the private images of whichever account was synchronised last. It is read again for each of them.

DELETE FROM property WHERE backend <> '';
UPDATE service_settings SET synced = 0 WHERE backend_url LIKE 'http%' AND state IN ('In Sync', 'Erred');
